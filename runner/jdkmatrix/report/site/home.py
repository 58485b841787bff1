"""The front page: one question, its answers from every run, and the runs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.figures.metrics import METRICS
from jdkmatrix.report.cells.advice import OUTCOME, Advice, Side
from jdkmatrix.report.claims.published import VERDICT_CLASS
from jdkmatrix.report.claims.verdicts import ClaimVerdict
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.conditions_map import ConditionsMap, conditions_maps
from jdkmatrix.report.site.digest import PICKED, Condition, RunDigest
from jdkmatrix.report.site.offers import Box
from jdkmatrix.report.site.overview import overview
from jdkmatrix.report.site.same_condition import Answering, answering
from jdkmatrix.report.views import ForkCount
from jdkmatrix.report.words.sentences import condition as condition_words

_OUTCOMES = "Did as asked"  # what that is, each load says for itself
_FIGURES = [OUTCOME, *(metric.id for metric in METRICS)]
_TITLES = {
    "host": "Host",
    "server": "Server",
    "jdk": "JDK",
    "cpus": "CPUs",
    "burn_us": "Task duration",
    "wait_us": "Remote delay",
    "workload": "Workload",
    "load": "Load",
}


@dataclass(frozen=True)
class Pick:
    """One thing to choose, by value and words. `others`: what no run here has, and a profile would measure; `constant`:
    there is nothing to choose."""

    axis: str
    title: str
    measured: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]

    @property
    def constant(self) -> bool:
        return len(self.measured) + len(self.others) == 1


@dataclass(frozen=True)
class AnswerRow:
    """The newest answer of one host under one condition. `values`: of every axis that is picked, "host" among them;
    `where`: the condition in words; `advice`: in the order of the page's figures, None where it has none."""

    anchor: str
    values: tuple[tuple[str, str], ...]
    where: str
    load_words: str
    driver: str | None
    advice: tuple[Advice | None, ...]
    page: str
    pool_page: str
    run_id: str
    run_page: str
    measured: str
    host: str
    blocks: str
    cause: str | None
    together: str | None
    warnings: tuple[str, ...]

    @property
    def lead(self) -> Advice:
        return next(one for one in self.advice if one)

    @property
    def decided(self) -> bool:
        return any(one is not None and one.side is not Side.OPEN for one in self.advice)


@dataclass(frozen=True)
class RunRow:
    run_id: str
    page: str
    measured: str
    about: str
    host: str
    jdks: str
    forks: ForkCount
    aa: str | None
    remark: str | None


@dataclass(frozen=True)
class HomeView:
    """`figures`: id and title of what may matter to a reader, `first`: the row that answers before anything is picked;
    `maps`: of the newest run, where it has several conditions, and `mapped` when and where that was; `verdicts`: word,
    class, how many claims; `unreadable`: runs that could not be read, and why."""

    summary: str
    overview: str | None
    maps: tuple[ConditionsMap, ...]
    mapped: str
    figures: tuple[tuple[str, str], ...]
    picks: tuple[Pick, ...]
    first: AnswerRow | None
    answers: tuple[AnswerRow, ...]
    runs: tuple[RunRow, ...]
    verdicts: tuple[tuple[str, str, int], ...]
    unreadable: tuple[str, ...]


def view_home(
    runs: Sequence[RunDigest], claims: Iterable[ClaimVerdict], unreadable: Sequence[str], offered: Sequence[Box]
) -> HomeView:
    """`runs`: newest first. `claims`: what all runs together say of each; `offered`: what profiles would measure."""
    hosts = host_names(runs)
    found: dict[tuple[str, ...], list[tuple[RunDigest, Condition]]] = {}
    for run in runs:
        for condition in run.conditions:
            found.setdefault((run.host_id, *axis_values(condition)), []).append((run, condition))
    ordered = sorted(map(answering, found.values()), key=lambda one: _place(one.condition))
    there = {one.figure: one.title for told in ordered for one in told.condition.advice}
    there.update({OUTCOME: _OUTCOMES} if OUTCOME in there else {})
    figures = tuple((figure, there[figure]) for figure in _FIGURES if figure in there)
    answers = tuple(
        _answer(f"answer-{number}", one, hosts[one.run.host_id], figures) for number, one in enumerate(ordered, start=1)
    )
    counts = Counter(claims)
    mapped = _mapped(runs)
    return HomeView(
        summary=_summary(runs, len(answers)),
        overview=overview([one.condition for one in ordered]),
        maps=conditions_maps(_places(mapped, ordered, answers) if mapped else ()),
        mapped=f"{moment(mapped.started_at)}, on {hosts[mapped.host_id]}" if mapped else "",
        figures=figures,
        picks=tuple(_picks(answers, offered)),
        first=_first(answers, runs),
        answers=answers,
        runs=tuple(run_row(run, hosts[run.host_id]) for run in runs),
        verdicts=tuple(
            (verdict.value, VERDICT_CLASS[verdict], counts[verdict]) for verdict in ClaimVerdict if counts[verdict]
        ),
        unreadable=tuple(unreadable),
    )


def host_names(runs: Iterable[RunDigest]) -> dict[str, str]:
    """By host: its words, and a part of its hash where two hosts have the same."""
    words = {run.host_id: run.host for run in reversed(list(runs))}
    twice = {text for text, number in Counter(words.values()).items() if number > 1}
    return {host: f"{text} ({host[:6]})" if text in twice else text for host, text in words.items()}


def axis_values(condition: Condition) -> tuple[str, ...]:
    return tuple(str(getattr(condition, axis)) for axis in PICKED)


