"""Results for other programs: the same figures and verdicts as on the page."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.reporting import export
from jdkmatrix.domain.cell_key import NO_SERVER
from jdkmatrix.figures.metrics import METRICS, THROUGHPUT
from jdkmatrix.records.claims import BandOrigin, CheckedCells, ClaimCheck, ClaimRecord, ClaimSource
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.report import exports
from jdkmatrix.report.cells.advice import OUTCOME, advise
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import arm_pairs, judge_run
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.verdicts import ArmRefusals, Refused
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import NEW, OLD, experiments_of, mixed, sections_of
from tests.support.outcome_runs import (
    ERRORS,
    STEAL,
    Change,
    all_of,
    failing,
    hung,
    missed,
    spoilt,
    windows_of,
    with_outcomes,
)
from tests.support.pages import figure_in, table_of
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import QUICK, Shape, made_up, with_scenario
from tests.support.sites import reference, site_of, stored


def table(loaded: LoadedRun) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(exports.as_csv(exports.results(JudgedRun(loaded)))))
    assert tuple(reader.fieldnames or ()) == exports.COLUMNS
    return list(reader)


def test_every_figure_of_every_cell_is_a_line(loaded: LoadedRun) -> None:
    rows = [row for row in table(loaded) if row["figure"] != OUTCOME and not row["figure"].endswith("-of-all")]
    cells = Cells(loaded.run, loaded.served)
    named_twice = {"saturated", "lowest-cpu"}  # of a load that is one rate, or none
    told = {
        (cell.key.cell_id, metric.id)
        for cell in cells
        for metric in METRICS
        if cell.figures(metric) and metric.id not in named_twice
    }
    named = [(row["cell_id"], row["figure"]) for row in rows]
    assert len(named) == len(set(named)) and set(named) == told
    for row in rows:
        assert float(row["least"]) <= float(row["value"]) * (1 + 1e-9)
        assert float(row["value"]) <= float(row["most"]) * (1 + 1e-9)
        assert {row["run_id"]} == {loaded.run.run_id}
    peaks = [row for row in rows if row["figure"] == "rss-peak"]
    assert peaks and {(row["value"] == row["most"], row["interval_low"]) for row in peaks} == {(True, "")}


def test_percentiles_of_all_requests_are_those_of_the_pages() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), loads=("rate-2000",), windows=1))
    for loaded, bound in ((plain, ""), (with_outcomes(plain, {"virtual": all_of(missed, 3)}), "≥")):
        told = {
            row["figure"]: row for row in table(loaded) if row["executor"] == "virtual" and "-of-all" in row["figure"]
        }
        (cell,) = (one for one in Cells(loaded.run, loaded.served) if one.key.executor == "virtual")
        assert cell.latency is not None
        shown_ms = {f"p{name}-of-all": one.merged_us / 1e3 for name, one in cell.latency.percentiles.items()}
        assert {"p50-of-all", "p99-of-all"} <= told.keys() <= {"p50-of-all", "p99-of-all", "p99.9-of-all"}
        assert [float(row["value"]) for row in told.values()] == pytest.approx([shown_ms[name] for name in told])
        assert {(row["unit"], row["interval_low"], row["bound"]) for row in told.values()} == {("ms", "", bound)}


def test_what_became_of_forks_is_a_line_also_where_none_has_a_figure() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), loads=("rate-2000",), blocks=5, windows=1))

    def told(changes: dict[int, Change]) -> dict[str, str]:
        rows = [row for row in table(with_outcomes(plain, {"virtual": changes})) if row["executor"] == "virtual"]
        (outcome,) = (row for row in rows if row["figure"] == OUTCOME)
        assert len(rows) > 1 or changes == all_of(hung)
        return outcome

    some = told({1: missed, 2: hung, 3: hung, 4: spoilt, 5: failing})
    names = ("forks", "did_as_asked", "fell_short", "lost", "failed_requests", "reasons")
    codes = "rate-missed 1; server-hangs 2; steal 1; errors 1"
    assert [some[name] for name in names] == ["4", "0", "4", "1", "50", codes]
    every = told(all_of(hung))
    outcome = [every[name] for name in ("fell_short", "versus", "verdict", "value", "ratio")]
    assert outcome == ["5", "liberty", "different", "", ""]
    assert float(every["p_adjusted"]) < 0.05


def test_what_failed_is_counted_also_where_nothing_else_came_and_a_refused_window_is_no_reason() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), loads=("rate-2000",), blocks=2, windows=2))

    def refusing(fork: Fork) -> Fork:
        return windows_of(fork, lambda one: with_load(one, {"non_2xx": one.load.completed}, shortfalls=(ERRORS,)))

    def disturbed(fork: Fork) -> Fork:
        first = missed(fork).windows[0]
        return altered(fork, {"windows": (first.model_copy(update={"reasons": (STEAL,)}), *fork.windows[1:])})

    changed = with_outcomes(plain, {"virtual": all_of(refusing, 2), "liberty": {1: disturbed}})
    virtual, liberty = (
        next(row for row in table(changed) if (row["figure"], row["executor"]) == (OUTCOME, name))
        for name in ("virtual", "liberty")
    )
    (cell,) = (cell for cell in plain.cells if cell.key.executor == "virtual")
    every = sum(window.load.completed for fork in cell.forks for window in fork.windows)
    assert (virtual["failed_requests"], virtual["reasons"]) == (str(every), "errors 2")
    assert (liberty["did_as_asked"], liberty["reasons"]) == ("2", "")


def test_what_tracks_figures_gets_none_of_an_executor_of_which_a_fork_answered_nothing() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), blocks=3, windows=2))

    def refusing(fork: Fork) -> Fork:
        return windows_of(fork, lambda one: with_load(one, {"non_2xx": one.load.completed}, shortfalls=(ERRORS,)))

    for forks, there in (({1: spoilt}, {"liberty", "virtual"}), ({1: refusing}, {"liberty"})):
        run = with_outcomes(plain, {"virtual": forks})
        assert {key.split(".")[2] for key in exports.bencher(Cells(run.run, run.cells))} == there
        assert {one["params"]["executor"] for one in exports.jmh(JudgedRun(run))} == there


def test_a_figure_of_none_is_one_of_forks_that_did_what_they_were_asked(quick: LoadedRun) -> None:
    none = {"readings": (WindowReading(metric="connection_timeouts", value=0.0),)}
    run = with_forks(quick, lambda _, fork: windows_of(fork, lambda one: one.model_copy(update=none)))
    rows = [row for row in table(run) if row["figure"] == "connection-timeouts"]
    assert rows and {(row["value"], row["forks"], row["forks_compared"]) for row in rows} == {("0.0", "2", "2")}


def test_ratios_are_those_that_were_judged(quick: LoadedRun) -> None:
    cells = Cells(quick.run, quick.served)
    judgements = judge_run(cells)
    compared = [row for row in table(quick) if row["figure"] == "throughput" and row["executor"] == "virtual"]
    assert len(compared) == 2
    for row in compared:
        (cell,) = (cell for cell in cells if cell.key.cell_id == row["cell_id"])
        judged = judgements.of(THROUGHPUT, cell.key)
        assert row["versus"] == "liberty"
        assert (float(row["ratio"]), int(row["blocks"])) == (judged.ratio.value, 2)
        assert row["verdict"] == judged.verdict.value
    own = [row for row in table(quick) if row["figure"] == "throughput" and row["executor"] == "liberty"]
    assert {(row["versus"], row["ratio"]) for row in own} == {("", "")}


@pytest.mark.parametrize("server", [True, False])
def test_every_ratio_can_be_worked_out_from_its_blocks(loaded: LoadedRun, server: bool) -> None:
    run = loaded if server else experiments_of("json", "fanout", accidents=True)
    by_ratio: dict[tuple[str, ...], list[float]] = {}
    for row in csv.DictReader(io.StringIO(exports.as_csv(exports.blocks(JudgedRun(run)), exports.BLOCK_COLUMNS))):
        assert float(row["ratio"]) == float(row["value"]) / float(row["versus_value"])
        by_ratio.setdefault(_of_ratio(row), []).append(float(row["ratio"]))
    told = {_of_ratio(row): row for row in table(run) if row["ratio"] and row["versus"] != exports.EXPECTED}
    assert by_ratio.keys() == told.keys()
    for name, ratios in by_ratio.items():
        assert len(ratios) == int(told[name]["blocks"])
        assert geometric_mean(ratios) == pytest.approx(float(told[name]["ratio"]))


def _of_ratio(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["cell_id"], row["figure"], row["versus"]


def test_blocks_are_in_the_units_of_the_figures() -> None:
    loaded = made_up(Shape(blocks=3, loads=("rate-2000",)))
    told: dict[tuple[str, str], list[float]] = {}
    for row in exports.blocks(JudgedRun(loaded)):
        told.setdefault((row["cell_id"], row["figure"]), []).append(row["value"])
    assert {figure for _, figure in told} == {"cpu", "p99"}
    for row in table(loaded):
        if values := told.get((row["cell_id"], row["figure"])):
            assert geometric_mean(values) == pytest.approx(float(row["value"]))


def test_experiments_without_a_server_are_in_it() -> None:
    rows = table(mixed())
    assert {row["server"] for row in rows} >= {"none", "open-liberty"}
    figures = [row for row in rows if row["server"] == "none" and not row["ratio"]]
    assert figures
    for row in figures:
        assert float(row["least"]) <= float(row["value"]) <= float(row["most"])
        assert row["interval_low"] == row["interval_high"] == row["versus"] == ""


def ratios_of(judged: JudgedRun, *, expected: bool = False) -> dict[tuple[str, str, str], exports.Row]:
    """Return the ratios of experiments over what is `expected`, or over other cells."""
    rows = [row for row in exports.results(judged) if "ratio" in row and row["server"] == NO_SERVER]
    assert all(row.keys() <= {*exports.COLUMNS} and "value" not in row for row in rows)
    found = {_of_ratio(row): row for row in rows}
    assert len(found) == len(rows)
    return {name: row for name, row in found.items() if (row["versus"] == exports.EXPECTED) == expected}


def test_arms_of_an_experiment_stand_over_each_other_once() -> None:
    judged = JudgedRun(experiments_of("json", "fanout"))
    cells = {cell.key.cell_id: cell for cell in judged.experiments}
    arms: dict[str, set[tuple[str, str]]] = {}
    for (cell_id, figure, versus), row in ratios_of(judged).items():
        cell = cells[cell_id]
        arms.setdefault(f"{cell.key.workload} {cell.key.jdk}", set()).add((cell.key.executor, versus))
        (metric,) = (one for one in cell.metrics if one.id == figure)
        ratio = judged.experiments.over(metric, cell.key, cell.key.model_copy(update={"executor": versus})).ratio
        ends = (ratio.ci_low, ratio.ci_high)
        assert (row["ratio"], row["ratio_low"], row["ratio_high"], row["blocks"]) == (ratio.value, *ends, 2)
        assert row["unit"] == metric.unit and "verdict" not in row
    assert arms[f"json-thread-local {NEW}"] == {("virtual", "work-stealing")}, "virtual threads are above the line"
    pool, bounded = ("fixed-5", "platform"), ("virtual-semaphore-5", "virtual")
    virtual = itertools.product(("virtual", "virtual-semaphore-5"), pool)
    assert arms[f"fanout {OLD}"] == {pool, bounded, *virtual}, "else the later arm"


def test_workloads_that_a_claim_compares_stand_over_each_other() -> None:
    loaded = experiments_of("borrow")
    assert not ratios_of(JudgedRun(loaded)), "each has one arm"
    newer, older = "borrow-hikari-7.1.0", "borrow-hikari-7.0.2"
    check = ClaimCheck(
        says="throughput", metric="throughput", arm="virtual", versus_workload=older, low=1.0, inference="i",
        where=CheckedCells(workload=(newer,)),
    )  # fmt: skip
    source = ClaimSource(title="SYNTHETIC", no_url="Nowhere.")
    claim = ClaimRecord(id="x", condition="c", published="p", only="words", source=source, checks=(check,))
    itself = check.model_copy(update={"where": CheckedCells(workload=(older,))})
    judged = JudgedRun(loaded, (claim.model_copy(update={"checks": (check, itself)}),))
    found = ratios_of(judged)
    assert {(row["workload"], row["versus"]) for row in found.values()} == {(newer, older)}
    assert {row["figure"] for row in found.values()} >= {"throughput", "CPU per operation"}
    estimates = {cell.key.cell_id: cell.estimate.value for cell in judged.claims[0].checks[0].cells}
    assert len(estimates) == 2
    assert {name: found[name, "throughput", older]["ratio"] for name in estimates} == estimates


def test_medians_stand_over_what_is_expected_as_on_the_page() -> None:
    loaded = experiments_of("burn", "spawn", "fanout", accidents=True)
    found = ratios_of(JudgedRun(loaded), expected=True)
    tables = [table_of([section], "Table of ") for section in sections_of(loaded).values()]
    shown = {figure_in(row, "Measured / expected").sort for rows in tables for row in rows} - {None}
    assert len(shown) > 10 and shown <= {row["ratio"] for row in found.values()}
    assert not any(row.keys() & {"ratio_low", "ratio_high", "blocks", "verdict"} for row in found.values())


def test_arms_that_lost_different_numbers_of_forks_are_not_judged() -> None:
    """On the older JDK, platform failed, fixed-5 lost a fork, and virtual has not run."""
    found = ratios_of(JudgedRun(experiments_of("fanout", accidents=True))).values()
    older = {(row["executor"], row["versus"]): row.get("verdict") for row in found if row["jdk"] == OLD}
    assert older == {("virtual-semaphore-5", "fixed-5"): "not judged"}
    assert {row.get("verdict") for row in found if row["jdk"] == NEW} == {None}


def test_arms_of_which_the_gates_refused_one_more_often_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arms are not judged, whichever of them the page has above the line."""
    judged = JudgedRun(experiments_of("json"))
    told = ArmRefusals(Refused(30, 30, {"steal": 30}), Refused(13, 3, {"steal": 3}), 1e-7)
    (older, newer) = ((one.key, other.key) for one, other in arm_pairs(judged.experiments))
    monkeypatch.setattr(JudgedRun, "refusals", {older: told, newer[::-1]: told})
    assert {row.get("verdict") for row in ratios_of(judged).values()} == {"not judged"}


