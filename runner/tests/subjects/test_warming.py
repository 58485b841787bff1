"""A warm server settles once the JIT compiler has lost the driver's CPUs; the servers here are made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast
from unittest import mock

import pytest

from jdkmatrix.domain.loads import CellLoad, Load, RateLoad, SaturateLoad
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.ramps import JoinedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.method.warmup import WarmupGate
from jdkmatrix.probes.process import Glance, Reading, ThreadCounters
from jdkmatrix.records.load_results import Interval
from jdkmatrix.subjects.served.observe import Bench, Warmed
from jdkmatrix.subjects.served.warming import gate_of, settle, warm
from tests.support.builders import load_result, pressure, sut_usage
from tests.support.shipped import MATRIX

RULES = MATRIX.warmup.model_copy(update={"settle_s": 3.0, "settle_windows_max": 3, "jit_share_max": 0.05})
GATE = WarmupGate(RULES, 6.0, 0.05)
SLOW = WarmupGate(RULES, 60.0, 0.05, service_s=3.0, lead_s=30.0)


@dataclass
class Server:
    """SYNTHETIC: like `Bench`, with the JIT's share in each stretch of load; the last one stays for ever."""

    jit_shares: list[float]
    asked: list[tuple[Load, float, str]] = field(default_factory=list)
    leads_s: list[float] = field(default_factory=list)
    now_s: float = 5.0
    read_s: dict[float, float] = field(default_factory=dict)  # when a mark was really read, by when it was due

    @property
    def session(self) -> Server:
        return self

    def nearest(self, load: RateLoad) -> RateLoad:
        return load

    def warm(self, load: Load, duration_s: float, *, label: str, lead_s: float = 0.0, parts: int = 1) -> Warmed:
        self.asked.append((load, duration_s, label))
        self.leads_s.append(lead_s)
        jit_share = self.jit_shares[min(len(self.asked), len(self.jit_shares)) - 1]
        part_s = duration_s / parts
        intervals = tuple(answered(100, part_s * (part + 1)) for part in range(parts))
        marks = tuple(mark(self._read_s(part * part_s), jit_share) for part in range(parts + 1)) if parts > 1 else ()
        result = load_result(load, duration_s=duration_s, intervals=intervals)
        began_s = self.now_s + lead_s
        self.now_s = began_s + duration_s
        return Warmed(began_s, result, sut_usage(jit_share), pressure(), None, None, marks=marks)

    def _read_s(self, due_s: float) -> float:
        return self.read_s.get(due_s, due_s)


def answered(count: int, t_s: float) -> Interval:
    return Interval(t_s=t_s, completed=count, errors=0, p50_us=4e6, p99_us=5e6, max_us=6e6)


def mark(t_s: float, jit_share: float) -> Reading:
    """Return the reading after `t_s` seconds of a server that uses half a CPU besides its compiler."""
    compiler = ThreadCounters("C2 CompilerThre", round(t_s * jit_share * 1e9), 0, 0, 0)
    return Reading(Glance(round(t_s * 1e9), round(t_s * (0.5 + jit_share) * 1e9), 1, 1, 1), {7: compiler})


@pytest.mark.parametrize(
    ("jit_shares", "kept"), [([0.01], [0.01]), ([0.2, 0.05], [0.2, 0.05]), ([0.3, 0.2, 0.1, 0.0], [0.3, 0.2, 0.1])]
)
def test_it_settles_until_the_compiler_is_calm_but_not_for_ever(jit_shares: list[float], kept: list[float]) -> None:
    server, shown = Server(jit_shares), list[str]()
    windows = settle(cast(Bench, server), SaturateLoad(connections=5), GATE, mock.Mock(step=shown.append))
    assert shown == [f"settling: 1000 µs CPU/request, JIT {share:.0%} of a CPU" for share in kept]
    assert [window.jit_share for window in windows] == kept
    assert {window.stage for window in windows} == {"settling"}
    assert [label for _, _, label in server.asked] == [f"warmup-settling-{i + 1}" for i in range(len(kept))]


def test_it_settles_under_the_load_that_will_be_measured() -> None:
    server = Server([0.0])
    steps = StepsLoad(connections=5, rates_rps=(1000, 2000), step_s=6, warmup_rps=700)
    settle(cast(Bench, server), steps, GATE, mock.Mock())
    assert server.asked == [(RateLoad(rate_rps=700, connections=5), 3.0, "warmup-settling-1")]


def test_slow_answers_settle_behind_a_lead_and_for_as_long_as_a_window_of_them_is() -> None:
    """A window of three seconds would see no answer, because answers take three seconds."""
    server, load = Server([0.0]), SaturateLoad(connections=3000)
    settle(cast(Bench, server), load, SLOW, mock.Mock())
    assert (server.asked, server.leads_s) == ([(load, 15.0, "warmup-settling-1")], [30.0])


def test_windows_of_slow_answers_are_of_one_load_which_does_not_begin_anew_for_each() -> None:
    server, shown = Server([0.0]), list[str]()
    warmup = warm(
        cast(Bench, server), SaturateLoad(connections=3000), SLOW, cpus=1, burn_us=0, jit_cpus=(0, 1),
        before_load=lambda: None, listener=mock.Mock(step=shown.append),
    )  # fmt: skip
    loaded = [window for window in warmup.windows if window.stage == "load"]
    stretches = [(label, duration_s) for load, duration_s, label in server.asked if isinstance(load, SaturateLoad)]
    assert warmup.steady and stretches == [(f"warmup-{len(warmup.windows) - 15}", 16 * 15.0)]
    assert server.leads_s == [*[0.0] * (len(server.leads_s) - 1), 30.0]
    began_s = server.now_s - 16 * 15.0
    assert [window.t_s for window in loaded] == [began_s + 15.0 * (part + 1) for part in range(16)]
    assert {(window.completed, window.cpu_us_per_request, window.duration_s) for window in loaded} == {
        (100, 75_000.0, 15.0)
    }
    assert {(window.rate_rps, window.jit_share, window.p99_us) for window in loaded} == {(100 / 15, 0.0, 5e6)}
    assert shown[-1] == "warming up: 75000 µs CPU/request, JIT 0% of a CPU"


