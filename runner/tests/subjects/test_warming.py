"""A warm server settles where the JIT compiler has lost the driver's CPUs; what serves here is made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast
from unittest import mock

import pytest

from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.method.warmup import WarmupGate
from jdkmatrix.subjects.served.observe import Bench, Observed
from jdkmatrix.subjects.served.warming import settle, warm
from tests.support.builders import key, load_result, pressure, sut_usage
from tests.support.shipped import MATRIX

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

    def observe(self, load: Load, duration_s: float, *, label: str, counts: bool) -> Observed:
        assert not counts
        self.asked.append((load, duration_s, label))
        jit_share = self.jit_shares[min(len(self.asked), len(self.jit_shares)) - 1]
        result = load_result(load, duration_s=duration_s)
        return Observed(len(self.asked) * duration_s, result, sut_usage(jit_share), pressure(), None, None)


@pytest.mark.parametrize(
    ("jit_shares", "kept"), [([0.01], [0.01]), ([0.2, 0.05], [0.2, 0.05]), ([0.3, 0.2, 0.1, 0.0], [0.3, 0.2, 0.1])]
)
def test_it_settles_until_the_compiler_is_calm_but_not_for_ever(jit_shares: list[float], kept: list[float]) -> None:
    server, shown = Server(jit_shares), list[str]()
    windows = settle(cast(Bench, server), SaturateLoad(connections=5), RULES, mock.Mock(step=shown.append))
    assert shown == [f"settling: 1000 µs CPU/request, JIT {share:.0%} of a CPU" for share in kept]
    assert [window.jit_share for window in windows] == kept
    assert {window.stage for window in windows} == {"settling"}
    assert [label for _, _, label in server.asked] == [f"warmup-settling-{i + 1}" for i in range(len(kept))]


def test_it_settles_under_the_load_that_will_be_measured() -> None:
    server = Server([0.0])
    steps = StepsLoad(connections=5, rates_rps=(1000, 2000), step_s=6, warmup_rps=700)
    settle(cast(Bench, server), steps, RULES, mock.Mock())
    assert server.asked == [(RateLoad(rate_rps=700, connections=5), 3.0, "warmup-settling-1")]


def test_a_steady_server_is_warm_when_its_tail_is_long_enough() -> None:
    server, shown = Server([0.04, 0.0]), list[str]()
    warmup = warm(
        cast(Bench, server), key(), SaturateLoad(connections=5), WarmupGate(RULES, 6.0, 0.05), jit_cpus=(0, 1),
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
