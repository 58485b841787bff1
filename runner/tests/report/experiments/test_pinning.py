"""The rule that tells from a throughput whether blocked threads keep their carriers, its heat map, and the stacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.experiments.pinning_rule import TOLERANCE, CarrierCount, Held, Holding, held, held_words
from jdkmatrix.report.blocks.kinds import HeatMap, Pre, Prose
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import of_kinds
from jdkmatrix.report.experiments.pinning import (
    LEGEND,
    MOST_STACKS,
    RULE,
    pinned_stacks,
    pinning_blocks,
    plain_frame,
    tone,
)
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import found

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
def test_words_never_promise_more_than_there_was(
    throughput: float, threads: int, usual: int, extra: int, block_s: float
) -> None:
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
    order = [css for css, _ in LEGEND]
    low, high = sorted((one, other))
    assert order.index(tone(low)) <= order.index(tone(high))


def test_the_page_states_the_tolerance_that_is_used() -> None:
    assert f"{TOLERANCE * 100:.0f} %" in RULE and f"{100 - TOLERANCE * 100:.0f} %" in RULE


def test_forks_that_differ_are_told_apart() -> None:
    free, by_99, by_97 = said(1975), said(1982, CarrierCount(2, 101)), said(1982, CarrierCount(2, 99))
    assert held_words([free, free]) == "free"
    assert held_words([by_97, by_99]) == "free, by 99 more carriers"
    assert held_words([free, said(39)]) == "forks differ: free; keeps its carrier"


def map_of(loaded: LoadedRun) -> HeatMap:
    (part,) = of_kinds(Cells(loaded.run, loaded.experiments, served=False))
    (table,) = found(pinning_blocks(part), HeatMap)
    return table


def test_the_heat_map_of_real_results_has_constructs_down_and_jdks_across(tmp_path: Path) -> None:
    table = map_of(experiments_run(tmp_path, ("pinning",)))
    assert table.columns == ("temurin-21.0.8", "temurin-25")
    assert table.title == "Heat map, virtual: 100 at once, 2 CPUs, 2 carriers"
    assert {head: tuple(cell.interval for cell in cells) for head, cells in table.rows} == {
        "synchronized": ("keeps its carrier", "free"),
        "ReentrantLock": ("free", "free"),
        "Object.wait": ("free, by 99 more carriers", "free"),
        "class initialiser": ("keeps its carrier", "keeps its carrier"),
        "native frame": ("not on this JDK", "keeps its carrier"),
    }
    assert all(cell.href is not None for _, cells in table.rows for cell in cells)


def test_a_cell_without_figures_says_why(tmp_path: Path) -> None:
    table = map_of(experiments_run(tmp_path, ("pinning",), accidents=True))
    rows = dict(table.rows)
    assert (rows["synchronized"][0].value, rows["synchronized"][0].interval) == ("–", "failed")
    assert rows["synchronized"][0].href is not None and rows["synchronized"][0].tone == "none"
    missing = next(cells for head, cells in table.rows if cells[0].interval == "not measured")
    assert missing[0].href is None


def test_what_is_asked_for_may_be_nonsense(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("pinning",))
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
    assert plain_frame(frame) == plain


def of_workload(loaded: LoadedRun, workload: str, jdk: str) -> CellRecord:
    return next(r for r in loaded.experiments if (r.key.workload, r.key.jdk) == (workload, jdk))


def test_stacks_of_hidden_classes_are_one_and_every_event_is_counted(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("pinning",))
    record = of_workload(loaded, "pinning-class-init", "temurin-21.0.8")
    events, blocks = pinned_stacks(record.forks)
    readings = [one.value for fork in record.forks for one in fork.readings if one.metric == "pinned events"]
    assert events == sum(readings) > 0
    stacks = [one.text for one in blocks if isinstance(one, Pre)]
    assert 0 < len(stacks) <= MOST_STACKS and "BlockingInitialiser.<clinit>" in stacks[0]
    told = [int(str(one.text).split(" ")[0].replace(",", "")) for one in blocks if isinstance(one, Prose)]
    assert sum(told) == events and told[0] > 1
    assert pinned_stacks(of_workload(loaded, "pinning-lock", "temurin-21.0.8").forks) == (0, ())
