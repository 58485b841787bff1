"""The warm-up as a fork runs it: which loads a driver is asked for, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from jdkmatrix.config.load import load_matrix
from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.measure.observe import Bench as Bench_
from jdkmatrix.measure.observe import Observed
from jdkmatrix.measure.warming import warm
from jdkmatrix.records import CellLoad, Load, RateLoad, StepsLoad, Warmup
from tests.builders import key, pressure, sut_usage
from tests.test_wrk2_driver import Bench, bench

__all__ = ["bench"]

RULES = load_matrix(Path(__file__).parents[2] / "matrix.toml").warmup.model_copy(
    update={"window_s": 0.5, "moderate_s": 2, "tail_windows": 4, "first_request_us": 1500, "utilisation": 0.5}
)


class Silent:
    def step(self, text: str) -> None:
        pass


@dataclass
class Server:
    """As a `Bench`: a warm server whose requests cost `cost_us` each, loaded by a real session of the driver."""

    session: DriverSession
    cost_us: float
    t_s: float = 5.0
    loads: list[Load] = field(default_factory=list)

    def observe(self, load: Load, duration_s: float, *, label: str) -> Observed:
        self.loads.append(load)
        result = self.session.run(load, duration_s, label=label)
        t_s, self.t_s = self.t_s, self.t_s + result.duration_s
        sut = sut_usage().model_copy(update={"cpu_us_per_request": self.cost_us})
        return Observed(t_s=t_s, load=result, sut=sut, host=pressure(), remote=None)


def warmed(server: Server, load: CellLoad) -> Warmup:
    return warm(cast(Bench_, cast(Any, server)), key(), load, RULES, jit_cpus=(), listener=Silent())


@pytest.mark.parametrize(
    "load",
    [
        RateLoad(rate_rps=2000, connections=50),
        StepsLoad(rates_rps=(1000, 2000), connections=50, step_s=2, warmup_rps=2000),
    ],
)
def test_wrk2_warms_a_server_up(bench: Bench, load: CellLoad) -> None:
    """The rates of the moderate stage are no whole numbers: 0.5 CPUs / 1,500 µs = 333.3 requests/s at first."""
    with bench.driver("run").open(bench.target) as session:
        server = Server(session, cost_us=700)
        warmup = warmed(server, load)
    assert warmup.steady
    rates = [asked.rate_rps for asked in server.loads if isinstance(asked, RateLoad)]
    assert rates[:5] == [333, 666, 714, 714, 2000]
    assert [window.rate_rps for window in warmup.windows] == rates
    assert [window.duration_s for window in warmup.windows] == pytest.approx([1.0] * len(rates))
    assert warmup.duration_s == pytest.approx(len(rates))


def test_wrk2_keeps_a_slow_server_at_a_rate_that_its_connections_can_have(bench: Bench) -> None:
    with bench.driver("run").open(bench.target) as session:
        server = Server(session, cost_us=100_000)
        warmup = warmed(server, RateLoad(rate_rps=60, connections=50))
    assert [window.rate_rps for window in warmup.windows if window.stage == "moderate"] == [333, 50, 50, 50]
