"""Find the blocks that must be measured, and keep forks that are measured again as attempts. Pure.

A block is measured in one session, or not at all: if it was cut off, or faults of the host left a gap in it, every fork
of it is measured again. What was measured before stands until the block is whole again, and is then kept as an attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.fork.faults import faults_of
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.store.cells import CellRecord

Cells = Mapping[CellKey, CellRecord]


@dataclass(frozen=True)
class PlannedBlock:
    """One fork of every cell that is compared, in the order of execution."""

    forks: tuple[PlannedFork, ...]

    @property
    def group(self) -> CellKey:
        return self.forks[0].key.group

    @property
    def number(self) -> int:
        return self.forks[0].fork

    def condition(self, cells: Cells) -> list[CellRecord]:
        """Return all cells that its forks are compared with, and their own."""
        return [cell for key, cell in cells.items() if key.group == self.group]

    def current(self, cells: Cells) -> tuple[Fork, ...]:
        """Return the forks that are measured, each by its latest attempt."""
        found = (latest(cells[planned.key], planned.fork) for planned in self.forks)
        return tuple(fork for fork in found if fork is not None)

    def is_settled(self, cells: Cells) -> bool:
        """Return whether every fork is there, from one session, and none is spoilt."""
        forks = self.current(cells)
        whole = len(forks) == len(self.forks) and len({fork.session for fork in forks}) == 1
        return whole and not any(faults_of(fork) for fork in forks)


def in_blocks(forks: Iterable[PlannedFork]) -> tuple[PlannedBlock, ...]:
    """Group forks that follow each other in a plan into blocks."""
    return tuple(PlannedBlock(tuple(members)) for _, members in groupby(forks, key=lambda f: (f.key.group, f.fork)))


def latest(cell: CellRecord, fork: int) -> Fork | None:
    return next((one for one in cell.forks if one.fork == fork), None)


def next_attempt(cell: CellRecord, fork: int) -> int:
    """Return the number of the next attempt, 1.."""
    return 1 + max((one.attempt for one in (*cell.forks, *cell.attempts) if one.fork == fork), default=0)


def with_fork(cell: CellRecord, fork: Fork) -> CellRecord:
    """Return `cell` with this fork as the current one of its number; the one that was current becomes an attempt."""
    before = [one for one in cell.forks if one.fork == fork.fork]
    others = [one for one in cell.forks if one.fork != fork.fork]
    return _with_forks(cell, (*others, fork), (*cell.attempts, *before))


def without_fork(cell: CellRecord, fork: int, reason: Reason) -> CellRecord:
    """Return `cell` with this fork among its attempts, with one more reason; unchanged if there is no such fork."""
    aside = [one.model_copy(update={"reasons": (*one.reasons, reason)}) for one in cell.forks if one.fork == fork]
    return _with_forks(cell, [one for one in cell.forks if one.fork != fork], (*cell.attempts, *aside))


def beside_current(cell: CellRecord, fork: Fork) -> CellRecord:
    """Return `cell` with this fork among its attempts, until `with_last_attempt`: what stands is not replaced yet."""
    waiting = fork.model_copy(update={"reasons": (*fork.reasons, _cut_off(fork.session))})
    return _with_forks(cell, cell.forks, (*cell.attempts, waiting))


def with_last_attempt(cell: CellRecord, fork: int) -> CellRecord:
    """Return `cell` with its latest attempt at this fork as the current one, after `beside_current`."""
    last = max((one for one in cell.attempts if one.fork == fork), key=lambda one: one.attempt)
    others = tuple(one for one in cell.attempts if one is not last)
    stands = last.model_copy(update={"reasons": last.reasons[:-1]})
    return with_fork(cell.model_copy(update={"attempts": others}), stands)


def _with_forks(cell: CellRecord, forks: Iterable[Fork], attempts: Iterable[Fork]) -> CellRecord:
    return cell.model_copy(
        update={
            "forks": tuple(sorted(forks, key=lambda one: one.fork)),
            "attempts": tuple(sorted(attempts, key=lambda one: one.sequence)),
        }
    )


def measured_again(session: int) -> Reason:
    """Return the reason why a fork that may have been sound is no longer current."""
    return Reason(code="block-measured-again", message=f"the whole block was measured again in session {session}")


def _cut_off(session: int) -> Reason:
    """Return the reason why a fork that may be sound has not become current."""
    message = f"session {session} was stopped before it had measured the whole block again"
    return Reason(code="block-cut-off", message=message)


def in_order(cells: Iterable[CellRecord]) -> tuple[str, ...]:
    """Return the labels of everything that was measured, in the order of execution."""
    measured = [(one, cell.key) for cell in cells for one in (*cell.forks, *cell.attempts)]
    in_time = sorted(measured, key=lambda found: found[0].sequence)
    return tuple(key.fork_label(one.fork, one.attempt) for one, key in in_time)


def last_sequence(cells: Iterable[CellRecord]) -> int:
    """Return the last sequence number; 0 if nothing was measured."""
    return max((one.sequence for cell in cells for one in (*cell.forks, *cell.attempts)), default=0)


def repeat_words(blocks: Iterable[PlannedBlock], cells: Cells) -> tuple[str, ...]:
    """Say why forks of the blocks ahead that were measured before are measured again; empty if none was."""
    begun = [(block, block.current(cells)) for block in blocks]
    spoilt = [sum(bool(faults_of(fork)) for fork in forks) for _, forks in begun]
    gaps = sum(bool(forks) and not number for (_, forks), number in zip(begun, spoilt, strict=True))
    found = []
    if forks := sum(spoilt):
        blocks_spoilt = sum(number > 0 for number in spoilt)
        found.append(
            f"{plural(forks, 'fork')} of {plural(blocks_spoilt, 'block')} "
            f"{'was' if forks == 1 else 'were'} spoilt by faults of the host; "
            f"measuring {'that block' if blocks_spoilt == 1 else 'those blocks'} again"
        )
    if gaps:
        found.append(
            f"{plural(gaps, 'block')} {'was' if gaps == 1 else 'were'} cut off or {'lacks' if gaps == 1 else 'lack'} "
            f"forks; measuring {'it' if gaps == 1 else 'them'} again as a whole"
        )
    return tuple(found)
