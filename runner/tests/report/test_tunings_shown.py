"""An executor with a tuning is compared with itself without it, and shown so wherever its ratio stands."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jdkmatrix.cli.summary import print_summary
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.charts.specs import dash_of
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, found, plain
from tests.support.served_runs import Shape, synthetic_run

TUNED = "virtual+carriers-4"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    shape = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", TUNED), blocks=4)
    return synthetic_run(tmp_path_factory.mktemp("run"), shape)


def test_the_answer_says_what_each_tuning_gains(run: LoadedRun) -> None:
    (answer,) = PageOfRun(run).answers
    sentences = dict(answer.sentences)
    assert f"with {TUNED} than with virtual" in sentences[TUNED] or f"between {TUNED} and virtual" in sentences[TUNED]
    assert list(sentences)[-1] == TUNED, "after what the run is about"


def test_the_cells_and_the_summary_name_what_it_is_compared_with(run: LoadedRun) -> None:
    page = PageOfRun(run)
    assert page.judged.cells.references == "liberty or virtual"
    under = {row.key.executor: row.versus.under for row in page.rows}
    assert (under[TUNED] or "").endswith("of virtual")
    assert " of " not in (under["virtual"] or "")
    sink = StringIO()
    print_summary(run, Console(file=sink, width=200))
    assert "× liberty or virtual" in sink.getvalue()
    assert "a tuned executor over itself without the tuning" in " ".join(sink.getvalue().split())


def test_no_two_executors_have_the_same_colour_and_dash() -> None:
    looks = [(place % 8, *dash_of(place)) for place in range(64)]
    assert len(set(looks)) == 64


def test_the_legend_has_what_was_measured(run: LoadedRun) -> None:
    absent = next(key for key in run.run.cells if key.executor == TUNED)
    less = replace(run, cells=tuple(cell for cell in run.cells if cell.key != absent))
    for loaded, names in ((run, ["liberty", "virtual", TUNED]), (less, ["liberty", "virtual"])):
        groups = found(PageOfRun(loaded).page.blocks, Charts)
        assert groups and all([plain(one) for one in group.key] == names for group in groups)


def test_of_several_conditions_the_answer_is_a_tally_without_them(tmp_path: Path) -> None:
    shape = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", TUNED), burn_us=(0, 100), blocks=2)
    (answer,) = PageOfRun(synthetic_run(tmp_path, shape)).answers
    assert TUNED not in dict(answer.sentences)
