"""Measure the windows that a load asks for, and those of a search after them; and judge whether each counts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import rate_words
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import Listener
from jdkmatrix.loads.base import Ask, Lengths, LoadKind, NearestRate, lead_s
from jdkmatrix.method.gate import DEFAULT_CONTEXT, Observation, WindowContext
from jdkmatrix.method.gates import Thresholds, beside_peers, refusals
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.probes.clock_speed import mean_clock_speed
from jdkmatrix.records.windows import Window
from jdkmatrix.servers.outside import check_carriers
from jdkmatrix.servers.proof import check_hooks, check_served
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.observe import Bench

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Windows:
    """The common ground of a fork's windows. `executor`: without a tuning; `log_prefix`: from the cell file to the
    folder of the fork's logs; `means`: of all windows; `answer_s`: the least that an answer takes."""

    bench: Bench
    executor: str
    thresholds: Thresholds
    log_prefix: str
    listener: Listener
    means: WindowContext = DEFAULT_CONTEXT
    answer_s: float = 0.0

    def nearest_rps(self, connections: int) -> NearestRate:
        """Return a function that gives the nearest rate that the driver's session can make."""
        nearest = self.bench.session.nearest
        return lambda rate_rps: nearest(RateLoad(rate_rps=rate_rps, connections=connections)).rate_rps

    def measure(self, ask: Ask, *, index: int) -> Window:
        """Raises:
        ProofError: requests ran on other threads than the executor's.
        HooksError: hooks that plugged it in were called.
        MatrixError: as Bench.observe.
        """
        clock_speed = mean_clock_speed(self.bench.cpu_sets.sut)
        lead = lead_s(ask.load, self.answer_s) if ask.may_lead else 0.0
        seen = self.bench.observe(ask.load, ask.duration_s, label=ask.label, lead_s=lead)
        if seen.served:
            check_served(seen.served, self.executor)
        check_hooks(seen.readings)
        hlog = f"{self.log_prefix}/{seen.load.hlog}" if seen.load.hlog else None
        window = Window(
            **{**vars(seen), "load": seen.load.model_copy(update={"hlog": hlog})},
            index=index,
            reasons=refusals(
                Observation(seen.load, seen.sut, seen.host, seen.remote, seen.served, database=seen.database),
                self.thresholds,
                self.means,
            ),
            shortfalls=window_shortfalls(seen.load, self.thresholds, service_s=self.means.service_s),
            clock_speed=clock_speed,
        )
        if seen.sut.carriers_cpu_share is not None and not window.shortfalls:  # a server that fails is busy otherwise
            check_carriers(seen.sut.carriers_cpu_share, self.executor, f"in {ask.title}")
        self.listener.step(f"{ask.title}: {_figures(window)}{_verdict(window)}")
        return window


def measure_phases(load: LoadKind[Any], windows: Windows, lengths: Lengths, found: Findings) -> None:
    """Measure all windows, then a search for the capacity, if any. Each window is in `found` as soon as it is measured,
    and so is what the search knows when it ends: nothing is lost if a window fails.

    `lengths`: of windows if the load has none of its own.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer, or a search has no rate to begin with.
    """
    measure_all(load.asks(lengths), windows, found.windows)
    if load.load.in_windows.is_closed_loop:
        found.windows[:] = beside_peers(found.windows, windows.thresholds)
    search = load.search(found.windows, windows.nearest_rps(load.load.connections))
    if search is None:
        return
    try:
        found.capacity = measure_all(search, windows, [])
    except MatrixError as error:
        try:
            search.throw(error)
        except StopIteration as end:
            found.capacity = end.value
        raise


def measure_all(asks: Generator[Ask, Window, Answer], windows: Windows, done: list[Window]) -> Answer:
    """Measure what is asked for, one window after another, until there is an answer; append them to `done`."""
    try:
        ask = next(asks)
        while True:
            window = windows.measure(ask, index=len(done) + 1)
            done.append(window)
            ask = asks.send(window)
    except StopIteration as end:
        answer: Answer = end.value
        return answer


def _figures(window: Window) -> str:
    latency = window.load.corrected or window.load.uncorrected
    p99 = f", p99 {latency.percentiles_us['99'] / 1000:.2f} ms" if latency else ""
    return f"{rate_words(window.load.succeeded_rps)} req/s, {window.cpu_us_per_answer:.1f} µs CPU/request{p99}"


def _verdict(window: Window) -> str:
    """Return codes of the reasons why it is invalid, and of the server's shortfalls; empty if there is neither."""
    told = (("invalid", window.reasons), ("fell short", window.shortfalls))
    found = [f"{what}: {', '.join(reason.code for reason in reasons)}" for what, reasons in told if reasons]
    return f" ({'; '.join(found)})" if found else ""
