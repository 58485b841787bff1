"""Blocking HTTP requests, all at once, to the remote system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import size_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import amount, measure, wait_words
from jdkmatrix.domain.tables import RemoteAnswers
from jdkmatrix.experiments.base import (
    ChartFigure,
    CompleteCell,
    Experiment,
    FactRow,
    Given,
    Measurand,
    Page,
    ReadingGroup,
    Seen,
    Sentences,
    cannot_have,
    with_reading,
    with_size,
)

_WALL = "until all were answered"


class Fanout(Experiment):
    """Blocking HTTP requests, all at once, to the remote system. `warmup_requests`: how many are sent beforehand in the
    same way, not measured; 0: as in a program that has just started. `timeout_s`: of each, to connect and to read."""

    ARMS: ClassVar = ("virtual", "platform", "fixed-N", "virtual-bounded-N", "structured")
    LOADS: ClassVar = (CountLoad,)
    METRICS: ClassVar = (
        Measurand(_WALL, "s", "wall_s", expected="ideal_s", of_all=True),
        Measurand("failed", "", "failed", alone="failed requests", expected=0.0),
        Measurand(
            *("p99 of a request", "ms", "latency.percentiles_us.99"),
            per=1000,
            alone="p99 of a request once it has a thread",
        ),
        Measurand("in flight at once", "", "in_flight_most"),
        Measurand("open files at once", "", "open_files_peak"),
        Measurand("threads of the kernel", "", "native_threads_peak"),
    )
    DISTRIBUTIONS: ClassVar = {
        "Request, once it has a thread": "latency",
        "Answered after the first request": "since_start",
    }
    TIMED: ClassVar = False
    POOL_MAX: ClassVar = 99_999
    PAGE: ClassVar = Page(
        title="Fan-out",
        introduction=(
            "Blocking HTTP requests are sent all at once to an endpoint that answers each after a delay, the same"
            " for all or spread. How long does it take until all are answered, and which limit ends it?"
        ),
        glossary=(
            "requests: how many are sent; at_once: how many may be in flight at a time; delay_ms: how long the "
            "endpoint takes to answer, in ms, on average where delays are spread; ceil: rounded up. A request’s wait "
            "for a thread is not part of its own time, but of the time since the first request."
        ),
        apart=("cpus",),
        groups=(
            ReadingGroup(
                "wall",
                "Until all were answered",
                "From the first request until the last answer or error, in seconds.",
                (ChartFigure("until all were answered", "All answered", "seconds until all were answered"),),
            ),
        ),
    )

    experiment: Literal["fanout"]
    remote: RemoteAnswers
    warmup_requests: Annotated[int, Field(ge=0, le=1_000_000)]
    timeout_s: Annotated[float, Field(gt=0, le=3600)]

    @property
    def calls(self) -> RemoteAnswers:
        return self.remote

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        if not isinstance(load, CountLoad) or given.url is None:
            raise cannot_have(self, cell, load)
        return (
            *("fanout", "--url", f"{given.url}?{self.remote.query(cell.wait_us)}", "--requests", str(load.count)),
            *("--delay-ms", f"{cell.wait_us / 1000:.15g}", "--how", with_size(cell.executor)),
            *(("--delay-is-mean",) if self.remote.spread != "fixed" else ()),
            *("--warmup-requests", str(self.warmup_requests), "--timeout-s", f"{self.timeout_s:g}"),
        )

    def why_never(self, cell: CellKey, load: TaskLoad) -> str | None:
        if cell.wait_us / 1e6 >= self.timeout_s:
            late = f"its remote system answers after {wait_words(cell.wait_us)}"
            return f"{late}, and a request is given up after {self.timeout_s:g} s"
        return super().why_never(cell, load)

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        counts = (self.warmup_requests, load.count if isinstance(load, CountLoad) else 1)
        return sum(_rounds(cell, count) for count in counts) * cell.wait_us / 1e6

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return 5 * self.timeout_s + 2 * self.expected_s(cell, load, measured_s)

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        errors = ", ".join(f"{name} {number:,}" for name, number in sorted(seen["errors"].items()))
        requests = f"{seen['ok']:,} answered, {seen['failed']:,} failed"
        yield FactRow("Requests", f"{requests} ({errors})" if errors else requests)
        if not seen["failed"]:
            yield FactRow("Longer than ideal by", measure(seen["overhead_s"], "s"))
        least = "at least " if seen["open_files_peak_is_lower_bound"] else ""
        soft, hard = (
            "none" if limit is None else f"{limit:,}"
            for limit in (seen["open_files_soft_limit"], seen["open_files_hard_limit"])
        )
        yield FactRow(
            "Open files",
            f"{seen['open_files_before']:,} before, {least}{seen['open_files_peak']:,} at once; limits: soft {soft}, "
            f"hard {hard}",
        )
        yield FactRow("Threads of the kernel", f"{least}{seen['native_threads_peak']:,} at once")

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for cell, spread in with_reading(cells, _WALL):
            expected = "" if spread.expected is None else f", where {measure(spread.expected, 's')} is ideal"
            least_most = f" ({amount(spread.least, 's')}–{amount(spread.most, 's')})" if spread.forks > 1 else ""
            yield cell.place, f"all answered after {measure(spread.median, spread.unit)}{least_most}{expected}."


def _rounds(cell: CellKey, requests: int) -> int:
    """Return in how many rounds the requests go out, each of as many as may be in flight at once."""
    at_once = size_of(cell.executor)
    return math.ceil(requests / at_once) if at_once else min(requests, 1)
