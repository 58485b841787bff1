"""Rules that read a rising load: on made-up seconds with known answers, and on any."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import JoinLoad, RampLoad
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.stats import ramps
from jdkmatrix.stats.ramps import CALM_SECONDS, Second, knee, latest_peak_s, peak_of, seconds_of, time_to_peak_s
from tests.support.builders import fork_with, load_result, window
from tests.support.ramped_runs import recorded_ramps
from tests.support.records import altered

LEVEL_RPS = 1000.0


def place(found: Second | None) -> tuple[float, float] | None:
    return (found.t_s, found.asked) if found else None


def ramp(
    completed: Sequence[float], p99_us: Sequence[float | None] | None = None, in_flight: Sequence[float] | None = None
) -> list[Second]:
    """Return one second for each value; the rate rises by 100/s every second. Half of the answers take a second."""
    latencies, waiting = p99_us or [1000.0] * len(completed), in_flight or [0.0] * len(completed)
    rows = zip(completed, waiting, latencies, strict=True)
    return [Second(t_s, 100.0 * t_s, done, queued, 1e6, p99) for t_s, (done, queued, p99) in enumerate(rows, 1)]


def test_the_peak_is_where_the_throughput_stays_and_not_where_it_passes_by() -> None:
    passing = [100, 200, 960, 1200, 1100, 400, 600, 955, 990, 1000, 1000]
    assert time_to_peak_s(ramp(passing), LEVEL_RPS) == 8.0
    stalled = [100, 950, 1000, 1000, 1000, 0, *[1000] * 7, 0]
    assert time_to_peak_s(ramp(stalled), LEVEL_RPS) == 2.0, "one second of a stalled machine is no finding"
    assert time_to_peak_s(ramp([*stalled[:6], 0, *stalled[6:]]), LEVEL_RPS) == 8.0, "two are"


def test_a_backlog_that_is_worked_off_is_no_peak_yet() -> None:
    """Answers of a second mean a thousand in flight; one more second's requests are no backlog that can be told."""
    done = [500, 1000, 1500, 1500, 1500, 1500, 1000, 1000]
    in_flight = [1000, 3500, 3500, 3000, 2500, 2000, 1500, 1500]
    assert time_to_peak_s(ramp(done, in_flight=in_flight), LEVEL_RPS) == 6.0
    assert time_to_peak_s(ramp(done, in_flight=[*in_flight[:-1], 2001]), LEVEL_RPS) is None, "it comes back"


def test_a_throughput_that_stays_below_has_no_time_to_peak() -> None:
    assert time_to_peak_s(ramp([900.0] * 10), LEVEL_RPS) is None
    assert time_to_peak_s(ramp([100, 200, 300, 400, 1000]), LEVEL_RPS) is None, "the last second is not there yet"
    assert time_to_peak_s([], LEVEL_RPS) is None


def test_a_level_that_was_not_asked_for_must_be_held() -> None:
    done = [100, 500, 1000, 1000, 1000, 1000]
    assert time_to_peak_s(ramp(done), LEVEL_RPS, held_s=3) == 3.0
    assert time_to_peak_s(ramp(done), LEVEL_RPS, held_s=4) is None


def test_the_lag_of_the_pool_in_the_reference_run() -> None:
    """On 23.0.0.10 and later, in six forks, the pool has thousands waiting while its throughput crosses the level at 40
    s, and is there 31 to 34 s after virtual threads. On 23.0.0.9 it is not there after 90 s."""
    peaks = [(server, executor, peak_of(fork)) for server, executor, fork in recorded_ramps()]
    assert {peak for _, executor, peak in peaks if executor == "virtual"} == {30.0}
    fixed = [peak for server, executor, peak in peaks if executor == "liberty" and not server.endswith("0.9")]
    assert fixed == [64.0, 64.0, 63.0, 62.0, 61.0, 64.0]
    assert [peak for server, _, peak in peaks if server.endswith("0.9")] == [None]


