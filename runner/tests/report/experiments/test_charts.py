"""The charts of experiments: bars, their scale, and the words beside them. For pinning: the rule that tells from a
throughput whether blocked threads keep their carriers, its heat map, and the stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.domain.quantities import amount, measure
from jdkmatrix.experiments.kinds import BY_NAME, EXPERIMENTS, name_of
from jdkmatrix.experiments.pinning_rule import TOLERANCE, CarrierCount, Held, Holding, held, held_words
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Chart, Charts, HeatMap, Pre, Prose, Section
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.slices import ExperimentSlice, of_kinds
from jdkmatrix.report.charts.bars import BarScale
from jdkmatrix.report.charts.shapes import Drawing, Row
from jdkmatrix.report.experiments import pinning
from jdkmatrix.report.experiments.bars import bar_groups
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import vega_lite
from tests.support.experiment_runs import NEW, OLD, Sections, experiments_of, sections_of, with_seen
from tests.support.judged_pages import cell_of
from tests.support.pages import charts_of, found
from tests.support.records import altered, with_forks


def notes(section: Section, group: str, title: str) -> list[str]:
    """Return the note of each bar of the chart with this title."""
    return next(chart.note for chart in charts_of([section], group) if chart.title == title).split("; ")


def test_every_group_of_figures_has_its_charts_beside_each_other(sections: Sections) -> None:
    told = {}
    for experiment, one in zip(EXPERIMENTS, sections.values(), strict=True):
        for group, layout in zip(found([one], Charts), experiment.PAGE.groups, strict=True):
            assert group.title == layout.title and str(group.words).startswith(layout.words)
            assert [chart.id for chart in group.charts] == [
                f"experiment-{name_of(experiment)}-{layout.id}-{number}" for number in range(len(group.charts))
            ]
            words = str(group.words)
            told[name_of(experiment), group.title] = group.css, "vertical lines" in words, "A star" in words
    assert told["burn", "Throughput"] == ("by-2", True, False) and told["burn", "CPU used"] == ("by-2", False, False)
    assert told["hang", "Threads that went on"] == ("by-2", True, True)
    assert told["borrow", "Cost of an operation"] == ("by-3", False, False)


def test_charts_of_one_condition_stand_jdk_by_jdk_on_one_scale(sections: Sections) -> None:
    throughput, _, parked = found([sections["burn"]], Charts)
    assert [chart.title for chart in throughput.charts] == [
        f"{OLD}, 8 in flight, 500 µs", f"{NEW}, 8 in flight, 500 µs",
        f"{OLD}, 5,000 per second, 50 µs", f"{NEW}, 5,000 per second, 50 µs",
    ]  # fmt: skip
    assert [chart.title for chart in parked.charts[:2]] == [
        f"Longest stretch: {OLD}, 8 in flight, 500 µs", f"Share of time: {OLD}, 8 in flight, 500 µs",
    ]  # fmt: skip
    for first, second in zip(throughput.charts[::2], throughput.charts[1::2], strict=True):
        assert x_scale(first)["domain"] == x_scale(second)["domain"]


def x_scale(chart: Chart) -> dict[str, Any]:
    scale: dict[str, Any] = vega_lite(chart.drawing)["layer"][0]["encoding"]["x"]["scale"]
    return scale


def test_virtual_and_resident_memory_stand_side_by_side_in_one_unit(sections: Sections) -> None:
    charts = charts_of([sections["spawn"]], "Memory per thread")
    assert [chart.title.split(":")[0] for chart in charts[:2]] == ["VIRT", "RSS"]
    scales = [x_scale(chart) for chart in charts]
    assert all(scale["domain"] == scales[0]["domain"] for scale in scales)
    assert {scale["type"] for scale in scales} == {"symlog"}
    assert " KiB" in charts[0].note


def test_notes_tell_every_bar_with_unit_and_expectation(sections: Sections) -> None:
    burn, spawn = sections["burn"], sections["spawn"]
    assert notes(burn, "Throughput", f"{NEW}, 8 in flight, 500 µs") == [
        "virtual: 3,564/s (expected 4,000/s)", "cached: 3,535/s (expected 4,000/s)",
        "fixed-2: 3,516/s (expected 4,000/s)",
    ]  # fmt: skip
    assert notes(burn, "Throughput", f"{OLD}, 5,000 per second, 50 µs") == [
        "virtual, burn: 4,975/s (expected 5,000/s)", "virtual, burn-unwatched: 4,975/s (expected 5,000/s)",
    ]  # fmt: skip
    assert notes(burn, "CPU used", f"{NEW}, 8 in flight, 500 µs")[0] == "virtual: 99.2 %"
    memory = notes(spawn, "Memory per thread", f"VIRT: {OLD}")
    assert memory[0] == "virtual, spawn-sleep-1m, 10,000: 0 KiB"
    assert memory[-1] == "platform, spawn-sleep-boxed, 2,000: 256 KiB * (expected 256 KiB, threads refused)"
    assert notes(spawn, "Time", f"All done: {OLD}")[0] == "virtual, spawn-print, 10,000: 0.336 s"
    assert notes(sections["pinning"], "Throughput", OLD)[0] == "synchronized: 39.3/s (expected 40.0/s)"
    # Without a usable fork a cell is in no chart.
    assert notes(burn, "Throughput", f"{OLD}, 8 in flight, 500 µs") == ["fixed-2: 3,460/s (expected 4,000/s)"]


def test_a_bar_is_the_median_and_every_fork_is_a_point(sections: Sections) -> None:
    chart = charts_of([sections["pinning"]], "Throughput")[0]
    rows = [one for values in chart.drawing.datasets.values() for one in values]
    points = [one["value"] for one in rows if one.get("fork") and one["row"] == "synchronized"]
    (bar,) = [one for one in rows if "median" in one and one["row"] == "synchronized"][:1]
    assert len(set(points)) == 2 and bar["median"] == pytest.approx(sum(points) / 2)
    assert bar["expected"] == pytest.approx(40)


def test_bars_and_points_that_are_lower_bounds_say_so(loaded: LoadedRun) -> None:
    def given_up(_: CellRecord, fork: Fork) -> Fork:
        result = fork.result
        if result is None or result.experiment != "borrow":
            return fork
        return altered(fork, {"result": with_seen(result, {"lower_bounds": 10**9})})

    said: dict[str, set[bool]] = {}
    for chart in charts_of([sections_of(with_forks(loaded, given_up))["borrow"]], "Cost of an operation"):
        rows = [row for values in chart.drawing.datasets.values() for row in values if "label" in row]
        assert len(rows) > 1
        bounds = {row["label"].startswith("≥ ") for row in rows} | {": ≥ " in note for note in chart.note.split("; ")}
        said.setdefault(chart.title.partition(":")[0], set()).update(bounds)
    assert said == {"CPU": {False}, "Median wait": {True}, "p99 of waits": {True}}


def test_the_figures_that_charts_name_are_there(loaded: LoadedRun) -> None:
    """Names of readings are text: one that nobody makes would give an empty chart."""
    for kind, experiment in BY_NAME.items():
        records = [record for record in loaded.experiments if record.parameters["experiment"] == kind]
        made = {spread.name for record in records for spread in CellStats(record).spreads}
        assert {figure.name for group in experiment.PAGE.groups for figure in group.figures} <= made


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_whatever_was_measured_every_figure_is_drawn_once(loaded: LoadedRun, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(BY_NAME)))
    all_of_kind = [r for r in loaded.experiments if r.parameters["experiment"] == kind]
    records = data.draw(st.lists(st.sampled_from(all_of_kind), unique_by=lambda r: r.key, min_size=1))
    run = loaded.run.model_copy(update={"cells": tuple(record.key for record in records)})
    (part,) = of_kinds(Cells(run, records, served=False))
    assert {cell.key for cell in part.cells} == {record.key for record in records}
    groups = list(bar_groups(part))
    for group in BY_NAME[kind].PAGE.groups:
        expected = sum(cell.spread(figure.name) is not None for cell in part.cells for figure in group.figures)
        rows = [row for chart in charts_of(groups, group.title) for row in _medians(chart.drawing)]
        assert len(rows) == expected
    charts = [chart for one in groups for chart in one.charts]
    assert len({chart.id for chart in charts}) == len(charts)
    for chart in charts:
        names = [row["row"] for row in _medians(chart.drawing)]
        assert len(set(names)) == len(names), "two cells on one row"


def _medians(drawing: Drawing) -> Sequence[Row]:
    return drawing.datasets[drawing.shape.spec["layer"][0]["data"]["name"]]


def test_rows_say_what_their_experiments_name_does_not(loaded: LoadedRun) -> None:
    first, second = [r.key for r in loaded.experiments if r.key.workload.startswith("spawn")][:2]
    asleep = first.model_copy(update={"workload": "spawn-sleep-1m", "load": "count-1000"})
    at_work = second.model_copy(update={"workload": "spawn-work", "load": "count-1000", "burn_us": 1000})
    more = asleep.model_copy(update={"load": "count-10000"})
    told = ExperimentSlice((asleep, at_work, more), (), (), "spawn")
    assert {axis for axis in ("workload", "load", "burn_us", "cpus") if told.tells_apart(axis)} == {"workload", "load"}
    harder = at_work.model_copy(update={"burn_us": 2000})
    assert ExperimentSlice((asleep, at_work, harder), (), (), "spawn").tells_apart("burn_us")


@given(st.floats(min_value=1e-3, max_value=1e9), st.sampled_from([None, 0.01, 0.1, 1.0]), st.sampled_from([1, 2]))
def test_a_scale_has_room_for_its_figures_and_few_ticks(highest: float, linear_to: float | None, lines: int) -> None:
    scale = BarScale("x", highest, linear_to, lines)
    assert scale.end > highest
    if linear_to is not None:
        ticks = scale.ticks()
        assert ticks[0] == 0 and ticks == sorted(ticks) and len(ticks) <= 7
        assert all(tick <= highest * 1.001 for tick in ticks)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(39.5, "1/s", "39.5/s"), (1975.4, "1/s", "1,975/s"), (1024.0, "KiB", "1,024 KiB"), (0.0, "KiB", "0 KiB"),
     (0.102, "%", "0.10 %"), (98.25, "%", "98.2 %"), (12.0, "", "12"), (0.9981, "", "0.998"),
     (-3.2, "KiB", "\u22123.20 KiB")],
)  # fmt: skip
def test_a_figure_has_few_digits_and_its_unit(value: float, unit: str, text: str) -> None:
    assert measure(value, unit) == text
    assert text.startswith(amount(value, unit))


TWO = CarrierCount(usual=2, most=2)
THREADS, BLOCK_S = 100, 0.05  # threads / D is 2,000 per second, carriers / D 40


def said(throughput_per_s: float, carriers: CarrierCount | None = TWO, threads: int = THREADS) -> Held:
    return held(throughput_per_s, threads=threads, block_s=BLOCK_S, carriers=carriers)


@pytest.mark.parametrize(
    ("throughput", "carriers", "words"),
    [
        (1975, TWO, "free"),
        (1700, TWO, "free"),  # 85 %, still
        (1699, TWO, "between"),
        (1982, CarrierCount(2, 101), "free, by 99 more carriers"),
        (1982, CarrierCount(2, 3), "free"),  # one more carrier holds 60 operations a second, not 1,982
        (1200, CarrierCount(2, 60), "between, by 58 more carriers"),
        (58, CarrierCount(2, 3), "between, by 1 more carrier"),
        (39.5, TWO, "keeps its carrier"),
        (46, TWO, "keeps its carrier"),
        (34, TWO, "keeps its carrier"),
        (33, TWO, "slower than its carriers"),
        (0.1, TWO, "slower than its carriers"),
        (0, TWO, "finds no carrier"),
        (0, None, "not all at once"),
        (2400, TWO, "faster than it can be"),
        (1990, None, "all at once"),
        (40, None, "not all at once"),
    ],
)
def test_a_throughput_says_who_keeps_its_carrier(throughput: float, carriers: CarrierCount | None, words: str) -> None:
    assert said(throughput, carriers).words == words


def test_as_many_carriers_as_threads_tell_nothing() -> None:
    assert said(38, TWO, threads=2).holding is Holding.CANNOT_TELL
    assert said(60, TWO, threads=3).words == "free"
    assert said(60, CarrierCount(2, 3), threads=3).words == "free, by 1 more carrier"


COUNTS = st.integers(min_value=1, max_value=10_000)
SECONDS = st.floats(min_value=1e-3, max_value=60)


@given(st.floats(min_value=0, max_value=1e6), COUNTS, COUNTS, COUNTS, SECONDS)
def test_words_never_promise_too_much(throughput: float, threads: int, usual: int, extra: int, block_s: float) -> None:
    carriers = CarrierCount(usual, usual + extra)
    found = held(throughput, threads=threads, block_s=block_s, carriers=carriers)
    assert found.share * threads / block_s == pytest.approx(throughput)
    assert 0 <= found.more <= extra
    assert (found.holding is Holding.MORE_CARRIERS) <= (found.more > 0)
    assert (found.holding in (Holding.FREE, Holding.MORE_CARRIERS)) <= (1 - TOLERANCE <= found.share <= 1 + TOLERANCE)
    if found.more:
        assert carriers.most / block_s >= (1 - TOLERANCE) * throughput


@given(st.floats(min_value=0, max_value=1.2), st.floats(min_value=0, max_value=1.2))
def test_colours_follow_the_share(one: float, other: float) -> None:
    order = [css for css, _ in pinning.LEGEND]
    low, high = sorted((one, other))
    assert order.index(pinning.tone(low)) <= order.index(pinning.tone(high))


def test_forks_that_differ_are_told_apart() -> None:
    free, by_99, by_97 = said(1975), said(1982, CarrierCount(2, 101)), said(1982, CarrierCount(2, 99))
    assert held_words([free, free]) == "free"
    assert held_words([by_97, by_99]) == "free, by 99 more carriers"
    assert held_words([free, said(39)]) == "forks differ: free; keeps its carrier"


def map_of(loaded: LoadedRun) -> HeatMap:
    (part,) = of_kinds(Cells(loaded.run, loaded.experiments, served=False))
    (table,) = found(pinning.pinning_blocks(part), HeatMap)
    return table


def test_the_heat_map_of_real_results_has_constructs_down_and_jdks_across() -> None:
    table = map_of(experiments_of("pinning"))
    assert table.columns == (OLD, NEW)
    assert table.title == "Heat map, virtual: 100 at once, 2 CPUs, 2 carriers"
    assert {head: tuple(cell.interval for cell in cells) for head, cells in table.rows} == {
        "synchronized": ("keeps its carrier", "free"),
        "ReentrantLock": ("free", "free"),
        "Object.wait": ("free, by 99 more carriers", "free"),
        "class initialiser": ("keeps its carrier", "keeps its carrier"),
        "native frame": ("not on this JDK", "keeps its carrier"),
    }
    assert all(cell.href is not None for _, cells in table.rows for cell in cells)
    pinned, free = dict(table.rows)["synchronized"]
    assert (pinned.value, pinned.basis, pinned.tone) == ("39.3/s", "2.0 % of threads / D", "p5")
    assert (free.value, free.basis, free.tone) == ("1,965/s", "98 % of threads / D", "p1")
    assert pinned.title == f"synchronized on {OLD}: keeps its carrier; median of 2 forks"
    missing, _ = dict(table.rows)["native frame"]
    assert (missing.value, missing.tone, missing.basis) == ("–", "none", "") and missing.title


def test_a_cell_without_figures_says_why() -> None:
    table = map_of(experiments_of("pinning", accidents=True))
    rows = dict(table.rows)
    assert (rows["synchronized"][0].value, rows["synchronized"][0].interval) == ("–", "failed")
    assert rows["synchronized"][0].href is not None and rows["synchronized"][0].tone == "none"
    missing = next(cells for head, cells in table.rows if cells[0].interval == "not measured")
    assert missing[0].href is None


def test_what_is_asked_for_may_be_nonsense() -> None:
    loaded = experiments_of("pinning")
    for block_ms in (0, -5, "x", None, True, float("nan")):
        records = [
            record.model_copy(update={"parameters": {**record.parameters, "block_ms": block_ms, "inside": 7}})
            for record in loaded.experiments
        ]
        table = map_of(replace(loaded, cells=tuple(records)))
        assert {cell.tone for _, cells in table.rows for cell in cells} == {"none"}
        assert table.rows[0][0] == "pinning-synchronized"


@pytest.mark.parametrize(
    ("frame", "plain"),
    [
        ("a.Blocking.sleep:30", "a.Blocking.sleep:30"),
        ("java.lang.Thread.sleep:-1", "java.lang.Thread.sleep"),
        ("a.BlockingInitialiser.1324371348.<clinit>:6", "a.BlockingInitialiser.<clinit>:6"),
        ("a.Foo/0x00007f12ab.<clinit>:6", "a.Foo.<clinit>:6"),
        ("java.lang.System$2.defineClass:-1", "java.lang.System$2.defineClass"),
    ],
)
def test_a_frame_loses_what_differs_from_run_to_run(frame: str, plain: str) -> None:
    assert pinning.plain_frame(frame) == plain


def test_stacks_of_hidden_classes_are_one_and_every_event_is_counted() -> None:
    loaded = experiments_of("pinning")
    record = cell_of(loaded, workload="pinning-class-init")
    events, blocks = pinning.pinned_stacks(record.forks)
    readings = [one.value for fork in record.forks for one in fork.readings if one.metric == "pinned events"]
    assert events == sum(readings) > 0
    stacks = [one.text for one in blocks if isinstance(one, Pre)]
    assert 0 < len(stacks) <= pinning.MOST_STACKS and "BlockingInitialiser.<clinit>" in stacks[0]
    told = [int(str(one.text).split(" ")[0].replace(",", "")) for one in blocks if isinstance(one, Prose)]
    assert sum(told) == events and told[0] > 1
    assert pinning.pinned_stacks(cell_of(loaded, workload="pinning-lock").forks) == (0, ())
