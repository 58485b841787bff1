"""What a run says under each of its conditions, at a glance: a table for each load. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.cells.advice import Advice, Side
from jdkmatrix.report.site.digest import Condition
from jdkmatrix.report.words.sentences import delay_of, driven, tasks_of

_HEADS: dict[str, Callable[[Condition], str]] = {
    "server": lambda one: one.server,
    "jdk": lambda one: one.jdk,
    "workload": lambda one: one.workload,
    "cpus": lambda one: plural(one.cpus, "CPU"),
}


@dataclass(frozen=True)
class Entry:
    """The leading figure of one condition; `anchor`: of its row among all answers."""

    anchor: str
    lead: Advice

    @property
    def is_open(self) -> bool:
        return self.lead.side is Side.OPEN


@dataclass(frozen=True)
class ConditionsMap:
    """Under one load, by one driver; the title has what all conditions share. `rows`: each with its head, and an entry
    for every one of `columns`, None where nothing was measured."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry | None, ...]], ...]


def conditions_maps(found: Sequence[tuple[str, Condition]]) -> tuple[ConditionsMap, ...]:
    """Each condition with the anchor of its row; tasks and delays across, all else down. Empty where there is a single
    one."""
    if len(found) < 2:
        return ()
    heads = [axis for axis in _HEADS if axis == "workload" or len({getattr(one, axis) for _, one in found}) > 1]
    shared = ", ".join(words(found[0][1]) for axis, words in _HEADS.items() if axis not in heads)
    by_load: dict[tuple[str, str | None], list[tuple[str, Condition]]] = {}
    for anchor, one in found:
        by_load.setdefault((one.load, one.driver), []).append((anchor, one))
    titles = {
        place: f"Virtual threads / pool{f' on {shared}' if shared else ''}, under {driven(*place)}" for place in by_load
    }
    return tuple(_map(titles[place], heads, some) for place, some in by_load.items())


def _map(title: str, heads: Sequence[str], found: Sequence[tuple[str, Condition]]) -> ConditionsMap:
    sizes = sorted({(one.burn_us, one.wait_us) for _, one in found})
    rows: dict[str, dict[tuple[int, int], Entry]] = {}
    for anchor, one in found:
        head = ", ".join(_HEADS[axis](one) for axis in heads)
        rows.setdefault(head, {})[one.burn_us, one.wait_us] = Entry(anchor, one.advice[0])
    return ConditionsMap(
        title=title,
        columns=tuple(_size_words(*size) for size in sizes),
        rows=tuple((head, tuple(entries.get(size) for size in sizes)) for head, entries in rows.items()),
    )


def _size_words(burn_us: int, wait_us: int) -> str:
    return ", ".join([tasks_of(burn_us)] * bool(burn_us or not wait_us) + [delay_of(wait_us)] * bool(wait_us))
