"""The history pages: all conditions at a glance, and a page for each with its charts and runs. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from jdkmatrix.domain.quantities import MISSING, digits, plural
from jdkmatrix.figures.metrics import BY_ID, Metric
from jdkmatrix.report.blocks.inline import joined, link, say, small, strong, swatch
from jdkmatrix.report.blocks.kinds import Chart, Charts, Items, PageBlock, Pre, Prose, Section, WebPage
from jdkmatrix.report.blocks.spark import spark
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.charts.lines import over_runs
from jdkmatrix.report.charts.shapes import Drawing, Row, executor_order
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import ArmFigure, RunDigest
from jdkmatrix.report.site.history import FigureHistory, History, MeasuredRun, RatioPoint, histories, starts_told
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import capitalised

INDEX = "history/index.html"
_ROOT = "../"  # from a page to the site's root
_CHARTS_MAX = 3  # on the page of all conditions
_SPARK_MAX = 40  # runs in a trend


def history_pages(runs: Sequence[RunDigest]) -> dict[str, WebPage]:
    """Build the pages by path, seen from the site's root, and the index that lists them. `runs`: newest first."""
    found, alone = histories(runs)
    conditions = Section("conditions", "Conditions", tuple(_conditions(found, alone)), say("history") if found else "")
    return {
        INDEX: WebPage(
            heading="History",
            summary=f"Virtual threads over the server’s pool, run by run, each host by itself.{_counted(found)}",
            blocks=(conditions, *_first_charts(found)),
            root=_ROOT,
            foot=link("Back to the answer", f"{_ROOT}index.html"),
        ),
        **{f"history/{one.file}": _page(one) for one in found},
    }


def _counted(found: Sequence[History]) -> str:
    if not found:
        return ""
    figures = [figure for one in found for figure in one.figures if figure.testable]
    if not figures:
        return " No series is long enough to show a change of level."
    changed = sum(bool(one.changes) for one in figures)
    return f" {changed} of the {len(figures)} series that are long enough to show a change of level did change."


_OVERVIEW = columns("Condition", "Host~", "Runs#", "Run by run", "Newest ratio#", "Level~")


def _conditions(found: Sequence[History], alone: int) -> Iterator[PageBlock]:
    if found:
        yield DataTable("Table of conditions", _OVERVIEW, [_overview(one) for one in found], "wrap stack")
        if alone:
            subject = f"{plural(alone, 'more condition')} {'has' if alone == 1 else 'have'}"
            yield Prose(f"{subject} a ratio in one run only: a history needs two.")
    elif alone:
        yield Prose("No condition has a ratio in two runs of one host by one load driver yet.", css="")
    else:
        yield Prose("No run here has a ratio of virtual threads to a server’s own pool.", css="")


def _overview(one: History) -> tuple[Cell, ...]:
    lead = one.figures[0]
    drawn = replace(lead, points=lead.points[-_SPARK_MAX:])
    return (
        joined(link(one.where, one.file), " ", small(lead.title)),
        one.host,
        Figure(str(len(lead.points)), len(lead.points)),
        spark(_points(one, drawn), _in_words(drawn)),
        _ratio(lead, lead.points[-1]),
        lead.finding,
    )


def _first_charts(found: Sequence[History]) -> Iterator[Section]:
    """Yield the charts of the first in `found`, where those that have changed come first."""
    shown = found[:_CHARTS_MAX]
    if shown:
        blocks = [
            _ratios(one, one.figures[0], f"history-{number}", heading=link(one.where, one.file))
            for number, one in enumerate(shown, start=1)
        ]
        rest = " The table links to those of the others." if len(found) > len(shown) else ""
        words = "The leading figure. Vertical lines mark where something changed; the condition’s page says what."
        yield Section("charts", "Charts", blocks, f"{words}{rest}")


def _page(one: History) -> WebPage:
    arms, starts = _arms(one), tuple(starts_told(one.runs))
    alone = (arms, *([Prose(say("starts")), Items(starts)] if starts else []))
    ratios = [_ratios(one, figure, "history") for figure in one.figures]
    compared = "To compare the newest two, figure by figure, and see what else differs:"
    command = f".venv/bin/matrix compare {shlex.join(one.run.run_id for one in one.runs[-2:])}"
    return WebPage(
        heading=one.where,
        summary=f"On {one.host}: {one.figures[0].finding}.",
        blocks=(
            Section("ratios", "Virtual threads over the pool", ratios, say("level_changes")),
            Section("runs", "Runs", (_table(one), Prose(compared), Pre(command, "Command that compares two runs"))),
            *([Section("executors", "Each executor by itself", alone, say("by_itself"))] if arms.charts else []),
        ),
        root=_ROOT,
        menu=(("Ratios", "#ratios"), ("Runs", "#runs"), *([("Executors", "#executors")] if arms.charts else [])),
        foot=link("All histories", "index.html"),
    )


def _in_words(one: FigureHistory) -> str:
    """Return the text beside a picture."""
    first, newest = one.points[0].told, one.points[-1].told
    least, most = (end(one.points, key=lambda point: point.value).told.value for end in (min, max))
    return (
        f"{first.value} ({first.under}) in the first run shown, "
        f"{newest.value} ({newest.under}) in the newest with a ratio, from {least} to {most} in all"
    )


def _ratio(one: FigureHistory, point: RatioPoint) -> Figure:
    change = one.changes.get(point.place)
    under = joined(point.told.under, *([" ", strong(change, "warned")] if change else []))
    return Figure(point.told.value, point.value, under=under, amber=bool(point.care))


