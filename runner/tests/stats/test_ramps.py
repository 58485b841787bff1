"""Rules that read a rising load: on made-up seconds with known answers, and on any."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.stats.ramps import At, Second, knee, time_to_peak_s


def ramp(completed: Sequence[float], p99_us: Sequence[float | None] | None = None, errors: int = 0) -> list[Second]:
    """One second each; the rate rises by 100/s every second."""
    latencies = p99_us or [1000.0] * len(completed)
    return [
        Second(i + 1.0, 100.0 * (i + 1), done, errors, p99)
        for i, (done, p99) in enumerate(zip(completed, latencies, strict=True))
    ]


def test_the_peak_is_reached_when_three_seconds_in_a_row_have_it() -> None:
    lone = [100, 200, 960, 300, 400, 950, 955, 990, 1000, 1000]
    assert time_to_peak_s(ramp(lone)) == 6.0


def test_a_throughput_that_stays_below_has_no_time_to_peak() -> None:
    assert time_to_peak_s(ramp([900.0] * 10)) is None
    assert time_to_peak_s(ramp([100, 200, 300, 400, 500, 600, 700, 800, 1000, 1000])) is None, "two seconds do not do"
    assert time_to_peak_s([]) is None


def test_the_knee_is_where_p99_stays_above_twice_what_it_was() -> None:
    p99 = [1000, 1000, 1000, 5000, 1000, 1000, 2001, 2500, 3000, 9000, None, 9000]
    assert knee(ramp([1.0] * 12, p99)) == At(7.0, 700.0)


def test_a_server_in_trouble_from_the_start_has_its_knee_there() -> None:
    p99 = [8000, 9000, 9000, 8000, 8000, 7000, 1000, 1000, 1000, 1000, 1000, 1000]
    assert knee(ramp([1.0] * 12, p99)) == At(1.0, 100.0)


def test_a_server_that_never_answers_for_long_has_its_knee_at_once() -> None:
    assert knee(ramp([0.0] * 8, [None] * 8)) == At(1.0, 100.0)
    assert knee(ramp([0.0, 100.0] * 4, [None, 1000.0] * 4)) == At(1.0, 100.0)
    assert knee(ramp([0.0] * 4, [None] * 4)) is None, "too short to say"


SECONDS = st.lists(st.tuples(st.floats(0, 2000), st.none() | st.floats(1, 1e6)), max_size=60).map(
    lambda pairs: ramp([done for done, _ in pairs], [p99 for _, p99 in pairs] or None)
)


@given(SECONDS)
def test_moments_are_seconds_of_the_ramp(seconds: list[Second]) -> None:
    times = {second.t_s for second in seconds}
    found = knee(seconds)
    assert found is None or found.t_s in times
    reached = time_to_peak_s(seconds)
    assert reached is None or reached in times


@given(SECONDS, st.floats(0.1, 10))
def test_the_knee_does_not_depend_on_the_unit(seconds: list[Second], factor: float) -> None:
    power_of_two = 2.0 ** round(factor)  # exact, so that rounding decides nothing
    scaled = [
        Second(s.t_s, s.rate_rps, s.completed_rps, s.errors, None if s.p99_us is None else s.p99_us * power_of_two)
        for s in seconds
    ]
    assert knee(scaled) == knee(seconds)


@given(SECONDS)
def test_a_better_server_reaches_its_peak_no_later(seconds: list[Second]) -> None:
    better = [Second(s.t_s, s.rate_rps, s.completed_rps * 2, s.errors, s.p99_us) for s in seconds]
    one, other = time_to_peak_s(seconds), time_to_peak_s(better)
    assert one is None or (other is not None and other <= one)
