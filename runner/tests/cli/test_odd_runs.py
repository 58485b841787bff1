"""An odd result file is named. It neither stops the site of the other runs nor ends a command with a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.cli.comparing import EXIT_CANNOT_TELL
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES
from jdkmatrix.domain.cell_key import NO_SERVER
from jdkmatrix.report.compare import page
from tests.support.project import called, make_project
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import later, stored

Change = Callable[[Any], None]
# Values that json.dumps cannot write, by the text that stands in for them until then.
WRITTEN = {'"deep"': "[" * 100_000 + "]" * 100_000, '"5,000 digits"': "1" * 5000}
NO_FILE_NAME = "w" * 300


def every(name: str, value: Any) -> Change:
    """Return a change of every entry of that name, at any depth."""

    def change(document: Any) -> None:
        for key, inner in list(document.items() if isinstance(document, dict) else enumerate(document)):
            if key == name:
                document[key] = value
            elif isinstance(inner, dict | list):
                change(inner)

    return change


IN_CELLS = {
    "count-of-400-digits": every("completed", 10**400),
    "bytes-of-400-digits": every("rss_bytes", 10**400),
    "integer-of-5000-digits": every("completed", "5,000 digits"),
    "of-another-schema": every("schema_version", 2),
    "clock-stands": every("clock_speed_after", 0),
    "endless-drift": every("drift_per_s", float("inf")),
    "drift-alone": every("tail_s", None),
    "nested": every("digest", "deep"),
    "no-time": every("duration_s", 0),
    "no-number": every("throughput_rps", float("nan")),
    "no-load": every("load", "none"),
    "no-percentiles": every("percentiles_us", {}),
    "of-no-server": every("server", NO_SERVER),
    "program-on-a-server": every("program", {}),
}
IN_RUN = {
    "nested-run": every("profile", "deep"),
    "no-date": every("started_at", "\x1b[31mnever"),
    "seed-of-5000-digits": every("seed", "5,000 digits"),
    "long-run-id": every("run_id", NO_FILE_NAME),
    "long-cell-id": every("workload", NO_FILE_NAME),
    "memory-of-400-digits": every("memory_bytes", 10**400),
    "no-cpus": every("online", []),
}
ODD = (*IN_CELLS, *IN_RUN)
# IN_PART: the run is shown without the cells, whose files are named. NOT_SHOWN: it is only named. Others: either way.
IN_PART = {"integer-of-5000-digits", "of-another-schema", "nested", "no-load", "of-no-server"}
NOT_SHOWN = {
    "count-of-400-digits", "clock-stands", "no-number", "nested-run", "seed-of-5000-digits", "long-cell-id",
    "memory-of-400-digits",
}  # fmt: skip

# No figure that summary, export or compare print needs what is odd in them.
NOT_NOTICED = {
    "bytes-of-400-digits", "clock-stands", "endless-drift", "drift-alone", "no-percentiles", "program-on-a-server",
    "no-date", "long-run-id", "memory-of-400-digits", "no-cpus",
}  # fmt: skip


def rewrite(path: Path, change: Change) -> None:
    document = json.loads(path.read_text())
    change(document)
    text = json.dumps(document)
    for stands_for, written in WRITTEN.items():
        text = text.replace(stands_for, written)
    path.write_text(text)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with one run that is as it should be, and those that are not."""
    folder = tmp_path_factory.mktemp("odd")
    home = make_project(folder / "project")
    loaded = synthetic_run(folder / "made-up", replace(QUICK, jdks=("temurin-25",), windows=1))
    for name in ("good", *ODD):
        run = stored(home / "results" / name, later(loaded, name, "2024-01-01")).directory
        if name in IN_RUN:
            rewrite(run / "run.json", IN_RUN[name])
        for path in (run / "cells").iterdir():
            if name in IN_CELLS:
                rewrite(path, IN_CELLS[name])
    return home


def test_the_site_shows_the_others_and_says_why_not_these(home: Path) -> None:
    done = called(home, "report")
    assert done.returncode == EXIT_WITH_FAILURES
    assert "site: " in done.stdout
    assert (home / "site" / "runs" / "good" / "index.html").is_file()
    front = (home / "site" / "index.html").read_text()
    for name in ODD:
        run = home / "results" / name
        told = f"{run}/" in done.stderr or f"{run}: " in done.stderr
        shown = any((home / "site" / "runs").glob(f"{'wwww*' if name == 'long-run-id' else name}/index.html"))
        assert told or (shown and name not in IN_PART | NOT_SHOWN), name
        assert shown or (f"results/{name}" in front and name not in IN_PART), name
        assert not (shown and name in NOT_SHOWN), name
    assert "results/no-number: a summary needs at least one value" in done.stderr


@pytest.mark.parametrize("name", ODD)
def test_a_command_names_it_and_ends_with_3(home: Path, name: str) -> None:
    """It does so where the odd file matters to what was asked."""
    run, codes = str(home / "results" / name), set()
    for command, *options in (
        ("summary",), ("summary", "--markdown"),
        ("export",), ("export", "--format", "json"), ("export", "--format", "jmh"),
        ("compare", "good"), ("compare", "good", "--html", str(home / "compared.html")),
    ):  # fmt: skip
        done = called(home, command, name, *options)
        assert done.returncode in (0, EXIT_WITH_FAILURES, EXIT_CANNOT_TELL), done.stderr
        assert (done.returncode != EXIT_WITH_FAILURES) == (done.stderr == "")
        assert all(line.startswith("matrix: ") for line in done.stderr.splitlines())
        assert run in (done.stderr.splitlines() or [run])[0]
        codes.add(done.returncode)
    assert (EXIT_WITH_FAILURES in codes) == (name not in NOT_NOTICED)


def test_a_page_of_a_comparison_that_cannot_be_made_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "compare_page", mock.Mock(side_effect=OverflowError("too large")))
    run, file = home / "results" / "good", home / "not-written.html"
    done = called(home, "compare", "good", "--executor", "liberty", "--executor", "virtual", "--html", str(file))
    assert (done.returncode, done.stdout, file.exists()) == (EXIT_WITH_FAILURES, "", False)
    assert done.stderr.startswith(f"matrix: {run}: cannot be shown: OverflowError in cli/comparing.py:")


def test_where_no_run_can_be_shown_each_is_named(home: Path) -> None:
    done = called(home, "report", *(str(home / "results" / name) for name in ("nested-run", "long-cell-id")))
    assert (done.returncode, done.stderr.count("\n")) == (EXIT_WITH_FAILURES, 1)
    assert "results/nested-run" in done.stderr and "results/long-cell-id" in done.stderr