def _place(condition: Condition) -> tuple[object, ...]:
    return tuple(
        getattr(condition, axis) for axis in ("server", "workload", "jdk", "load", "cpus", "burn_us", "wait_us")
    )


def _answer(anchor: str, one: Answering, host: str, figures: Sequence[tuple[str, str]]) -> AnswerRow:
    run, condition = one.run, one.condition
    advice = {one.figure: one for one in condition.advice}
    return AnswerRow(
        anchor=anchor,
        values=(("host", run.host_id), *zip(PICKED, axis_values(condition), strict=True)),
        where=where_words(condition),
        load_words=condition.load_words,
        driver=condition.driver,
        advice=tuple(advice.get(figure) for figure, _ in figures),
        page=f"{run.folder}{condition.page}",
        pool_page=f"{run.folder}{condition.pool_page}",
        run_id=run.run_id,
        run_page=f"{run.folder}index.html",
        measured=moment(run.started_at),
        host=host,
        blocks=plural(condition.blocks, "block"),
        cause=condition.cause,
        together=one.together,
        warnings=tuple(map(_inside, condition.warnings)),
    )


def _inside(title: str) -> str:
    """As it stands inside a sentence."""
    return title if title[:2].isupper() or title.startswith("A/A") else f"{title[:1].lower()}{title[1:]}"


def where_words(condition: Condition) -> str:
    """ "temurin-25, 1 CPU, tasks of 100 µs, remote delay of 2 ms: mp-ping on open-liberty, flood"."""
    size = condition_words(condition.cpus, TaskSize(condition.burn_us, condition.wait_us))
    return f"{condition.jdk}, {size}: {condition.workload} on {condition.server}, {condition.load}"


def _first(answers: Sequence[AnswerRow], runs: Sequence[RunDigest]) -> AnswerRow | None:
    """The newest that decides something on the host of the newest one, or the newest one itself; of a published
    experiment only where there is no other, since it answers somebody else's question."""
    by_run = [(run, answer) for run in runs for answer in answers if answer.run_id == run.run_id]
    if not by_run:
        return None
    here, _ = newest = by_run[0]
    deciding = (found for found in by_run if found[0].host_id == here.host_id and found[1].decided)
    return min(deciding, key=lambda found: found[0].repeats_published, default=newest)[1]


def _mapped(runs: Sequence[RunDigest]) -> RunDigest | None:
    """The newest run that has an answer; a published experiment only where there is no other."""
    telling = [run for run in runs if run.conditions]
    return next((run for run in telling if not run.repeats_published), next(iter(telling), None))


def _places(
    mapped: RunDigest, ordered: Sequence[Answering], answers: Sequence[AnswerRow]
) -> list[tuple[str, Condition]]:
    """What answers under the conditions of a run, in its order, with the anchors of the rows; `answers`: `ordered`."""
    rows = {
        (one.run.host_id, *axis_values(one.condition)): (row.anchor, one.condition)
        for one, row in zip(ordered, answers, strict=True)
    }
    return [rows[mapped.host_id, *axis_values(one)] for one in mapped.conditions]


def _picks(answers: Sequence[AnswerRow], offered: Sequence[Box]) -> Iterable[Pick]:
    hosts = {dict(answer.values)["host"]: answer.host for answer in answers}
    load_words: dict[str, set[str]] = {}
    for answer in answers:
        load_words.setdefault(dict(answer.values)["load"], set()).add(answer.load_words)

    def words(axis: str, value: str) -> str:
        match axis:
            case "burn_us":
                return work_words(int(value)) if int(value) else "none added"
            case "wait_us":
                return wait_words(int(value)) if int(value) else "none"
            case "host":
                return hosts[value]
            case "load":
                return _load(value, load_words.get(value, ()))
            case _:
                return value

    for axis, title in _TITLES.items():
        measured = dict.fromkeys(dict(answer.values)[axis] for answer in answers)
        others = dict.fromkeys(str(value) for box in offered for value in box.get(axis, ()))
        found = [[(value, words(axis, value)) for value in _ordered(axis, values)] for values in (measured, others)]
        yield Pick(axis, title, tuple(found[0]), tuple(one for one in found[1] if one[0] not in measured))


def _ordered(axis: str, values: Iterable[str]) -> list[str]:
    """Numbers by size, all else as it comes."""
    return sorted(values, key=int) if axis in ("cpus", "burn_us", "wait_us") else list(values)


def _load(name: str, words: Collection[str]) -> str:
    """A load that was worked out for each condition has other words in each."""
    return f"{name}: {next(iter(words))}" if len(words) == 1 else name


def run_row(run: RunDigest, host: str, root: str = "") -> RunRow:
    """`root` leads from the page to that of the site."""
    remarks = [] if run.status == "complete" else [f"{run.status}: cells may lack forks, or be missing"]
    if run.damaged:
        remarks.append(f"{plural(len(run.damaged), 'result file')} damaged or missing")
    return RunRow(
        run_id=run.run_id,
        page=f"{root}{run.folder}index.html",
        measured=moment(run.started_at),
        about=run.about,
        host=host,
        jdks=", ".join(name for name, _ in run.jdks),
        forks=run.forks,
        aa=run.aa,
        remark="; ".join(remarks) or None,
    )


def _summary(runs: Sequence[RunDigest], answers: int) -> str:
    hosts = len({run.host_id for run in runs})
    return f"{plural(answers, 'condition')} measured, in {plural(len(runs), 'run')} on {plural(hosts, 'host')}."
