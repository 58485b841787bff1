"""How ratios developed over the runs of a host, where they changed, and whether an executor's starts differ. Pure.

Each point is a ratio that is paired inside its run, so that what the host did that day cancels as far as it affected
both executors. No line joins different hosts, load drivers, server releases or protocols."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.blocks.inline import file_stem
from jdkmatrix.report.cells.advice import Advice
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest, host_names
from jdkmatrix.report.site.home import where_words
from jdkmatrix.report.words.numbers import apart, higher, p_value
from jdkmatrix.report.words.sentences import driven
from jdkmatrix.stats.change_points import LEAST, change_points
from jdkmatrix.stats.modes import P_MAX, Modes, modes_of_family
from jdkmatrix.stats.ratios import step_behind

FEWEST_RUNS = 2 * LEAST  # needed on one line to find a change of level


@dataclass(frozen=True)
class MeasuredRun:
    """A run under one of the conditions that it measured. `time_ms`: when it began, since 1970; None where that is no
    date. `jdk`, `server`: their builds; `line`: what it shares with all other runs on its line. `under`: what was
    measured, in words; `new`: how that differs from the run before; `number`: of that change, "" where only the tool's
    commit differs, None where nothing does."""

    run: RunDigest
    condition: MeasuredCondition
    time_ms: int | None
    jdk: str
    server: str
    line: str
    under: tuple[str, ...]
    new: tuple[str, ...]
    number: str | None


@dataclass(frozen=True)
class RatioPoint:
    """The ratio of one run, with its place in the history. `care`: why it must be read with care."""

    place: int
    value: float
    told: Advice
    care: tuple[str, ...]


@dataclass(frozen=True)
class FigureHistory:
    """One figure over at least two runs, oldest first. `changes`: by the place of the first run after a change of
    level, what changed. `testable`: whether any line has enough runs to find one."""

    figure: str
    title: str
    points: tuple[RatioPoint, ...]
    changes: Mapping[int, str]
    testable: bool

    @property
    def finding(self) -> str:
        runs = plural(len(self.points), "run")
        if not self.testable:
            return f"{runs}, too few alike to show a change of level"
        return f"{plural(len(self.changes), 'change') if self.changes else 'no change'} of level in {runs}"


@dataclass(frozen=True)
class History:
    """One condition on one host, oldest run first. `file`: the name of its page; `figures`: those with a ratio in two
    runs or more, the leading one first."""

    file: str
    where: str
    host: str
    runs: tuple[MeasuredRun, ...]
    figures: tuple[FigureHistory, ...]

    @property
    def changed(self) -> bool:
        return any(one.changes for one in self.figures)


def histories(runs: Sequence[RunDigest]) -> tuple[tuple[History, ...], int]:
    """Return the conditions that have ratios in two runs or more of one host by one driver, those that changed first;
    and how many others have one in a single run. `runs`: newest first."""
    found = grouped(
        ((run.host_id, one.driver, *one.values), (run, one)) for run in reversed(runs) for one in run.conditions
    )
    hosts = host_names(runs)
    told = [_history(measured, hosts) for measured in found.values()]
    without = (one for one in told if not one.figures)
    alone = sum(any(ratio.ratio for run in one.runs for ratio in run.condition.advice) for one in without)
    return tuple(sorted((one for one in told if one.figures), key=lambda one: not one.changed)), alone


def _history(measured: Sequence[tuple[RunDigest, MeasuredCondition]], hosts: Mapping[str, str]) -> History:
    newest_run, newest = measured[-1]
    place = f"{newest_run.host_id}.{'.'.join(newest.values)}.{newest.driver}"
    runs = tuple(_runs(measured))
    titles = grouped((told.figure, told.title) for _, one in reversed(measured) for told in one.advice)
    figures = (_figure(figure, newest_title, runs) for figure, (newest_title, *_) in titles.items())
    return History(
        file=f"{file_stem(place)}.html",
        where=driven(where_words(newest), newest.driver),
        host=hosts[newest_run.host_id],
        runs=runs,
        figures=tuple(one for one in figures if len(one.points) > 1),
    )


def _runs(measured: Sequence[tuple[RunDigest, MeasuredCondition]]) -> Iterator[MeasuredRun]:
    before: tuple[str, ...] = ()
    load_before = measured[0][1].load_table
    number, commit = 0, measured[0][0].commit
    for run, condition in measured:
        jdk = dict(run.jdks).get(condition.jdk, "not known")
        server = dict(run.servers).get(condition.server, "not known")
        now = (
            f"load {condition.load_words}",
            f"JDK {jdk}",
            f"server {server}",
            f"protocol {condition.protocol}",
            f"settings {' and '.join(dict.fromkeys(digest[:8] for digest in condition.settings))}",
            run.about,
            f"kernel {run.kernel}",
            f"application {dict(run.own).get(condition.workload, 'of the project')}",
        )
        new = _new(now, before or now, same_load=condition.load_table == load_before)
        number += bool(new)
        yield MeasuredRun(
            *(run, condition, _time_ms(run.started_at), jdk, server),
            line=f"{server}, {condition.protocol}",
            under=now,
            new=new,
            number=str(number) if new else "" if run.commit != commit else None,
        )
        before, load_before, commit = now, condition.load_table, run.commit


def _new(now: Sequence[str], before: Sequence[str], *, same_load: bool) -> tuple[str, ...]:
    """Return what is new. A load that is derived from a capacity comes to another rate or number of connections in each
    run, and is the same load."""
    return tuple(one for one, was in zip(now[same_load:], before[same_load:], strict=True) if one != was)


def _time_ms(told: str) -> int | None:
    try:
        time = datetime.fromisoformat(told)
        return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _figure(figure: str, title: str, runs: Sequence[MeasuredRun]) -> FigureHistory:
    points = tuple(
        RatioPoint(place, told.ratio, told, (*(() if told.judged else (told.under,)), *one.condition.warnings))
        for place, one in enumerate(runs)
        for told in one.condition.advice
        if told.figure == figure and told.ratio
    )
    # Ratios that are not judged, or are of a single block, say nothing about the level.
    telling = grouped((runs[point.place].line, point) for point in points if point.told.judged)
    changes = dict(change for here in telling.values() for change in _changes(here, runs))
    return FigureHistory(figure, title, points, changes, any(len(here) >= FEWEST_RUNS for here in telling.values()))


def _changes(points: Sequence[RatioPoint], runs: Sequence[MeasuredRun]) -> Iterator[tuple[int, str]]:
    """Yield each change with how far the mean after it is from that before it, both up to the next change; and where
    other runs lie between it and the last point that counts, with all that is new since then."""
    logs = [math.log(point.value) for point in points]
    found = change_points(logs, max(point.told.least_error for point in points))
    for before, change, after in zip((0, *found), found, (*found[1:], len(logs)), strict=False):
        ratio = math.exp(sum(logs[change:after]) / (after - change) - sum(logs[before:change]) / (change - before))
        here, last = points[change].place, points[change - 1].place
        now, was = runs[here], runs[last]
        same_load = now.condition.load_table == was.condition.load_table
        new = _new(now.under, was.under, same_load=same_load) if here - last > 1 else ()
        since = f"; new since the run of {moment(was.run.started_at)}: {', '.join(new)}" if new else ""
        yield here, f"{apart(ratio)} {higher(ratio)} from here on{since}"


def starts_told(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Say whether an executor's starts fall into two groups over all runs of a host; one run seldom has enough forks to
    tell. Yields a sentence for each JDK build on each line with enough forks, from two runs at least; all of them are
    one family of tests."""
    places = grouped(
        ((executor, run.line, run.jdk), (figures, max(one.least_error for one in run.condition.advice)))
        for run in runs
        for executor, figures in run.condition.forks
        if figures
    )
    of_runs = {place: [forks for forks, _ in told] for place, told in places.items() if len(told) > 1}
    steps = {place: step_behind(max(error for _, error in places[place])) for place in of_runs}
    tested = modes_of_family({place: chain.from_iterable(figures) for place, figures in of_runs.items()}, steps)
    several = len({place[1:] for place in tested}) > 1
    for place, (modes, adjusted) in tested.items():
        executor, line, jdk = place
        where = f"{executor} on {line}, JDK {jdk}" if several else executor
        yield f"{where}: {_starts_finding(of_runs[place], modes, adjusted)}."


def _starts_finding(figures: Sequence[Sequence[float]], modes: Modes, adjusted: float) -> str:
    """Describe one test. `figures`: of each run, by fork. If the groups are whole runs, the host or something else that
    affects whole runs differed; if runs have forks of both groups, single starts did."""
    ordered = sorted(chain.from_iterable(figures))
    counted = f"{len(ordered)} forks of {plural(len(figures), 'run')}"
    if adjusted >= P_MAX:
        return f"{counted} do not fall into two groups"
    border = ordered[modes.lower]
    both = sum(min(of_run) < border <= max(of_run) for of_run in figures)
    why = (
        f"{plural(both, 'run')} {'has' if both == 1 else 'have'} forks of both, so that a start seems to end up in one "
        "of two modes, and a run of few forks can miss one of them"
        if both
        else "no run has forks of both, so that whole runs differed rather than starts"
    )
    return (
        f"{counted} fall into two groups, {modes.lower} and {plural(modes.upper, 'fork')}, "
        f"{apart(math.exp(modes.apart))} apart (adjusted {p_value(adjusted)}); {why}"
    )
