"""Attribution of CPU time: made-up balances, properties, and where each kernel accounts interrupts."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpu_ticks import CpuTicks, parse_stat
from jdkmatrix.host.irq_time import BURSTS_MIN, decide, irq_time_accounting, undisturbed_bursts
from jdkmatrix.probes.cpu_balance import Used, balance
from jdkmatrix.probes.host import mean_share
from jdkmatrix.records.pressure import CpuUse
from tests.support.builders import cpu_use

NOTHING = CpuTicks(idle=0, interrupts=0, steal=0)
HERTZ = 100


def shares(
    used: list[Used], after: dict[int, CpuTicks], *, elapsed_s: float = 1.0, irq: bool | None = False
) -> dict[str, float]:
    """Return the foreign share by role."""
    before = dict.fromkeys(after, NOTHING)
    found = balance(before, after, used, elapsed_s=elapsed_s, ticks_per_s=HERTZ, irq_time_accounting=irq)
    return {role: use.foreign_share for use in found for role in use.roles}


def test_the_lines_of_every_cpu_are_read() -> None:
    text = "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 10 1 5 100 2 3 4 6 0 0\ncpu1 1 0 0 9 0 0 0 0 0 0\nintr 5\n"
    assert parse_stat(text) == {0: CpuTicks(102, 7, 6), 1: CpuTicks(9, 0, 0)}


def test_interrupts_are_taken_away_once() -> None:
    """A busy CPU, 20 % of it in soft interrupts, has 10 % foreign use, whichever clock includes the interrupts."""
    after = {0: CpuTicks(idle=0, interrupts=20, steal=0)}
    assert shares([Used("sut", (0,), 0.90)], after, irq=False)["sut"] == pytest.approx(0.10)
    assert shares([Used("sut", (0,), 0.70)], after, irq=True)["sut"] == pytest.approx(0.10)
    unknown = shares([Used("sut", (0,), 0.90)], after, irq=None)
    assert unknown["sut"] == pytest.approx(0.10), "not known must not hide a foreign load"


def test_roles_that_share_a_cpu_are_judged_together_and_stolen_time_is_nobodys() -> None:
    after = {1: CpuTicks(idle=0, interrupts=0, steal=10)}
    used = [Used("driver", (1,), 0.50), Used("remote", (1,), 0.30), Used("runner", (1,), 0.05)]
    (use,) = balance({1: NOTHING}, after, used, elapsed_s=1.0, ticks_per_s=HERTZ, irq_time_accounting=False)
    assert set(use.roles) == {"driver", "remote", "runner"}
    assert (use.busy_share, use.steal_share) == (pytest.approx(0.9), pytest.approx(0.1))
    assert use.foreign_share == pytest.approx(0.05)


def test_ticks_round_the_more_the_shorter_the_window_is() -> None:
    """Rounding is by one tick of 10 ms for one CPU; for four it is by two ticks, which are a smaller share of them."""

    def rounding(cpus: int, elapsed_s: float) -> float:
        stat = dict.fromkeys(range(cpus), NOTHING)
        used = [Used("sut", tuple(stat), 0.0)]
        (use,) = balance(stat, stat, used, elapsed_s=elapsed_s, ticks_per_s=HERTZ, irq_time_accounting=False)
        return use.rounding_share

    assert (rounding(1, 1.0), rounding(1, 4.0), rounding(4, 1.0)) == pytest.approx((0.01, 0.0025, 0.005))


def test_entries_to_idle_are_a_rate_of_each_cpu_and_none_where_one_is_not_counted() -> None:
    def rate(*counts: tuple[int | None, int | None]) -> float | None:
        before, after = (
            {cpu: CpuTicks(idle=0, interrupts=0, steal=0, idle_entries=count[end]) for cpu, count in enumerate(counts)}
            for end in (0, 1)
        )
        used = [Used("sut", tuple(before), 0.0)]
        (use,) = balance(before, after, used, elapsed_s=2.0, ticks_per_s=HERTZ, irq_time_accounting=False)
        return use.idle_entries_per_s

    assert rate((100, 8_100)) == 4_000
    assert rate((100, 8_100), (50, 50)) == 2_000
    assert rate((0, 0)) == 0.0
    assert rate((100, 8_100), (None, None)) is None and rate((100, None)) is None


def test_where_the_kernel_sums_tasks_up_waking_a_cpu_is_nobodys() -> None:
    """Two CPUs, idle for 60 % of 2 s: ours ran for 1 s, tasks of others for 0.2 s, and 0.4 s is in nobody's clock."""

    def use(*tasks_ns: int | None, irq: bool = False) -> CpuUse:
        before = {cpu: CpuTicks(0, 0, 0, ran_ns and 7) for cpu, ran_ns in enumerate(tasks_ns)}
        after = {cpu: CpuTicks(120, 30, 0, ran_ns and 7 + ran_ns) for cpu, ran_ns in enumerate(tasks_ns)}
        used = [Used("sut", (0, 1), 1.0)]
        (found,) = balance(before, after, used, elapsed_s=2.0, ticks_per_s=HERTZ, irq_time_accounting=irq)
        return found

    for irq in (False, True):
        found = use(1_150_000_000, 50_000_000, irq=irq)
        assert found.by_tasks and found.foreign_share == pytest.approx(0.05)
    assert found.busy_share == pytest.approx(0.4)
    half = use(1_150_000_000, None)
    assert not half.by_tasks and half.foreign_share == pytest.approx(0.15)


