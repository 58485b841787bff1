"""One definition for every figure: what the terminal, the job summary, the run's page and the cells' pages say is the
same text, and of the same forks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rich.console import Console

from jdkmatrix.cli.summary import print_summary, summary_markdown
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.figures.metrics import leading_by_block
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.cell_page.cell_view import view_cell
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import judge_run
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.stats.percentiles import merge_latencies, tail_checked
from jdkmatrix.store.loaded import LoadedRun
from tests.support.outcome_runs import Change, failing, hung, missed, silent, spoilt, with_outcomes
from tests.support.searched_runs import searched
from tests.support.served_runs import Shape, synthetic_run

CHANGES: dict[str, Change] = {
    "as it was": lambda fork: fork,
    "missed": missed,
    "failing": failing,
    "silent": silent,
    "spoilt": spoilt,
    "hung": hung,
}
BLOCKS = 4
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a page takes a second: to look for a smaller one, minutes
SHAPE = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), blocks=BLOCKS, windows=2)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedRun]:
    closed = synthetic_run(tmp_path_factory.mktemp("closed"), SHAPE)
    rate = synthetic_run(tmp_path_factory.mktemp("rate"), replace(SHAPE, loads=("rate-2000",)))
    wrk2 = synthetic_run(tmp_path_factory.mktemp("wrk2"), replace(SHAPE, loads=("rate-2000",), driver="wrk2"))
    return {"closed": closed, "rate": rate, "wrk2": wrk2, "search": searched(closed)}


FATES = st.lists(st.sampled_from(sorted(CHANGES)), min_size=BLOCKS, max_size=BLOCKS)


def outcomes(fates: Mapping[str, list[str]]) -> dict[str, dict[int, Change]]:
    return {name: {block: CHANGES[fate] for block, fate in enumerate(found, 1)} for name, found in fates.items()}


def on_the_terminal(loaded: LoadedRun) -> dict[str, list[str]]:
    """The columns of each executor."""
    sink = StringIO()
    print_summary(loaded, Console(file=sink, width=120))
    _, table = sink.getvalue().split("─\n", 1)
    rows = [re.split(" {2,}", line.strip()) for line in table.splitlines() if re.match(r"  \S", line)]
    return {columns[0]: [*columns, ""][:6] for columns in rows}


def in_markdown(loaded: LoadedRun) -> dict[str, list[str]]:
    found = {}
    for line in summary_markdown(loaded).splitlines():
        if line.startswith("| ") and "---" not in line:
            columns = [
                re.sub(r"\\(.)", r"\1", text).strip() for text in line.removeprefix("|").removesuffix("|").split("|")
            ]
            found[columns[0]] = columns
    return found


@given(
    st.sampled_from(["closed", "rate", "wrk2", "search"]),
    st.fixed_dictionaries({"liberty": FATES, "virtual": FATES, "platform": FATES}),
)
@settings(max_examples=15, deadline=None, phases=PHASES)
def test_every_place_says_the_same(plain: dict[str, LoadedRun], kind: str, fates: dict[str, list[str]]) -> None:
    loaded = with_outcomes(plain[kind], outcomes(fates))
    cells = Cells(loaded.run, loaded.cells)
    judgements = judge_run(cells)
    view = view_run(JudgedRun(loaded))
    order = executor_order(key.executor for key in cells.keys)
    terminal, markdown = on_the_terminal(loaded), in_markdown(loaded)
    for row in view.rows:
        cell = next(one for one in cells if one.key.executor == row.executor)
        page = view_cell(cell, cell.record, cells, judgements, loaded.run, order, {})
        tiles = {name: figure.text for name, _, figure in page.tiles}
        siblings = [
            one
            for two in cells
            for one in view_cell(two, two.record, cells, judgements, loaded.run, order, {}).siblings
        ]
        beside = {(one.throughput.text, one.cpu.text, one.p99.text) for one in siblings if one.executor == row.executor}
        own = (row.throughput.text, row.cpu.text, row.p99.text)
        assert beside == {own} == {(tiles["Throughput"], tiles["CPU per request"], tiles["p99"])}
        said = terminal[row.executor]
        assert markdown[row.executor] == said
        assert said[1] == row.forks
        if cell.usable:
            last = row.held.text if kind == "search" else row.p99.text
            assert tuple(said[2:5]) == (*own[:2], last)
        bars = {
            line.split(": ")[0].split(", ")[0]: line.rsplit(": ", 1)[1]
            for chart in view.sections[0].throughput
            for line in chart.note.split("; ")
        }
        assert bars.get(row.executor, "–") == row.throughput.text
        if said[5] not in ("", "no pair"):
            assert said[5].split()[0] == row.versus.text
    heading = summary_markdown(loaded).splitlines()[0].replace("\\", "")
    assert heading.endswith(f"complete, {view.forks.text}")


@given(st.fixed_dictionaries({"liberty": FATES, "virtual": FATES}))
@settings(max_examples=15, deadline=None, phases=PHASES)
def test_p99_is_that_of_all_requests_of_the_usable_forks(
    plain: dict[str, LoadedRun], fates: dict[str, list[str]]
) -> None:
    """As one would work it out by hand, without the report."""
    loaded = with_outcomes(plain["rate"], outcomes(fates))
    for row in view_run(JudgedRun(loaded)).rows:
        record = next(cell for cell in loaded.cells if cell.key.executor == row.executor)
        assert isinstance(record.load, RateLoad)
        parts = [w.load.corrected for fork in record.forks if _counts(fork) for w in fork.windows if w.load.corrected]
        p99_us = tail_checked(merge_latencies(parts), "99") if parts else None
        assert row.p99.sort == p99_us
        if p99_us is not None:
            shown = float(row.p99.text.removeprefix("≥ ").replace(",", ""))
            assert shown == pytest.approx(p99_us / 1000, rel=0.005)


def _counts(fork: Fork) -> bool:
    return fork.status.value == "ok" and any(window.load.completed for window in fork.windows)


@given(st.fixed_dictionaries({"liberty": FATES, "virtual": FATES}), st.sampled_from(["closed", "rate", "search"]))
@settings(max_examples=15, deadline=None, phases=PHASES)
def test_the_page_compares_by_what_the_stopping_rule_looks_at(
    plain: dict[str, LoadedRun], fates: dict[str, list[str]], kind: str
) -> None:
    loaded = with_outcomes(plain[kind], outcomes(fates))
    cells = Cells(loaded.run, loaded.cells)
    compared = cells.compare(cells.leading(loaded.cells[1].key), loaded.cells[1].key, "liberty")
    assert compared is not None
    above, below = (leading_by_block(cell) for cell in (loaded.cells[1], loaded.cells[0]))
    assert compared.pairs == {block: (above[block], below[block]) for block in sorted(above.keys() & below.keys())}


def test_text_of_the_tests_own_reader(plain: dict[str, LoadedRun], tmp_path: Path) -> None:
    """It finds the rows at all."""
    assert set(on_the_terminal(plain["rate"])) == {"liberty", "virtual", "platform"} <= set(in_markdown(plain["rate"]))
