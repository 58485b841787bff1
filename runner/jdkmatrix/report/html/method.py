"""The page of the method: every gate with what it catches and what it cannot, and what came of trying it. Pure.

Gates and their words stand in `jdkmatrix.method`; the limits are those of the run that the page belongs to, and what
gates caught when they were provoked is read from what `bench/provoke.py` recorded. `drivers` compares load drivers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jdkmatrix.domain.quantities import digits
from jdkmatrix.domain.record import Record
from jdkmatrix.method.gates import GATES
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.html.drivers import COMPARED, Compared, ComparedView, TriedOn, view_compared
from jdkmatrix.report.words.numbers import Figure, share
from jdkmatrix.validation import validated

PROVOKED = "provoked.json"
Recorded = TypeVar("Recorded", bound=Record)


class ProvokedOutcome(Record):
    """Of all windows of one kind; `hog_share` is of one CPU, on that of the server ("sut") or of the driver."""

    case: str
    on: str
    hog_share: float
    windows: int
    refused: int
    gates: dict[str, int]
    rps: float
    share: float


class Provoked(TriedOn):
    """As bench/provoke.py writes it."""

    window_s: float
    precision: float
    outcomes: tuple[ProvokedOutcome, ...]


@dataclass(frozen=True)
class GateView:
    name: str
    codes: str
    limits: tuple[tuple[str, str], ...]
    catches: str
    cannot: str


@dataclass(frozen=True)
class ProvokedRow:
    what: str
    hog: str
    windows: int
    refused: int
    by: str
    rps: Figure
    share: Figure


class Tried(NamedTuple):
    """What came of trying: the gates, and the drivers against each other."""

    provoked: Provoked
    compared: Compared


@dataclass(frozen=True)
class MethodView:
    gates: tuple[GateView, ...]
    compared: ComparedView
    provoked_on: str
    provoked: tuple[ProvokedRow, ...]


def read_tried(templates: Path) -> Tried:
    """Raises: MatrixError: a file is missing or not what it should be."""
    return Tried(_read(templates / PROVOKED, Provoked), _read(templates / COMPARED, Compared))


def _read(path: Path, kind: type[Recorded]) -> Recorded:
    return validated(kind, parse_json(read_text(path), str(path)), path)


def view_method(run: RunRecord, tried: Tried) -> MethodView:
    provoked = tried.provoked
    thresholds: Mapping[str, Any] = run.matrix.get("thresholds", {})
    interrupts = {True: "accounted separately", False: "in the clocks of processes", None: "not known"}
    return MethodView(
        gates=tuple(
            GateView(
                name=gate.name,
                codes=", ".join(gate.codes),
                limits=tuple((limit, str(thresholds.get(limit, "not in this run"))) for limit in gate.limits),
                catches=gate.catches,
                cannot=gate.cannot,
            )
            for gate in GATES
        ),
        provoked_on=f"{provoked.measured_at}, {provoked.cpu}, Linux {provoked.kernel}"
        f"{f', {provoked.virtualisation}' if provoked.virtualisation else ''}; interrupts: "
        f"{interrupts[provoked.irq_time_accounting]}; windows of {provoked.window_s:g} s, ± {provoked.precision:.0%} "
        f"promised; commit {(provoked.commit or 'not known')[:12]}",
        provoked=tuple(_row(one) for one in provoked.outcomes),
        compared=view_compared(tried.compared),
    )


def _row(one: ProvokedOutcome) -> ProvokedRow:
    whose = "server" if one.on == "sut" else "driver"
    return ProvokedRow(
        what=one.case,
        hog=f"{one.hog_share:.0%} of the {whose}’s CPU" if one.hog_share else "none",
        windows=one.windows,
        refused=one.refused,
        by=", ".join(f"{code} {count}" for code, count in one.gates.items()) or "–",
        rps=Figure(digits(one.rps, 4), one.rps),
        share=share(one.share),
    )