def test_a_cpu_that_is_not_shown_and_a_window_without_length_have_no_balance() -> None:
    assert shares([Used("sut", (7,), 1.0)], {0: NOTHING}) == {}
    assert shares([Used("sut", (0, 7), 1.0)], {0: NOTHING}) == {}, "what two CPUs were used for was not used of one"
    assert shares([Used("sut", (0,), 0.0)], {0: NOTHING}, elapsed_s=0.0) == {}


CPUS = st.frozensets(st.integers(0, 7), min_size=1, max_size=4)
ROLES = ("sut", "driver", "remote", "runner")


@given(
    st.lists(CPUS, min_size=1, max_size=4),
    st.lists(
        st.tuples(st.integers(0, 250), st.integers(0, 300), st.integers(0, 200), st.integers(0, 50)),
        min_size=8,
        max_size=8,
    ),
    st.booleans(),
)
def test_what_is_left_is_exactly_what_others_used(
    sets: list[frozenset[int]], columns: list[tuple[int, int, int, int]], accounted: bool
) -> None:
    """Eight CPUs have ticks of idle, own, interrupts and steal; whatever else there is in 10 s is foreign."""
    elapsed = 1000
    after = {cpu: CpuTicks(idle, irq, steal) for cpu, (idle, _, irq, steal) in enumerate(columns)}
    owner: dict[int, int] = {}
    for number, cpus in enumerate(sets):
        for cpu in cpus:
            owner.setdefault(cpu, number)
    used = [
        Used(
            ROLES[number],  # type: ignore[arg-type]
            tuple(sorted(cpus)),
            sum(columns[cpu][1] + (0 if accounted else columns[cpu][2]) for cpu in cpus if owner[cpu] == number)
            / HERTZ,
        )
        for number, cpus in enumerate(sets)
    ]
    before = dict.fromkeys(after, NOTHING)
    found = balance(before, after, used, elapsed_s=elapsed / HERTZ, ticks_per_s=HERTZ, irq_time_accounting=accounted)
    assert sorted(role for use in found for role in use.roles) == sorted(ROLES[: len(sets)])
    assert sorted(cpu for use in found for cpu in use.cpus) == sorted(owner), "every CPU in one balance"
    for use in found:
        foreign = sum(elapsed - sum(columns[cpu]) for cpu in use.cpus) / (elapsed * len(use.cpus))
        assert use.foreign_share == pytest.approx(foreign, abs=1e-9)


@pytest.mark.parametrize(
    ("missing", "accounted"),
    [
        ([0.002] * BURSTS_MIN, False),
        ([0.002] * 15 + [0.3] * 15, False),  # a hypervisor took time away from half of the bursts
        ([0.2] * BURSTS_MIN, True),
        ([0.18] * 25 + [0.9] * 5, True),
        ([0.2] * (BURSTS_MIN - 1), None),
        ([], None),
    ],
)
def test_where_interrupts_are_is_told_by_undisturbed_bursts(missing: list[float], accounted: bool | None) -> None:
    assert decide(missing) is accounted


def test_this_kernel_is_tried() -> None:
    """Nothing is known about this kernel except that a thread's clock is no faster than time."""
    cpu = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    irq_time_accounting(cpu)
    assert os.sched_getaffinity(0) == before
    assert all(-0.1 <= share < 1 for share in undisturbed_bursts())
    assert irq_time_accounting(100_000) is None, "a CPU that does not exist"


def test_what_a_window_suffered_is_told_without_the_cpus_of_this_tool_alone() -> None:
    """Ten percent were stolen from the program; the 63 other CPUs, where this tool read clocks, were calm."""
    program = cpu_use("sut", steal=0.1)
    tool = cpu_use("runner").model_copy(update={"cpus": tuple(range(1, 64))})
    both = cpu_use("driver", "runner")
    assert mean_share((program, tool), "steal_share") == pytest.approx(0.1)
    assert mean_share((program, both), "steal_share") == pytest.approx(0.05)
    assert mean_share((tool,), "steal_share") == 0
