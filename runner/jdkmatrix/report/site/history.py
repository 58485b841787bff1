"""How ratios went over the runs of a host, and where they changed. Pure.

Each point is a ratio that is paired inside its run, so that what the host did on another day cancels as far as it
befell both executors. Hosts are never mixed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.blocks.inline import file_stem, joined, link, say, small, strong
from jdkmatrix.report.blocks.kinds import Disclosure, PageBlock, Prose, Section, WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.advice import Advice
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest, host_names
from jdkmatrix.report.site.home import where_words
from jdkmatrix.report.words.numbers import apart, higher
from jdkmatrix.report.words.sentences import driven
from jdkmatrix.stats.change_points import change_points

_COLUMNS = columns("Run", "Measured", "Ratio|95 % interval#", "New~", "Level~")


@dataclass(frozen=True)
class RatioSeries:
    """One figure of one condition on one host, the oldest run first. `changes`: by the place of the first point after a
    change, what changed there."""

    anchor: str
    where: str
    host: str
    figure: str
    points: tuple[tuple[RunDigest, MeasuredCondition, Advice], ...]
    changes: Mapping[int, str]

    @property
    def finding(self) -> str:
        changed = f"{plural(len(self.changes), 'change')} of level" if self.changes else "no change of level"
        return f"{changed} in {len(self.points)} runs"

    @property
    def new(self) -> Iterator[tuple[str, ...]]:
        """For each point, what differs from the run before: load, JDK build, release of the server, kernel, the user's
        application."""
        before: dict[str, str] = {}
        for run, condition, _ in self.points:
            now = {
                "load": condition.load_words,
                "JDK": dict(run.jdks).get(condition.jdk, "not known"),
                "server": dict(run.servers).get(condition.server, "not known"),
                "kernel": run.kernel,
                "application": dict(run.own).get(condition.workload, ""),
            }
            yield tuple(f"{name} {value}" for name, value in now.items() if before and before[name] != value)
            before = now


def history_page(runs: Sequence[RunDigest], root: str) -> WebPage:
    """`runs`: newest first; `root` leads from the page to that of the site."""
    series = ratio_series(runs)
    changed = sum(bool(one.changes) for one in series)
    counted = f" {changed} of {len(series)} series changed their level." if series else ""
    nothing = Prose("No condition has been measured twice on one host yet.", css="")
    return WebPage(
        title="History · jdk-matrix",
        heading="History",
        summary=f"Virtual threads over the server’s pool, run by run, each host for itself.{counted}",
        blocks=(Section("series", "Series", tuple(_block(one, root) for one in series) or (nothing,), say("history")),),
        root=root,
        up=f"{root}index.html",
        foot=link("Back to the answer", f"{root}index.html"),
        short=True,
    )


def ratio_series(runs: Sequence[RunDigest]) -> tuple[RatioSeries, ...]:
    """A series for every figure of a condition that a host measured in two runs or more by one driver."""
    found: dict[tuple[str | None, ...], list[tuple[RunDigest, MeasuredCondition]]] = {}
    for run in reversed(runs):
        for condition in run.conditions:
            place = (run.host_id, condition.driver, *condition.values)
            found.setdefault(place, []).append((run, condition))
    hosts = host_names(runs)
    return tuple(one for measured in found.values() if len(measured) > 1 for one in _series(measured, hosts))


def _series(measured: Sequence[tuple[RunDigest, MeasuredCondition]], hosts: Mapping[str, str]) -> Iterator[RatioSeries]:
    def ratios(condition: MeasuredCondition) -> dict[str, Advice]:
        return {one.figure: one for one in condition.advice if one.ratio}

    newest_run, newest = measured[-1]
    for told in newest.advice:
        points = tuple((run, one, ratio) for run, one in measured if (ratio := ratios(one).get(told.figure)))
        if len(points) > 1:
            name = f"{newest_run.host_id}.{'.'.join(newest.values)}.{newest.driver}.{told.figure}"
            yield RatioSeries(
                anchor=file_stem(name),
                where=driven(where_words(newest), newest.driver),
                host=hosts[newest_run.host_id],
                figure=told.title,
                points=points,
                changes=_changes([ratio for *_, ratio in points]),
            )


def _changes(points: Sequence[Advice]) -> dict[int, str]:
    """Ratios that are not judged, or are of a single block, say nothing of the level."""
    places = [place for place, one in enumerate(points) if one.judged]
    logs = [math.log(one.ratio) for one in points if one.judged and one.ratio]
    found = change_points(logs)
    return {places[change]: _level(logs, change, found) for change in found}


def _level(logs: Sequence[float], place: int, changes: Sequence[int]) -> str:
    """How far the mean behind `place` is from that before it, each up to the next change."""
    ends = (0, *changes, len(logs))
    at = ends.index(place)
    before, after = logs[ends[at - 1] : place], logs[place : ends[at + 1]]
    ratio = math.exp(sum(after) / len(after) - sum(before) / len(before))
    return f"{apart(ratio)} {higher(ratio)} from here on"


def _block(one: RatioSeries, root: str) -> PageBlock:
    """Open where something changed."""
    label = f"{one.figure}: {one.where}, on {one.host}"
    rows: list[tuple[Cell, ...]] = [
        (
            link(run.run_id, f"{root}{run.folder}{condition.page}"),
            moment(run.started_at),
            joined(ratio.value, " ", small(ratio.under)),
            ", ".join(new) or "–",
            strong(one.changes[place], "warned") if place in one.changes else "–",
        )
        for place, ((run, condition, ratio), new) in enumerate(zip(one.points, one.new, strict=True))
    ]
    summary = joined(strong(one.figure), f": {one.where}, on {one.host}: {one.finding}")
    return Disclosure(summary, (DataTable(label, _COLUMNS, rows, "wrap"),), id=one.anchor, open=bool(one.changes))
