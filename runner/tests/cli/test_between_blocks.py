"""The site of a run that is still going on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

import psutil
import pytest

from jdkmatrix.cli.between_blocks import SHARE_MAX, SiteBetweenBlocks, write_site_apart
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored
from tests.support.waiting import HANGS_S, wait_until


def test_the_site_is_written_after_every_block_as_long_as_that_costs_little() -> None:
    now_s, written, lasts_s = 0.0, list[float](), 30.0

    def write() -> None:
        nonlocal now_s
        written.append(now_s)
        now_s += lasts_s

    between = SiteBetweenBlocks(write, pytest.fail, lambda: now_s)
    for _ in range(3):
        now_s += 180
        between()
        lasts_s = 6.0
    assert len(written) == 3, "the pages of all other runs, made the first time, do not count"
    lasts_s = 30.0
    now_s += 180
    between()
    waited_s = now_s
    while len(written) == 4:
        now_s += 180
        between()
    assert 30 / SHARE_MAX <= written[-1] - waited_s < 30 / SHARE_MAX + 180


@pytest.mark.parametrize(
    ("error", "words"),
    [(MatrixError("no room"), "no room"), (OSError("no room"), r"OSError in cli/between_blocks\.py:\d+: no room")],
    ids=repr,
)
def test_a_site_that_cannot_be_written_is_told_once_and_stops_no_run(error: Exception, words: str) -> None:
    told: list[str] = []
    between = SiteBetweenBlocks(mock.Mock(side_effect=error), told.append, lambda: 0.0)
    between()
    between()
    assert len(told) == 1 and re.fullmatch(f"the site is not written: {words}", told[0])


def test_a_process_of_its_own_writes_the_site_and_has_ended_then(tmp_path: Path) -> None:
    stored(tmp_path / "results" / "run", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1)))
    site = tmp_path / "site"
    write_site_apart(Project(ROOT, tmp_path), [tmp_path / "results" / "run"], site)
    assert "Thread pool or virtual threads?" in (site / "index.html").read_text("utf-8")
    shutil.rmtree(site)
    site.write_text("somebody's file")
    with pytest.raises(MatrixError, match="ended with 1"):
        write_site_apart(Project(ROOT, tmp_path), [tmp_path / "results" / "run"], site)
    assert site.read_text() == "somebody's file" and [*tmp_path.glob("site*")] == [site]


def test_what_the_system_refuses_that_process_is_one_message(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MatrixError, match="ended with 1"):
        write_site_apart(Project(ROOT, tmp_path), [], tmp_path / ("s" * 300))
    (told,) = capfd.readouterr().err.splitlines()
    assert told.startswith("matrix: OSError in report/site/replace_folder.py:") and "File name too long" in told


WRITING = """
import signal
import sys
from pathlib import Path
from jdkmatrix.cli.between_blocks import write_site_apart
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.provision.project import Project
from jdkmatrix.report.site import build

build.home_page = lambda *_: signal.pause()  # also in the process that writes: it imports this file again

if __name__ == "__main__":
    root, work = map(Path, sys.argv[1:])
    with stoppable():
        write_site_apart(Project(root, work), [work / "results" / "run"], work / "sites" / "site")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_ends_meanwhile_leaves_no_process_and_no_half_of_a_site(number: int, tmp_path: Path) -> None:
    """The run ends by Ctrl-C, which reaches every process, or is itself killed, before the site is whole."""
    stored(tmp_path / "results" / "run", synthetic_run(tmp_path / "made-up", QUICK))
    (tmp_path / "writing.py").write_text(WRITING)
    sites = tmp_path / "sites"
    sites.mkdir()
    command = [sys.executable, str(tmp_path / "writing.py"), str(ROOT), str(tmp_path)]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any(sites.iterdir()):
        time.sleep(0.01)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.kill()
    _, err = process.communicate(timeout=HANGS_S)
    wait_until(lambda: not alive(process.pid))  # Python's own helper ends when it sees that its parent has
    assert [*sites.iterdir()] == []
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    if number == signal.SIGINT:
        assert err == "matrix: stopped by SIGINT; finished work is kept\n"


def alive(group: int) -> list[int]:
    found = []
    for one in psutil.process_iter(["status"]):
        with suppress(ProcessLookupError):
            if os.getpgid(one.pid) == group and one.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(one.pid)
    return found
