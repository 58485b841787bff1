"""Probes: parsers and differences with made-up values, and readings of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.host.cgroup_limits import Hierarchy, read_hierarchies
from jdkmatrix.probes.cpu_balance import Used
from jdkmatrix.probes.host import (
    Clocks,
    HostReading,
    parse_psi,
    parse_swapped_pages,
    parse_threads_ended,
    parse_throttled_us,
    pressure,
    read_host,
    read_idle_entries,
    read_tasks_ns,
    read_throttled_us,
)
from jdkmatrix.probes.jcmd import dump_threads
from jdkmatrix.probes.process import (
    JIT_THREADS,
    Glance,
    Reading,
    SutGoneError,
    ThreadCounters,
    cpu_ns_of,
    cpu_time_ns,
    difference,
    glance,
    parse_thread,
    read_threads,
)
from jdkmatrix.records.pressure import Pressure
from tests.support.programs import program
from tests.support.waiting import wait_until

STATUS = "Name:\tC2 CompilerThre\nThreads:\t4\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"


def reading(threads: dict[int, ThreadCounters], cpu_ns: int = 0) -> Reading:
    at = Glance(monotonic_ns=0, cpu_ns=cpu_ns, rss_bytes=1, virt_bytes=1, thread_count=len(threads))
    return Reading(at=at, threads=threads)


def at(seconds: float, **told: Any) -> HostReading:
    """Return a reading in which only what is `told` is known, and clocks agree."""
    ns = round(seconds * 1e9)
    unknown = dict.fromkeys(("psi_some_us", "throttled_us", "swapped_pages", "threads_ended"))
    return HostReading(**{"clocks": Clocks(ns, ns, ns), "ticks": {}, **unknown, **told})


def between(before: HostReading, after: HostReading) -> Pressure:
    return pressure(before, after, used=[], irq_time_accounting=None)


def thread(count: int, name: str = "t") -> ThreadCounters:
    return ThreadCounters(name, count * 10, count, count, count)


def test_a_thread_is_read_from_status_and_schedstat() -> None:
    assert parse_thread(STATUS, "1000 2000 5\n") == ThreadCounters("C2 CompilerThre", 1000, 12, 3, 2000)
    assert parse_thread("", "") is None


def test_lines_that_newer_kernels_add_to_a_status_are_not_read() -> None:
    """Linux adds them from 6.6 on, on x86-64 with CONFIG_X86_USER_SHADOW_STACK, as Ubuntu 24.04 has it."""
    added = "x86_Thread_features:\t\nx86_Thread_features_locked:\t\n"
    assert parse_thread(STATUS + added, "1000 2000 5\n") == parse_thread(STATUS, "1000 2000 5\n")


def test_a_kernel_that_does_not_tell_the_time_of_threads_is_told_apart_from_threads_that_end(tmp_path: Path) -> None:
    task = tmp_path / "7" / "task" / "7"
    task.mkdir(parents=True)
    (task / "status").write_text(STATUS)
    with pytest.raises(MatrixError, match="CONFIG_SCHED_INFO"):
        read_threads(7, tmp_path)
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "schedstat").write_text("1000 2000 5\n")
    assert read_threads(7, tmp_path) == {}


def test_differences_count_new_threads_and_leave_out_a_few_that_ended() -> None:
    before = reading({i: thread(5) for i in range(20)})
    after = reading({**{i: thread(7) for i in range(1, 20)}, 99: thread(3)})
    counted = difference(before, after)
    assert counted.voluntary_switches == 19 * 2 + 3


def test_sums_over_living_threads_are_not_given_when_many_ended() -> None:
    before = reading({i: thread(5) for i in range(20)})
    after = reading({i: thread(5) for i in range(10, 60)})
    assert difference(before, after) is None


@pytest.mark.parametrize(("missing_ns", "known"), [(0, True), (40, True), (60, False), (9_000, False)])
def test_nor_when_threads_that_came_and_went_used_the_cpu(missing_ns: int, known: bool) -> None:
    """With a thread for each request, none of them is there at the first reading, and none at the last."""
    before = reading({i: thread(5) for i in range(10)}, cpu_ns=1_000)
    after = reading({i: thread(10) for i in range(10)}, cpu_ns=1_000 + 500 + missing_ns)
    assert (difference(before, after) is not None) == known


@given(st.dictionaries(st.integers(1, 50), st.tuples(st.integers(0, 1000), st.integers(0, 1000))))
def test_a_difference_is_never_negative(growth: dict[int, tuple[int, int]]) -> None:
    before = reading({tid: thread(start) for tid, (start, _) in growth.items()})
    after = reading({tid: thread(start + more) for tid, (start, more) in growth.items()})
    counted = difference(before, after)
    assert counted.voluntary_switches == sum(more for _, more in growth.values())


def test_jit_time_is_that_of_compiler_threads() -> None:
    before = reading({1: thread(1, "C2 CompilerThre"), 2: thread(1, "main")})
    after = reading({1: thread(4, "C2 CompilerThre"), 2: thread(9, "main"), 3: thread(2, "C1 CompilerThre")})
    assert cpu_ns_of(JIT_THREADS, before, after) == 30 + 20


@pytest.mark.parametrize("name", ["C1 Comp..hread0", "C2 Comp..read12", "JVMCI-n..hread0", "JVMCI C..hread0"])
def test_compiler_threads_are_known_where_the_jvm_cuts_their_names_in_the_middle(name: str) -> None:
    after = reading({1: thread(4, name), 2: thread(9, "C1-exec-1"), 3: thread(9, "ForkJoi..rker-1")})
    assert cpu_ns_of(JIT_THREADS, reading({}), after) == 40


def test_a_real_process_uses_cpu_and_can_end() -> None:
    process = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        first = glance(process.pid)
        wait_until(lambda: cpu_time_ns(process.pid) >= first.cpu_ns + 50_000_000, "a busy loop got no CPU time")
        second = glance(process.pid)
        assert second.cpu_ns - first.cpu_ns >= 50_000_000
        assert second.rss_bytes > 1_000_000
        assert second.virt_bytes >= second.rss_bytes
        threads = read_threads(process.pid)
        assert list(threads) == [process.pid] and second.thread_count == 1
    finally:
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(SutGoneError):  # though its numbers can be read, all 0, until it is waited for
            glance(process.pid)
        process.wait()
    assert read_threads(process.pid) == {}
    with pytest.raises(SutGoneError):
        glance(process.pid)
    with pytest.raises(SutGoneError):
        cpu_time_ns(process.pid)


def test_a_glance_opens_no_file_of_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading of every second must not grow with the number of threads: the arm with thousands would pay for it."""
    opened: list[str] = []
    real = Path.read_text

    def read_text(path: Path, **how: str) -> str:
        opened.append(str(path))
        return real(path, **how)

    monkeypatch.setattr(Path, "read_text", read_text)
    glance(os.getpid())
    assert opened == [f"/proc/{os.getpid()}/{name}" for name in ("statm", "stat")]


