"""Gates for what happens beside the server: by role, by the promised precision, and compared with a window's peers."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import pytest

from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.method.gate import Observation, WindowContext
from jdkmatrix.method.gates import beside_peers, refusals
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.pressure import CpuUse, Pressure
from jdkmatrix.records.reasons import Reason
from tests.support.builders import cpu_use, latency, load_result, pressure, remote_stats, sut_usage, window
from tests.support.project import RECORDED
from tests.support.shipped import MATRIX

LIMITS = MATRIX.thresholds


def host(*uses: CpuUse, runner: float = 0.0) -> Pressure:
    return pressure().model_copy(update={"cpu_use": uses, "runner_cpu_share": runner})


def codes(found: Pressure, precision: float = 0.05) -> list[str]:
    return [reason.code for reason in refusals(Observation(host=found), LIMITS, WindowContext(precision=precision))]


@pytest.mark.parametrize(
    ("use", "precision", "expected"),
    [
        # Five per cent of a server's only CPU: 2.5 % of all CPUs of a host with two.
        (cpu_use("sut", foreign=0.05), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", foreign=0.021, busy=1.0), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", foreign=0.015, busy=1.0), 0.05, []),
        (cpu_use("sut", foreign=0.015, busy=1.0), 0.01, ["foreign-cpu"]),
        # Waking up a CPU that idles for two thirds of the time takes 1.1 % of it, up to 2.1 %; of one that idles half
        # of the time it takes more, of one that hardly does anything less.
        (cpu_use("sut", foreign=0.021, busy=0.33), 0.05, []),
        (cpu_use("sut", foreign=0.038, busy=0.5), 0.05, []),
        (cpu_use("sut", foreign=0.05, busy=0.5), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", foreign=0.03, busy=0.05), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", foreign=0.03, busy=0.95), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", foreign=0.066, busy=0.43), 0.05, ["foreign-cpu"]),
        (cpu_use("sut", steal=0.02), 0.05, []),
        (cpu_use("sut", steal=0.02), 0.02, ["steal"]),
        (cpu_use("driver", foreign=0.05, steal=0.04), 0.02, []),
        (cpu_use("driver", foreign=0.15), 0.05, ["foreign-cpu-driver"]),
        (cpu_use("driver", steal=0.06), 0.05, ["steal-driver"]),
        # Nothing is measured there.
        (cpu_use("runner", foreign=0.9, steal=0.5, busy=1.0), 0.02, []),
        # Each of the two is below 90 %; and a server is meant to be busy.
        (cpu_use("driver", "remote", busy=0.99), 0.05, ["cpus-full"]),
        (cpu_use("driver", "remote", busy=0.85), 0.05, []),
        (cpu_use("sut", busy=1.0), 0.05, []),
    ],
)
def test_what_is_taken_from_the_server_or_fills_its_neighbours_cpus_is_judged_by_the_promise(
    use: CpuUse, precision: float, expected: list[str]
) -> None:
    assert codes(host(use), precision) == expected


@dataclass(frozen=True)
class Recorded:
    """A recorded window or experiment. `own_threads_end`: threads of the experiment ended while it was measured."""

    host: Pressure
    was_refused: bool
    own_threads_end: bool

    @property
    def without_counts(self) -> Self:
        """This record as it would be on a host that does not count entries to idle."""
        uses = tuple(use.model_copy(update={"idle_entries_per_s": None}) for use in self.host.cpu_use)
        return replace(self, host=self.host.model_copy(update={"cpu_use": uses}))

    def codes(self, hog_share: float = 0.0) -> list[str]:
        """Return refusals for foreign CPU use. `hog_share`: the share of the server's CPUs added to what was there."""
        uses = [
            use.model_copy(update={"foreign_share": use.foreign_share + hog_share}) if "sut" in use.roles else use
            for use in self.host.cpu_use
        ]
        found = codes(self.host.model_copy(update={"cpu_use": tuple(uses)}))
        return [code for code in found if code == "foreign-cpu"]


