"""Conditions over several runs: which run of a host answers, who is ahead over many, and all of one run at a glance.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from jdkmatrix.domain.quantities import MISSING, digits, plural, work_words
from jdkmatrix.figures.metrics import METRICS
from jdkmatrix.report.blocks.kinds import HeatCell, HeatMap
from jdkmatrix.report.cells.advice import OUTCOME, Advice, Side
from jdkmatrix.report.site.digest import PICKED, MeasuredCondition, RunDigest
from jdkmatrix.report.words.numbers import with_interval
from jdkmatrix.report.words.sentences import delay_of, driven, tasks_of
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.pooling import pooled

FIGURES = (OUTCOME, *(metric.id for metric in METRICS))  # in the order of pages


@dataclass(frozen=True)
class Answering:
    """The answer of a host under one condition. `together`: the leading ratio of each run and of all, in words; None of
    a single run. `host`: in words; `anchor`: of its row among all answers."""

    run: RunDigest
    condition: MeasuredCondition
    together: str | None = None
    host: str = ""
    anchor: str = ""

    @property
    def values(self) -> dict[str, str]:
        """By every axis that is picked."""
        return {"host": self.run.host_id, **dict(zip(PICKED, self.condition.values, strict=True))}

    @property
    def advice(self) -> list[Advice]:
        return [one for figure in FIGURES for one in self.condition.advice if one.figure == figure]

    @property
    def decided(self) -> bool:
        return any(one.side is not Side.OPEN for one in self.advice)


def answering(found: Sequence[tuple[RunDigest, MeasuredCondition]]) -> Answering:
    """Choose, of those that measured what the newest did, on the same JDK build, release of the server and version of
    the kernel, by the same driver and with the same files of the user's application, the one that knows the leading
    ratio best: a run with many faults must not hide one with few. `found`: newest first, at least one."""
    newest, condition = found[0]
    lead = condition.advice[0]
    same = [
        one for one in found if _build(*one) == _build(newest, condition) and one[1].advice[0].figure == lead.figure
    ]
    estimates = [(one, estimate) for one in same if (estimate := _estimate(one[1].advice[0], one[1].blocks))]
    if len(estimates) < 2:
        return Answering(newest, condition)
    (run, best), _ = min(estimates, key=lambda told: (told[1].high or 0.0) / (told[1].low or 1.0))
    return Answering(run, best, _together(lead, [estimate for _, estimate in estimates]))


def _build(run: RunDigest, condition: MeasuredCondition) -> tuple[str | None, ...]:
    jdk, server = dict(run.jdks).get(condition.jdk), dict(run.servers).get(condition.server)
    return jdk, server, run.kernel_version, condition.driver, dict(run.own).get(condition.workload)


def _estimate(advice: Advice, blocks: int) -> Estimate | None:
    """None where it has no interval."""
    if advice.ratio is None or advice.low is None or advice.high is None:
        return None
    return Estimate(advice.ratio, advice.low, advice.high, blocks, of_ratio=True)


def _together(lead: Advice, estimates: Sequence[Estimate]) -> str:
    alone = ", ".join(digits(one.value, 3) for one in estimates)
    all_of_them = pooled(estimates)
    value, *ends = with_interval(all_of_them.value, all_of_them.low or 0.0, all_of_them.high or 0.0)
    return f"{len(estimates)} runs, newest first: {lead.title.lower()} {alone}; together {value} ({'–'.join(ends)})"


class Advised(Protocol):
    """A condition with the advice on each of its figures."""

    @property
    def burn_us(self) -> int: ...

    @property
    def wait_us(self) -> int: ...

    @property
    def advice(self) -> Sequence[Advice]: ...


def overview(conditions: Sequence[Advised]) -> str | None:
    """By what is asked of a server; task durations at which the same one is ahead are told together. None where there
    is nothing to sum up."""
    if len(conditions) < 2:
        return None
    working = [one for one in conditions if not one.wait_us]
    by_work = {
        burn_us: [one for one in working if one.burn_us == burn_us]
        for burn_us in sorted({one.burn_us for one in working})
    }
    told = []
    for _, group in groupby(by_work, key=lambda burn_us: frozenset(_ahead(by_work[burn_us]))):
        some = list(group)
        told.append(f"with {_tasks(some)}, {_who([one for burn_us in some for one in by_work[burn_us]])}")
    if waiting := [one for one in conditions if one.wait_us]:
        told.append(f"where requests wait for a remote system, {_who(waiting)}")
    return f"Over all {len(conditions)} conditions: {'; '.join(told)}."


def _ahead(conditions: Iterable[Advised]) -> Counter[Side]:
    """By the first figure of each that decides something."""
    sides = (
        next((one.side for one in condition.advice if one.side is not Side.OPEN), None) for condition in conditions
    )
    return Counter(side for side in sides if side)


def _tasks(durations_us: Sequence[int]) -> str:
    first, last = durations_us[0], durations_us[-1]
    if last == 0:
        return "no added work"
    if first == last:
        return f"tasks of {work_words(last)}"
    return f"tasks of {'up' if first == 0 else work_words(first)} to {work_words(last)}"


def _who(conditions: Sequence[Advised]) -> str:
    """ "the pool is ahead in 7 of 13", "virtual threads are ahead in 4 of 9 and the pool in 1"."""
    names = {Side.POOL: ("the pool", "is"), Side.VIRTUAL: ("virtual threads", "are")}
    found = _ahead(conditions).most_common()
    if not found:
        return f"neither is ahead in any of {len(conditions)}"
    (side, number), *others = found
    name, verb = names[side]
    rest = "".join(f" and {names[other][0]} in {count}" for other, count in others)
    return f"{name} {verb} ahead in {number} of {len(conditions)}{rest}"


_HEADS: dict[str, Callable[[MeasuredCondition], str]] = {
    "server": lambda one: one.server,
    "jdk": lambda one: one.jdk,
    "workload": lambda one: one.workload,
    "cpus": lambda one: plural(one.cpus, "CPU"),
}
_NOTHING = HeatCell(MISSING, None, "", "none", True, "", None)


def conditions_maps(found: Sequence[tuple[str, MeasuredCondition]], first: str = "") -> tuple[HeatMap, ...]:
    """One for each load and driver. Each condition comes with the anchor of its row among all answers, `first` that of
    the answer that is shown; tasks and delays stand across, all else down. Empty where there is a single one."""
    if len(found) < 2:
        return ()
    heads = [axis for axis in _HEADS if axis == "workload" or len({getattr(one, axis) for _, one in found}) > 1]
    shared = ", ".join(words(found[0][1]) for axis, words in _HEADS.items() if axis not in heads)
    by_load: dict[tuple[str, str | None], list[tuple[str, MeasuredCondition]]] = {}
    for anchor, one in found:
        by_load.setdefault((one.load, one.driver), []).append((anchor, one))
    on = f" on {shared}" if shared else ""
    return tuple(
        _map(f"Virtual threads / pool{on}, under {driven(*place)}", heads, some, first)
        for place, some in by_load.items()
    )


def _map(title: str, heads: Sequence[str], found: Sequence[tuple[str, MeasuredCondition]], first: str) -> HeatMap:
    sizes = sorted({(one.burn_us, one.wait_us) for _, one in found})
    rows: dict[str, dict[tuple[int, int], HeatCell]] = {}
    for anchor, one in found:
        head = ", ".join(_HEADS[axis](one) for axis in heads)
        rows.setdefault(head, {})[one.burn_us, one.wait_us] = _cell(anchor, one, current=anchor == first)
    return HeatMap(
        title=title,
        corner="",
        columns=tuple(
            ", ".join([tasks_of(burn_us)] * bool(burn_us or not wait_us) + [delay_of(wait_us)] * bool(wait_us))
            for burn_us, wait_us in sizes
        ),
        rows=tuple((head, tuple(cells.get(size, _NOTHING) for size in sizes)) for head, cells in rows.items()),
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