@given(st.text(), st.sampled_from("=+-@\t\r"))
def test_no_text_is_a_formula(text: str, first: str) -> None:
    assert str(exports._field(first + text)).startswith("'" + first)


def test_what_is_no_number_is_an_empty_field() -> None:
    numbers = (float("nan"), float("inf"), -float("inf"), None, -1.5)
    assert [exports._field(number) for number in numbers] == ["", "", "", "", "-1.5"]


def test_the_site_has_both_files(quick: LoadedRun, tmp_path: Path) -> None:
    loaded = with_scenario(quick)
    site = site_of([loaded], tmp_path / "site")
    judged = JudgedRun(loaded)
    verdicts = exports.verdicts(judged.claims)
    assert json.loads((site / "verdicts.json").read_text("utf-8")) == verdicts
    cells = [cell for claim in verdicts for check in claim["checks"] for cell in check["cells"]]
    assert {check["origin"] for claim in verdicts for check in claim["checks"]} <= {*get_args(BandOrigin)}
    assert {cell["estimate"]["bound"] for cell in cells if cell["estimate"]} == {""}
    mild = exports.verdicts(JudgedRun(reference("20261128T045823Z-infoq-rampup.small")).claims)
    cells = [cell for claim in mild for check in claim["checks"] for cell in check["cells"]]
    assert "≥" in {cell["estimate"]["bound"] for cell in cells if cell["estimate"]}
    assert "thousands of threads" in str([seen["says"] for cell in cells for seen in cell["seen"] if not seen["holds"]])
    assert (site / "results.csv").read_text("utf-8") == exports.as_csv(exports.results(judged))
    page = (site / "index.html").read_text("utf-8")
    assert 'href="results.csv"' in page and 'href="verdicts.json"' in page and 'href="run.json"' in page