def recorded(run: str) -> Iterator[Recorded]:
    """Yield every window and experiment of a run, with the fields that records have had since then; attempts that were
    refused are among them. `ended`: threads of the experiment that ended while the host was watched."""
    for row in json.loads(gzip.decompress((RECORDED / "windows" / f"foreign-cpu.{run}.json.gz").read_bytes())):
        seen, elapsed_s, ended = Pressure.model_validate(row["host"]), row["elapsed_s"], row["ended"]
        uses = tuple(
            use.model_copy(update={"rounding_share": 0.01 / (elapsed_s * math.sqrt(len(use.cpus)))})
            for use in seen.cpu_use
        )
        told = seen.model_copy(update={"cpu_use": uses, "elapsed_s": elapsed_s, "threads_ended": ended})
        yield Recorded(told, row["refused"], ended > 0)


def test_an_arm_is_not_refused_because_its_threads_end() -> None:
    """When recorded, all 30 attempts with cold platform threads were refused, 22 of 26 with warm ones, and 3 of 13 with
    virtual threads, around which ticks had too little time."""
    found = list(recorded("spawn.small"))
    assert sum(one.was_refused for one in found if one.own_threads_end) == 52
    assert sum(one.was_refused for one in found if not one.own_threads_end) == 3
    assert [one for one in found if one.codes()] == []
    long_enough = [one for one in found if one.host.elapsed_s >= 0.5]
    assert sum(one.own_threads_end for one in long_enough) == 66
    assert [one for one in long_enough if not one.codes(hog_share=0.05)] == []


def test_a_server_is_not_refused_because_it_wakes_up_often() -> None:
    """When recorded, four windows of the pool at half of its capacity were refused."""
    found = list(recorded("infoq-cpu.small"))
    assert len(found) > 200 and sum(one.was_refused for one in found) == 4
    assert [one for one in found if one.codes()] == []
    assert [one for one in found if not one.codes(hog_share=0.05)] == []


@pytest.mark.parametrize(
    ("busy", "use", "seen", "most"),
    [
        # Where entries to idle are counted, each is allowed for, and nothing by how busy a CPU is: 6,000 a second, at
        # 10 µs, are 6 % of a CPU, on top of another 2 % that may be foreign.
        (0.5, {"idle_entries_per_s": 6_000.0}, {}, 0.08),
        (0.5, {"idle_entries_per_s": 0.0}, {}, 0.02),
        (0.5, {"idle_entries_per_s": None}, {}, 0.0395),
        # Where tasks were counted, nothing is allowed for waking a CPU.
        (0.5, {"by_tasks": True}, {}, 0.02),
        # Ended threads are allowed for by what they take: 1,000 a second take half a per cent of a CPU.
        (1.0, {}, {"elapsed_s": 2.0, "threads_ended": 2000}, 0.025),
        (1.0, {}, {"elapsed_s": 2.0, "threads_ended": 0}, 0.02),
        (1.0, {}, {"elapsed_s": 2.0, "threads_ended": None}, 0.02),
    ],
)
def test_no_more_is_allowed_than_what_was_counted_takes(
    busy: float, use: dict[str, Any], seen: dict[str, Any], most: float
) -> None:
    for foreign, expected in ((most - 0.0015, []), (most + 0.0015, ["foreign-cpu"])):
        one = cpu_use("sut", foreign=foreign, busy=busy).model_copy(update=use)
        assert codes(host(one).model_copy(update=seen)) == expected


def test_a_refusal_tells_how_often_the_cpu_went_idle_where_that_is_known() -> None:
    use = cpu_use("sut", foreign=0.2)
    counted = use.model_copy(update={"idle_entries_per_s": 3_000.0})
    seen = [
        reason.figures
        for one in (use, counted)
        for reason in refusals(Observation(host=host(one)), LIMITS, WindowContext(precision=0.05))
    ]
    assert ["idle_entries_per_s" in figures for figures in seen] == [False, True]
    assert seen[1]["idle_entries_per_s"] == 3_000.0


