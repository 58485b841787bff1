"""The balance on recorded series: a load over loopback beside a hog of known size, on kernels that account interrupts
separately and on kernels that do not. samples/cpu_accounting/README.md tells how they were made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from jdkmatrix.host.cpu_ticks import parse_stat
from jdkmatrix.probes.cpu_balance import Used, balance
from tests.support.project import RECORDED
from tests.support.shipped import MATRIX

SAMPLES = RECORDED / "cpu_accounting"
# By file, True where interrupts are accounted separately.
KERNELS = {"irq-time-accounting": True, "irq-time-accounting-switched-off": False, "real-server": False}
LIMIT = MATRIX.thresholds.foreign_sut_share_max


@dataclass(frozen=True)
class Recorded:
    """One window on the server's CPU. `hog_share`: what the hog was asked to use; `others_share`: what processes other
    than the server used, by the hog's own clock, or by the kernel's sum over all tasks where that was recorded."""

    load: str
    hog_share: float
    others_share: float
    foreign: dict[bool, float]  # the balance's figure, by whether interrupts are taken to be accounted separately


@cache
def windows(kernel: str) -> tuple[Recorded, ...]:
    rows = [json.loads(line) for line in (SAMPLES / f"{kernel}.jsonl").read_text().splitlines()]
    begins = {row["window"]: row for row in rows if row["kind"] == "window" and row["edge"] == "begin"}
    ends = {row["window"]: row for row in rows if row["kind"] == "window" and row["edge"] == "end"}
    return tuple(_recorded(begins[number], ends[number]) for number in sorted(ends))


def _recorded(begin: dict[str, Any], end: dict[str, Any]) -> Recorded:
    elapsed_s = (sum(end["monotonic_ns"]) - sum(begin["monotonic_ns"])) / 2 / 1e9
    cpu = begin.get("sut_cpu", 0)

    def used_s(process: str) -> float:
        return float(end["cpu_clock_ns"][process] - begin["cpu_clock_ns"][process]) / 1e9

    def all_tasks_s() -> float:
        return (int(end["cpuacct"].split()[cpu]) - int(begin["cpuacct"].split()[cpu])) / 1e9

    others_s = all_tasks_s() - used_s("sut") if "cpuacct" in begin else used_s("hog")

    def foreign_share(accounted: bool) -> float:
        before, after = parse_stat(begin["stat"]), parse_stat(end["stat"])
        used = [Used("sut", (cpu,), used_s("sut"))]
        (use,) = balance(before, after, used, elapsed_s=elapsed_s, ticks_per_s=100, irq_time_accounting=accounted)
        return use.foreign_share

    foreign = {accounted: foreign_share(accounted) for accounted in (True, False)}
    return Recorded(begin["load"], begin["hog_percent"] / 100, others_s / elapsed_s, foreign)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_hog_is_seen_with_its_size_and_quiet_windows_are_quiet(kernel: str) -> None:
    found = windows(kernel)
    assert {one.hog_share for one in found if one.load == "saturated"} >= {0.0, 0.05, 0.10, 0.25, 0.50}
    for one in found:
        foreign = one.foreign[KERNELS[kernel]]
        assert foreign == pytest.approx(one.others_share, abs=0.02), one
        if one.hog_share:
            assert foreign > LIMIT, one
    quiet = [one for one in found if one.others_share < 0.005]  # a hog that does nothing costs more in an emulator
    assert quiet and all(one.foreign[KERNELS[kernel]] < LIMIT for one in quiet)


def test_on_a_busy_host_the_balance_is_the_kernels_own_sum_over_all_tasks() -> None:
    found = windows("no-irq-time-accounting")
    assert len(found) > 30
    for one in found:
        assert one.foreign[False] == pytest.approx(one.others_share, abs=0.006), one


def test_taking_interrupts_for_what_they_are_not_would_mislead() -> None:
    """Where the clocks leave interrupts out, not counting them would refuse every quiet window under load."""
    quiet = [one for one in windows("irq-time-accounting") if one.load == "saturated" and one.hog_share == 0]
    assert quiet and all(one.foreign[False] > 0.10 for one in quiet)


def test_counting_interrupts_twice_would_hide_a_hog() -> None:
    """The clocks include interrupts here, and /proc/stat shows them too, which once blinded this gate."""
    small = [one for one in windows("real-server") if one.hog_share in (0.05, 0.10)]
    assert small and all(one.foreign[True] < LIMIT < one.foreign[False] for one in small)
