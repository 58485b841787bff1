"""Measure every fork of a plan, block after block; each is on disk before anything else is measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Protocol

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.errors import refused
from jdkmatrix.fork.affinity import runner_beside
from jdkmatrix.fork.faults import faults_of
from jdkmatrix.fork.fork_record import CellSetup, ForkDraft, Listener
from jdkmatrix.fork.measure_fork import RunningFork, in_turns, measure_fork
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.host.facts import available_memory_bytes
from jdkmatrix.host.signals import held_back
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.method.warmup import load_statistics
from jdkmatrix.records.forks import Fork
from jdkmatrix.run.blocks import decide, words
from jdkmatrix.run.opening import open_cells
from jdkmatrix.run.plan import Plan
from jdkmatrix.run.repeats import (
    Cells,
    PlannedBlock,
    beside_current,
    in_blocks,
    in_order,
    last_sequence,
    latest,
    measured_again,
    next_attempt,
    with_fork,
    with_last_attempt,
    without_fork,
)
from jdkmatrix.run.turns import round_orders, rounds_of_next, why_alone
from jdkmatrix.store.atomic import StoreError
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.outline import outline
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.removal import remove_tree
from jdkmatrix.store.runs import RunStore

Records = MutableMapping[CellKey, CellRecord]


class CampaignListener(Listener, Protocol):
    """Callbacks for the progress of a run."""

    def forks_added(self, forks: int) -> None:
        """`forks` more are to be measured; called at the start, and whenever more turn out to be needed."""

    def fork_started(self, planned: PlannedFork) -> None: ...

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None: ...

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        """A block is measured. `group`: the cells of its condition, with everything so far; `more`: whether the plan
        has another block of it."""

    def decided(self, text: str) -> None:
        """Called with the decision on another block of a group of cells, or another attempt at a fork, and why."""


@dataclass(frozen=True)
class Campaign:
    """`session`: the number of this session of the run."""

    matrix: Matrix
    profile: Profile
    plan: Plan
    setups: Mapping[CellKey, CellSetup]  # of every testable cell
    store: RunStore
    session: int = 1

    def open(self, notice: Callable[[str], None] | None) -> dict[CellKey, CellRecord]:
        """Return the records of its cells, as `open_cells` does."""
        return open_cells(self.store, self.setups, notice)

    def needed(self, cells: Cells) -> tuple[PlannedBlock, ...]:
        """Return the blocks that are missing or not as they should be, as far as is known before they are measured."""
        return tuple(self._needed(cells, lambda text: None))

    def measure(
        self, cells: Records, listener: CampaignListener, between: Callable[[], None] = lambda: None
    ) -> tuple[str, ...]:
        """Measure every block that is needed and update `cells`, which also holds those of other stages; return the
        order of everything recorded by then. `between` is called between two blocks, when no server is up."""
        self.store.remove_leftovers()
        load_statistics()
        sure = [block for block in in_blocks(self.plan.sure) if not block.is_settled(cells)]
        listener.forks_added(sum(len(block.forks) for block in sure))
        last: dict[CellKey, int] = {}
        for one in self.plan.forks:
            last[one.key.group] = max(one.fork, last.get(one.key.group, 0))
        for number, block in enumerate(self._needed(cells, listener.decided)):
            if number:
                between()
            if block.number > self.plan.blocks:
                listener.forks_added(len(block.forks))
            self._measure_block(block, cells, listener)
            listener.block_finished(block.condition(cells), block.number < last[block.group])
        return in_order(cells.values())

    def _needed(self, cells: Cells, decided: Callable[[str], None]) -> Iterator[PlannedBlock]:
        """Yield the blocks to measure. Whether the next one is needed depends on `cells` as they are when it is asked
        for."""
        stopped: set[CellKey] = set()
        for block in in_blocks(self.plan.forks):
            if block.group in stopped:
                continue
            if self._has_enough(block, cells, decided):
                stopped.add(block.group)
            elif not block.is_settled(cells):
                yield block

    def _has_enough(self, block: PlannedBlock, cells: Cells, decided: Callable[[str], None]) -> bool:
        """Return whether the block is not needed. Cells whose load has no figure to compare need only `min_blocks`."""
        rules, done = self.profile.stopping, block.number - 1
        if rules is None or done < rules.min_blocks:
            return False
        if not kind_of(self.setups[block.forks[0].key].load).metrics:
            return True
        # Arms that have no such block do not count: an `include` may have fewer.
        mine = {fork.key for fork in block.forks}
        decision = decide([cell for cell in block.condition(cells) if cell.key in mine], done, rules)
        if not block.is_settled(cells):
            decided(f"{block.group.group_id}: {words(decision, done, rules)}")
        return decision.stop

    def _measure_block(self, block: PlannedBlock, cells: Records, listener: CampaignListener) -> None:
        members = [self.setups[planned.key] for planned in block.forks]
        alone = why_alone(members, self.profile, memory_bytes=available_memory_bytes())
        if alone is None:
            self._measure_in_turns(block, cells, listener)
        else:
            self._measure_one_by_one(block, cells, listener, alone if self.profile.protocol == "interleaved" else None)

    def _measure_in_turns(self, block: PlannedBlock, cells: Records, listener: CampaignListener) -> None:
        """Measure all forks of the block together, and all of them again if a fault has spoilt one, since its rounds
        are compared with theirs. Until then the others go on: what they measure is kept."""
        rounds = rounds_of_next(block.condition(cells), self.profile, self.matrix.turns)
        for repeats_left in range(self.matrix.measure.repeats_max, -1, -1):
            spoilt = self._take_turns(block, cells, listener, rounds)
            if not spoilt or not repeats_left:
                return
            reasons = ", ".join(dict.fromkeys(chain.from_iterable(spoilt)))
            listener.decided(
                f"faults of the host spoilt {len(spoilt)} of {len(block.forks)} forks ({reasons}): "
                "the whole block is measured again"
            )
            listener.forks_added(len(block.forks))

    def _take_turns(
        self, block: PlannedBlock, cells: Records, listener: CampaignListener, rounds: int
    ) -> list[tuple[str, ...]]:
        """Measure the block in turns, once; return the faults of each spoilt fork."""
        first = last_sequence(cells.values()) + 1
        attempts = [
            self._attempt(planned, cells, position, first + position - 1)
            for position, planned in enumerate(block.forks, start=1)
        ]
        turns, seed = self.matrix.turns, f"{self.plan.seed} {attempts[0].label}"
        together = tuple(attempt.sequence for attempt in attempts)
        with ExitStack() as until_kept:
            with runner_beside(self.setups[attempts[0].key].cpu_sets):
                forks = in_turns(
                    (RunningFork(self._draft(attempt, listener), listener) for attempt in attempts),
                    round_orders(len(attempts), rounds, seed),
                    rewarm_s=turns.rewarm_s,
                    lead_s=turns.lead_s,
                    round_s=turns.round_s,
                    when_measured=partial(until_kept.enter_context, held_back()),
                )
            self._make_room(block, cells, listener)
            told = []
            for attempt, fork in zip(attempts, forks, strict=True):
                placed = self._placed(attempt, fork).model_copy(update={"together": together})
                told.append((placed, self._keep(attempt.key, cells, partial(with_fork, fork=placed), listener)))
        for placed, kept in told:  # after all are kept: whoever reads it may be gone
            listener.fork_finished(placed, kept)
        return [faults for placed, _ in told if (faults := faults_of(placed))]

    def _measure_one_by_one(
        self, block: PlannedBlock, cells: Records, listener: CampaignListener, why_alone: str | None
    ) -> None:
        """Measure the whole block; then, at its end, each fork again that a fault has spoilt. What an earlier session
        measured of it stands until the block is whole."""
        repeats_max = self.matrix.measure.repeats_max
        replaced = len(block.forks) if block.current(cells) else 0
        queue = deque((planned, repeats_max) for planned in block.forks)
        position = 0
        while queue:
            planned, repeats_left = queue.popleft()
            position += 1
            attempt = self._attempt(planned, cells, position, last_sequence(cells.values()) + 1)
            with ExitStack() as until_kept:
                hold = partial(until_kept.enter_context, held_back())
                with runner_beside(self.setups[attempt.key].cpu_sets):
                    found = measure_fork(self._draft(attempt, listener), listener, hold)
                fork = self._placed(attempt, found).model_copy(update={"why_alone": why_alone})
                place = beside_current if position <= replaced else with_fork
                kept = self._keep(planned.key, cells, partial(place, fork=fork), listener)
                if position == replaced:
                    self._make_room(block, cells, listener)
                    for one in block.forks:
                        self._keep(one.key, cells, partial(with_last_attempt, fork=one.fork), listener)
            listener.fork_finished(fork, kept)
            if (faults := faults_of(fork)) and repeats_left:
                queue.append((planned, repeats_left - 1))
                listener.decided(
                    f"{attempt.label} was spoilt ({', '.join(faults)}): measured again at the end of its block"
                )
                listener.forks_added(1)

    def _attempt(self, planned: PlannedFork, cells: Cells, position: int, sequence: int) -> PlannedFork:
        number = next_attempt(cells[planned.key], planned.fork)
        return planned._replace(position=position, sequence=sequence, attempt=number)

    def _make_room(self, block: PlannedBlock, cells: Records, listener: CampaignListener) -> None:
        """Turn everything measured of this block before into attempts, once it has been measured again and before the
        first of its new forks stands: whatever happens then, no ratio pairs two sessions."""
        for planned in block.forks:
            if latest(cells[planned.key], planned.fork) is not None:
                aside = partial(without_fork, fork=planned.fork, reason=measured_again(self.session))
                self._keep(planned.key, cells, aside, listener)

    def _keep(
        self, key: CellKey, cells: Records, change: Callable[[CellRecord], CellRecord], listener: CampaignListener
    ) -> CellRecord:
        """Change a cell on disk, where it is whole; `cells` has its outline. If what was on disk cannot be read any
        more, the outline takes its place: it has all figures."""
        try:
            whole = self.store.read_cell(key)
        except UnreadableError as error:
            whole = None
            aside = self.store.set_aside(key, "unreadable")
            listener.decided(f"{error}; kept as {aside.name}; the cell goes on without its series")
        changed = change(whole or cells[key])
        self.store.save_cell(changed)
        cells[key] = outline(changed)
        return changed

    def _placed(self, attempt: PlannedFork, fork: Fork) -> Fork:
        return fork.model_copy(update={"attempt": attempt.attempt, "session": self.session})

    def _draft(self, planned: PlannedFork, listener: CampaignListener) -> ForkDraft:
        listener.fork_started(planned)
        log_dir = self.store.new_log_dir(planned.key, planned.fork, planned.attempt)
        scratch = self.store.directory / f"scratch-{planned.position}"
        remove_tree(scratch)
        with refused(f"{scratch} cannot be made", StoreError):
            scratch.mkdir()
        log_prefix = f"../{log_dir.relative_to(self.store.directory)}"
        return ForkDraft(self.setups[planned.key], planned, scratch, log_dir, log_prefix)