def test_an_arm_is_not_refused_because_it_wakes_its_cpus_up_for_short_tasks() -> None:
    """Judged by how busy the CPUs were, 61 of these 84 forks would be refused: all of some arms, none of others."""
    found = list(recorded("jackson-buffers.small"))
    assert len(found) == 84 and [one for one in found if one.codes()] == []
    assert sum(bool(one.without_counts.codes()) for one in found) == 61
    assert [one for one in found if not one.codes(hog_share=0.06)] == []


@pytest.mark.parametrize(
    ("elapsed_s", "changes", "expected"),
    [
        (3.4, {}, []),
        # The tool was stopped for 20 s in a window of 3 s.
        (20.0, {}, ["readings-late"]),
        (3.7, {}, ["readings-late"]),
        # A driver waits for outstanding answers, for a second at most.
        (3.7, {"uncorrected": latency(400_000)}, []),
        (4.4, {"uncorrected": latency(5_000_000)}, []),
        (4.6, {"uncorrected": latency(5_000_000)}, ["readings-late"]),
        (4.4, {"uncorrected": None}, []),
        # Readings at the edge of a phase that is already running: late by 1 % of it, or by more.
        (2.98, {}, []),
        (2.96, {}, ["readings-short"]),
        (None, {}, []),  # an older record
    ],
)
def test_readings_that_span_more_than_the_window_are_not_believed(
    elapsed_s: float | None, changes: dict[str, Any], expected: list[str]
) -> None:
    """A hog that took 15 % beside the server was only 2.9 % of the time between such readings."""
    load = load_result(duration_s=3.0, **changes)
    seen = pressure().model_copy(update={"elapsed_s": elapsed_s})
    assert [reason.code for reason in refusals(Observation(load, sut_usage(), seen), LIMITS)] == expected


@pytest.mark.parametrize(
    ("elapsed_s", "taken", "expected"),
    [
        (5.5, {"foreign": 0.019}, []),
        (5.5, {"steal": 0.024}, []),
        # A program with thousands of threads leaves this tool no CPU: all that was taken may have been in its span.
        (8.0, {}, []),
        (8.0, {"foreign": 0.012}, []),
        (8.0, {"foreign": 0.019}, ["foreign-cpu"]),
        (8.0, {"steal": 0.016}, []),
        (8.0, {"steal": 0.024}, ["steal"]),
        (8.5, {}, ["readings-late"]),
        (5.0, {"foreign": 0.019}, []),  # as early as possible
    ],
)
def test_late_readings_of_an_experiment_are_held_to_as_much_lower_limits(
    elapsed_s: float, taken: dict[str, float], expected: list[str]
) -> None:
    found = host(cpu_use("sut", busy=1.0, **taken)).model_copy(update={"elapsed_s": elapsed_s})
    assert [reason.code for reason in refusals(Observation(host=found, readings_s=5.5), LIMITS)] == expected


def test_a_tool_that_takes_a_cpu_says_so() -> None:
    beside = cpu_use("driver", "runner")
    assert codes(host(cpu_use("sut"), beside, runner=0.06)) == ["runner-busy"]
    assert codes(host(cpu_use("sut"), beside, runner=0.03)) == []
    assert codes(host(cpu_use("sut"), cpu_use("runner"), runner=0.5)) == [], "on CPUs of its own it is in nobody's way"


def test_the_jit_is_judged_on_the_cpus_of_the_server_by_the_promise() -> None:
    def found(jit_share: float, *, cpus: int, precision: float) -> list[str]:
        seen = Observation(load_result(), sut_usage(jit_share=jit_share), pressure())
        return [reason.code for reason in refusals(seen, LIMITS, WindowContext(sut_cpus=cpus, precision=precision))]

    assert found(0.099, cpus=1, precision=0.05) == ["compiling"], "a tenth of a server of one CPU"
    assert found(0.099, cpus=4, precision=0.05) == []
    assert found(0.03, cpus=1, precision=0.05) == []
    assert found(0.03, cpus=1, precision=0.02) == ["compiling"]


