"""The page of the method: every gate with what it catches and what it cannot, the outcome of trying it, and the load
drivers compared. Pure.

Gates and their words are in `jdkmatrix.method`; the limits are those of the run that the page belongs to. What the
gates caught when provoked is read from the records of `bench/provoke.py`, how the drivers differ from that of
`bench/drivers.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from jdkmatrix.domain.quantities import digits, per_cent, plural, rate_words, wait_words
from jdkmatrix.domain.record import Record
from jdkmatrix.method.gate import Gate
from jdkmatrix.method.gates import GATES
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.records.run import DriverFacts, RunRecord
from jdkmatrix.report.blocks.inline import joined, link, say, small
from jdkmatrix.report.blocks.kinds import Fact, FactList, Prose, Section, WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.words.numbers import Figure, missing, share
from jdkmatrix.validation import validated

COMPARED = "drivers.json"


class ComparedRow(Record):
    """Windows of both drivers on one fork at one rate, from the pairs in which both counted. `share`: the rate over
    what virtual threads do flat out; `cpu_ratio`: CPU time per request, wrk2 over loadgen, with its 95 % interval; by
    driver: median CPU time and latencies, in µs, and the share of the requests due that were answered."""

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
    """When and where something was tried, as bench/one_fork.py records it."""

    measured_at: str
    commit: str | None
    cpu: str
    kernel: str
    virtualisation: str | None
    irq_time_accounting: bool | None

    @classmethod
    def read(cls, path: Path) -> Self:
        return validated(cls, parse_json(read_text(path), str(path)), path)

    def words(self, *middle: str) -> str:
        virtualisation = f", {self.virtualisation}" if self.virtualisation else ""
        first = f"{self.measured_at}, {self.cpu}, Linux {self.kernel}{virtualisation}"
        return "; ".join((first, *middle, f"commit {(self.commit or 'not known')[:12]}"))


class ComparedDrivers(TriedOn):
    """The record that bench/drivers.py writes."""

    wrk2: DriverFacts
    loadgen: DriverFacts
    window_s: float
    connections: int
    rows: tuple[ComparedRow, ...]


_FIGURES = columns("Fork", "Rate#", "Pairs#", "CPU/request, µs#", "Ratio#", "p50, ms#", "p99, ms#", "Delivered#")
_RATIOS = columns("CPU/request, virtual / liberty", "Rate#", "By wrk2#", "By loadgen#")


def _drivers(compared: ComparedDrivers) -> Section:
    """Compare both drivers on the same forks, and the CPU time of virtual threads over the pool as each has it."""
    on = compared.words(
        f"wrk2 {compared.wrk2.version}, loadgen {compared.loadgen.version}",
        f"windows of {compared.window_s:g} s over {compared.connections} connections",
    )
    blocks = (
        DataTable("Drivers compared", _FIGURES, tuple(map(_row, compared.rows)), "stack"),
        Prose(say("drivers_differ")),
        DataTable("Virtual threads over the pool, by driver", _RATIOS, tuple(_over_the_pool(compared.rows)), "stack"),
        Prose("So one driver makes all of a curve, every row names its driver, and no ratio mixes two."),
    )
    return Section("drivers", "Drivers", blocks, say("drivers", on=on))


def _over_the_pool(rows: Sequence[ComparedRow]) -> Iterator[tuple[Cell, ...]]:
    pools = {(row.workload, row.rate_rps): row for row in rows if row.executor == "liberty"}
    for row in rows:
        pool = pools.get((row.workload, row.rate_rps))
        if row.executor == "virtual" and pool:
            ratios = (row.cpu_us[one] / pool.cpu_us[one] for one in _DRIVERS)
            yield (_workload(row), _rate(row), *(Figure(f"{ratio:.2f}", ratio) for ratio in ratios))


def _row(row: ComparedRow) -> tuple[Cell, ...]:
    return (
        f"{_workload(row)}, {row.executor}",
        _rate(row),
        Figure(str(row.pairs), row.pairs, under=f"{plural(row.refused, 'window')} refused" if row.refused else None),
        _both(row.cpu_us, 1, 3),
        _ratio(row.cpu_ratio),
        _both(row.p50_us, 1000, 2),
        _both(row.p99_us, 1000, 2),
        Figure(" and ".join(per_cent(row.delivered[one]) for one in _DRIVERS), row.delivered["wrk2"]),
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


PROVOKED = ("provoked.json", "provoked-at-rates.json")


class ProvokedOutcome(Record):
    """All windows of one kind; `hog_share`: the share taken of one CPU, that of the server ("sut") or of the driver."""

    case: str
    on: str
    hog_share: float
    windows: int
    refused: int
    gates: dict[str, int]
    rps: float
    share: float


class Provoked(TriedOn):
    """The record that bench/provoke.py writes. `by_tasks`: as in CpuUse."""

    by_tasks: bool
    window_s: float
    precision: float
    outcomes: tuple[ProvokedOutcome, ...]


def read_tried(templates: Path) -> tuple[tuple[Provoked, ...], ComparedDrivers]:
    """Read the recorded trials of the gates, and of the drivers against each other.

    Raises:
        MatrixError: a file is missing or not what it should be.
    """
    return tuple(Provoked.read(templates / name) for name in PROVOKED), ComparedDrivers.read(templates / COMPARED)


def method_page(run: RunRecord, provoked: Sequence[Provoked], compared: ComparedDrivers, root: str) -> WebPage:
    """Build the page. `provoked`: in the order of `PROVOKED`; `root` leads to the site's folder."""
    plain, at_rates = provoked
    gates = FactList(tuple(_gate(gate, run) for gate in GATES), "reading")
    return WebPage(
        heading="How windows are judged",
        summary=say("judged_windows"),
        root=root,
        up="index.html",
        run_id=run.run_id,
        menu=(("Gates", "#gates"), ("Provoked", "#provoked"), ("Drivers", "#drivers")),
        foot=link("Back to the run", "index.html"),
        blocks=(
            Section("gates", "Gates", (gates,), say("gates")),
            _provoked("provoked", "Provoked", plain),
            _provoked("provoked_at_rates", "Provoked at other rates", at_rates),
            _drivers(compared),
        ),
    )


