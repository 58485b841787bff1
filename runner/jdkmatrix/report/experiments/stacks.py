"""The stacks that pinned a virtual thread to its carrier. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jdkmatrix.experiments.base import at
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.views import PinnedView, StackView

MOST_STACKS = 3
# A hidden class has a name of its own each time it is defined: "Name/0x00007f…" or, in JFR, "Name.1324371348".
_HIDDEN = re.compile(r"[/.](?:0x[0-9a-f]+|\d+)(?=\.)")
# JFR writes -1 for a line that the frame does not tell.
_NO_LINE = re.compile(r":-1$")


def plain_frame(frame: str) -> str:
    """Without the number of a hidden class and without a line that is not known."""
    return _NO_LINE.sub("", _HIDDEN.sub("", frame))


def pinned_view(title: str, forks: Iterable[Fork]) -> PinnedView | None:
    """Counted over forks, the most frequent first; None where none of them saw an event. Stacks that differ in the
    names of hidden classes only are one."""
    events = 0
    found: dict[tuple[str | None, tuple[str, ...]], int] = {}
    for fork in forks:
        pinned = at(fork.result.seen, "pinned") if fork.result else None
        events += at(pinned, "count") or 0
        for stack in at(pinned, "stacks") or ():
            same = (stack["reason"], tuple(map(plain_frame, stack["frames"])))
            found[same] = found.get(same, 0) + stack["count"]
    if not events:
        return None
    most = sorted(found.items(), key=lambda item: -item[1])[:MOST_STACKS]
    stacks = tuple(StackView(count, reason, "\n".join(frames)) for (reason, frames), count in most)
    return PinnedView(title, events, stacks, max(events - sum(stack.count for stack in stacks), 0))


def pinned_views(piece: ExperimentSlice) -> tuple[PinnedView, ...]:
    """Of every cell whose usable forks saw events."""
    found = []
    for cell in piece.cells:
        key = cell.key
        title = f"{piece.subject(key)} on {key.jdk}"
        more = [key.executor] if piece.varies("executor") else []
        more += [f"{key.cpus} CPUs"] if piece.varies("cpus") else []
        view = pinned_view(", ".join([title, *more]), cell.usable)
        if view:
            found.append(view)
    return tuple(found)
