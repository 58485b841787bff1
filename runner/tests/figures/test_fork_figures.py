"""Figures of one fork that are bounds, or of another load than was asked for, which are kept but enter no ratio; and
gates that refuse one arm more often than the other."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.experiments.kinds import measurands
from jdkmatrix.figures.fork_figures import (
    comparable,
    cpu_us_per_request,
    knee_rps,
    overall,
    p99_us,
    per_answer,
    switches_per_request,
    throughput_rps,
    time_to_peak,
)
from jdkmatrix.figures.metrics import BY_ID, OF_EXPERIMENTS, leading_figures
from jdkmatrix.figures.paired import least_error_of
from jdkmatrix.figures.refusals import gated_figures, one_sided_among, refused_by_arm, refused_of
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.reasons import BURN_OFF, Reason, Status
from jdkmatrix.records.served import Served
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, fork_with, latency, load_result, sut_usage, window
from tests.support.experiment_runs import experiments_of
from tests.support.outcome_runs import STEAL, all_of, missed, silent, spoilt, windows_of, with_outcomes
from tests.support.pinning_results import RESULT, program_fork, result
from tests.support.project import RECORDED
from tests.support.ramped_runs import LEVEL, RISING, with_ramp
from tests.support.records import altered
from tests.support.served_runs import Shape, made_up

CLOSED = SaturateLoad(connections=50)
RATE = RateLoad(rate_rps=2000, connections=50)


@pytest.fixture(scope="module")
def measured() -> Fork:
    shape = Shape(jdks=("temurin-25",), executors=("liberty",), loads=("rate-2000",), blocks=1)
    return made_up(shape).cells[0].forks[0]


def refusing(non_2xx: int) -> Fork:
    """Make a fork with 1,000 answers in two seconds, some of them refusals, of 100 µs of CPU each."""
    load = load_result(CLOSED, completed=1000, duration_s=2.0, throughput_rps=500.0, non_2xx=non_2xx)
    return fork_with(window(1, load, sut=sut_usage(cpu_us_per_request=100.0)))


def test_a_refusal_is_no_answer() -> None:
    assert throughput_rps(refusing(0), CLOSED) == ForkFigure(500.0)
    assert throughput_rps(refusing(400), CLOSED) == ForkFigure(300.0)
    cost = cpu_us_per_request(refusing(400), CLOSED)
    assert cost is not None and cost.value == pytest.approx(1000 * 100 / 600), "refusing quickly makes it no cheaper"
    assert not refusing(1000).usable
    assert refusing(400).windows[0].load.failed == 400
    both = load_result(CLOSED, non_2xx=3, errors=Errors(timeout=4))
    assert both.failed == 7


def test_the_longest_answer_is_that_of_any_window() -> None:
    slow, quick = (load_result(CLOSED, uncorrected=latency(p99_us)) for p99_us in (900_000.0, 20_000.0))
    longest = BY_ID["longest"]
    assert longest.of(fork_with(window(1, quick), window(2, slow)), CLOSED) == ForkFigure(900_000.0)
    assert longest.of(fork_with(window(1, load_result(CLOSED, uncorrected=None))), CLOSED) is None


def test_a_p99_among_which_many_are_lower_bounds_is_one() -> None:
    def told(bounds: int | None) -> Bound:
        found = p99_us(fork_with(window(1, load_result(CLOSED, lower_bounds=bounds))), CLOSED)
        return found.bound

    assert [told(bounds) for bounds in (None, 0, 100, 101)] == [*[Bound.NONE] * 3, Bound.AT_LEAST], "of 10,000"


def switching(*windows: tuple[int | None, int, int]) -> Fork:
    """Make a fork of windows, each given by its voluntary and involuntary switches and its answers."""
    made = []
    for voluntary, involuntary, answers in windows:
        sut = sut_usage(voluntary_switches=voluntary, involuntary_switches=involuntary)
        made.append(window(1, load_result(CLOSED, completed=answers), sut=sut))
    return fork_with(*made)


def test_context_switches_are_of_both_kinds_and_of_all_windows_together() -> None:
    assert switches_per_request(switching((900, 100, 1000), (2900, 100, 1000)), CLOSED) == ForkFigure(2.0)
    assert switches_per_request(switching((900, 100, 1000), (None, 100, 1000)), CLOSED) is None, "a part is no figure"
    (one,) = switching((900, 300, 1000)).windows
    refusing = one.model_copy(update={"load": one.load.model_copy(update={"non_2xx": 400})})
    assert switches_per_request(fork_with(refusing), CLOSED) == ForkFigure(2.0), "per answer of status 2xx, as CPU is"


@pytest.mark.parametrize(("place", "figure"), [("plugged_platform", None), ("plugged_virtual", ForkFigure(1.0))])
def test_switches_of_threads_that_came_and_went_are_not_known(place: str, figure: ForkFigure | None) -> None:
    """There may be a platform thread for each request; virtual ones have none of their own."""
    (one,) = switching((900, 100, 1000)).windows
    places = {"servers": 0, "plugged_virtual": 0, "plugged_platform": 0, "elsewhere": 0, place: 1000}
    served = Served(**places, begun_min=1000, begun_max=1000, left_over=0, threads_started=1000)
    told = one.model_copy(update={"served": served, "sut": one.sut.model_copy(update={"threads_peak": 90})})
    assert switches_per_request(fork_with(told), CLOSED) == figure
    few = told.model_copy(update={"served": served.model_copy(update={"threads_started": 60})})
    assert switches_per_request(fork_with(few), CLOSED) == ForkFigure(1.0), "of a pool, all of which live"


def test_cpu_of_a_fork_that_missed_the_rate_is_kept_and_does_not_compare(measured: Fork) -> None:
    held, short = cpu_us_per_request(measured, RATE), cpu_us_per_request(missed(measured), RATE)
    assert held is not None and held.compares
    assert short is not None and short.bound is Bound.NONE and not short.compares
    assert short.value == pytest.approx(held.value), "the figure itself is true"


def test_a_ramp_that_found_no_knee_has_it_beyond_its_end(measured: Fork) -> None:
    assert knee_rps(with_ramp(measured, RISING, lag_s=1, capacity_rps=1e6), RISING) == ForkFigure(3100, Bound.AT_LEAST)
    found = knee_rps(with_ramp(measured, RISING, lag_s=1, capacity_rps=2000), RISING)
    assert found is not None and found.compares
    assert knee_rps(measured, RATE) is None


def test_a_peak_that_was_not_reached_takes_longer_than_the_ramp(measured: Fork) -> None:
    short = with_ramp(measured, LEVEL, lag_s=1, capacity_rps=900)
    assert time_to_peak(short, LEVEL) == ForkFigure(30.0, Bound.AT_LEAST)
    there = time_to_peak(with_ramp(measured, LEVEL, lag_s=1, capacity_rps=2500), LEVEL)
    assert there is not None and there.compares
    cost = cpu_us_per_request(short, LEVEL)
    assert cost is not None and not cost.compares, "of less throughput than was asked for"


def test_the_stopping_rule_looks_at_figures_that_compare() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), executors=("virtual",), loads=("rate-2000",), blocks=5))
    (record,) = with_outcomes(plain, {"virtual": {1: missed, 2: silent, 3: spoilt}}).cells
    assert set(comparable(leading_figures(record))) == {4, 5}
    (none,) = with_outcomes(plain, {"virtual": all_of(missed)}).cells
    assert comparable(leading_figures(none)) == {}
    assert comparable(leading_figures(cell(record.key))) == {}


FIGURES = st.builds(ForkFigure, st.floats(1, 1e6), st.sampled_from(Bound))


@given(st.lists(FIGURES, min_size=1, max_size=8))
def test_a_mean_of_bounds_is_a_bound(figures: list[ForkFigure]) -> None:
    found = overall(figures)
    directions = {figure.bound for figure in figures} - {Bound.NONE}
    assert found.bounded == sum(figure.bound is not Bound.NONE for figure in figures)
    assert found.bound is (None if len(directions) == 2 else next(iter(directions), Bound.NONE))
    if directions:
        assert found.low is None, "there is no interval of what is not known"
    assert found.least.value <= found.value * (1 + 1e-9)
    assert found.most.value >= found.value * (1 - 1e-9)


def test_figures_that_are_read_in_steps_are_known_no_better_than_that() -> None:
    """A search ends within a share of the rate; a peak and a knee are whole seconds of a ramp."""
    search = CapacityLoad(connections=50, p99_max_us=1e4, floor_share=0.1, resolution=0.05, step_s=3)
    ramp = RampedLoad(points=((0, 50), (0, 60), (100, 2_000), (120, 2_000)), connections=10, warmup_rps=50)
    known = [
        least_error_of(BY_ID[name], (load, [value]))
        for name, load, value in (("capacity", search, 8e3), ("time-to-peak", ramp, 40), ("knee", ramp, 970))
    ]
    assert known == pytest.approx([0.05 / math.sqrt(12), 1 / 40 / math.sqrt(12), 19.4 / 970 / math.sqrt(12)])
    assert least_error_of(BY_ID["throughput"], (ramp, [970.0])) == 0
    assert least_error_of(BY_ID["knee"], (ramp, [970.0]), (ramp, [485.0])) == pytest.approx(known[2] * math.sqrt(5))
    alike = overall([ForkFigure(33.0)] * 5, least=known[1])
    assert alike is not None and alike.high == pytest.approx(33 * math.exp(2.776445 * known[1]))


def test_a_percentile_of_a_program_among_what_had_not_ended_is_at_least_that_and_of_few_is_none() -> None:
    """A hundred threads that find no carrier wait the whole time; a tail of few values is no figure."""

    def figure(metric: str, lower_bounds: int, count: int, of: str = "pinning") -> ForkFigure | None:
        times = {"count": count, "percentiles_us": {"50": 2e6, "99": 6e6}}
        seen = {**RESULT["seen"], "latency": times, "waited": times, "lower_bounds": lower_bounds}
        readings = (WindowReading(metric=metric, value=6000.0),)
        told = result(1.0, seen=seen).model_copy(update={"experiment": of})
        fork = program_fork(1, told).model_copy(update={"windows": ()})
        by_id = {one.id: found for one, found in OF_EXPERIMENTS.items() if one in measurands(fork.result).values()}
        with mock.patch.object(Fork, "readings", readings):
            return by_id[metric].of(fork, SaturateLoad(connections=1))

    assert figure("p50", 100, 100) == ForkFigure(6000.0, Bound.AT_LEAST)
    assert figure("p50", 0, 100) == ForkFigure(6000.0)
    assert figure("p99", 100, 5000) == ForkFigure(6000.0, Bound.AT_LEAST)
    assert figure("p99", 0, 5000) == ForkFigure(6000.0) and figure("p99", 0, 999) is None
    assert figure("p99", 100, 5000, "borrow") == ForkFigure(6000.0, Bound.AT_LEAST)
    medians = overall([ForkFigure(1.0), ForkFigure(6.0, Bound.AT_LEAST), ForkFigure(2.0)], "median")
    assert medians is not None and (medians.value, medians.bound, medians.bounded) == (2.0, Bound.AT_LEAST, 1)


def test_a_fork_with_0_does_not_make_the_others_0() -> None:
    """The geometric mean would make them 0; a quota that held back two of three forks did hold back something."""
    found = overall(map(ForkFigure, (0.0, 0.4, 0.5)))
    assert found is not None and (found.low, found.high) == (None, None) and found.value == pytest.approx(0.3)
    none = overall(map(ForkFigure, (0.0, 0.0)))
    assert none is not None and none.value == 0


@given(st.dictionaries(st.integers(1, 20), FIGURES))
def test_no_bound_gets_into_a_ratio(figures: dict[int, ForkFigure]) -> None:
    plain = comparable({**figures, 21: ForkFigure(1.0, comparable=False), 22: ForkFigure(0.0)})
    assert plain.keys() == {block for block, figure in figures.items() if figure.bound is Bound.NONE}


def test_a_total_is_told_for_each_answer_where_every_window_has_it() -> None:
    told = WindowReading(metric="allocated_bytes", value=5e6)
    (without,) = refusing(400).windows
    with_it = without.model_copy(update={"readings": (told,)})
    assert per_answer("allocated_bytes")(fork_with(with_it, with_it), CLOSED) == ForkFigure(5e6 / 600)
    assert per_answer("allocated_bytes")(fork_with(with_it, without), CLOSED) is None
    assert per_answer("other")(fork_with(with_it), CLOSED) is None


FIVE = Shape(jdks=("temurin-25",), blocks=5, windows=6)


@pytest.fixture(scope="module")
def arms() -> tuple[CellRecord, CellRecord]:
    """Return virtual and the pool, with 30 windows each, none of them refused."""
    base, cell = made_up(FIVE).cells
    return cell, base


def with_reasons(cell: CellRecord, reasons: Sequence[Reason], windows: Sequence[int]) -> CellRecord:
    """Give these reasons to these windows of each fork."""
    forks = (
        windows_of(fork, lambda one: one.model_copy(update={"reasons": reasons}) if one.index in windows else one)
        for fork in cell.forks
    )
    return cell.model_copy(update={"forks": tuple(forks)})


def test_windows_are_counted_by_arm_and_gate_over_all_attempts(arms: tuple[CellRecord, CellRecord]) -> None:
    cell, base = arms
    stolen = with_reasons(cell, (STEAL,), (1, 2))
    told = refused_by_arm(stolen, base)
    assert (told.numerator.refused, told.numerator.of, told.denominator.refused) == (10, 30, 0)
    assert told.numerator.by_gate == {"steal": 10} and told.p_value < 0.001
    found = gated_figures(stolen)
    assert found is not None and (found[0].unit, *map(len, found[1:])) == ("requests/s", 10, 20)
    earlier = base.model_copy(update={"attempts": with_reasons(base, (STEAL,), (1, 2)).forks})
    assert (refused_of(earlier).refused, refused_of(earlier).of) == (10, 60)


@pytest.mark.parametrize(("windows", "refused"), [((), 1), ((1,), 2), ((1, 2, 3, 4, 5, 6), 6)])
def test_a_gate_that_refuses_a_whole_fork_counts_once(
    arms: tuple[CellRecord, CellRecord], windows: tuple[int, ...], refused: int
) -> None:
    """All of its windows are among the refused figures."""
    cell = arms[0]
    first = altered(cell.forks[0], {"status": Status.INVALID, "reasons": (Reason(code=BURN_OFF, message="off"),)})
    stolen = with_reasons(cell.model_copy(update={"forks": (first,)}), (STEAL,), windows).forks
    off = cell.model_copy(update={"forks": (*stolen, *cell.forks[1:])})
    told, found = refused_of(off), gated_figures(off)
    assert (told.refused, told.of, told.by_gate[BURN_OFF], told.by_gate["steal"]) == (refused, 30, 1, len(windows))
    assert found is not None and list(map(len, found[1:])) == [6, 24]


def test_a_pair_that_no_test_could_tell_apart_is_no_member_of_a_family(arms: tuple[CellRecord, CellRecord]) -> None:
    assert refused_by_arm(*arms) is None, "nothing was refused"
    fewer = arms[0].model_copy(update={"forks": with_reasons(arms[0], (STEAL,), (1,)).forks[:1]})
    assert refused_by_arm(fewer, arms[1].model_copy(update={"forks": arms[1].forks[:1]})) is None


def test_only_what_stands_out_among_all_pairs_counts(arms: tuple[CellRecord, CellRecord]) -> None:
    more = with_reasons(arms[0], (STEAL,), (1, 2))
    pair, alike = (more, arms[1]), (more, with_reasons(arms[1], (STEAL,), (3,)))
    stolen, weak = refused_by_arm(*pair), refused_by_arm(*alike)
    assert stolen is not None and weak is not None and weak.p_value > 0.05
    found = one_sided_among([*((f"alike {n}", *alike) for n in range(10)), ("stolen", *pair)])
    assert found.keys() == {"stolen"}
    assert found["stolen"].p_value == pytest.approx(11 * stolen.p_value)


def test_a_failed_attempt_of_an_experiment_was_not_refused() -> None:
    cell = experiments_of("spawn").experiments[0]
    failed = altered(cell.forks[0], {"status": Status.FAILED, "reasons": (STEAL,)})
    refused = altered(cell.forks[1], {"status": Status.INVALID, "reasons": (STEAL,)})
    told = refused_of(cell.model_copy(update={"forks": (failed, refused)}))
    assert (told.of, told.refused) == (1, 1)


def test_a_gate_that_refused_the_treatment_is_found() -> None:
    """`foreign-cpu` refused every attempt in which ten thousand platform threads ended, as it once did."""
    texts = [gzip.decompress(path.read_bytes()) for path in sorted((RECORDED / "refusals").glob("*.json.gz"))]
    cells = tuple(map(CellRecord.model_validate_json, texts))
    planned_run = experiments_of("spawn")
    planned = planned_run.run.model_copy(update={"cells": tuple(cell.key for cell in cells), "order": ()})
    run = JudgedRun(replace(planned_run, run=planned, cells=cells))
    told = list(run.refusals.values())
    arms = [(one.numerator, one.denominator) for one in told]
    assert [sum(arm.refused for arm in one) for one in zip(*arms, strict=True)] in ([30, 3], [3, 30])
    (cold_25,) = (
        notice.text
        for notice in run_notices(run)
        if notice.title == "Gates refused one arm more often" and "print-cold · temurin-25 ·" in notice.text
    )
    assert "1 of 6 windows of virtual and 15 of 15 of platform (foreign-cpu 1 and 15)" in cold_25
    assert "0.945 (0.898–1.16) s in the 15 windows that were refused" in cold_25