@pytest.mark.parametrize(
    ("late_us", "p99_us", "objective_us", "expected"),
    [
        (1800.0, 3600.0, None, []),  # refused before, and with it 12 of 24 windows of pools, 4 of 20 of virtual threads
        (5000.0, 5500.0, None, []),
        (5001.0, 1e6, None, ["driver-late"]),
        (4900.0, 4000.0, 10_000.0, []),
        (5001.0, 4000.0, 20_000.0, ["driver-late"]),
        (1001.0, 4000.0, 2000.0, ["driver-late"]),  # more than half of what the search allows
    ],
)
def test_a_driver_is_late_by_a_limit_that_no_executor_can_move(
    late_us: float, p99_us: float, objective_us: float | None, expected: list[str]
) -> None:
    load = load_result(
        RateLoad(rate_rps=1000, connections=10), due=1000, corrected=latency(p99_us), send_lateness=latency(late_us)
    )
    found = refusals(Observation(load, sut_usage(), pressure()), LIMITS, WindowContext(p99_max_us=objective_us))
    assert [reason.code for reason in found] == expected


def test_the_window_that_misled_on_a_host_with_two_cpus_is_invalid() -> None:
    """Driver 55 % and remote system 45 % of one CPU; the remote 2.9 ms late on a 2 ms delay, the driver 55 ms late."""
    rate = RateLoad(rate_rps=1000, connections=10)
    load = load_result(rate, due=1000, corrected=latency(80_000), send_lateness=latency(55_000), driver_cpu_share=0.55)
    seen = host(cpu_use("sut"), cpu_use("driver", "remote", busy=1.0))
    remote = remote_stats(late_us=2900, cpu_share=0.45)
    means = WindowContext(service_s=0.002, remote_cpus=1)
    found = refusals(Observation(load, sut_usage(), seen, remote), LIMITS, means)
    assert {reason.code for reason in found} == {"driver-late", "remote-late", "cpus-full"}


def test_a_closed_loop_in_which_the_server_idled_is_seen_beside_its_peers() -> None:
    busy, starved, calm, idle = (window(sut=sut_usage(cpu_share=share)) for share in (0.98, 0.755, 0.60, 0.40))
    judged = beside_peers([busy, starved, busy], LIMITS)
    assert [[reason.code for reason in one.reasons] for one in judged] == [[], ["starved"], []]
    assert beside_peers([calm, idle], LIMITS) == (calm, idle), "it was not saturated"
    assert beside_peers([], LIMITS) == ()
    (more, all_of_it) = (window(sut=sut_usage(cpu_share=share)) for share in (1.09, 0.99))
    assert beside_peers([more, all_of_it], LIMITS) == (more, all_of_it), "one period more of a quota of CPU time"
    compiling = window(sut=sut_usage(cpu_share=0.99), reasons=(Reason(code="compiling", message="the JIT was busy"),))
    usual = window(sut=sut_usage(cpu_share=0.93))
    assert beside_peers([usual, compiling, usual], LIMITS) == (usual, compiling, usual), "no best: the JIT kept it busy"


def test_a_server_that_left_requests_without_an_answer_idled_by_its_own_doing() -> None:
    """It burst its box in the middle of its last window; without that one its figures would be those of a sound one."""
    busy = window(sut=sut_usage(cpu_share=0.98))
    died = window(2, load_result(completed=500, errors=Errors(read=50)), sut=sut_usage(cpu_share=0.5))
    assert beside_peers([busy, died], LIMITS) == (busy, died)
    stalled = window(2, load_result(completed=500, lower_bounds=50), sut=sut_usage(cpu_share=0.5))
    assert beside_peers([busy, stalled], LIMITS) == (busy, stalled), "given up behind its end, which is no error"


def test_a_step_of_fewer_connections_is_no_peer_of_one_that_saturates_the_server() -> None:
    """Each connection waits for a remote system: with 50 of them, the server idles for two thirds of the time."""
    steps = [
        window(load=load_result(SaturateLoad(connections=connections)), sut=sut_usage(cpu_share=share))
        for connections, share in ((50, 0.33), (100, 0.65), (200, 0.98))
    ]
    assert beside_peers(steps, LIMITS) == tuple(steps)
