"""How ratios went over the runs of a host, where they changed, and whether starts of an executor differ. Pure.

Each point is a ratio that is paired inside its run, so that what the host did on another day cancels as far as it
befell both executors. No line joins hosts, load drivers, releases of the server or protocols."""

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

FEWEST_RUNS = 2 * LEAST  # on one line, for a change of level to be found


@dataclass(frozen=True)
class MeasuredRun:
    """A run under one of the conditions that it measured. `time_ms`: when it began, since 1970; None where that is no
    date. `jdk`, `server`: their builds; `line`: what it shares with all that stand on one line with it. `under`: what
    was measured, in words; `new`: how that differs from the run before; `number`: of that change, "" where only the
    tool's commit is another, None where nothing is."""

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
    """The ratio of one run, by its place among those of the history. `care`: why it must be read with care."""

    place: int
    value: float
    told: Advice
    care: tuple[str, ...]


@dataclass(frozen=True)
class FigureHistory:
    """One figure, the oldest run first, at least two of them. `changes`: by the place of the first run after a change
    of level, what changed. `testable`: has any line the runs that it takes to find one?"""

    figure: str
    title: str
    points: tuple[RatioPoint, ...]
    changes: Mapping[int, str]
    testable: bool

    @property
    def finding(self) -> str:
        runs = plural(len(self.points), "run")
        if not self.testable:
            return f"{runs}, too few to show a change of level"
        return f"{plural(len(self.changes), 'change') if self.changes else 'no change'} of level in {runs}"


@dataclass(frozen=True)
class History:
    """One condition on one host, the oldest run first. `file`: the name of its page; `figures`: those that two runs or
    more have a ratio of, the leading one first."""

    file: str
    where: str
    host: str
    runs: tuple[MeasuredRun, ...]
    figures: tuple[FigureHistory, ...]

    @property
    def changed(self) -> bool:
        return any(one.changes for one in self.figures)


def histories(runs: Sequence[RunDigest]) -> tuple[tuple[History, ...], int]:
    """Conditions of which a host has ratios in two runs or more by one driver, those that changed first; and how many
    have one in a single run. `runs`: newest first."""
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
        new = _new(now, before or now)
        number += bool(new)
        yield MeasuredRun(
            *(run, condition, _time_ms(run.started_at), jdk, server),
            line=f"{server}, {condition.protocol}",
            under=now,
            new=new,
            number=str(number) if new else "" if run.commit != commit else None,
        )
        before, commit = now, run.commit


def _new(now: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one, was in zip(now, before, strict=True) if one != was)


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
    # Those that are not judged, or are of a single block, say nothing of the level.
    telling = grouped((runs[point.place].line, point) for point in points if point.told.judged)
    changes = dict(change for here in telling.values() for change in _changes(here, runs))
    return FigureHistory(figure, title, points, changes, any(len(here) >= FEWEST_RUNS for here in telling.values()))


def _changes(points: Sequence[RatioPoint], runs: Sequence[MeasuredRun]) -> Iterator[tuple[int, str]]:
    """Each with how far the mean behind it is from that before it, both up to the next change; and with all that is new
    since the run before it that tells, where others lie between, whose rows say the rest."""
    logs = [math.log(point.value) for point in points]
    found = change_points(logs)
    for before, change, after in zip((0, *found), found, (*found[1:], len(logs)), strict=False):
        ratio = math.exp(sum(logs[change:after]) / (after - change) - sum(logs[before:change]) / (change - before))
        here, last = points[change].place, points[change - 1].place
        new = _new(runs[here].under, runs[last].under) if here - last > 1 else ()
        since = f"; new since the run of {moment(runs[last].run.started_at)}: {', '.join(new)}" if new else ""
        yield here, f"{apart(ratio)} {higher(ratio)} from here on{since}"


def starts_told(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Do an executor's starts fall into two groups over all runs of a host? One run seldom has forks enough to tell. A
    sentence for each build of the JDK on each line that has enough forks, of two runs at least; all of them are one
    family of tests."""
    places = grouped(
        ((executor, run.line, run.jdk), figures) for run in runs for executor, figures in run.condition.forks if figures
    )
    of_runs = {place: figures for place, figures in places.items() if len(figures) > 1}
    tested = modes_of_family({place: chain.from_iterable(figures) for place, figures in of_runs.items()})
    several = len({place[1:] for place in tested}) > 1
    for place, (modes, adjusted) in tested.items():
        executor, line, jdk = place
        where = f"{executor} on {line}, JDK {jdk}" if several else executor
        yield f"{where}: {_starts_finding(of_runs[place], modes, adjusted)}."


def _starts_finding(figures: Sequence[Sequence[float]], modes: Modes, adjusted: float) -> str:
    """`figures`: of each run, by fork. Where the groups are runs, the host or something else that befell whole runs
    differed; where runs have forks of both, a start did."""
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
