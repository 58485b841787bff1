"""The stacks that pinned a virtual thread to its carrier. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jdkmatrix.experiments.base import at
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Disclosure, PageBlock, Pre, Prose
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice

MOST_STACKS = 3
# A hidden class has a name of its own each time it is defined: "Name/0x00007f…" or, in JFR, "Name.1324371348".
_HIDDEN = re.compile(r"[/.](?:0x[0-9a-f]+|\d+)(?=\.)")
# JFR writes -1 for a line that the frame does not tell.
_NO_LINE = re.compile(r":-1$")


def plain_frame(frame: str) -> str:
    """Without the number of a hidden class and without a line that is not known."""
    return _NO_LINE.sub("", _HIDDEN.sub("", frame))


def pinned_stacks(forks: Iterable[Fork]) -> tuple[int, tuple[PageBlock, ...]]:
    """How many events the forks saw, and their stacks, the most frequent first. Stacks that differ in the names of
    hidden classes only are one."""
    events = 0
    found: dict[tuple[str | None, str], int] = {}
    for fork in forks:
        pinned = at(fork.result.seen, "pinned") if fork.result else None
        events += at(pinned, "count") or 0
        for stack in at(pinned, "stacks") or ():
            same = (stack["reason"], "\n".join(map(plain_frame, stack["frames"])))
            found[same] = found.get(same, 0) + stack["count"]
    return events, tuple(_blocks(events, sorted(found.items(), key=lambda item: -item[1])[:MOST_STACKS]))


def _blocks(events: int, stacks: list[tuple[tuple[str | None, str], int]]) -> Iterator[PageBlock]:
    for (reason, frames), count in stacks if events else ():
        yield Prose(f"{count:,} of {events:,} events{f': {reason}' if reason else ''}")
        yield Pre(frames)
    if (left_out := events - sum(count for _, count in stacks)) > 0:
        yield Prose(f"{left_out:,} events have other stacks.")


def stacks_of_kind(piece: ExperimentSlice) -> Iterator[Disclosure]:
    """Below one heading for every cell whose usable forks saw events."""
    found = [(cell.key, *pinned_stacks(cell.usable)) for cell in piece.cells]
    seen = [one for one in found if one[1]]
    blocks: list[PageBlock] = []
    for key, _, stacks in seen:
        more = [key.executor] if piece.varies("executor") else []
        more += [f"{key.cpus} CPUs"] if piece.varies("cpus") else []
        blocks += [Prose(heading=", ".join([f"{piece.subject(key)} on {key.jdk}", *more]), level=4), *stacks]
    if seen:
        cells = f"{len(seen)} {'cell' if len(seen) == 1 else 'cells'}"
        events = sum(number for _, number, _ in seen)
        yield Disclosure(f"Stacks that pin: {events} jdk.VirtualThreadPinned events in {cells}", blocks)
