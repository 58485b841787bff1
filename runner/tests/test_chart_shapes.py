"""Charts that fill in a shape: nothing stays blank, nothing given is lost, and what comes out is Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.cell_page.cell_view import view_cell
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.experiment_cells import Experiments
from jdkmatrix.report.cells.judgements import judge_run
from jdkmatrix.report.charts.shapes import Shape, blank, blanks
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.experiments.cell_view import view_experiment_cell
from jdkmatrix.report.experiments.view import view_experiments
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_run
from tests.support.served_runs import QUICK, synthetic_run

SHAPE = Shape(
    alt.layer(
        alt.Chart(alt.NamedData(name="rows"))
        .mark_point()
        .encode(x=alt.X("x:Q", title=blank("title"), scale=alt.Scale(domain=blanks("ends"))))
    )
)


def filled(title: str, ends: list[Any]) -> dict[str, Any]:
    spec = SHAPE.filled(data={"rows": []}, height=10, description="", words={"title": title}, lists={"ends": ends})
    x: dict[str, Any] = spec["layer"][0]["encoding"]["x"]
    return x


@given(st.text() | st.sampled_from(["{title}", "{ends}"]), st.lists(st.text() | st.sampled_from(["{title}"])))
def test_what_is_filled_in_stands_there_as_it_was_given(title: str, ends: list[str]) -> None:
    x = filled(title, ends)
    assert (x["title"], x["scale"]["domain"]) == (title, ends)


def test_one_chart_changes_no_other() -> None:
    first = filled("one", [1])
    filled("two", [2])["scale"]["domain"].append(3)
    assert (first["title"], first["scale"]["domain"]) == ("one", [1])


def test_a_blank_that_nobody_fills_and_a_word_without_a_blank_are_mistakes() -> None:
    with pytest.raises(ValueError, match=r"nothing was given for \{title\}"):
        SHAPE.filled(data={}, height=1, description="", lists={"ends": []})
    with pytest.raises(ValueError, match=r"no blank for \{titel\}"):
        SHAPE.filled(data={}, height=1, description="", words={"title": "", "titel": ""}, lists={"ends": []})


def charts(loaded: LoadedRun) -> Iterator[dict[str, Any]]:
    """Of the run's page and of the pages of its cells."""
    cells = Cells(loaded.run, loaded.cells)
    experiments = Experiments(loaded.run, loaded.cells)
    order = executor_order(key.executor for key in (*cells.keys, *experiments.keys))
    yield from view_run(JudgedRun(loaded)).charts.values()
    yield from view_experiments(experiments, order).charts.values()
    judgements = judge_run(cells)
    for cell in cells:
        yield from view_cell(cell, cell.record, cells, judgements, loaded.run, order, {}).charts.values()
    for lone in experiments:
        yield from view_experiment_cell(lone, experiments, loaded.run, order, {}).charts.values()


@pytest.mark.parametrize("kind", ["one condition", "many conditions", "experiments"])
def test_every_chart_is_vega_lite_that_its_own_schema_accepts(kind: str, tmp_path: Path) -> None:
    match kind:
        case "one condition":
            loaded = synthetic_run(tmp_path, QUICK)
        case "many conditions":
            loaded = synthetic_run(
                tmp_path, replace(QUICK, burn_us=(0, 50), loads=("saturate-50", "rate-2000"), blocks=1)
            )
        case _:
            loaded = experiments_run(tmp_path, forks=1)
    # The schema takes long to read a chart: one of each kind, without its rows.
    kinds = {_kind(spec): {**spec, "datasets": {}} for spec in charts(loaded)}
    assert len(kinds) >= 2
    for spec in kinds.values():
        alt.LayerChart.from_dict(spec, validate=True)
        assert "{" not in {text[:1] for text in _texts(spec)}


def _kind(part: Any) -> tuple[Any, ...]:
    """Its keys, whatever stands below them."""
    match part:
        case dict():
            return tuple((name, _kind(inside)) for name, inside in part.items() if name != "datasets")
        case [dict(), *_]:
            return tuple(map(_kind, part))
        case _:
            return ()


def _texts(part: Any) -> Iterator[str]:
    match part:
        case str():
            yield part
        case dict():
            for inside in part.values():
                yield from _texts(inside)
        case list():
            for inside in part:
                yield from _texts(inside)