_PROVOKED = columns("Fork", "Disturbed by", "Windows#", "Refused#", "By~", "req/s#", "Server’s share of its CPUs#")


def _gate(gate: Gate, run: RunRecord) -> Fact:
    thresholds: Mapping[str, Any] = run.matrix.get("thresholds", {})
    limits = [(limit, thresholds.get(limit, "not in this run")) for limit in gate.limits]
    older = any(limit not in thresholds for limit in gate.limits)
    name = joined(gate.name, " ", small(", ".join(gate.codes), css="under"))
    return Fact(name, say("gate", gate=gate, limits=limits, older=older))


def _provoked(name: str, title: str, provoked: Provoked) -> Section:
    interrupts = {True: "accounted separately", False: "charged to processes", None: "not known"}
    on = provoked.words(
        f"interrupts: {interrupts[provoked.irq_time_accounting]}",
        f"foreign: {'what others’ tasks ran' if provoked.by_tasks else 'what was neither idle nor ours'}",
        f"windows of {provoked.window_s:g} s, ± {per_cent(provoked.precision)} promised",
    )
    rows = tuple(map(_provoked_row, provoked.outcomes))
    table = DataTable(f"Disturbed windows: {title.lower()}", _PROVOKED, rows, "stack")
    return Section(name, title, (table,), say(name, on=on))


def _provoked_row(one: ProvokedOutcome) -> tuple[Cell, ...]:
    whose = "server" if one.on == "sut" else "driver"
    return (
        one.case,
        f"{per_cent(one.hog_share)} of the {whose}’s CPU" if one.hog_share else "none",
        str(one.windows),
        str(one.refused),
        ", ".join(f"{code} {count}" for code, count in one.gates.items()) or "–",
        Figure(digits(one.rps, 4), one.rps),
        share(one.share),
    )
