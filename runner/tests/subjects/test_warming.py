"""A warm server settles where the JIT compiler has lost the driver's CPUs; what serves here is made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.records.windows import Warmup
from jdkmatrix.subjects.served.observe import Bench, Observed
from jdkmatrix.subjects.served.warming import settle, warm
from jdkmatrix.subjects.served.warmup import Gate
from jdkmatrix.terms.loads import CellLoad, Load, RateLoad, SaturateLoad, StepsLoad
from tests.support.builders import key, load_result, pressure, sut_usage
from tests.support.real_parts import Silent
from tests.support.shipped import MATRIX
from tests.support.wrk2_bench import Bench as Wrk2Bench
from tests.support.wrk2_bench import bench

__all__ = ["bench"]

RULES = MATRIX.warmup.model_copy(update={"settle_s": 3.0, "settle_windows_max": 3, "jit_share_max": 0.05})


@dataclass
class Server:
    """SYNTHETIC: as `Bench`, with what the JIT uses in one window after another; the last for ever."""

    jit_shares: list[float]
    asked: list[tuple[Load, float, str]] = field(default_factory=list)

    @property
    def session(self) -> Server:
        return self

    def nearest(self, load: RateLoad) -> RateLoad:
        return load

    def observe(self, load: Load, duration_s: float, *, label: str) -> Observed:
        self.asked.append((load, duration_s, label))
        jit_share = self.jit_shares[min(len(self.asked), len(self.jit_shares)) - 1]
        result = load_result(load, duration_s=duration_s)
        return Observed(len(self.asked) * duration_s, result, sut_usage(jit_share), pressure(), None, None)


@pytest.mark.parametrize(
    ("jit_shares", "kept"),
    [([0.01], [0.01]), ([0.2, 0.05], [0.2, 0.05]), ([0.3, 0.2, 0.1, 0.0], [0.3, 0.2, 0.1])],
)
def test_it_settles_until_the_compiler_is_calm_but_not_for_ever(jit_shares: list[float], kept: list[float]) -> None:
    server = Server(jit_shares)
    windows = settle(cast(Bench, server), SaturateLoad(connections=5), RULES, Silent())
    assert [window.jit_share for window in windows] == kept
    assert {window.stage for window in windows} == {"settling"}
    assert [label for _, _, label in server.asked] == [f"warmup-settling-{i + 1}" for i in range(len(kept))]


def test_it_settles_under_the_load_that_will_be_measured() -> None:
    server = Server([0.0])
    steps = StepsLoad(connections=5, rates_rps=(1000, 2000), step_s=6, warmup_rps=700)
    settle(cast(Bench, server), steps, RULES, Silent())
    assert server.asked == [(RateLoad(rate_rps=700, connections=5), 3.0, "warmup-settling-1")]


def test_a_steady_server_is_warm_when_its_tail_is_long_enough() -> None:
    server = Server([0.0])
    warmup = warm(
        cast(Bench, server), key(), SaturateLoad(connections=5), Gate(RULES, 6.0, 0.05), jit_cpus=(0, 1),
        before_load=lambda: None, listener=Silent(),
    )  # fmt: skip
    assert warmup.steady
    loaded = [window for window in warmup.windows if window.stage == "load"]
    assert len(loaded) == RULES.tail_s_min / RULES.window_s + 1
    assert warmup.series[0].drift_per_s == 0.0
    assert (warmup.series[0].ahead_s, warmup.series[0].fall_max) == (6.0, 0.0125)
    assert warmup.settling == ()


@dataclass
class Loaded:
    """As a `Bench`: a warm server whose requests cost `cost_us` each, loaded by a real session of the driver."""

    session: DriverSession
    cost_us: float
    t_s: float = 5.0
    loads: list[Load] = field(default_factory=list)
    uncut_after: list[int] = field(default_factory=list)  # how many loads there had been when delays were let go

    def uncut(self) -> None:
        self.uncut_after.append(len(self.loads))

    def observe(self, load: Load, duration_s: float, *, label: str) -> Observed:
        self.loads.append(load)
        result = self.session.run(load, duration_s, label=label)
        t_s, self.t_s = self.t_s, self.t_s + result.duration_s
        sut = sut_usage().model_copy(update={"cpu_us_per_request": self.cost_us})
        return Observed(t_s=t_s, load=result, sut=sut, host=pressure(), remote=None, served=None)


def warmed(server: Loaded, load: CellLoad) -> Warmup:
    rules = RULES.model_copy(update={"tail_windows": 4, "tail_s_min": 2.0})
    gate = Gate(rules, ahead_s=1.0, precision=0.05)
    bench = cast(Bench, cast(Any, server))
    return warm(bench, key(), load, gate, jit_cpus=(), before_load=server.uncut, listener=Silent())


@pytest.mark.parametrize(
    "load",
    [
        RateLoad(rate_rps=2000, connections=50),
        StepsLoad(rates_rps=(1000, 2000), connections=50, step_s=2, warmup_rps=2000),
    ],
)
def test_wrk2_warms_a_server_up(bench: Wrk2Bench, load: CellLoad) -> None:
    """The rates of the moderate stage are no whole numbers: 0.5 CPUs / 1,500 µs = 333.3 requests/s at first."""
    with bench.driver("run").open(bench.target) as session:
        server = Loaded(session, cost_us=700)
        warmup = warmed(server, load)
    assert warmup.steady
    rates = [asked.rate_rps for asked in server.loads if isinstance(asked, RateLoad)]
    assert rates[:5] == [333, 666, 714, 714, 2000]
    assert server.uncut_after == [4], "delays are as asked for under the load that will be measured"
    assert [window.rate_rps for window in warmup.windows] == rates
    assert [window.duration_s for window in warmup.windows] == pytest.approx([1.0] * len(rates))
    assert warmup.duration_s == pytest.approx(len(rates))


def test_wrk2_keeps_a_slow_server_at_a_rate_that_its_connections_can_have(bench: Wrk2Bench) -> None:
    with bench.driver("run").open(bench.target) as session:
        server = Loaded(session, cost_us=100_000)
        warmup = warmed(server, RateLoad(rate_rps=60, connections=50))
    assert [window.rate_rps for window in warmup.windows if window.stage == "moderate"] == [333, 50, 50, 50]
