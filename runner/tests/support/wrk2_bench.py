"""The stand-in for wrk2 on the search path, and a driver that runs it."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.drivers import wrk2
from jdkmatrix.drivers.base import Target
from jdkmatrix.drivers.wrk2 import Wrk2, Wrk2Session, find_wrk2
from tests.support.programs import program
from tests.support.waiting import HANGS_S

URL = "http://127.0.0.1:18190/"
# The load of samples/wrk2/minutes.txt, and for how long it counts.
LOAD = RateLoad(rate_rps=500, connections=50)
COUNTS_S = 49.75
PROGRAM = """\
#!{python} -IS
import sys

sys.path.insert(0, {folder!r})
from tests.support.wrk2_stand_in import main

sys.exit(main(sys.argv))
"""


class Bench:
    """A folder with the stand-in, and the driver that it makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = PROGRAM.format(python=sys.executable, folder=str(Path(__file__).parents[2]))
        self.binary = program(folder / "wrk2", text)
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.cpu = min(os.sched_getaffinity(0))
        self.target = Target(url=URL, cpus=(self.cpu,), log_dir=self.logs)

    def wrk2(self, behaviour: str) -> Wrk2:
        (self.folder / "behaviour").write_text(behaviour)
        found = find_wrk2({}, str(self.folder))
        assert isinstance(found, Wrk2)
        return found

    def session(self, behaviour: str, **changes: Any) -> closing[Wrk2Session]:
        return closing(Wrk2Session(self.wrk2(behaviour), replace(self.target, **changes)))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(wrk2, "_BECOME_TIMEOUT_S", HANGS_S)  # the stand-in is Python, which must start first
    return Bench(tmp_path)