def test_pressure_files() -> None:
    assert parse_psi("some avg10=0.00 avg60=0.20 avg300=0.61 total=6499465\nfull total=0\n") == 6499465
    assert parse_psi("") is None


def test_stalls_are_a_share_of_the_window() -> None:
    seen = between(at(0, psi_some_us=0), at(2.0, psi_some_us=500_000))
    assert seen.psi_cpu_some_share == pytest.approx(0.25)
    assert (seen.steal_share, seen.foreign_cpu_share, seen.cpu_use) == (0, 0, ())


def test_threads_that_ended_are_those_started_and_no_longer_there() -> None:
    assert parse_threads_ended("cpu 1\nprocesses 645\nprocs_running 2\n", "1.63 1.71 0.81 2/92 11130\n") == 553
    assert parse_threads_ended("cpu 1\n", "1.63 1.71 0.81 2/92 11130\n") is None
    assert parse_threads_ended("processes 645\n", "") is None
    seen = between(at(1, threads_ended=500), at(3, threads_ended=10_500))
    assert (seen.elapsed_s, seen.threads_ended) == (2.0, 10_000)
    assert between(at(1), at(3, threads_ended=10_500)).threads_ended is None


def test_threads_that_end_here_are_counted() -> None:
    before = read_host()
    for _ in range(50):
        other = threading.Thread(target=lambda: None)
        other.start()
        other.join()
    # Those that have only just ended are still there; other threads on this host end, too.
    wait_until(lambda: (between(before, read_host()).threads_ended or 0) >= 50)


def test_entries_to_idle_are_counted_in_every_state_and_only_of_the_cpus_asked_for(tmp_path: Path) -> None:
    for state, count in enumerate((7, 1_000, 20)):
        folder = tmp_path / f"cpu1/cpuidle/state{state}"
        folder.mkdir(parents=True)
        (folder / "usage").write_text(f"{count}\n")
    (tmp_path / "cpu2").mkdir()
    assert read_idle_entries(1, tmp_path) == 1_027
    assert read_idle_entries(2, tmp_path) is None and read_idle_entries(3, tmp_path) is None


def test_for_how_long_tasks_ran_is_read_in_the_root_cgroup_alone(tmp_path: Path) -> None:
    both = Hierarchy(1, tmp_path / "both", tmp_path / "both/user", frozenset({"cpu", "cpuacct"}))
    (tmp_path / "both").mkdir()
    (tmp_path / "possible").write_text("0,2-3\n")
    assert read_tasks_ns([both], tmp_path) == {}, "no such file"
    (tmp_path / "both/cpuacct.usage_percpu").write_text("5 70 900 \n")
    assert read_tasks_ns([both], tmp_path) == {}, "in a namespace, it is of the container alone"
    (tmp_path / "both/release_agent").write_text("\n")
    assert read_tasks_ns([both], tmp_path) == {0: 5, 2: 70, 3: 900}
    assert read_tasks_ns([replace(both, controllers=frozenset({"cpu"}))], tmp_path) == {}
    unified = Hierarchy(2, tmp_path / "v2", tmp_path / "v2")
    assert read_tasks_ns([unified, both], tmp_path) == {0: 5, 2: 70, 3: 900}


