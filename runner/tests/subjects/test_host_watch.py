"""The readings of the host that belong to what an experiment measured: made-up series, and a real program."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpu_ticks import CpuTicks
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.probes.host import Clocks, HostReading
from jdkmatrix.records.readings import MeasuredSpan
from jdkmatrix.subjects.experiments.host_watch import EVERY_S, HostWatch, Moment, Stretch, enclosing, longest_s
from tests.support.builders import remote_stats

CPUS = CpuSets(sut=(1,), driver=(), remote=(0,), overlapped=False)
SECOND = 10**9


def moment(t_s: float, *, throttled_s: float = 0.0, remote_cpu_s: float = 0.0, took_ms: float = 0.5) -> Moment:
    ns = round(t_s * SECOND)
    host = HostReading(
        clocks=Clocks(ns, ns, ns), ticks={}, psi_some_us=None, throttled_us=round(throttled_s * 1e6), swapped_pages=None
    )
    return Moment(host, 0, remote_cpu_ns=round(remote_cpu_s * SECOND), runner_cpu_ns=0, took_ns=round(took_ms * 1e6))


def span(start_s: float, end_s: float) -> MeasuredSpan:
    return MeasuredSpan(start_monotonic_ns=round(start_s * SECOND), end_monotonic_ns=round(end_s * SECOND))


# 20 s of a program; from 12 s to 13 s something holds it back half of the time.
SERIES = [moment(t, throttled_s=min(max(t - 12, 0), 1) / 2) for t in range(21)]


def throttled(stretch: Stretch) -> float | None:
    return stretch.pressure(CPUS, irq_time_accounting=None).throttled_share


def test_a_disturbance_counts_for_the_span_that_it_falls_into_and_no_other() -> None:
    whole = enclosing(SERIES, None)
    assert (whole.duration_s, throttled(whole)) == (20, pytest.approx(0.025))
    measured = enclosing(SERIES, span(11.5, 15.5))
    assert (measured.before.monotonic_ns, measured.after.monotonic_ns) == (11 * SECOND, 16 * SECOND)
    assert throttled(measured) == pytest.approx(0.1), "five seconds, and not the start before them"
    assert throttled(enclosing(SERIES, span(13.5, 18))) == 0, "the warm-up was disturbed"


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=50, unique=True).map(sorted),
    st.sets(st.integers(0, 1000), min_size=2, max_size=2).map(sorted),
)
def test_the_stretch_is_the_shortest_that_encloses_the_span(times: list[int], ends: list[int]) -> None:
    start, end = ends
    found = enclosing([moment(t) for t in times], span(start, end))
    first, last = found.before.monotonic_ns // SECOND, found.after.monotonic_ns // SECOND
    if times[0] <= start and end <= times[-1]:
        assert first <= start and end <= last
        assert not [t for t in times if first < t <= start or end <= t < last]
    else:
        assert (first, last) == (times[0], times[-1])


def test_around_a_short_span_half_a_second_is_judged() -> None:
    """A tick of 10 ms would be 2 % of two CPUs in a quarter of a second, as much as others may use."""
    series = [moment(number * EVERY_S) for number in range(8)]
    short = enclosing(series, span(1.01, 1.12))
    assert (short.before.monotonic_ns, short.after.monotonic_ns) == (0.75 * SECOND, 1.5 * SECOND)
    at_its_end = enclosing(series, span(1.51, 1.52))
    assert (at_its_end.before.monotonic_ns, at_its_end.after.monotonic_ns) == (1.25 * SECOND, 1.75 * SECOND)
    assert enclosing(series[:2], span(0.01, 0.02)).duration_s == EVERY_S, "it had no longer life"


def test_a_reading_that_was_interrupted_is_left_out() -> None:
    """The counters of an interrupted reading are from different moments."""
    series = [moment(t, took_ms=800 if t in (4, 9, 10) else 2) for t in range(15)]
    found = enclosing(series, span(4.5, 8.5))
    assert (found.before.monotonic_ns, found.after.monotonic_ns) == (3 * SECOND, 11 * SECOND)


def test_where_every_reading_takes_long_none_is_called_interrupted() -> None:
    """Readings are slow on hundreds of CPUs, or beside a program whose threads are so many that adding up is slow."""
    slow_host = [moment(t, took_ms=60 if t else 16) for t in range(15)]
    many_threads = [moment(t, took_ms=19 if t else 0.5) for t in range(15)]
    for series in (slow_host, many_threads):
        assert enclosing(series, span(4.5, 8.5)).duration_s == 5


@given(st.floats(0, 20), st.floats(0, 10))
def test_readings_in_time_last_no_longer_than_is_said(start_s: float, measured_s: float) -> None:
    measured = span(start_s, start_s + measured_s)
    series = [moment(number * EVERY_S) for number in range(130)]
    assert enclosing(series, measured).duration_s <= longest_s(measured) + 1e-6


def test_the_remote_system_is_judged_by_its_cpu_time_in_the_span() -> None:
    """The remote system is busy in the measured second alone: 10 % of its life."""
    series = [moment(t, remote_cpu_s=min(max(t - 4, 0), 1)) for t in range(11)]
    whole = remote_stats(late_us=500, cpu_share=0.1)
    told = enclosing(series, span(4, 5)).of_remote(whole)
    assert (told.cpu_s, told.now_monotonic_ns - told.since_monotonic_ns) == (1.0, SECOND)
    assert told.lateness == whole.lateness


def test_the_kernel_s_writers_are_part_of_a_program_that_waits_for_the_disk() -> None:
    """Of two seconds of all CPUs the program has 0.6, the writers 0.2, and others 0.1."""
    first, *rest = sorted(os.sched_getaffinity(0))
    everywhere = CpuSets(sut=(first, *rest), driver=(), remote=(), overlapped=False)
    idle = CpuTicks(idle=0, interrupts=0, steal=0, tasks_ns=0)

    def at(t_s: int, program_s: float, writers_s: float | None, tasks_s: float) -> Moment:
        ticks = dict.fromkeys(rest, idle) | {first: replace(idle, tasks_ns=round(tasks_s * SECOND))}
        host = replace(moment(t_s).host, ticks=ticks)
        writers_ns = None if writers_s is None else round(writers_s * SECOND)
        return replace(moment(t_s), host=host, program_cpu_ns=round(program_s * SECOND), writers_cpu_ns=writers_ns)

    whole_s = 2 * len(everywhere.sut)
    for writers_s, foreign_s in ((0.2, 0.1), (None, 0.3)):
        begun = None if writers_s is None else 0.0
        stretch = Stretch(at(0, 0, begun, 0), at(2, 0.6, writers_s, 0.9))
        found = stretch.pressure(everywhere, irq_time_accounting=None)
        assert found.writers_share == (None if writers_s is None else pytest.approx(writers_s / whole_s))
        use = found.use_of("sut")
        assert use is not None and use.foreign_share == pytest.approx(foreign_s / whole_s)


def test_cpu_time_of_a_real_program_is_followed_to_its_end() -> None:
    script = "import time\nprint(1, flush=True)\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    with HostWatch((0,), None) as watch:
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        with watch.follow(process.pid):
            while len(watch.moments) < 3 and process.poll() is None:
                time.sleep(0.01)
            process.communicate()
    used = [one.program_cpu_ns for one in watch.moments]
    assert used[0] == 0 and used == sorted(used)
    assert used[-1] >= 0.3 * SECOND
    times = [one.monotonic_ns for one in watch.moments]
    assert times == sorted(times) and len(times) >= 3