def test_jmh_viewers_get_a_fork_for_a_fork(quick: LoadedRun) -> None:
    found = exports.jmh(JudgedRun(quick))
    assert len(found) == len(quick.served)
    for one in json.loads(json.dumps(found, allow_nan=False)):
        metric = one["primaryMetric"]
        assert one["mode"] == "thrpt" and len(metric["rawData"]) == one["forks"] == QUICK.blocks
        low, high = metric["scoreConfidence"]
        assert low < metric["score"] < high
        assert metric["scoreError"] == pytest.approx(high - metric["score"])
    (first, *_) = exports.jmh(JudgedRun(made_up(replace(QUICK, blocks=1))))
    assert first["primaryMetric"]["scoreError"] == "NaN"


def test_no_two_cells_have_one_name_where_only_names_are_read() -> None:
    shape = Shape(cpus=(1, 2), burn_us=(0, 100), loads=("saturate-50", "rate-2000"), blocks=2)
    loaded = made_up(shape)
    found = exports.jmh(JudgedRun(loaded))
    names = [one["benchmark"] for one in found]
    assert len(set(names)) == len(names) == len(loaded.served)
    assert {name.rpartition(".")[2] for name in names} == {"liberty", "virtual"}, "methods of one class are compared"
    versions = {jdk.version for jdk in loaded.run.jdks if jdk.selected}
    assert {one["jdkVersion"] for one in found} == versions - {None} and versions
    assert {one["measurementIterations"] for one in found} == {1}