def joining(completed: Sequence[int], *, connections: int = 1000, join_s: float = 10) -> Fork:
    """Return a fork in a closed loop whose answers take a second."""
    intervals = tuple(
        Interval(t_s=i + 1.0, completed=done, errors=0, p50_us=1e6, p99_us=1e6, max_us=1e6)
        for i, done in enumerate(completed)
    )
    load = JoinLoad(connections=connections, join_s=join_s)
    return fork_with(window(1, load_result(load, intervals=intervals, duration_s=float(len(completed)))))


def test_a_closed_loop_has_the_level_that_it_came_to() -> None:
    rising = [100 * i for i in range(1, 10)]
    assert peak_of(joining([*rising, *[1000] * 21])) == 10.0
    assert peak_of(joining([*rising[:6], *[700] * 24])) == 7.0, "the CPU is full before all have joined"
    assert peak_of(joining([*range(10, 310, 10)])) is None, "still rising at the end"
    assert peak_of(joining([300] * 30)) is None, "700 of 1,000 wait for a thread, whatever is held"
    assert latest_peak_s(JoinedLoad(connections=1, join_s=10, held_s=20, warmup_rps=1)) == pytest.approx(20.0)


def test_a_ramp_is_answered_no_faster_than_it_asks_for() -> None:
    """A backlog that is worked off at 4 % above the rate is too slow to show as one."""
    points = ((0.0, 10.0), (10.0, 1000.0), (30.0, 1000.0))
    load = RampedLoad(points=points, connections=2000, warmup_rps=10)
    for done, found_rps in ((1040, 1000.0), (900, 900.0)):
        fork = joining([done] * 30)
        (first,) = fork.windows
        told = first.load.model_copy(update={"load": load.ramp})
        figure = kind_of(load).throughput_rps(altered(fork, {"windows": (first.model_copy(update={"load": told}),)}))
        assert figure is not None and figure.value == pytest.approx(found_rps)


