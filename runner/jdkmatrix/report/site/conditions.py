"""Conditions over several runs: which run of a host gives the answer, who is ahead over many conditions, and all those
of one run at a glance. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import MISSING, digits, plural, work_words
from jdkmatrix.figures.metrics import BY_ID, METRICS
from jdkmatrix.report.blocks.kinds import HeatCell, HeatMap
from jdkmatrix.report.cells.advice import OUTCOME, Advice, Side, over_runs
from jdkmatrix.report.site.digest import PICKED, MeasuredCondition, RunDigest
from jdkmatrix.report.words.numbers import ratio_interval, ratio_value
from jdkmatrix.report.words.sentences import delay_of, driven, server_words, tasks_of
from jdkmatrix.stats.pooling import pooled
from jdkmatrix.stats.ratios import Ratio

FIGURES = (OUTCOME, *(metric.id for metric in METRICS))  # in the order of pages


@dataclass(frozen=True)
class Answering:
    """A host's answer under one condition, with the ratios that all of its runs come to together. `together`: the
    leading ratio of each run and of all, in words; None for a single run. `others_warnings`: titles of what else
    affected other runs, and how many forks fell short there. `host`: in words; `anchor`: of its row in all answers."""

    run: RunDigest
    condition: MeasuredCondition
    together: str | None = None
    others_warnings: tuple[str, ...] = ()
    host: str = ""
    anchor: str = ""

    @property
    def values(self) -> dict[str, str]:
        """The value on every axis that a reader picks."""
        return {"host": self.run.host_id, **dict(zip(PICKED, self.condition.values, strict=True))}

    @property
    def advice(self) -> Sequence[Advice]:
        """The advice on each figure, the leading one first."""
        return self.condition.advice

    @property
    def decided(self) -> bool:
        return self.advice[0].side is not Side.OPEN


def answering(found: Sequence[tuple[RunDigest, MeasuredCondition]]) -> Answering:
    """Choose the run that knows the leading ratio best, among those that measured what the newest did: on the same JDK
    build, server release and kernel version, by the same driver, with the same settings and files of the user's
    application. A run with many faults must not hide one with few. What it decides is reported as the result of all of
    them together, since one run knows nothing of what differs from day to day. A run in which only one of the two did
    what was asked has no ratio to add. `found`: newest first, at least one."""
    newest, build = found[0], _build(*found[0])
    same = [one for one in found if _build(*one) == build]
    leads = [(one, _lead(one[1].advice)) for one in same if not _is_decided_by_forks(one[1])]
    figure = next((lead.figure for _, lead in leads if lead.estimate()), None)
    estimates = [(one, estimate) for one, lead in leads if lead.figure == figure and (estimate := lead.estimate())]
    if figure is None or _is_decided_by_forks(newest[1]):
        return Answering(*newest, others_warnings=_fell_short(same[1:]))
    (run, best), _ = min(estimates, key=lambda told: (told[1].high or 0.0) / (told[1].low or 1.0))
    fell_short = _fell_short([one for one in same if one[0] is not run])
    if len(estimates) < 2:
        return Answering(run, best, others_warnings=fell_short)
    told = over_runs(best.advice, [one.advice for (_, one), _ in estimates], best.asked)
    lead, alone_lead = _lead(told), _lead(best.advice)
    together = f"{lead.value} ({lead.under})"
    if lead is alone_lead:  # it decides nothing, and stays as this run found it
        whole = pooled([estimate for _, estimate in estimates])
        ratio = Ratio(whole.value, whole.low, whole.high, whole.blocks)
        together = f"{ratio_value(ratio)} ({ratio_interval(ratio)})"
    alone = ", ".join(digits(estimate.value, 3) for _, estimate in estimates)
    name = BY_ID[figure].name
    words = f"{len(estimates)} runs, newest first: {name} {alone}; together {together}"
    cause = best.cause if lead.side is alone_lead.side else None
    others = dict.fromkeys(title for (_, one), _ in estimates for title in one.warnings if title not in best.warnings)
    return Answering(run, replace(best, advice=told, cause=cause), words, (*others, *fell_short))


def _lead(advice: Sequence[Advice]) -> Advice:
    """Return the first ratio, or where there is none, what forks did, which may come before it."""
    return next((one for one in advice if one.figure != OUTCOME), advice[0])


def _is_decided_by_forks(condition: MeasuredCondition) -> bool:
    return any(one.figure == OUTCOME and one.side is not Side.OPEN for one in condition.advice)


def _fell_short(others: Sequence[tuple[RunDigest, MeasuredCondition]]) -> tuple[str, ...]:
    """Say how many forks of either arm did what was asked, for each run in which some did not."""
    told = (one for _, condition in others for one in condition.advice if one.figure == OUTCOME)
    counts = Counter(f"{one.title}: {one.value} forks" for one in told)
    return tuple(f"{text} in {number} runs" if number > 1 else text for text, number in counts.items())


def _build(run: RunDigest, condition: MeasuredCondition) -> tuple[str | None, ...]:
    jdk, server = dict(run.jdks).get(condition.jdk), dict(run.servers).get(condition.server)
    own = dict(run.own).get(condition.workload)
    how = condition.driver, condition.load_table, condition.protocol, *condition.settings
    return jdk, server, run.kernel_version, *how, own


_Advised = Sequence[Sequence[Advice]]  # for each condition, the advice on each figure


def overview(conditions: Sequence[tuple[TaskSize, Sequence[Advice]]]) -> str | None:
    """Sum up who is ahead, by what is asked of a server; successive task durations with the same ones ahead are told
    together. None where there is nothing to sum up."""
    if len(conditions) < 2:
        return None
    waiting = [advice for task, advice in conditions if task.wait_us]
    ordered = sorted(conditions, key=lambda told: told[0].burn_us)
    by_work = grouped((task.burn_us, advice) for task, advice in ordered if not task.wait_us)
    told = []
    for _, group in groupby(by_work, key=lambda burn_us: frozenset(_ahead(by_work[burn_us]))):
        first, *others = some = list(group)
        tasks = tasks_of(first)
        if others:
            tasks = f"tasks of {work_words(first) if first else 'up'} to {work_words(others[-1])}"
        told.append(f"with {tasks}, {_who([one for burn_us in some for one in by_work[burn_us]])}")
    if waiting:
        told.append(f"where requests wait for a remote system, {_who(waiting)}")
    return f"Over all {len(conditions)} conditions: {'; '.join(told)}."


def _ahead(conditions: _Advised) -> Counter[Side]:
    """Count who is ahead, by the leading figure of each condition."""
    return Counter(advice[0].side for advice in conditions if advice[0].side is not Side.OPEN)


def _who(conditions: _Advised) -> str:
    """ "virtual threads are ahead in 4 of 9, the pool in 1, no difference seen in 3, cannot tell in 1"."""
    names = {
        Side.POOL: ("the pool is ahead", "the pool"),
        Side.VIRTUAL: ("virtual threads are ahead", "virtual threads"),
    }
    sides = enumerate(_ahead(conditions).most_common())
    undecided = Counter(told[0].word for told in conditions if told[0].side is Side.OPEN)
    found = [*((names[side][place > 0], number) for place, (side, number) in sides), *undecided.most_common()]
    (first, number), *others = found
    rest = "".join(f", {words} in {count}" for words, count in others)
    return f"{first} in {number} of {len(conditions)}{rest}"


_HEADS: dict[str, Callable[[MeasuredCondition], str]] = {
    "server": lambda one: "" if one.is_command else server_words(one.server),
    "jdk": lambda one: one.jdk,
    "workload": lambda one: one.workload,
    "cpus": lambda one: plural(one.cpus, "CPU"),
}


def conditions_maps(found: Sequence[tuple[str, MeasuredCondition]], first: str = "") -> tuple[HeatMap, ...]:
    """Build a map for each load and driver. Each condition comes with the anchor of its row among all answers, `first`
    is that of the answer shown; tasks and delays run across, all else down. Empty for a single condition."""
    if len(found) < 2:
        return ()
    heads = [axis for axis in _HEADS if axis == "workload" or len({getattr(one, axis) for _, one in found}) > 1]
    shared = ", ".join(filter(None, (words(found[0][1]) for axis, words in _HEADS.items() if axis not in heads)))
    by_load = grouped(((one.load, one.driver), (anchor, one)) for anchor, one in found)
    title = f"Virtual threads / pool{f' on {shared}' if shared else ''}, under"
    return tuple(_map(f"{title} {driven(*place)}", heads, some, first) for place, some in by_load.items())


def _map(title: str, heads: Sequence[str], found: Sequence[tuple[str, MeasuredCondition]], first: str) -> HeatMap:
    sizes = sorted({one.task for _, one in found})
    rows: dict[str, dict[TaskSize, HeatCell]] = {}
    for anchor, one in found:
        head = ", ".join(filter(None, (_HEADS[axis](one) for axis in heads)))
        rows.setdefault(head, {})[one.task] = _cell(anchor, one, current=anchor == first)
    return HeatMap(
        title=title,
        corner="",
        columns=tuple(
            ", ".join([tasks_of(burn_us)] * bool(burn_us or not wait_us) + [delay_of(wait_us)] * bool(wait_us))
            for burn_us, wait_us in sizes
        ),
        rows=tuple((head, tuple(cells.get(size, HeatCell(MISSING)) for size in sizes)) for head, cells in rows.items()),
        css="worded",
    )


def _cell(anchor: str, one: MeasuredCondition, *, current: bool) -> HeatCell:
    lead = one.advice[0]
    return HeatCell(
        value=lead.value,
        interval=lead.under,
        basis=f"{lead.title}: {lead.word}",
        tone=lead.tone,
        decided=lead.side is not Side.OPEN,
        title=lead.sentence,
        href=f"#{anchor}",
        current=current,
    )
