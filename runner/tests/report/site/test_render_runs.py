"""Pages of many runs, made by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.site import render_runs
from jdkmatrix.report.site.build import Built, build_site
from jdkmatrix.report.site.render_runs import PROCESSES_MAX, RenderedRun, SiteRun, processes, writers
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.experiment_runs import experiments_run
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import TEMPLATES
from tests.support.sites import background, later, stored

# The first cell is written before processes are forked for the others.
SLEEPERS = """
import os, sys, time
from dataclasses import replace
from functools import partial
from pathlib import Path
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.report.site import render_runs
from jdkmatrix.store.runs import RunStore

def fall_asleep(first, cell):
    if cell != first:
        os.write(1, b"z")
        time.sleep(600)
    return cell

def load(run):
    loaded = RunStore(run).load()
    return replace(loaded, whole=partial(fall_asleep, loaded.cells[0]))

if __name__ == "__main__":
    run, site, templates = map(Path, sys.argv[1:])
    render_runs.processes, render_runs.writers = lambda *_: 2, lambda *_: [2, 2]
    runs = [render_runs.SiteRun("sleeper", partial(load, run)) for _ in range(2)]
    with stoppable():
        list(render_runs.make_all(runs, site, templates, ()))
"""
LARGE = replace(QUICK, burn_us=tuple(range(5)), blocks=1, windows=1)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """With more cells than a process writes at a time."""
    return synthetic_run(tmp_path_factory.mktemp("made-up"), LARGE)


def load_nothing() -> None:
    """For runs that are only counted."""


@pytest.mark.parametrize(
    ("cells", "cpus", "runs_at_a_time", "for_their_cells"),
    [
        ([], 8, 1, []), ([199], 8, 1, [1]), ([10_000], 8, 1, [8]), ([10_000], 64, 1, [PROCESSES_MAX]),
        ([10_000, 99], 2, 2, [2, 1]), ([99, 100], 8, 1, [1, 1]), ([100, 100], 8, 2, [1, 1]),
        ([1000, 1000], 8, 2, [4, 4]), ([100, 100], 1, 1, [1, 1]), ([1000] * 100, 64, PROCESSES_MAX, [1] * 100),
    ],
)  # fmt: skip
def test_processes_are_started_where_they_pay(
    cells: list[int], cpus: int, runs_at_a_time: int, for_their_cells: list[int]
) -> None:
    runs = [SiteRun("run", load_nothing, cells=count) for count in cells]  # type: ignore[arg-type]
    assert (processes(runs, cpus), writers(runs, cpus)) == (runs_at_a_time, for_their_cells)


def test_many_processes_write_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun) -> None:
    stored(tmp_path / "runs" / "served", served)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    stored(tmp_path / "runs" / "experiments", experiments_run(tmp_path / "other", forks=1))
    stored(tmp_path / "runs" / "again", later(served, "again", "2024-01-01"))
    stores = [RunStore(tmp_path / "runs" / name) for name in ("served", "broken", "experiments", "again", "again")]

    def site(count: int) -> tuple[Built, dict[Path, bytes]]:
        monkeypatch.setattr(render_runs, "processes", lambda *_: count)
        monkeypatch.setattr(render_runs, "writers", lambda *_: [count] * len(stores))
        runs = [SiteRun(str(store.directory), store.load, store.stamp()) for store in stores]
        folder = tmp_path / f"site-{count}"
        built = build_site(runs, folder, background())
        return built, {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    (one, files), (two, same_files) = site(1), site(2)
    assert [run.run_id for run in two.runs] == [run.run_id for run in one.runs] and len(two.runs) == 3
    assert two.unreadable == one.unreadable and len(two.unreadable) == 2
    assert same_files == files


class Sent(tuple[ClaimRecord, ...]):
    """A registry that knows how often it was sent to another process."""

    times: ClassVar = 0

    def __reduce__(self) -> tuple[type, tuple[()]]:
        Sent.times += 1
        return tuple, ()


def test_what_every_run_takes_is_sent_once_to_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun
) -> None:
    monkeypatch.setattr(render_runs, "processes", lambda *_: 2)
    runs = [SiteRun("run", partial(replace, served)) for _ in range(5)]
    made = list(render_runs.make_all(runs, tmp_path, TEMPLATES, Sent()))
    assert len(made) == 5 and not any(isinstance(one, str) for one in made)
    assert 0 < Sent.times <= 2


def odd(last: CellRecord, cell: CellRecord) -> CellRecord:
    if cell == last:
        raise OverflowError("too large")
    return cell


def kill_me(last: CellRecord, cell: CellRecord) -> CellRecord:
    if cell == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return cell


def with_last_cell(spoilt: Callable[[CellRecord, CellRecord], CellRecord], run: LoadedRun) -> LoadedRun:
    return replace(run, whole=partial(spoilt, run.cells[-1]))


def test_a_fault_of_one_cell_is_the_same_message_wherever_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun
) -> None:
    run = SiteRun("run", partial(with_last_cell, odd, served))
    told: list[RenderedRun | str] = []
    for count in (1, 2):
        monkeypatch.setattr(render_runs, "writers", lambda *_, count=count: [count])
        told += render_runs.make_all([run], tmp_path / str(count), TEMPLATES, ())
    assert told[0] == told[1]
    assert str(told[0]).startswith("run: cannot be shown: OverflowError in report/site/run_pages.py")


@pytest.mark.parametrize("for_their_cells", [1, 2])
def test_a_process_that_is_killed_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun, for_their_cells: int
) -> None:
    monkeypatch.setattr(render_runs, "processes", lambda *_: 2)
    monkeypatch.setattr(render_runs, "writers", lambda *_: [for_their_cells] * 2)
    runs = [SiteRun("run", partial(with_last_cell, kill_me, served))] * 2
    with pytest.raises(MatrixError, match="was killed; the kernel does so where memory runs out"):
        list(render_runs.make_all(runs, tmp_path, TEMPLATES, ()))
    assert not active_children()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_no_process_outlives_the_one_that_waits_for_it(
    tmp_path: Path, served: LoadedRun, number: signal.Signals, status: int
) -> None:
    stored(tmp_path / "run", served)
    program = tmp_path / "sleepers.py"
    program.write_text(SLEEPERS)
    command = [sys.executable, str(program), str(tmp_path / "run"), str(tmp_path), str(TEMPLATES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as waiting:
        try:
            assert waiting.stdout is not None
            assert waiting.stdout.read(4) == b"zzzz"
            workers = psutil.Process(waiting.pid).children(recursive=True)
        finally:
            waiting.send_signal(number)
    assert waiting.returncode == status
    assert len(workers) == 8  # two for runs with two each for cells, one that forks the first, one that tidies up
    _, alive = psutil.wait_procs(workers, timeout=60)
    for one in alive:
        one.kill()
    assert alive == []