def test_a_peak_is_looked_for_once_however_often_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork that shares its windows with another shares its peak; one that is only as long does not."""
    read: list[Sequence[Second]] = []

    def peak_s(seconds: Sequence[Second], level_rps: float, *, held_s: float = 0.0) -> float | None:
        read.append(seconds)
        return time_to_peak_s(seconds, level_rps, held_s=held_s)

    monkeypatch.setattr(ramps, "time_to_peak_s", peak_s)
    one, other = (joining([*([100] * slow), *([1000] * (30 - slow))]) for slow in (3, 6))
    assert [peak_of(fork) for fork in (one, one.only((1,)), other, one)] == [4.0, 4.0, 7.0, 4.0]
    assert len(read) == 2


# Answers in each second from the start on, to 750 connections whose requests wait a second, on Open Liberty 23.0.0.10,
# 1 CPU, 1 ms of work each (Temurin 21.0.8, 2026-11-28).
VIRTUAL = (
    "0 25 50 75 100 125 150 175 176 222 250 275 300 325 350 375 342 409 322 427 495 494 375 443 480 601 642 "
    "606 688 702 717 709 736 728 737 668 712 728 736 706 724 701 731 740 728 722 709 739 716 710 701 715 718 "
    "568 668 664 656 716 720 733 705 743 679 717 692 687 699 714 725 735 704 724 733 736 728 706 738 649 726 "
    "691 742 732 719 707 733 707 699 644 725 737 678 706 637 405 698 706 627 700 701 720 692 737 673 717 729 "
    "715 732 670 734 665 639 716 640 700 728 704 668 660 719 718"
)
POOL = (
    "0 5 6 6 7 8 8 9 10 10 14 18 18 26 34 34 42 50 50 58 66 66 82 98 98 114 130 126 152 194 170 200 258 258 "
    "305 336 367 426 469 490 445 532 448 539 553 638 389 657 384 495 633 455 643 583 519 584 651 570 584 602 "
    "640 624 517 701 525 493 672 528 632 613 523 580 554 640 523 677 630 613 649 654 655 624 664 545 586 632 "
    "646 564 706 684 512 750 679 439 635 538 687 582 543 709 574 569 600 494 667 688 483 609 591 691 565 682 "
    "653 692 642 637 631 658 601 632"
)


def counts(seconds: str) -> list[int]:
    return [int(done) for done in seconds.split()]


def test_a_peak_is_told_by_answers_enough_and_not_by_seconds() -> None:
    """Single seconds scatter by 7 % on virtual threads, and by 11 % on the pool."""
    assert peak_of(joining(counts(VIRTUAL), connections=750, join_s=30)) == 29.0
    assert peak_of(joining(counts(POOL), connections=750, join_s=30)) == 52.0
    outage = [done * (second not in range(60, 63)) for second, done in enumerate(counts(VIRTUAL))]
    assert peak_of(joining(outage, connections=750, join_s=30)) == 64.0, "three seconds are no scatter"
    late = [round(done * 0.9) if second < 70 else done for second, done in enumerate(counts(VIRTUAL))]
    assert abs((peak_of(joining(late, connections=750, join_s=30)) or 0) - 70) < 15
    rising = [round(done * (second + 1) / 120) for second, done in enumerate(counts(VIRTUAL))]
    assert peak_of(joining(rising, connections=750, join_s=30)) is None, "still rising at the end"


def refusing(load: RampLoad | JoinLoad, *, until_s: int = 30, **of_each: int) -> Fork:
    """Return a fork with 1,000 answers a second for 30 s; from second 10 to `until_s`, some are refusals, at once."""
    calm = Interval(t_s=0, completed=1000, errors=0, p50_us=1e5, p99_us=2e5, max_us=2e5)
    quick = {"p50_us": 1e3, "p99_us": 1.5e5, **of_each}
    intervals = (
        calm.model_copy(update={"t_s": float(t_s), **(quick if 10 <= t_s <= until_s else {})}) for t_s in range(1, 31)
    )
    return fork_with(window(1, load_result(load, intervals=tuple(intervals), duration_s=30.0)))


@pytest.mark.parametrize(
    ("of_each", "knee_s"), [({"non_2xx": 600}, 10.0), ({"errors": 50}, 10.0), ({"non_2xx": 5, "errors": 5}, None)]
)
def test_requests_that_fail_quickly_are_beyond_every_answer(of_each: dict[str, int], knee_s: float | None) -> None:
    """If more than one in a hundred fails, p99 is not the time of an answer."""
    found = knee(seconds_of(refusing(RampLoad(points=((0, 1000), (30, 1100)), connections=100), **of_each)))
    assert (found.t_s if found else None) == knee_s


def test_a_server_that_refuses_has_not_reached_its_peak() -> None:
    joining_at_once = JoinLoad(connections=100, join_s=1)
    assert peak_of(refusing(joining_at_once)) == 1.0
    assert peak_of(refusing(joining_at_once, until_s=15, non_2xx=600)) == 16.0
    ramp_load = RampLoad(points=((0, 1000), (30, 1000)), connections=100)
    assert peak_of(refusing(ramp_load)) == 1.0 and peak_of(refusing(ramp_load, non_2xx=600)) is None


@st.composite
def growing_pools(draw: st.DrawFn) -> tuple[list[Second], float, float]:
    """Draw a pool that starts with a few threads and gets `growth` more a second, under a rate that rises for 20 s and
    is then held; as a flow, in steps of 20 ms. Return with it the level, and the first moment from which the level is
    answered and no more is in flight than Little's law asks for plus a second's requests: more threads than the level
    needs work a backlog off, and what they have begun is in flight for a service time."""
    level, service_s = draw(st.sampled_from([200.0, 1000.0])), draw(st.sampled_from([0.5, 1.0, 2.0]))
    growth = draw(st.floats(0.01, 0.2)) * level * service_s
    step_s, per_s, rise_s = 0.02, 50, 20.0
    waiting = serving = done = reached_s = 0.0
    started: list[float] = []
    seconds = []
    for step in range(150 * per_s):
        t_s = step * step_s
        arriving = level * min(1.0, 0.2 + 0.8 * t_s / rise_s) * step_s
        ended = started[step - round(service_s * per_s)] if step >= service_s * per_s else 0.0
        threads = level * service_s * 0.25 + growth * t_s
        begun = min(waiting + arriving, max(0.0, threads - serving + ended))
        waiting, serving, done = waiting + arriving - begun, serving + begun - ended, done + ended
        started.append(begun)
        if waiting + serving > level * (service_s + 1) or ended < 0.95 * level * step_s:
            reached_s = t_s
        if step % per_s == per_s - 1:
            p50_us = (service_s + waiting / max(begun / step_s, 1e-9)) * 1e6
            seconds.append(Second((step + 1) / per_s, level, done, waiting + serving, p50_us, p50_us))
            done = 0.0
    return seconds, level, reached_s


@given(growing_pools())
def test_the_peak_is_there_when_the_backlog_is_gone(case: tuple[list[Second], float, float]) -> None:
    seconds, level, reached_s = case
    found = time_to_peak_s(seconds, level)
    if reached_s < seconds[-1].t_s - 2:
        assert found is not None and abs(found - reached_s) <= CALM_SECONDS
    assert found is None or all(one.in_flight <= 3.01 * level for one in seconds if one.t_s >= found)


def test_the_knee_is_where_p99_stays_above_twice_what_it_was() -> None:
    p99 = [1000, 1000, 1000, 5000, 1000, 1000, 2001, 2500, 3000, 9000, None, 9000]
    assert place(knee(ramp([1.0] * 12, p99))) == (7.0, 700.0)
    in_trouble_from_the_start = [8000, 9000, 9000, 8000, 8000, 7000, 1000, 1000, 1000, 1000, 1000, 1000]
    assert place(knee(ramp([1.0] * 12, in_trouble_from_the_start))) == (1.0, 100.0)


def test_seconds_in_which_nothing_was_asked_for_are_no_trouble() -> None:
    p99 = [1000.0] * 6 + [None] * 6 + [1000.0] * 6
    quiet = [replace(one, asked=0.0) if one.p99_us is None else one for one in ramp([1.0] * 18, p99)]
    assert knee(quiet) is None and knee(ramp([1.0] * 18, p99)) is not None


def test_a_server_that_never_answers_for_long_has_its_knee_at_once() -> None:
    assert place(knee(ramp([0.0] * 8, [None] * 8))) == (1.0, 100.0)
    assert place(knee(ramp([0.0, 100.0] * 4, [None, 1000.0] * 4))) == (1.0, 100.0)
    assert knee(ramp([0.0] * 4, [None] * 4)) is None, "too short to say"


SECONDS = st.lists(st.tuples(st.floats(0, 2000), st.none() | st.floats(1, 1e6)), max_size=60).map(
    lambda pairs: ramp([done for done, _ in pairs], [p99 for _, p99 in pairs] or None)
)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_the_level_is_the_mean_of_all_but_the_slowest_second(done_rps: list[float]) -> None:
    assert ramps._level_of(done_rps) == statistics.fmean(sorted(done_rps)[1:] or done_rps)


@given(SECONDS, st.floats(0.1, 10))
def test_the_knee_does_not_depend_on_the_unit(seconds: list[Second], factor: float) -> None:
    power_of_two = 2.0 ** round(factor)  # exact, so that rounding decides nothing
    scaled = [replace(one, p99_us=None if one.p99_us is None else one.p99_us * power_of_two) for one in seconds]
    assert place(knee(scaled)) == place(knee(seconds))


@given(SECONDS)
def test_a_better_server_reaches_its_peak_no_later(seconds: list[Second]) -> None:
    better = [replace(second, completed_rps=second.completed_rps * 2) for second in seconds]
    one, other = time_to_peak_s(seconds, LEVEL_RPS), time_to_peak_s(better, LEVEL_RPS)
    assert one is None or (other is not None and other <= one)
