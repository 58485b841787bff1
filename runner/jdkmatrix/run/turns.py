"""Decide which blocks are measured in turns, for how many rounds, and in which order. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import islice
from statistics import fmean

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.executors import references
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.figures.paired import logs_of_rounds
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.method.measuring import Turns
from jdkmatrix.records.forks import Fork
from jdkmatrix.run.counterbalance import block_orders
from jdkmatrix.stats.rounds import best_rounds, components
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.subjects.served.kind import BETWEEN_ROUNDS_S

# A reserve for each server beside its heap: for a JVM's other memory, for the driver's JVM (a heap of 256 MiB on one
# CPU) and that of the remote system. Heaps are counted whole, although few are touched whole: 13 forks of Open Liberty
# 25.0.0.12 and 23.0.0.x with heaps of 1 and 2 GiB (mp-ping, banking; Temurin 21.0.8 and 25) had an RSS of 0.85 to
# 1.6 GiB at most.
BESIDE_HEAP_BYTES = 1 << 30


def why_alone(members: Sequence[CellSetup], profile: Profile, *, memory_bytes: int) -> str | None:
    """Return why a block of these cells is measured fork after fork, in words; None: in turns. `memory_bytes`: what
    this host has free."""
    if profile.protocol == "separate":
        return "the profile measures fork after fork"
    if len(members) < 2:
        return "nothing is compared with it"
    of_host = "its executor comes with kernel settings, which hold for the whole host"
    reasons = (one.why_no_turns or (of_host if one.kernel else None) for one in members)
    if reason := next(filter(None, reasons), None):
        return reason
    needed = sum(setup.heap_bytes + BESIDE_HEAP_BYTES for setup in members)
    if needed > memory_bytes:
        return (
            f"{len(members)} servers at once need {needed / 2**30:.1f} GiB of memory, and {memory_bytes / 2**30:.1f} "
            "GiB are free"
        )
    return None


def round_orders(lanes: int, rounds: int, seed: str) -> tuple[tuple[int, ...], ...]:
    """Return the order of the block's forks in every round, counterbalanced as blocks are."""
    return tuple(islice(block_orders(range(lanes), random.Random(seed)), rounds))


def rounds_of_next(group: Iterable[CellRecord], profile: Profile, turns: Turns) -> int:
    """Return how many rounds the next block of a group has: as the profile says or, where that leaves a choice, as many
    as settle its ratios soonest by the blocks that are there."""
    if profile.max_rounds is None:
        return profile.rounds
    cells = {cell.key.executor: cell for cell in group}
    wanted = [
        best_rounds(
            found,
            start_s=_start_s(every),
            round_s=len(cells) * (turns.lead_s + turns.round_s + BETWEEN_ROUNDS_S),
            least=profile.rounds,
            most=profile.max_rounds,
        )
        for executor, cell in cells.items()
        if (base := cells.get(references(cells, cell.key.server)[executor])) is not None and base is not cell
        if (every := [fork for one in cells.values() for fork in one.forks if fork.together])
        if (found := components(logs_of_rounds(metrics_of(cell.load)[0], cell, base))) is not None
    ]
    return max(wanted, default=profile.rounds)


def _start_s(forks: Sequence[Fork]) -> float:
    """Return the seconds that a block of these takes before its first round: each is started and warmed by itself."""
    each = [fork.warmup.windows[-1].t_s for fork in forks if fork.warmup and fork.warmup.windows]
    return fmean(len(fork.together) for fork in forks) * fmean(each) if each else 0.0
