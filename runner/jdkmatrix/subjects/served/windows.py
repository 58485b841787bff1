"""Measure one window, and judge whether it counts."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import rate_words
from jdkmatrix.fork.fork_record import Listener
from jdkmatrix.loads.base import Ask, NearestRate, lead_s
from jdkmatrix.method.gate import DEFAULT_CONTEXT, WindowContext
from jdkmatrix.method.gates import Thresholds, window_reasons
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.probes.clock_speed import mean_clock_speed
from jdkmatrix.records.windows import Window
from jdkmatrix.servers.outside import check_carriers
from jdkmatrix.servers.proof import check_served
from jdkmatrix.subjects.served.observe import Bench


@dataclass(frozen=True)
class Windows:
    """The common ground of all windows of a fork. `executor`: without a tuning; `log_prefix`: from the cell file to the
    folder of the fork's logs; `means`: of all windows."""

    bench: Bench
    executor: str
    thresholds: Thresholds
    log_prefix: str
    listener: Listener
    means: WindowContext = DEFAULT_CONTEXT

    def nearest_rps(self, connections: int) -> NearestRate:
        """The nearest rate that the driver's session can make."""
        nearest = self.bench.session.nearest
        return lambda rate_rps: nearest(RateLoad(rate_rps=rate_rps, connections=connections)).rate_rps

    def measure(self, ask: Ask, *, index: int) -> Window:
        """Raises:
        ProofError: requests ran on other threads than the executor's.
        MatrixError: as Bench.observe.
        """
        clock_speed = mean_clock_speed(self.bench.cpu_sets.sut)
        lead = lead_s(ask.load, self.means.service_s) if ask.may_lead else 0.0
        seen = self.bench.observe(ask.load, ask.duration_s, label=ask.label, lead_s=lead)
        if seen.served:
            check_served(seen.served, self.executor)
        if seen.sut.carriers_cpu_share is not None:
            check_carriers(seen.sut.carriers_cpu_share, self.executor, f"in {ask.title}")
        hlog = f"{self.log_prefix}/{seen.load.hlog}" if seen.load.hlog else None
        window = Window(
            **{**vars(seen), "load": seen.load.model_copy(update={"hlog": hlog})},
            index=index,
            reasons=window_reasons(
                seen.load,
                seen.sut,
                seen.host,
                self.thresholds,
                remote=seen.remote,
                database=seen.database,
                served=seen.served,
                means=self.means,
            ),
            shortfalls=window_shortfalls(seen.load, self.thresholds, service_s=self.means.service_s),
            clock_speed=clock_speed,
        )
        self.listener.step(f"{ask.title}: {_figures(window)}{_verdict(window)}")
        return window


def _figures(window: Window) -> str:
    latency = window.load.corrected or window.load.uncorrected
    p99 = f", p99 {latency.percentiles_us['99'] / 1000:.2f} ms" if latency else ""
    return f"{rate_words(window.load.succeeded_rps)} req/s, {window.cpu_us_per_answer:.1f} µs CPU/request{p99}"


def _verdict(window: Window) -> str:
    """Codes of the reasons why it is invalid, and of the server's shortfalls; empty where there is neither."""
    found = []
    if window.reasons:
        found.append(f"invalid: {', '.join(reason.code for reason in window.reasons)}")
    if window.shortfalls:
        found.append(f"fell short: {', '.join(reason.code for reason in window.shortfalls)}")
    return f" ({'; '.join(found)})" if found else ""
