"""How ratios went over the runs of a host, and where they changed. Pure.

Each point is a ratio that is paired inside its run, so that what the host did on another day cancels as far as it
befell both executors. Hosts are never mixed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.cells.advice import Advice
from jdkmatrix.report.html.names import file_stem
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import Condition, RunDigest
from jdkmatrix.report.site.home import axis_values, host_names, where_words
from jdkmatrix.report.words.numbers import apart, higher
from jdkmatrix.report.words.sentences import driven
from jdkmatrix.stats.change_points import change_points


@dataclass(frozen=True)
class Point:
    """One run's ratio. `new`: what was another than in the run before: JDK build, kernel. `changed`: how the level
    differs from before, where this run is the first after a change."""

    run_id: str
    page: str
    measured: str
    value: str
    under: str
    new: tuple[str, ...]
    changed: str | None


@dataclass(frozen=True)
class Series:
    """One figure of one condition on one host, the oldest run first."""

    anchor: str
    where: str
    host: str
    figure: str
    finding: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class HistoryView:
    """`changes`: of how many series something changed."""

    series: tuple[Series, ...]
    changes: int


def view_history(runs: Sequence[RunDigest], root: str) -> HistoryView:
    """Of every condition that a host measured in two runs or more by one driver. `runs`: newest first; `root` leads
    from the page to that of the site."""
    found: dict[tuple[str | None, ...], list[tuple[RunDigest, Condition]]] = {}
    for run in reversed(runs):
        for condition in run.conditions:
            place = (run.host_id, condition.driver, *axis_values(condition))
            found.setdefault(place, []).append((run, condition))
    hosts = host_names(runs)
    series = tuple(one for measured in found.values() if len(measured) > 1 for one in _series(measured, hosts, root))
    return HistoryView(series, sum(any(point.changed for point in one.points) for one in series))


def _series(measured: Sequence[tuple[RunDigest, Condition]], hosts: dict[str, str], root: str) -> Iterator[Series]:
    newest_run, newest = measured[-1]
    for told in newest.advice:
        points = [(run, condition, one) for run, condition in measured if (one := _of(condition, told.figure))]
        if len(points) < 2:
            continue
        changes = _changes([one for _, _, one in points])
        name = f"{newest_run.host_id}.{'.'.join(axis_values(newest))}.{newest.driver}.{told.figure}"
        yield Series(
            anchor=file_stem(name),
            where=driven(where_words(newest), newest.driver),
            host=hosts[newest_run.host_id],
            figure=told.title,
            finding=_finding(changes, len(points)),
            points=tuple(_points(points, changes, root)),
        )


def _of(condition: Condition, figure: str) -> Advice | None:
    """None where it has no ratio."""
    return next((one for one in condition.advice if one.figure == figure and one.ratio), None)


def _changes(points: Sequence[Advice]) -> dict[int, str]:
    """By the place of the first point after a change, what changed there. Ratios that are not judged, or are of a
    single block, say nothing of the level."""
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


def _finding(changes: dict[int, str], runs: int) -> str:
    if changes:
        return f"{plural(len(changes), 'change')} of level in {runs} runs"
    return f"no change of level in {runs} runs"


def _points(
    points: Sequence[tuple[RunDigest, Condition, Advice]], changes: dict[int, str], root: str
) -> Iterator[Point]:
    before: dict[str, str] = {}
    for place, (run, condition, one) in enumerate(points):
        now = {
            "load": condition.load_words,
            "JDK": dict(run.jdks).get(condition.jdk, "not known"),
            "kernel": run.kernel,
        }
        yield Point(
            run_id=run.run_id,
            page=f"{root}{run.folder}{condition.page}",
            measured=moment(run.started_at),
            value=one.value,
            under=one.under,
            new=tuple(f"{name} {value}" for name, value in now.items() if before and before[name] != value),
            changed=changes.get(place),
        )
        before = now