def _ratios(one: History, figure: FigureHistory, id_prefix: str, heading: str = "") -> Charts:
    lines = tuple(dict.fromkeys(run.line for run in one.runs))
    order = (*executor_order(()), *lines)  # so that no line has the colour of an executor
    changes = "".join(f" {moment(one.runs[place].run.started_at)}: {words}." for place, words in figure.changes.items())
    note = f"{capitalised(_in_words(figure))}. {capitalised(figure.finding)}.{changes}"
    first, last = (moment(one.runs[place].run.started_at) for place in (0, -1))
    title = f"{figure.title} on {one.host}" if heading else f"{first} to {last}"
    drawing = _drawing(one, _points(one, figure), f"{figure.title}, virtual / pool", order, figure)
    charts = (Chart(f"{id_prefix}-{figure.figure}", title, note, drawing),) if drawing else ()
    key = tuple(joined(swatch(order.index(line)), line) for line in lines)
    return Charts(heading or figure.title, "", charts, key)


def _points(one: History, figure: FigureHistory) -> list[Row]:
    return [
        _about(one.runs[point.place])
        | {"value": point.value, "low": point.told.low, "high": point.told.high}
        | {"figure": f"{point.told.value} ({point.told.under})", "care": ", ".join(point.care)}
        for point in figure.points
    ]


def _arms(one: History) -> Charts:
    measured = [(run, arm) for run in one.runs for arm in run.condition.arms]
    there = {arm.executor for _, arm in measured}
    order = executor_order(there)
    names = [name for name in order if name in there]
    found: list[Chart] = []
    for metric in (BY_ID[figure] for figure in dict.fromkeys(arm.figure for _, arm in measured) if figure in BY_ID):
        told = [(run, arm) for run, arm in measured if arm.figure == metric.id]
        points = [
            _about(run)
            | {"series": arm.executor, "line": f"{arm.executor}, {run.line}"}
            | {"value": arm.value, "low": arm.low, "high": arm.high}
            | {"figure": _amount(arm, metric), "care": ", ".join(run.condition.warnings)}
            for run, arm in told
        ]
        newest = [f"{arm.executor} {_amount(arm, metric)}" for run, arm in told if run is told[-1][0]]
        note = f"In the newest run with it: {'; '.join(newest)}."
        if drawing := _drawing(one, points, f"{metric.title}, {metric.unit}", order):
            found.append(Chart(f"history-arms-{metric.id}", metric.title, note, drawing))
    key = tuple(joined(swatch(order.index(name)), name) for name in names)
    return Charts(" and ".join(names), "", tuple(found), key, "by-2")


def _amount(arm: ArmFigure, metric: Metric) -> str:
    """Write a figure with the digits that the cell's page shows."""
    value, low, high = (one and digits(one, metric.significant) for one in (arm.value, arm.low, arm.high))
    return f"{value} {metric.unit} ({f'{low}–{high}' if low and high else 'no interval'})"


def _drawing(
    one: History, points: Sequence[Row], title: str, order: Sequence[str], ratio: FigureHistory | None = None
) -> Drawing | None:
    """Draw the runs that have a date; None where none has. `ratio`: what is drawn, if not executors by themselves."""
    levels = ratio.changes if ratio else ()
    dated = [(place, run.time_ms, run.number) for place, run in enumerate(one.runs) if run.time_ms is not None]
    marks = [
        {"t": (before + after) // 2, "number": number or "", "tool": number == "", "level": place in levels}
        for (_, before, _), (place, after, number) in pairwise(dated)
        if number is not None or place in levels
    ]
    shown = [row for row in points if row["t"] is not None]
    if not shown:
        return None
    of, even = ("measured on", 1.0) if ratio else ("executor", None)
    described = f"{title}: {one.where}, on {one.host}"
    return over_runs(shown, marks, title=title, order=order, of=of, description=described, even=even)


def _about(one: MeasuredRun) -> dict[str, Any]:
    """Return what a chart's point says about its run."""
    words = {"run": one.run.run_id, "measured": moment(one.run.started_at), "blocks": str(one.condition.blocks)}
    builds = {"JDK": one.jdk, "server": one.server, "commit": one.run.commit, "new": ", ".join(one.new)}
    return {"t": one.time_ms, "series": one.line, "line": one.line} | words | builds


def _table(one: History) -> DataTable:
    ratios = [{point.place: _ratio(figure, point) for point in figure.points} for figure in one.figures]
    several = len({run.line for run in one.runs}) > 1
    rows: list[tuple[Cell, ...]] = [
        (
            link(told.run.run_id, f"{_ROOT}{told.run.folder}{told.condition.page}"),
            moment(told.run.started_at),
            *(of_figure.get(place, MISSING) for of_figure in ratios),
            Figure(str(told.condition.blocks), told.condition.blocks),
            ", ".join(told.condition.warnings) or MISSING,
            f"{told.number}: {', '.join(told.new)}" if told.new else MISSING,
            *([told.line] if several else []),
            told.jdk,
            told.run.commit,
        )
        for place, told in enumerate(one.runs)
    ]
    titles = (
        *("Run", "Measured", *(f"{figure.title}|95 % interval#" for figure in one.figures), "Blocks#"),
        *("Read with care~", "New~", *(["Measured on~"] if several else []), "JDK build", "Commit~"),
    )
    return DataTable(f"Runs: {one.where}, on {one.host}", columns(*titles), rows, "wrap stack")