def test_what_tracks_figures_is_told_which_way_is_better() -> None:
    loaded = made_up(replace(QUICK, loads=("saturate-50", "rate-2000")))
    cells = Cells(loaded.run, loaded.served)
    bigger, smaller = exports.better(cells, bigger=True), exports.better(cells, bigger=False)
    assert {one["name"].rpartition(" ")[2] for one in bigger} == {"throughput"}
    assert {one["name"].rpartition(" ")[2] for one in smaller} == {"cpu", "p99"}
    every = exports.bencher(cells)
    assert every.keys() == {cell.key.cell_id for cell in cells}
    for one in (*bigger, *smaller):
        cell_id, _, figure = one["name"].rpartition(" ")
        told = every[cell_id][figure]
        assert told["value"] == one["value"] and told["lower_value"] <= told["value"] <= told["upper_value"]
        assert one["range"] == f"{told['lower_value']}–{told['upper_value']}"
    single = made_up(replace(QUICK, blocks=1))
    figures = (told for by in exports.bencher(Cells(single.run, single.served)).values() for told in by.values())
    assert {tuple(told) for told in figures} == {("value",)}


def test_figures_of_forks_that_missed_their_rate_are_marked() -> None:
    loaded = made_up(replace(QUICK, loads=("rate-2000",)))
    first = loaded.cells[0]
    short = first.model_copy(update={"forks": (missed(first.forks[0]), *first.forks[1:])})
    cells = (short, *loaded.cells[1:])
    rows = [row for row in table(replace(loaded, cells=cells)) if row["figure"] == "cpu"]
    told = {row["cell_id"]: (row["forks"], row["forks_compared"]) for row in rows}
    assert told.pop(first.key.cell_id) == ("2", "1") and set(told.values()) == {("2", "2")}
    names = {one["name"].rpartition(" ")[0] for one in exports.better(Cells(loaded.run, cells), bigger=False)}
    assert names == {one.key.cell_id for one in loaded.cells[1:]}


