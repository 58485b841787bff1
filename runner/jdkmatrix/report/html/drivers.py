"""The part of the method's page that compares the load drivers, from what `bench/drivers.py` recorded. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import digits, per_cent, plural, rate_words, wait_words
from jdkmatrix.domain.record import Record
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.report.words.numbers import Figure, missing

COMPARED = "drivers.json"


class ComparedRow(Record):
    """Windows of both drivers on one fork at one rate, of the pairs in which both counted. `share`: the rate, of what
    virtual threads do flat out; `cpu_ratio`: of CPU time per request, wrk2 over loadgen, with its 95 % interval; by
    driver: median CPU time and latencies, in µs, and the share of what was due that was answered."""

    workload: str
    executor: str
    wait_us: int
    share: float
    rate_rps: float
    pairs: int
    refused: int
    cpu_ratio: tuple[float, float, float] | None
    cpu_us: dict[str, float]
    p50_us: dict[str, float]
    p99_us: dict[str, float]
    delivered: dict[str, float]


class TriedOn(Record):
    """When and where something was tried, as bench/one_fork.py tells it."""

    measured_at: str
    commit: str | None
    cpu: str
    kernel: str
    virtualisation: str | None
    irq_time_accounting: bool | None


class Compared(TriedOn):
    """As bench/drivers.py writes it."""

    wrk2: DriverFacts
    loadgen: DriverFacts
    window_s: float
    connections: int
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True)
class ComparedRowView:
    fork: str
    rate: Figure
    pairs: Figure
    cpu: Figure
    ratio: Figure
    p50: Figure
    p99: Figure
    delivered: Figure


@dataclass(frozen=True)
class AnswerView:
    """CPU time per request, virtual threads over the pool, by each driver."""

    workload: str
    rate: Figure
    by_wrk2: Figure
    by_loadgen: Figure


@dataclass(frozen=True)
class ComparedView:
    on: str
    rows: tuple[ComparedRowView, ...]
    answers: tuple[AnswerView, ...]


def view_compared(compared: Compared) -> ComparedView:
    virtualisation = f", {compared.virtualisation}" if compared.virtualisation else ""
    return ComparedView(
        on=f"{compared.measured_at}, {compared.cpu}, Linux {compared.kernel}{virtualisation}; wrk2 "
        f"{compared.wrk2.version}, loadgen {compared.loadgen.version}; windows of {compared.window_s:g} s over "
        f"{compared.connections} connections; commit {(compared.commit or 'not known')[:12]}",
        rows=tuple(map(_row, compared.rows)),
        answers=tuple(_answers(compared.rows)),
    )


def _answers(rows: Sequence[ComparedRow]) -> Iterator[AnswerView]:
    pools = {(row.workload, row.rate_rps): row for row in rows if row.executor == "liberty"}
    for row in rows:
        pool = pools.get((row.workload, row.rate_rps))
        if row.executor == "virtual" and pool:
            wrk2, loadgen = (row.cpu_us[one] / pool.cpu_us[one] for one in _DRIVERS)
            yield AnswerView(_workload(row), _rate(row), Figure(f"{wrk2:.2f}", wrk2), Figure(f"{loadgen:.2f}", loadgen))


def _row(row: ComparedRow) -> ComparedRowView:
    return ComparedRowView(
        fork=f"{_workload(row)}, {row.executor}",
        rate=_rate(row),
        pairs=Figure(
            str(row.pairs), row.pairs, under=f"{plural(row.refused, 'window')} refused" if row.refused else None
        ),
        cpu=_both(row.cpu_us, 1, 3),
        ratio=_ratio(row.cpu_ratio),
        p50=_both(row.p50_us, 1000, 2),
        p99=_both(row.p99_us, 1000, 2),
        delivered=Figure(" and ".join(per_cent(row.delivered[one]) for one in _DRIVERS), row.delivered["wrk2"]),
    )


_DRIVERS = ("wrk2", "loadgen")


def _workload(row: ComparedRow) -> str:
    return f"{row.workload}, delay {wait_words(row.wait_us)}" if row.wait_us else row.workload


def _rate(row: ComparedRow) -> Figure:
    return Figure(f"{rate_words(row.rate_rps)}/s", row.rate_rps, under=per_cent(row.share))


def _both(by_driver: dict[str, float], unit: float, places: int) -> Figure:
    values = [by_driver[one] / unit for one in _DRIVERS]
    words = " and ".join("–" if math.isnan(value) else digits(value, places) for value in values)
    return Figure(words, values[0])


def _ratio(ratio: tuple[float, float, float] | None) -> Figure:
    if ratio is None:
        return missing("fewer than two pairs of windows counted")
    mean, low, high = ratio
    return Figure(f"{mean:.3f}", mean, under=f"{low:.3f}–{high:.3f}")
