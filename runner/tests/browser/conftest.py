"""One browser for all tests, and sites to open in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.experiment_runs import experiments_run
from tests.support.records import altered_run
from tests.support.served_runs import QUICK, Shape, synthetic_run, with_scenario
from tests.support.sites import later, site_of
from tests.support.waiting import HANGS_S

MATRIX = Shape(
    executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True
)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail(
            "these tests need Chromium on PATH: install the package chromium (Debian: apt-get install chromium)"
        )
    expect.set_options(timeout=HANGS_S * 1000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build sites by name: one of a single condition of a published experiment, and one of a small matrix with failed,
    invalid and missing cells."""
    quick, matrix = map(tmp_path_factory.mktemp, ("quick", "matrix"))
    return {
        "quick": site_of([with_scenario(synthetic_run(quick / "run", QUICK))], quick / "site"),
        "matrix": site_of([synthetic_run(matrix / "run", MATRIX)], matrix / "site"),
    }


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site of every kind of experiment without a server, from real results."""
    folder = tmp_path_factory.mktemp("experiments")
    return site_of([experiments_run(folder / "run", accidents=True)], folder / "site")


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site of two runs, many conditions on one host and one on another; return its front page."""
    folder = tmp_path_factory.mktemp("answers")
    wide = synthetic_run(folder / "wide", Shape(cpus=(1, 2), burn_us=(0, 100), blocks=5, windows=1))
    other = synthetic_run(folder / "other", replace(QUICK, jdks=("temurin-26",), run_id="elsewhere"))
    host = other.run.first_session.host.model_copy(update={"hostname_hash": "ab<b>&\"'"})
    site_of([wide, replace(other, run=altered_run(other.run, {"host": host}))], folder / "site")
    return folder / "site" / "index.html"


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the pages of all histories and of the shorter of two: the last two of three runs have a condition more."""
    folder = tmp_path_factory.mktemp("history")
    runs = [
        synthetic_run(folder / name, replace(QUICK, jdks=("temurin-25",), burn_us=work, seed=seed, blocks=3))
        for name, work, seed in (("first", (0,), 1), ("second", (0, 100), 2), ("third", (0, 100), 3))
    ]
    site_of([later(run, f"run-{day}", f"2025-01-0{day}") for day, run in enumerate(runs, start=1)], folder / "site")
    pages = folder / "site" / "history"
    (own,) = pages.glob("*.100.0.mp-ping.*.html")
    return {"history": pages / "index.html", "history of a condition": own}


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the front page of a run with several conditions, some in a closed loop and some at a constant rate."""
    folder = tmp_path_factory.mktemp("several")
    shape = Shape(jdks=("temurin-25",), burn_us=(0, 500), loads=("saturate-50", "rate-2000"), blocks=5, windows=1)
    site_of([synthetic_run(folder / "run", shape)], folder / "site")
    return folder / "site" / "index.html"
