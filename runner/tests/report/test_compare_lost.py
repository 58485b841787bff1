"""What cannot be compared any more, or never could: no all-clear, wherever it may have got worse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.comparing import EXIT_CANNOT_TELL, compare
from jdkmatrix.figures.metrics import P99, Metric
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import NotTestable
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.compare.changes import compare_sides
from jdkmatrix.report.compare.page import outcome
from jdkmatrix.report.compare.sides import ComparedSide
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.report.test_compare import DAY, SHAPE, failing, side
from tests.support.outcome_runs import all_of, spoilt, windows_of, with_outcomes
from tests.support.records import altered, altered_run, with_forks, with_load
from tests.support.served_runs import made_up
from tests.support.sites import later, stored
from tests.support.stepped_runs import searched


@pytest.fixture
def loaded() -> LoadedRun:
    return made_up(SHAPE)


def test_a_cell_that_was_to_be_measured_again_and_could_not_be_is_no_all_clear(loaded: LoadedRun) -> None:
    whole = later(loaded, "after", DAY)
    gone = [cell.key for cell in loaded.cells if cell.key.executor == "virtual"]
    refused = [NotTestable(key=key, reason="its JDK cannot be had") for key in gone]
    left = tuple(cell for cell in whole.cells if cell.key not in gone)
    after = replace(whole, run=altered_run(whole.run, {"not_testable": tuple(refused)}), cells=left)
    found = compare_sides(side(loaded), side(after), threshold=0.05)
    assert found.lost == tuple(f"{cell_words(key)}: not testable after: its JDK cannot be had" for key in gone)
    assert outcome(found).startswith("cannot tell: ")


def test_a_cell_that_another_driver_has_driven_since_is_no_all_clear(loaded: LoadedRun) -> None:
    def by_wrk2(_: CellRecord, fork: Fork) -> Fork:
        return windows_of(fork, lambda window: with_load(window, {"driver": "wrk2"}))

    found = compare_sides(side(loaded), side(with_forks(later(loaded, "after", DAY), by_wrk2)), threshold=0.05)
    assert len(found.lost) == len(loaded.cells) and all("driven by loadgen before" in one for one in found.lost)
    assert outcome(found).startswith("cannot tell: ")


def test_a_figure_that_was_a_bound_is_no_all_clear() -> None:
    """Before, every search held even the highest rate that it tried; after, a lower one was the most."""
    after = searched(made_up(SHAPE))
    held = {"outcome": SearchOutcome.CEILING_HELD.value}
    before = with_forks(
        after, lambda _, fork: altered(fork, {"capacity": fork.capacity and fork.capacity.model_copy(update=held)})
    )
    sides = side(before), side(later(after, "after", DAY))
    found = compare_sides(*sides, threshold=0.05)
    assert not found.regressions and {text.rpartition(", ")[2] for text in found.lost} == {
        "Rate held: no fork has a figure to compare before"
    }
    assert not compare_sides(*sides[::-1], threshold=0.05).lost, "at least as much as before"
    both = compare_sides(sides[0], side(later(before, "after", DAY)), threshold=0.05)
    assert outcome(both).startswith("cannot tell: ") and len(both.lost) == len(found.lost)
    assert {text.rpartition(": ")[2] for text in both.lost} == {"no fork has a figure to compare before or after"}


def test_figures_that_no_block_has_on_both_sides_are_no_all_clear() -> None:
    """Of one JDK the first blocks are usable, of the other the last ones: nothing is paired."""
    run = made_up(replace(SHAPE, blocks=4, jdks=("temurin-21", "temurin-25")))
    lost = {"temurin-21": (1, 2), "temurin-25": (3, 4)}

    def half_lost(cell: CellRecord, fork: Fork) -> Fork:
        return spoilt(fork) if cell.key.executor == "virtual" and fork.fork in lost[cell.key.jdk] else fork

    half = with_forks(run, half_lost)
    cells = Cells(half.run, half.cells)
    sides = (ComparedSide(half.run, cells, "jdk", jdk) for jdk in lost)
    found = compare_sides(*sides, threshold=0.5)
    assert outcome(found).startswith("cannot tell: ")
    assert found.lost and all(
        "virtual" in text and text.endswith("no block has one on both sides") for text in found.lost
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (ForkFigure(2e6, Bound.AT_LEAST), ForkFigure(1e6), False),
        (ForkFigure(2e6, Bound.AT_LEAST), ForkFigure(3e6), True),
        (ForkFigure(1e6), ForkFigure(9e5, Bound.BELOW), False),
        (ForkFigure(1e6), ForkFigure(9e5, Bound.AT_LEAST), True),
    ],
)
def test_bounds_that_exclude_a_loss_need_no_ratio(
    monkeypatch: pytest.MonkeyPatch, old: ForkFigure, new: ForkFigure, *, said: bool
) -> None:
    rated = made_up(replace(SHAPE, loads=("rate-2000",)))
    before, after = side(rated), side(later(rated, "after", DAY))

    def figures(cell: CellStats, metric: Metric) -> dict[int, ForkFigure]:
        if metric is not P99:
            return {}
        return {1: old if before.cells.get(cell.key) is cell else new}

    monkeypatch.setattr(CellStats, "figures", figures)
    assert bool(compare_sides(before, after, threshold=0.05).lost) == said


def test_a_lost_figure_is_no_all_clear(tmp_path: Path, loaded: LoadedRun, capsys: pytest.CaptureFixture[str]) -> None:
    sides = {"before": loaded, "after": with_outcomes(later(loaded, "spoilt", DAY), {"virtual": all_of(spoilt)})}
    found = compare_sides(*map(side, sides.values()), threshold=0.05)
    lost = [cell_words(cell.key) for cell in loaded.cells if cell.key.executor == "virtual"]
    assert not found.regressions and found.lost == tuple(f"{one}: no usable fork after" for one in lost)
    assert outcome(found).startswith("cannot tell: ") and lost[0] in outcome(found)
    folders = [str(stored(tmp_path / name, run).directory) for name, run in sides.items()]
    assert compare(folders, {}, 0.99, as_json=True, as_markdown=False) == EXIT_CANNOT_TELL
    assert json.loads(capsys.readouterr().out)["lost"] == list(found.lost)
    assert not compare_sides(side(sides["after"]), side(loaded), threshold=0.05).lost, "it came to be"


def test_what_neither_side_did_cannot_get_worse(loaded: LoadedRun) -> None:
    failed = failing(loaded, 5)
    found = compare_sides(side(failed), side(later(failed, "after", DAY)), threshold=0.99)
    assert not found.lost and not [one for one in found.open if one.key.executor == "virtual"]
