"""`matrix run` on a run of its own, in several sessions, with made-up forks."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.cli import recording, running
from jdkmatrix.cli.between_blocks import SiteBetweenBlocks
from jdkmatrix.cli.selecting import Options
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.provision.project import Project
from jdkmatrix.records.provenance import Provenance
from jdkmatrix.records.run import Calibration, HostFacts, ServerFacts
from jdkmatrix.report.site.build import Built
from jdkmatrix.run import campaign as module
from jdkmatrix.run.plan import make_plan
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.project import make_project
from tests.support.records import in_whole
from tests.support.run_facts import host_facts
from tests.support.served_campaign import Script
from tests.support.served_campaign import campaign as made_up_campaign

SHORT = Options("short", {}, blocks=2)
STAGED = """
[profiles.begin]
extends = "short"
blocks = 2
[profiles.begin.select]
server = ["open-liberty"]
executor = ["liberty", "virtual"]
load = ["saturate-50"]
[profiles.staged]
extends = "begin"
first = "begin"
[profiles.staged.select]
burn_us = [0, 100]
load = ["share-50"]
[profiles.sized]
extends = "begin"
[profiles.sized.select]
burn_us = [100]
load = ["share-50"]
"""
BASES = [CellKey(workload="mp-ping", jdk="temurin-25", executor="liberty", cpus=1, burn_us=burn, load="saturate-50")
         for burn in (0, 100)]  # fmt: skip


class Sessions:
    """`matrix run` on a run of its own: everything but parts, host and forks is real; `facts`, `boot` and `commit` are
    what the doubles say about this host and the source."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.script = Script()
        self.facts: HostFacts = host_facts()
        self.counted: Calibration | None = None  # the result of a calibration
        self.known: list[Calibration | None] = []  # the one that was known at each preparation of cells
        self.boot = "boot-1"
        self.commit: tuple[str | None, bool | None] = ("a" * 40, False)
        self.asked: list[tuple[int, dict[CellKey, float]]] = []  # cells to prepare, and the capacities known then
        self.sites: list[int] = []  # after how many forks it was written during the run
        self._folder, self._capsys = folder, capsys

    def measure(self, options: Options = SHORT, *, resume: bool = False) -> int:
        return running.run(options, resume=resume, directory=self.run, site=None)

    def cut(self, after_forks: int, options: Options = SHORT) -> None:
        """Measure until Ctrl-C comes after this many forks."""
        self.script.cut_after = after_forks
        with pytest.raises(KeyboardInterrupt):
            self.measure(options)
        self.script.cut_after = None

    @property
    def run(self) -> Path:
        return self._folder / "run"

    def loaded(self) -> LoadedRun:
        return in_whole(RunStore(self.run).load())

    def told(self) -> str:
        """Return what was printed since the last call."""
        return self._capsys.readouterr().out


def made_up_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sessions:
    made = Sessions(tmp_path, capsys)
    home = make_project(tmp_path / "project")
    with (home / "matrix.toml").open("a") as file:
        file.write(STAGED)
    project = Project(home, home)
    setups = made_up_campaign(RunStore.create(tmp_path / "unused"), blocks=1).setups

    def prepared(project: Project, matrix: Any, profile: Any, cells: Any, *, seed: int, **others: Any) -> Prepared:
        made.asked.append((len(cells), dict(others["capacities_rps"])))
        made.known.append(others["known_calibration"](made.facts))
        setup = replace(
            next(iter(setups.values())), matrix=matrix, profile=profile, host=made.facts, confiner=others["confiner"]
        )
        return Prepared(
            plan=make_plan(cells, profile, seed=seed, impossible={}), setups=dict.fromkeys(cells, setup),
            host=made.facts, servers=(ServerFacts(name="Open Liberty", version="1", sha256="a"),), drivers=(), jdks=(),
            calibration=made.known[-1] or made.counted, provenance=Provenance(inputs=(), parts=()), notes=(),
        )  # fmt: skip

    monkeypatch.setattr(running, "find_project", lambda: project)
    monkeypatch.setattr(running, "prepare", prepared)
    monkeypatch.setattr(recording, "catalogue_records", lambda *_: ())
    monkeypatch.setattr(running, "write_site", lambda *_: Built(home / "site" / "index.html", (), ()))
    monkeypatch.setattr(running, "write_site_apart", lambda *_: made.sites.append(len(made.script.labels)))
    monkeypatch.setattr(running, "SiteBetweenBlocks", partial(SiteBetweenBlocks, clock=lambda: 0.0))
    monkeypatch.setattr(recording, "boot_id", lambda: made.boot)
    monkeypatch.setattr(recording, "source_revision", lambda *_: made.commit)
    monkeypatch.setattr(running, "measuring", lambda: nullcontext(Confiner(None, "made up")))
    monkeypatch.setattr(module, "measure_fork", made.script)
    return made
