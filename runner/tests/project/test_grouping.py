"""Which tests go to one worker (tests/conftest.py)."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import BUILDS, RUNS, group_of
from tests.support.project import ROOT


def test_files_whose_runs_take_turns_are_one_workers() -> None:
    """Exceptions are those of the flake, which has its own worker, and one that builds for longer than it measures."""
    runner, here = ROOT / "runner", Path(__file__).resolve()
    files = (path for path in (runner / "tests").rglob("test_*.py") if path.resolve() != here)
    measure = {str(path.relative_to(runner)) for path in files if "one_run_on_this_host" in path.read_text("utf-8")}
    assert {name for name in measure if not name.startswith("tests/nix/")} == {
        *RUNS,
        BUILDS,
    }
    assert len({group_of(f"{name}::test_one") for name in RUNS}) == 1
    assert group_of("tests/real/test_forks.py::test_one") is None
