"""The conditions of a run at a glance: a map for each load. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jdkmatrix.domain.quantities import MISSING, plural
from jdkmatrix.report.blocks.kinds import HeatCell, HeatMap
from jdkmatrix.report.cells.advice import Side
from jdkmatrix.report.site.digest import MeasuredCondition
from jdkmatrix.report.words.sentences import delay_of, driven, tasks_of

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
