"""Forks that are measured in turns: their order, the ratios between them, and how many rounds they get."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import fmean, geometric_mean
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.loads import CellLoad, RateLoad, SaturateLoad
from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.figures.paired import logs_of_rounds, paired_figures
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.jdks.jvm import heap_bytes
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Warmup, Window
from jdkmatrix.run.turns import round_orders, rounds_of_next, why_alone
from jdkmatrix.stats.rounds import Components, best_rounds, components
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, fork_with, key, load_result, reasons, warmup_window, window
from tests.support.records import altered
from tests.support.shipped import MATRIX


# ---------------------------------------------------------------------------------------------------------- the order
@given(st.integers(2, 7), st.integers(0, 5), st.text(max_size=3))
def test_over_full_designs_every_fork_has_every_place_equally_often(lanes: int, designs: int, seed: str) -> None:
    rounds = designs * (2 * lanes if lanes % 2 else lanes)
    drawn = round_orders(lanes, rounds, seed)
    assert drawn == round_orders(lanes, rounds, seed), "as the seed says"
    for place in range(lanes):
        counts = [sum(order[place] == one for order in drawn) for one in range(lanes)]
        assert len(set(counts)) == 1


# --------------------------------------------------------------------------------------------------------- the ratios
def rounds_fork(number: int, sequence: int, together: tuple[int, ...], rps: list[float], bad: set[int]) -> Fork:
    loads = (load_result(throughput_rps=value, completed=round(value)) for value in rps)
    windows = [window(i, load, reasons=reasons("steal") if i in bad else ()) for i, load in enumerate(loads, start=1)]
    warmup = Warmup(windows=(warmup_window(20.0, 100.0),), steady=True, jit_cpus=(), duration_s=17.0)
    changes = {"warmup": warmup, "sequence": sequence, "together": together}
    return altered(fork_with(*windows, number=number), changes)


def pair(
    above: list[float], below: list[float], *, bad: tuple[set[int], set[int]] = (set(), set()), together: bool = True
) -> tuple[CellRecord, CellRecord]:
    both = (1, 2) if together else ()
    return (
        cell(key("virtual"), (rounds_fork(1, 2, both, above, bad[0]),)),
        cell(key("liberty"), (rounds_fork(1, 1, both, below, bad[1]),)),
    )


FIGURES = st.lists(st.floats(10, 1e5), min_size=2, max_size=12)


@given(FIGURES, st.data())
def test_the_ratio_of_two_forks_is_the_mean_over_their_common_rounds(above: list[float], data: st.DataObject) -> None:
    below = data.draw(st.lists(st.floats(10, 1e5), min_size=len(above), max_size=len(above)))
    spoilt = tuple(data.draw(st.sets(st.integers(1, len(above)))) for _ in range(2))
    one, two = pair(above, below, bad=cast(Any, spoilt))
    kept = [i for i in range(1, len(above) + 1) if i not in spoilt[0] | spoilt[1]]
    arms = paired_figures(THROUGHPUT, one, two)
    logs = [log for block in logs_of_rounds(THROUGHPUT, one, two) for log in block]
    assert logs == pytest.approx([math.log(above[i - 1] / below[i - 1]) for i in kept])
    if not kept:
        assert arms == ({}, {})
        return
    expected = math.exp(fmean(math.log(above[i - 1] / below[i - 1]) for i in kept))
    assert arms[0][1] / arms[1][1] == pytest.approx(expected)


def test_what_drifts_along_cancels_where_a_round_is_lost() -> None:
    drift = [1000.0 * 1.1**i for i in range(6)]
    one, two = pair([0.8 * rps for rps in drift], drift, bad=({1, 2}, {6}))
    above, below = paired_figures(THROUGHPUT, one, two)
    assert above[1] / below[1] == pytest.approx(0.8)
    assert below[1] == pytest.approx(geometric_mean(drift[2:5])), "of the rounds that count in both"
    one, two = pair([0.8 * rps for rps in drift], drift, bad=({1, 2}, {6}), together=False)
    above, below = paired_figures(THROUGHPUT, one, two)
    assert above[1] / below[1] != pytest.approx(0.8, rel=0.05), "forks by themselves have no common rounds"


def test_a_round_in_which_a_server_answered_nothing_is_in_what_it_came_to() -> None:
    """It also counts in the CPU time of the answers: 1 ms for each of 2,000, and two seconds more."""
    one, two = pair([1000.0, 0.0, 1000.0, 0.0], [1000.0] * 4)
    for numerator, base, ratio in ((one, two, 0.5), (two, one, 2.0)):
        above, below = paired_figures(THROUGHPUT, numerator, base)
        assert above[1] / below[1] == pytest.approx(ratio)
    above, below = paired_figures(CPU, one, two)
    assert above[1] / below[1] == pytest.approx(2.0)


def test_a_round_is_read_once_for_a_ratio() -> None:
    read: list[int] = []

    def rps(one: Window) -> float:
        read.append(one.index)
        return one.load.succeeded_rps

    above, below = paired_figures(replace(THROUGHPUT, of_window=rps), *pair([1000.0] * 3, [500.0] * 3))
    assert above[1] / below[1] == pytest.approx(2.0)
    assert sorted(read) == [1, 1, 2, 2, 3, 3]


def test_forks_of_different_blocks_of_turns_are_not_paired_by_rounds() -> None:
    one, two = pair([100.0, 200.0], [100.0, 200.0])
    apart = two.forks[0].model_copy(update={"sequence": 7, "together": (7, 8)})
    assert not one.forks[0].took_turns_with(apart)
    assert logs_of_rounds(CPU, one, two.model_copy(update={"forks": (apart,)})) == [[]]


def test_a_figure_that_no_window_has_is_that_of_the_common_rounds() -> None:
    one, two = pair([100.0] * 4, [100.0] * 4, bad=({1}, set()))
    assert logs_of_rounds(P99, one, two) == [[]]
    part = one.forks[0].only({2, 3})
    assert [window.index for window in part.windows] == [2, 3]


# ---------------------------------------------------------------------------------------------------- how many rounds
def test_the_components_of_the_variance_are_found_again() -> None:
    source = random.Random(3)
    forks = []
    for _ in range(400):
        level = source.gauss(0, 0.012)
        forks.append([level + source.gauss(0, 0.043) for _ in range(source.choice((5, 10, 15)))])
    found = components(forks)
    assert math.sqrt(found.between) == pytest.approx(0.012, rel=0.15)
    assert math.sqrt(found.inside) == pytest.approx(0.043, rel=0.05)


@given(st.floats(1e-6, 1e-2), st.floats(1e-6, 1e-2), st.floats(10, 200), st.floats(1, 10))
def test_no_other_number_tells_a_ratio_sooner(between: float, inside: float, start_s: float, round_s: float) -> None:
    """A given precision costs variance times time; the components are known from very many forks."""
    found = Components(between, inside, 10**6, 10**8)
    best = best_rounds(found, start_s=start_s, round_s=round_s, least=2, most=1000)

    def cost(rounds: int) -> float:
        return (between + inside / rounds) * (start_s + rounds * round_s)

    assert all(cost(best) <= cost(other) * 1.02 for other in (2, best // 2 + 2, 2 * best, 1000) if 2 <= other <= 1000)


def test_only_many_forks_show_that_they_do_not_differ() -> None:
    few, many = (Components(0.0, 1e-4, forks, 20 * forks) for forks in (3, 10_000))
    assert best_rounds(few, start_s=40, round_s=3, least=10, most=60) == 10
    assert best_rounds(many, start_s=40, round_s=3, least=10, most=60) == 60


def group(blocks: int, *, scatter: float, between: float) -> list[CellRecord]:
    source = random.Random(1)
    arms: dict[str, list[Fork]] = {"liberty": [], "virtual": []}
    for block in range(1, blocks + 1):
        level = source.gauss(0, between)
        for position, (executor, forks) in enumerate(arms.items()):
            sequence = 2 * block + position
            share = math.exp(level) if executor == "virtual" else 1.0
            rps = [1000 * share * math.exp(source.gauss(0, scatter)) for _ in range(20)]
            forks.append(rounds_fork(block, sequence, (2 * block, 2 * block + 1), rps, set()))
    return [cell(key(executor), tuple(forks)) for executor, forks in arms.items()]


def profile(**protocol: Any) -> Profile:
    return Profile.model_validate({"description": "", "blocks": 5, "select": {}, "protocol": "interleaved", **protocol})


def test_later_blocks_have_the_rounds_that_the_earlier_ones_ask_for() -> None:
    bounds = profile(rounds=10, max_rounds=60)
    assert rounds_of_next([], bounds, MATRIX.turns) == 10
    assert rounds_of_next(group(1, scatter=0.04, between=0.01), bounds, MATRIX.turns) == 10, "one fork says nothing"
    noisy = rounds_of_next(group(8, scatter=0.08, between=0.004), bounds, MATRIX.turns)
    calm = rounds_of_next(group(8, scatter=0.01, between=0.02), bounds, MATRIX.turns)
    assert noisy > calm == 10
    assert rounds_of_next(group(8, scatter=0.08, between=0.004), profile(rounds=10), MATRIX.turns) == 10


# ------------------------------------------------------------------------------------------------ who takes no turns
def parts(*, reason: str | None = None, kernel: dict[str, str] | None = None, heap: int = 1 << 30) -> CellSetup:
    made = SimpleNamespace(why_no_turns=reason, kernel=kernel or {}, heap_bytes=heap)
    return cast(CellSetup, made)


@pytest.mark.parametrize(
    ("members", "memory_bytes", "words"),
    [
        ([parts(), parts()], 8 << 30, None),
        ([parts()], 8 << 30, "nothing is compared with it"),
        ([parts(), parts(reason="it runs in a box")], 8 << 30, "it runs in a box"),
        ([parts(), parts(kernel={"/sys/x": "1"})], 8 << 30, "its executor comes with kernel settings, which hold"),
        ([parts(), parts(), parts()], 5 << 30, "3 servers at once need 6.0 GiB of memory, and 5.0 GiB are free"),
    ],
)
def test_who_takes_turns(members: list[CellSetup], memory_bytes: int, words: str | None) -> None:
    found = why_alone(members, profile(), memory_bytes=memory_bytes)
    assert found is None if words is None else found is not None and found.startswith(words)
    separate = profile(protocol="separate")
    assert why_alone(members, separate, memory_bytes=memory_bytes) is not None


@pytest.mark.parametrize(
    ("load", "wait_us", "words"),
    [
        (SaturateLoad(connections=50), 25_000, None),
        (SaturateLoad(connections=50), 25_001, "more than a tenth of its lead of 0.25 s"),
        (RateLoad(rate_rps=2000, connections=50), 0, "no better than forks under a constant rate"),
        (StepsLoad(rates_rps=(500, 1000), connections=50, step_s=6, warmup_rps=500), 0,
         "its load is not a window that can be repeated"),
    ],
)  # fmt: skip
def test_which_loads_take_turns(load: CellLoad, wait_us: int, words: str | None) -> None:
    """With a remote system that answers late, a turn would be over, or nearly so, before its requests have spread."""
    found = kind_of(load).why_no_turns(wait_us / 1e6, MATRIX.turns.model_copy(update={"lead_s": 0.25}))
    assert found is None if words is None else found is not None and words in found


def test_memory_is_planned_for_what_a_jvm_says_of_its_heap() -> None:
    assert heap_bytes({"MaxHeapSize": "1073741824"}, ["-Xmx2g"]) == 1 << 30
    assert heap_bytes({}, ["-Xms64m", "-Xmx512m", "-Xmx2g"]) == 2 << 30
    assert heap_bytes({}, ["-Xmx1073741824"]) == 1 << 30
    assert heap_bytes({}, []) == 0
