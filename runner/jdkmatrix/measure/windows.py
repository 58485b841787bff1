"""Measure one window, and judge whether it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from jdkmatrix.config.model import Thresholds
from jdkmatrix.measure.gates import USUAL, Means, window_reasons
from jdkmatrix.measure.observe import Bench
from jdkmatrix.probes.clock_speed import read_clock_speed
from jdkmatrix.records import Load, LoadResult, Window


class Listener(Protocol):
    """Hears how a fork goes on; a progress bar, a log, or nobody."""

    def step(self, text: str) -> None: ...


@dataclass(frozen=True)
class Windows:
    """What all windows of a fork have in common. `log_prefix`: from the cell file to the folder of the fork's logs;
    `means`: of all windows."""

    bench: Bench
    thresholds: Thresholds
    log_prefix: str
    listener: Listener
    means: Means = USUAL

    def measure(
        self, load: Load, duration_s: float, *, index: int, label: str, title: str, overload_sought: bool = False
    ) -> Window:
        """`label` names its files, `title` stands before its figures; `overload_sought`: beside what all windows mean
        to see."""
        clock_speed = read_clock_speed(self.bench.cpu_sets.sut[-1])
        seen = self.bench.observe(load, duration_s, label=label)
        reasons = window_reasons(
            seen.load,
            seen.sut,
            seen.host,
            self.thresholds,
            remote=seen.remote,
            means=replace(self.means, overload=overload_sought),
        )
        verdict = f" (invalid: {', '.join(reason.code for reason in reasons)})" if reasons else ""
        self.listener.step(f"{title}: {_figures(seen.load, seen.sut.cpu_us_per_request)}{verdict}")
        return Window(
            index=index,
            t_s=seen.t_s,
            load=_with_log_path(seen.load, self.log_prefix),
            sut=seen.sut,
            host=seen.host,
            remote=seen.remote,
            clock_speed=clock_speed,
            reasons=reasons,
        )


def rate_words(per_s: float) -> str:
    """A rate in a line of text: whole, and below 100 with three digits."""
    return f"{per_s:,.0f}" if per_s >= 100 else f"{per_s:.3g}"


def _figures(result: LoadResult, cpu_us: float) -> str:
    latency = result.corrected or result.uncorrected
    p99 = f", p99 {latency.percentiles_us['99'] / 1000:.2f} ms" if latency else ""
    return f"{rate_words(result.throughput_rps)} req/s, {cpu_us:.1f} µs CPU/request{p99}"


def _with_log_path(load: LoadResult, log_prefix: str) -> LoadResult:
    return load.model_copy(update={"hlog": f"{log_prefix}/{load.hlog}"}) if load.hlog else load
