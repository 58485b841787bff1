"""What was measured beside a ratio and may be why, on reference runs."""

from __future__ import annotations

from dataclasses import replace

from jdkmatrix.report.cells.advice import held_back, more_switches
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.judged_pages import PageOfRun
from tests.support.project import ROOT


def reference(run: str) -> LoadedRun:
    return RunStore(ROOT / "results" / "reference" / run).load()


def cells_of(loaded: LoadedRun, workload: str) -> dict[str, CellStats]:
    return {cell.key.executor: cell for cell in Cells(loaded.run, loaded.cells) if cell.key.workload == workload}


def test_context_switches_are_a_likely_cause_where_the_cpu_is_what_one_is_behind_in() -> None:
    quick = cells_of(reference("20261124T182303Z-quick"), "mp-ping")
    assert more_switches(quick["virtual"], quick["liberty"]) == ("2.04", "0.172")
    assert more_switches(quick["liberty"], quick["virtual"]) is None, "fewer are no reason to be behind"
    bank = cells_of(reference("20261124T194300Z-infoq-cpu.small"), "banking")
    assert more_switches(bank["virtual"], bank["liberty"]) is None, "twice as many, on CPUs that idle"
    pinned = cells_of(reference("20261124T043223Z-pinning-http.small"), "pinning-http-synchronized")
    assert more_switches(pinned["virtual+carriers-max-4"], pinned["fixed-60"]) is None, "they wait for a carrier"


def test_a_likely_cause_stands_below_the_ratio() -> None:
    assert PageOfRun(reference("20261124T182303Z-quick")).answers[0].sentences[-1] == (
        "A likely cause",
        "context switches per request: 2.04 with virtual, 0.172 with liberty.",
    )


def test_carriers_are_blamed_only_where_waiting_pins_them() -> None:
    virtual = cells_of(reference("20261124T194300Z-infoq-cpu.small"), "banking")["virtual"]
    assert held_back(virtual) == (
        "saturated with 8 % of its CPUs in use: probably pinned carriers (before JDK 24, waiting inside synchronized "
        "pins them)"
    )
    later = virtual.record.model_copy(update={"key": virtual.key.model_copy(update={"jdk": "temurin-25"})})
    assert held_back(replace(virtual, record=later)) == (
        "saturated with 8 % of its CPUs in use, so something else bounds it"
    )


def test_two_figures_for_one_thing_say_why() -> None:
    """37,500 in the sentence and 37,540 in the table: forks that took turns are compared in the rounds of both."""
    page = PageOfRun(reference("20261124T182303Z-quick"))
    said = dict(page.answers[0].sentences)["Throughput"]
    assert said.endswith("37,500 against 58,840 requests/s in the rounds that count in both).")
    assert {row.throughput.text for row in page.rows if row.key.executor == "virtual"} != {"37,500"}


def test_the_strongest_figure_of_a_ramp_is_told() -> None:
    said = dict(PageOfRun(reference("20261125T014526Z-infoq-rampup.small")).answers[0].sentences)
    assert "its median response took up to 18.8 s in the worst second" in said["liberty"]
    assert "its median response took up to 1.00 s in the worst second" in said["virtual"]
