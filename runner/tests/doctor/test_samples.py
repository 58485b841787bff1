"""The samples of `matrix doctor`: other processes, interrupts, and CPUs that stand still."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jdkmatrix.doctor import spin as spin_module
from jdkmatrix.doctor.activity import Process, Snapshot, between, observe, other_processes, parse_interrupts
from jdkmatrix.doctor.spin import spin
from jdkmatrix.doctor.stalls import probe, sum_stalls
from jdkmatrix.host.cpu_ticks import CpuTicks


def snapshot(second: int, busy: int, processes: dict[int, Process], interrupts: int) -> Snapshot:
    """Make a snapshot of a host with 100 ticks a second and two CPUs, of which the second one is idle."""
    ticks = {cpu: CpuTicks(idle=100 * second - used, interrupts=0, steal=0) for cpu, used in ((0, busy), (1, 0))}
    return Snapshot(second * 10**9, second * 10**7, ticks, processes, {0: interrupts})


def test_foreign_load_is_what_others_used_and_names_the_busiest() -> None:
    before = snapshot(0, 100, {7: Process("java", 10.0), 8: Process("idle", 3.0)}, 50)
    after = snapshot(2, 260, {7: Process("java", 11.0), 8: Process("idle", 3.0), 9: Process("cc1", 0.5)}, 250)
    activity = between(before, after, before.ticks, ticks_per_s=100)
    assert activity.foreign_cpus == pytest.approx((1.6 - 0.02) / 2)
    assert activity.busiest == (("java (7)", 0.5), ("cc1 (9)", 0.25))
    assert between(before, after, (1,), ticks_per_s=100).foreign_cpus == 0, "what runs elsewhere disturbs no run"
    assert activity.interrupts_per_s == {0: 100.0}


def test_only_devices_count_as_interrupts() -> None:
    text = "      CPU0 CPU2\n  1:  3  4 IO-APIC keyboard\n 24:  5  6 PCI\nLOC: 100 200 timer\nERR: 1\n"
    assert parse_interrupts(text) == {0: 8, 2: 10}
    assert parse_interrupts("") == {}


def test_the_timers_of_aarch64_are_no_devices_though_they_have_a_number() -> None:
    text = (
        "           CPU0       CPU1\n"
        " 11:      51234      48211     GICv3  27 Level     arch_timer\n"
        " 46:          5          6   ITS-MSI 81920 Edge      nvme0q0\n"
        "IPI0:       100        200       Rescheduling interrupts\n"
    )
    assert parse_interrupts(text) == {0: 5, 1: 6}


def test_this_host_can_be_observed() -> None:
    activity = observe(Path("/"), 0.05, other_processes, os.sched_getaffinity(0))
    assert activity.elapsed_s >= 0.05
    assert 0 <= activity.foreign_cpus <= (os.cpu_count() or 1) + 1


def test_a_host_without_proc_stat_is_not_observed(tmp_path: Path) -> None:
    assert observe(tmp_path, 0.0, dict, ()) is None


def test_a_gap_is_split_into_waiting_and_standing_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps by 3 ms while the kernel says that 1 ms of it went to others, then by 2 ms, unexplained."""
    steps = iter([0, *range(0, 900_000, 100_000), 3_800_000, 3_900_000, 5_900_000, 5_950_000, 6_000_000, 7_000_000])
    waited = iter([0, 1_000_000, 1_000_000, 1_000_000])
    monkeypatch.setattr("jdkmatrix.doctor.spin.time.monotonic_ns", lambda: next(steps))
    monkeypatch.setattr("jdkmatrix.doctor.spin.time.sleep", lambda _: None)
    monkeypatch.setattr("jdkmatrix.doctor.spin._waited_ns", lambda: next(waited))
    assert spin(0, 6_000_000)["gaps"] == [(3_000_000, 1_000_000), (2_000_000, 0)]


def test_gaps_are_summed_without_what_other_processes_had() -> None:
    stalls = sum_stalls(3, {"spun_ns": 10**9, "gaps": [[3_000_000, 1_000_000], [4_000_000, 3_900_000]]}, stolen_s=0.01)
    assert (stalls.cpu, stalls.gaps, stalls.spun_s, stalls.stolen_s) == (3, 1, 1.0, 0.01)
    assert (stalls.away_s, stalls.longest_away_s, stalls.waited_s) == pytest.approx((0.002, 0.002, 0.0049))


def test_the_spinner_sees_a_process_that_stands_still() -> None:
    """It is stopped for 200 ms again and again: neither kernel nor hypervisor tells, but the clock does."""
    spinner = Path(spin_module.__file__)
    cpu = min(os.sched_getaffinity(0))
    arguments = [str(cpu), str(time.monotonic_ns() + 500_000_000), "1.0"]
    process = subprocess.Popen([sys.executable, "-I", str(spinner), *arguments], stdout=subprocess.PIPE, text=True)
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    output, _ = process.communicate()
    assert max(length for length, _ in json.loads(output)["gaps"]) >= 150_000_000


def test_every_cpu_is_probed_and_one_that_is_not_there_is_left_out() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    stalls = probe(Path("/"), [*cpus, 4095], 0.1)
    assert [stall.cpu for stall in stalls] == cpus
    assert all(stall.spun_s >= 0.1 and stall.away_s <= stall.spun_s for stall in stalls)
    assert probe(Path("/"), [4095], 0.1) is None
