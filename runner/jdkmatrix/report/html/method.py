"""The page of the method: every gate with what it catches and what it cannot, and what came of trying it. Pure.

Gates and their words stand in `jdkmatrix.method`; the limits are those of the run that the page belongs to, and what
gates caught when they were provoked is read from what `bench/provoke.py` recorded. `drivers` compares load drivers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jdkmatrix.domain.quantities import digits
from jdkmatrix.domain.record import Record
from jdkmatrix.method.gate import Gate
from jdkmatrix.method.gates import GATES
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import joined, link, say, small
from jdkmatrix.report.blocks.kinds import Fact, FactList, Section
from jdkmatrix.report.blocks.page import WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.html.drivers import COMPARED, ComparedDrivers, TriedOn, compared_blocks, compared_words
from jdkmatrix.report.words.numbers import Figure, share
from jdkmatrix.validation import validated

PROVOKED = "provoked.json"
Recorded = TypeVar("Recorded", bound=Record)


class ProvokedOutcome(Record):
    """All windows of one kind; `hog_share` is of one CPU, on that of the server ("sut") or of the driver."""

    case: str
    on: str
    hog_share: float
    windows: int
    refused: int
    gates: dict[str, int]
    rps: float
    share: float


class Provoked(TriedOn):
    """The record that bench/provoke.py writes."""

    window_s: float
    precision: float
    outcomes: tuple[ProvokedOutcome, ...]


class BenchRecords(NamedTuple):
    """Records of what was tried: the gates, and the drivers against each other."""

    provoked: Provoked
    compared: ComparedDrivers


def read_tried(templates: Path) -> BenchRecords:
    """Raises: MatrixError: a file is missing or not what it should be."""
    return BenchRecords(_read(templates / PROVOKED, Provoked), _read(templates / COMPARED, ComparedDrivers))


def _read(path: Path, kind: type[Recorded]) -> Recorded:
    return validated(kind, parse_json(read_text(path), str(path)), path)


def method_page(run: RunRecord, tried: BenchRecords, root: str) -> WebPage:
    """`root` leads to the site's folder."""
    gates = FactList(tuple(_gate(gate, run) for gate in GATES), "reading")
    provoked = DataTable(
        "Disturbed windows", columns(*_PROVOKED), tuple(map(_provoked_row, tried.provoked.outcomes)), "stack"
    )
    return WebPage(
        title=f"How windows are judged · {run.run_id}",
        heading="How windows are judged",
        summary=say("judged_windows"),
        root=root,
        up="index.html",
        run_id=run.run_id,
        menu=(("Gates", "#gates"), ("Provoked", "#provoked"), ("Drivers", "#drivers")),
        foot=link("Back to the run", "index.html"),
        blocks=(
            Section("gates", "Gates", (gates,), say("gates")),
            Section("provoked", "Provoked", (provoked,), say("provoked", on=_tried_on(tried.provoked))),
            Section("drivers", "Drivers", compared_blocks(tried.compared), compared_words(tried.compared)),
        ),
    )


_PROVOKED = ("Fork", "Disturbed by", "Windows#", "Refused#", "By~", "req/s#", "Server’s share of its CPUs#")


def _gate(gate: Gate, run: RunRecord) -> Fact:
    thresholds: Mapping[str, Any] = run.matrix.get("thresholds", {})
    limits = [(limit, thresholds.get(limit, "not in this run")) for limit in gate.limits]
    return Fact(
        joined(gate.name, " ", small(", ".join(gate.codes), css="under")), say("gate", gate=gate, limits=limits)
    )


def _tried_on(provoked: Provoked) -> str:
    interrupts = {True: "accounted separately", False: "in the clocks of processes", None: "not known"}
    return provoked.words(
        f"interrupts: {interrupts[provoked.irq_time_accounting]}",
        f"windows of {provoked.window_s:g} s, ± {provoked.precision:.0%} promised",
    )


def _provoked_row(one: ProvokedOutcome) -> tuple[Cell, ...]:
    whose = "server" if one.on == "sut" else "driver"
    return (
        one.case,
        f"{one.hog_share:.0%} of the {whose}’s CPU" if one.hog_share else "none",
        str(one.windows),
        str(one.refused),
        ", ".join(f"{code} {count}" for code, count in one.gates.items()) or "–",
        Figure(digits(one.rps, 4), one.rps),
        share(one.share),
    )
