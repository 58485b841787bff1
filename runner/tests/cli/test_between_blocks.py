"""The site of a run that goes on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jdkmatrix.cli.between_blocks import SHARE_MAX, SiteBetweenBlocks, write_site_apart
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_the_site_is_written_after_every_block_as_long_as_that_costs_little() -> None:
    clock, written, lasts_s = Clock(), list[float](), 30.0

    def write() -> None:
        written.append(clock.now_s)
        clock.now_s += lasts_s

    between = SiteBetweenBlocks(write, pytest.fail, clock)
    for _ in range(3):
        clock.now_s += 180
        between()
        lasts_s = 6.0
    assert len(written) == 3, "the pages of all other runs, made the first time, do not count"
    lasts_s = 30.0
    clock.now_s += 180
    between()
    waited_s = clock.now_s
    while len(written) == 4:
        clock.now_s += 180
        between()
    assert 30 / SHARE_MAX <= written[-1] - waited_s < 30 / SHARE_MAX + 180


def test_a_site_that_cannot_be_written_is_told_once_and_stops_no_run() -> None:
    def fail() -> None:
        raise MatrixError("no room")

    told: list[str] = []
    between = SiteBetweenBlocks(fail, told.append, Clock())
    between()
    between()
    assert told == ["the site is not written: no room"]


def test_a_process_of_its_own_writes_the_site_and_has_ended_then(tmp_path: Path) -> None:
    stored(tmp_path / "results" / "run", synthetic_run(tmp_path / "made-up", QUICK))
    site = tmp_path / "site"
    write_site_apart(Project(ROOT, tmp_path), [tmp_path / "results" / "run"], site)
    assert "Thread pool or virtual threads?" in (site / "index.html").read_text("utf-8")
    shutil.rmtree(site)
    site.write_text("somebody's file")
    with pytest.raises(MatrixError, match="ended with 1"):
        write_site_apart(Project(ROOT, tmp_path), [tmp_path / "results" / "run"], site)
    assert site.read_text() == "somebody's file" and [*tmp_path.glob("site*")] == [site]