def test_what_the_forks_did_that_outlived_a_hang_is_no_figure_of_the_executor() -> None:
    loaded = with_outcomes(made_up(QUICK), {"virtual": {1: hung}})
    judged = JudgedRun(loaded)
    others = {cell.key.cell_id for cell in loaded.cells if cell.key.executor != "virtual"}
    assert exports.bencher(judged.cells).keys() == others
    assert {one["benchmark"].rpartition(".")[2] for one in exports.jmh(judged)} == {"liberty"}


def test_gauges_are_the_figures_with_their_labels() -> None:
    """The form is that of OpenMetrics 1.0: https://prometheus.io/docs/specs/om/open_metrics_spec/"""
    judged = JudgedRun(made_up(replace(QUICK, loads=("saturate-50", "rate-2000"))))
    *lines, last = exports.openmetrics(judged).splitlines()
    assert last == "# EOF"
    typed = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(typed) == len(set(typed)), "the lines of a family stand together"
    gauge = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (\S+)')
    samples = [match for line in lines if not line.startswith("#") for match in [gauge.fullmatch(line)] if match]
    assert len(samples) == sum(not line.startswith("#") for line in lines)
    every = exports.bencher(judged.cells)
    told = sorted(float(value) for name, _, value in map(re.Match.groups, samples) if name == "jdkmatrix_cpu")
    assert told == sorted(figures["cpu"]["value"] for figures in every.values() if "cpu" in figures)
    ratios = {name for name, _, _ in map(re.Match.groups, samples) if "_ratio" in name}
    assert {"jdkmatrix_cpu_ratio", "jdkmatrix_cpu_ratio_low", "jdkmatrix_cpu_ratio_high"} <= ratios
    assert exports._label('a "b"\\\n') == 'a \\"b\\"\\\\\\n'


def test_a_badge_says_how_a_condition_stands(quick: LoadedRun) -> None:
    judged = JudgedRun(quick)
    found = exports.badges(judged)
    assert {one["condition"] for one in found} == {key.group_id for key in judged.cells.keys}
    assert all(one["badge"]["schemaVersion"] == 1 and one["badge"]["label"] and one["badge"]["color"] for one in found)
    key = next(key for key in judged.cells.keys if key.executor == "virtual")
    assert found[0]["badge"]["message"].startswith(advise(judged.judgements, key)[0].value)


@pytest.mark.parametrize("form", ["json", "jmh", "bigger-is-better", "smaller-is-better", "bencher", "badge"])
def test_every_form_is_written(quick: LoadedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert export(str(stored(tmp_path / "run", quick).directory), form) == 0
    text = capsys.readouterr().out
    if form == "json":
        told = json.loads(text)
        assert told["run_id"] == quick.run.run_id
        assert {"throughput", "cpu"} <= {row["figure"] for row in told["results"]}
    else:
        conditions = {one.key.group for one in quick.cells}
        assert len(json.loads(text)) == len(conditions if form == "badge" else quick.cells)
