"""A run of servers' cells and experiments together: each on disk, gone on with, and summed up at its end."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from jdkmatrix.cli.experiments import fork_words, groups
from jdkmatrix.cli.summary import has_failures, print_summary, summary_markdown
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.experiment_campaign import CELLS, campaign, fork, forks, read, result
from tests.support.records import run_record
from tests.support.served_campaign import Heard
from tests.support.served_campaign import run as measure
from tests.support.shipped import MATRIX

__all__ = ["forks"]


def test_every_fork_is_on_disk_before_the_next(tmp_path: Path, forks: list[ForkDraft]) -> None:
    store = RunStore.create(tmp_path / "run")
    heard = Heard()
    order = measure(campaign(store, blocks=2), heard)
    assert list(order) == heard.finished == [setup.planned.label for setup in forks]
    assert all(len(read(store, key).forks) == 2 for key in CELLS)
    assert {one.cell.profile.windows * one.cell.profile.window_s for one in forks} == {6.0}, "its windows in one piece"
    assert read(store, CELLS[0]).parameters["inside"] == "synchronized"
    (spread, *_) = CellStats(read(store, CELLS[0])).spreads
    assert (spread.median, spread.least, spread.most, spread.expected) == (150.0, 100.0, 200.0, 2000.0)


def test_a_run_goes_on_and_what_was_made_otherwise_is_set_aside(tmp_path: Path, forks: list[ForkDraft]) -> None:
    store = RunStore.create(tmp_path / "run")
    measure(campaign(store, blocks=1), Heard())
    measure(campaign(store, blocks=2), Heard())
    assert [setup.planned.fork for setup in forks] == [1] * 4 + [2] * 4
    measure(campaign(store, block_ms=99, blocks=1), Heard())
    assert len(list((tmp_path / "run" / "cells").glob("*.superseded-1"))) == 4


def test_experiments_take_no_more_blocks_than_they_must(tmp_path: Path, forks: list[ForkDraft]) -> None:
    store = RunStore.create(tmp_path / "run")
    measure(campaign(store, blocks=5, max_blocks=20, precision=0.02), Heard())
    assert len(forks) == 5 * len(CELLS)


def record(key: CellKey, *found: Fork) -> CellRecord:
    identity = {"digest": "d", "inputs": {}}
    return CellRecord.model_validate(
        {"key": key, "load": MATRIX.task_load(key), "identity": identity, "parameters": {}, "burn_rounds": 0,
         "forks": found}
    )  # fmt: skip


def loaded(*cells: CellRecord) -> LoadedRun:
    run = run_record("r", cells=tuple(cell.key for cell in cells), order=())
    return LoadedRun(run=run, cells=cells, problems=(), directory=Path("/nowhere"))


REFUSED = result(0.0, seen=None, expected=None, outcome="not-on-this-jdk",
                 problem={"message": "no <b>API</b>", "at_count": None, "advice": "JDK 22"})  # fmt: skip


def test_the_end_of_a_run_tells_every_arm(capsys: pytest.CaptureFixture[str]) -> None:
    run = loaded(record(CELLS[0], fork(1, result(40.0)), fork(2, result(42.0))), record(CELLS[1], fork(1, REFUSED)))
    assert not has_failures(run), "a JDK that has not what an experiment is about has not failed"
    out = io.StringIO()
    print_summary(run, Console(file=out, width=80))
    text = out.getvalue()
    for expected in ("temurin-21.0.8: pinning-synchronized, count-100, 2 CPUs – throughput, 1/s", "41.0", "40.0–42.0",
                     "2,000", "complete", "not-on-this-jdk"):  # fmt: skip
        assert expected in text
    assert "req/s" not in text, "there is no table of servers"
    assert "40.0–42.0" in summary_markdown(run)


def test_a_cell_without_a_sound_fork_is_a_failure() -> None:
    broken = record(CELLS[0], fork(1, None, Status.FAILED, "measurement"))
    disturbed = record(CELLS[1], fork(1, result(40.0), Status.INVALID, "steal"))
    for cell in (broken, disturbed):
        assert has_failures(loaded(cell))
    run = loaded(disturbed)
    rows = {row[0]: row for _, found in groups(Cells(run.run, run.cells, served=False)) for row in found}
    assert rows["virtual"][1:3] == ("0/1", "invalid")
    assert "measurement" in summary_markdown(loaded(broken))


def test_a_fork_in_a_line() -> None:
    assert fork_words(fork(1, result(40.0))) == "throughput 40.0/s (expected 2,000)"
    assert fork_words(fork(1, REFUSED)) == "not-on-this-jdk: no <b>API</b>"
    hit = result(40.0, outcome="threads-refused", problem={"message": "no more", "at_count": 4981, "advice": None})
    assert fork_words(fork(1, hit)).endswith("threads-refused at 4,981: no more")
    assert fork_words(fork(1, None, Status.FAILED, "x")) == "failed: it was x"
    assert fork_words(fork(1, result(40.0), Status.INVALID, "steal")).endswith("(invalid: steal)")
