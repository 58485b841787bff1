"""Pages of many runs, made by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.report.site import render_runs
from jdkmatrix.report.site.build import Built, build_site
from jdkmatrix.report.site.render_runs import PROCESSES_MAX, SiteRun, processes
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.experiment_runs import experiments_run
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import background, later, stored

SLEEPERS = """
import os, sys, time
from pathlib import Path
from jdkmatrix.report.site import render_runs

def fall_asleep():
    os.write(1, b"z")
    time.sleep(600)

if __name__ == "__main__":
    render_runs.processes = lambda runs, cpus: 2
    runs = [render_runs.SiteRun("sleeper", fall_asleep) for _ in range(2)]
    list(render_runs.make_all(runs, Path(sys.argv[1]), Path(sys.argv[1]), ()))
"""


def load_nothing() -> None:
    """For runs that are only counted."""


@pytest.mark.parametrize(
    ("cells", "cpus", "expected"),
    [
        ([], 8, 1),
        ([10_000], 8, 8),
        ([99, 100], 8, 1),
        ([100, 100], 8, 2),
        ([100, 100], 1, 1),
        ([1000] * 100, 64, PROCESSES_MAX),
    ],
)
def test_processes_are_started_where_they_pay(cells: list[int], cpus: int, expected: int) -> None:
    runs = [SiteRun("run", load_nothing, cells=count) for count in cells]  # type: ignore[arg-type]
    assert processes(runs, cpus) == expected


# About half of all: its pages are made in parts.
_COUNTED = {"served": 1000, "broken": 10, "experiments": 10, "again": 500}


def test_two_processes_write_what_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1))
    stored(tmp_path / "runs" / "served", served)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    stored(tmp_path / "runs" / "experiments", experiments_run(tmp_path / "other", forks=1))
    stored(tmp_path / "runs" / "again", later(served, "again", "2024-01-01"))
    stores = [RunStore(tmp_path / "runs" / name) for name in ("served", "broken", "experiments", "again", "again")]

    def site(count: int) -> tuple[Built, dict[Path, bytes]]:
        monkeypatch.setattr(render_runs, "processes", lambda *_: count)
        runs = [
            SiteRun(str(one.directory), one.load, one.stamp(), cells=_COUNTED[one.directory.name]) for one in stores
        ]
        folder = tmp_path / f"site-{count}"
        built = build_site(runs, folder, background())
        return built, {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    (one, files), (two, same_files) = site(1), site(2)
    assert [run.run_id for run in two.runs] == [run.run_id for run in one.runs] and len(two.runs) == 3
    assert two.unreadable == one.unreadable and len(two.unreadable) == 2
    assert same_files == files


def kill_me() -> LoadedRun:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody comes here")


def test_a_process_that_is_killed_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_runs, "processes", lambda *_: 2)
    runs = [SiteRun("run", kill_me)] * 2
    with pytest.raises(MatrixError, match="was killed; the kernel does so where memory runs out"):
        list(render_runs.make_all(runs, tmp_path, tmp_path, ()))


def test_no_process_outlives_the_one_that_waits_for_it(tmp_path: Path) -> None:
    program = tmp_path / "sleepers.py"
    program.write_text(SLEEPERS)
    with subprocess.Popen([sys.executable, str(program), str(tmp_path)], stdout=subprocess.PIPE) as waiting:
        try:
            assert waiting.stdout is not None
            assert waiting.stdout.read(2) == b"zz"
            workers = psutil.Process(waiting.pid).children(recursive=True)
        finally:
            waiting.send_signal(signal.SIGKILL)
    assert len(workers) == 4  # two that work, one that forks them, one that tidies up
    _, alive = psutil.wait_procs(workers, timeout=60)
    for one in alive:
        one.kill()
    assert alive == []