def test_of_the_cpus_asked_for_tasks_are_read_or_else_entries_to_idle() -> None:
    first, *others = sorted(os.sched_getaffinity(0))
    ticks, shown = read_host([first]).ticks, first in read_tasks_ns(read_hierarchies(Path("/proc")))
    assert (ticks[first].tasks_ns is not None) == shown
    assert (ticks[first].idle_entries is not None) == (not shown and read_idle_entries(first) is not None)
    assert all((ticks[cpu].tasks_ns, ticks[cpu].idle_entries) == (None, None) for cpu in others)


def test_throttling_and_swapping_are_rates_over_the_window() -> None:
    seen = between(at(0, throttled_us=5, swapped_pages=10), at(2.0, throttled_us=20_005, swapped_pages=30))
    assert seen.throttled_share == pytest.approx(0.01)
    assert seen.swapped_bytes_per_s == pytest.approx(10 * os.sysconf("SC_PAGE_SIZE"))
    unknown = between(at(0), at(2.0))
    assert (unknown.throttled_share, unknown.swapped_bytes_per_s, unknown.psi_cpu_some_share) == (None, None, None)


@given(st.integers(-(10**12), 10**12), st.integers(0, 10**12), st.integers(1, 10**12))
def test_a_clock_step_is_told_from_time_and_from_a_suspension(step_ns: int, suspended_ns: int, window_ns: int) -> None:
    before = Clocks(monotonic_ns=7, boottime_ns=11, realtime_ns=10**18)
    after = Clocks(
        monotonic_ns=7 + window_ns,
        boottime_ns=11 + window_ns + suspended_ns,
        realtime_ns=10**18 + window_ns + suspended_ns + step_ns,
    )
    seen = between(at(0, clocks=before), at(0, clocks=after))
    assert seen.clock_step_s == pytest.approx(step_ns / 1e9)
    assert seen.suspended_s == pytest.approx(suspended_ns / 1e9)


def test_cgroup_files_of_both_versions() -> None:
    assert parse_throttled_us("usage_usec 9\nnr_throttled 3\nthrottled_usec 1234\nnr_bursts 0\n") == 1234
    assert parse_throttled_us("nr_periods 1\nnr_throttled 3\nthrottled_time 5000000\n") == 5000
    assert parse_throttled_us("usage_usec 9\n") is None
    assert parse_swapped_pages("pgpgin 4\npswpin 5\npswpout 7\n") == 12
    assert parse_swapped_pages("") is None


def test_quotas_above_the_own_cgroup_count(tmp_path: Path) -> None:
    """One example is the quota of a slice that contains the scope of a run."""
    here = tmp_path / "v2/user.slice/run.scope"
    here.mkdir(parents=True)
    unified = Hierarchy(2, tmp_path / "v2", here)
    assert read_throttled_us([unified]) is None
    (here / "cpu.stat").write_text("usage_usec 9\nnr_throttled 0\nthrottled_usec 0\n")
    (here.parent / "cpu.stat").write_text("usage_usec 9\nnr_throttled 3\nthrottled_usec 1234\n")
    (tmp_path / "cpu.stat").write_text("throttled_usec 99\n")
    assert read_throttled_us([unified]) == 1234
    own = tmp_path / "v1/pod/box"
    own.mkdir(parents=True)
    (own / "cpu.stat").write_text("nr_throttled 1\nthrottled_time 5000000\n")
    (own.parent / "cpu.stat").write_text("nr_throttled 1\nthrottled_time 1000000\n")
    v1 = Hierarchy(1, tmp_path / "v1", own, frozenset({"cpu", "cpuacct"}))
    assert read_throttled_us([v1, Hierarchy(1, tmp_path / "none", tmp_path / "none", frozenset({"pids"}))]) == 6000


def test_the_times_of_a_container_are_not_taken_for_those_of_our_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jdkmatrix.probes.host.kernels_ticks", lambda stat, proc: {})
    cpus = tuple(os.sched_getaffinity(0))
    seen = pressure(read_host(cpus), read_host(cpus), used=[Used("sut", cpus, 0.0)], irq_time_accounting=None)
    assert seen.cpu_use == ()


def test_this_host_can_be_read() -> None:
    before, after = read_host(), read_host()
    assert set(os.sched_getaffinity(0)) <= set(before.ticks)
    seen = pressure(before, after, used=[Used("sut", tuple(before.ticks), 0.0)], irq_time_accounting=None)
    assert seen.clock_step_s is not None and abs(seen.clock_step_s) < 3600
    assert seen.suspended_s is not None and seen.suspended_s < 3600


def test_a_jvm_that_ignores_jcmd_has_no_dump_and_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = program(tmp_path / "jcmd", "#!/bin/sh\n").with_name("java")
    monkeypatch.chdir(tmp_path)
    (tmp_path / f".attach_pid{os.getpid()}").touch()
    monkeypatch.setattr(launch, "ask", mock.Mock(side_effect=subprocess.TimeoutExpired("jcmd", 10)))
    assert dump_threads(os.getpid(), java, tmp_path) == "no thread dump: jcmd got no answer within 10 s"
    assert [path.name for path in tmp_path.iterdir()] == ["jcmd"]