def test_what_the_compiler_took_is_told_of_each_part_and_a_stretch_follows_until_it_is_calm() -> None:
    server = Server([0.0] * 4 + [0.25, 0.0])
    warmup = warm(
        cast(Bench, server), SaturateLoad(connections=3000), SLOW, cpus=1, burn_us=0, jit_cpus=(0, 1),
        before_load=lambda: None, listener=mock.Mock(),
    )  # fmt: skip
    loaded = [window.jit_share for window in warmup.windows if window.stage == "load"]
    assert warmup.steady and loaded == [0.25] * 16 + [0.0] * 16


@pytest.mark.parametrize(
    ("load", "windows"),
    [
        (RateLoad(rate_rps=700, connections=5), 30),
        (StepsLoad(connections=5, rates_rps=(1000, 2000), step_s=6, warmup_rps=700), 30),
        (JoinedLoad(connections=50, join_s=5, held_s=20, warmup_rps=700), 1),
        (SaturateLoad(connections=5), 1),
    ],
)
def test_a_rate_does_not_pause_between_windows(load: CellLoad, windows: int) -> None:
    """A pool would get threads for less than the rate. Where its growth is measured, it must not grow before."""
    server, profile = Server([0.0]), MATRIX.profiles["quick"]
    gate = gate_of(RULES, profile, kind_of(load), answer_s=0.0)
    warmup = warm(
        cast(Bench, server), load, gate, cpus=1, burn_us=0, jit_cpus=(0, 1),
        before_load=lambda: None, listener=mock.Mock(),
    )  # fmt: skip
    stretches = {duration_s for one, duration_s, _ in server.asked if one == load.in_windows}
    assert warmup.steady and stretches == {windows * RULES.window_s}
    assert {window.duration_s for window in warmup.windows if window.stage == "load"} == {RULES.window_s}


def test_a_steady_server_is_warm_when_its_tail_is_long_enough() -> None:
    server, shown = Server([0.04, 0.0]), list[str]()
    warmup = warm(
        cast(Bench, server), SaturateLoad(connections=5), GATE, cpus=1, burn_us=0, jit_cpus=(0, 1),
        before_load=lambda: None, listener=mock.Mock(step=shown.append),
    )  # fmt: skip
    assert warmup.steady
    loaded = [window for window in warmup.windows if window.stage == "load"]
    assert len(loaded) == RULES.tail_s_min / RULES.window_s + 1
    assert warmup.series[0].drift_per_s == 0.0
    assert (warmup.series[0].ahead_s, warmup.series[0].fall_max) == (6.0, 0.0125)
    assert warmup.settling == ()
    first, *later = shown
    assert first == "warming up: 1000 µs CPU/request, JIT 4% of a CPU"
    assert later == ["warming up: 1000 µs CPU/request, JIT 0% of a CPU"] * (len(warmup.windows) - 1)


RATE = RateLoad(rate_rps=700, connections=5)


def loaded_windows(server: Server) -> list[tuple[float, int, float]]:
    """Return end (s after the first was due to begin), requests, and CPU time per request of each window at a rate."""
    server.jit_shares = [0.0]
    gate = gate_of(RULES, MATRIX.profiles["quick"], kind_of(RATE), answer_s=0.0)
    warmup = warm(
        cast(Bench, server), RATE, gate, cpus=1, burn_us=0, jit_cpus=(0, 1),
        before_load=lambda: None, listener=mock.Mock(),
    )  # fmt: skip
    loaded = [window for window in warmup.windows if window.stage == "load"]
    began_s = server.now_s - 15.0 * sum(duration_s == 15.0 for _, duration_s, _ in server.asked)
    return [(window.t_s - began_s, window.completed, window.cpu_us_per_request) for window in loaded]


def test_parts_between_which_the_server_was_read_late_are_one_window() -> None:
    """On a busy host this tool saw two parts end at once: the first had the CPU time of both, the second none, and a
    series with a 0 in it has no logarithm."""
    windows = loaded_windows(Server([], read_s={1.0: 1.499, 1.5: 1.5}))
    assert windows[:3] == [(0.5, 100, 2500), (1.5, 200, 2500), (2.0, 100, 2500)]
    assert {cost for _, _, cost in windows} == {2500}


@pytest.mark.parametrize(
    ("read_s", "ends_s"), [({0.0: 0.3, 0.5: 0.54}, [1.0, 1.5]), ({0.0: 0.04}, [0.5, 1.0]), ({0.0: 0.06}, [1.0, 1.5])]
)
def test_parts_whose_start_was_read_late_are_left_out(read_s: dict[float, float], ends_s: list[float]) -> None:
    assert [end_s for end_s, _, _ in loaded_windows(Server([], read_s=read_s))][:2] == ends_s


def test_a_stretch_that_was_read_late_all_along_is_one_window() -> None:
    read_s = {0.5 * part: 0.5 * part + 0.2 for part in range(31)}
    assert {(completed, cost) for _, completed, cost in loaded_windows(Server([], read_s=read_s))} == {(1000, 1000)}
