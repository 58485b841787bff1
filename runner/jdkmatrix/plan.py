"""From a matrix and a profile to an ordered list of forks. Pure and seeded.

A block holds one fork of every executor that is compared under the same conditions, next to each other in time and
in counterbalanced order (counterbalance.py); ratios are paired inside it. All groups get their first block before any
gets its second, in random order, so that slow drift of the host meets every group alike, and a run that is cut off has
data for all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.config.checks import AXES
from jdkmatrix.config.experiments import Burn, Experiment, Fanout, Pinning, Spawn
from jdkmatrix.config.model import AskedLoad, Matrix, Profile, Selection
from jdkmatrix.counterbalance import block_orders
from jdkmatrix.errors import MatrixError
from jdkmatrix.records import NO_SERVER, CapacityLoad, CellKey, NotTestable, RampedLoad, StepsLoad


@dataclass(frozen=True)
class PlannedFork:
    key: CellKey
    fork: int  # 1.., the number of its block
    position: int  # 1.. inside its block
    sequence: int  # 1.. in the whole run
    attempt: int = 1  # 1.., of this fork

    @property
    def label(self) -> str:
        return self.key.fork_label(self.fork, self.attempt)


@dataclass(frozen=True)
class Plan:
    """`forks` has all that may run; those beyond the first `blocks` blocks only where a ratio is not precise enough."""

    cells: tuple[CellKey, ...]  # in the order of the axes
    not_testable: tuple[NotTestable, ...]
    forks: tuple[PlannedFork, ...]  # in the order of execution
    blocks: int

    @property
    def sure(self) -> tuple[PlannedFork, ...]:
        return tuple(fork for fork in self.forks if fork.fork <= self.blocks)

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(fork.label for fork in self.forks)


def select_cells(
    matrix: Matrix, profile_name: str, only: Mapping[str, Sequence[str | int]] | None = None
) -> tuple[CellKey, ...]:
    """The cells of a profile, in the order of the axes, without repetition.

    `only` narrows an axis to the given values on top of the profile, as the command line does.

    Raises:
        MatrixError: unknown profile, or no cell is left.
    """
    profile = matrix.profiles.get(profile_name)
    if profile is None:
        raise MatrixError(f'profile "{profile_name}" is not in matrix.toml (there are: {", ".join(matrix.profiles)})')
    narrowed = only or {}
    chosen = {
        cell
        for cell in _profile_cells(matrix, profile)
        if all(getattr(cell, axis) in values for axis, values in narrowed.items())
    }
    if not chosen:
        narrowing = "".join(f", {axis} in {list(values)}" for axis, values in narrowed.items())
        raise MatrixError(f'profile "{profile_name}"{narrowing}: the selection matches no cell')
    return tuple(sorted(chosen, key=lambda cell: _axis_position(matrix, cell)))


def _profile_cells(matrix: Matrix, profile: Profile) -> Iterator[CellKey]:
    everything = Selection(**dict.fromkeys(AXES, "all"))
    for cell in _product(matrix, profile.select, everything):
        if not any(_matches(rule, cell) for rule in profile.exclude):
            yield cell
    for rule in profile.include:
        yield from _product(matrix, rule, profile.select)


def _product(matrix: Matrix, rule: Selection, fallback: Selection) -> Iterator[CellKey]:
    def values(axis: str) -> Iterable[str | int]:
        chosen = getattr(rule, axis) or getattr(fallback, axis)
        whole: tuple[str | int, ...] = getattr(matrix.axes, axis)
        return whole if chosen is None or chosen == "all" else chosen

    for point in itertools.product(*(values(axis) for axis in AXES)):
        cell = CellKey.model_validate(dict(zip(AXES, point, strict=True)))
        if cell.workload in matrix.experiments:
            cell = cell.model_copy(update={"server": NO_SERVER})
        if matrix.has_cell(cell):
            yield cell


def _matches(rule: Selection, cell: CellKey) -> bool:
    """Does `cell` have one of the rule's values on every axis that the rule names?"""
    return all(
        values is None or values == "all" or getattr(cell, axis) in values
        for axis in AXES
        if cell.has_server or axis != "server"
        for values in (getattr(rule, axis),)
    )


def _adds(rule: Selection, select: Selection, cell: CellKey) -> bool:
    """Is `cell` in the product of `rule`, whose unnamed axes are as in `select`?"""
    unnamed = {axis: getattr(select, axis) for axis in AXES if getattr(rule, axis) is None}
    return _matches(rule, cell) and _matches(Selection(**unnamed), cell)


def _axis_position(matrix: Matrix, cell: CellKey) -> tuple[int, ...]:
    servers = (*matrix.axes.server, NO_SERVER)
    return tuple(
        (servers if axis == "server" else getattr(matrix.axes, axis)).index(getattr(cell, axis)) for axis in AXES
    )


def blocks_of(profile: Profile, cell: CellKey) -> int:
    """How many blocks this cell of the profile may have at most."""
    if _matches(profile.select, cell) and not any(_matches(rule, cell) for rule in profile.exclude):
        return profile.blocks_at_most
    added = (rule for rule in profile.include if _adds(rule, profile.select, cell))
    return max((rule.blocks or profile.blocks_at_most for rule in added), default=profile.blocks_at_most)


def order_forks(blocks: Mapping[CellKey, int], *, seed: int) -> tuple[PlannedFork, ...]:
    """So many forks of every cell, in blocks; the same arguments give the same order, and more blocks go on with it.

    Where cells of a group have no more blocks, the others start a counterbalanced order of their own.
    """
    groups: dict[CellKey, list[CellKey]] = {}
    for cell in blocks:
        groups.setdefault(cell.group, []).append(cell)
    orders = {group: _orders(members, blocks, f"{seed} {group.group_id}") for group, members in groups.items()}
    rng = random.Random(seed)
    forks: list[PlannedFork] = []
    for block in range(1, max(blocks.values(), default=0) + 1):
        groups = {group: members for group, members in groups.items() if any(blocks[c] >= block for c in members)}
        for group in rng.sample(list(groups), len(groups)):
            for position, cell in enumerate(next(orders[group]), start=1):
                forks.append(PlannedFork(cell, fork=block, position=position, sequence=len(forks) + 1))
    return tuple(forks)


def _orders(members: Sequence[CellKey], blocks: Mapping[CellKey, int], seed: str) -> Iterator[tuple[CellKey, ...]]:
    """Block after block, of those cells of a group that have one."""
    rng = random.Random(seed)
    done = 0
    for last in sorted({blocks[cell] for cell in members}):
        left = [cell for cell in members if blocks[cell] >= last]
        yield from itertools.islice(block_orders(left, rng), last - done)
        done = last


def make_plan(cells: Sequence[CellKey], profile: Profile, *, seed: int, impossible: Mapping[CellKey, str]) -> Plan:
    """Order the forks of all cells that this host can measure; the others keep their reason."""
    possible = [cell for cell in cells if cell not in impossible]
    return Plan(
        cells=tuple(cells),
        not_testable=tuple(NotTestable(key=cell, reason=impossible[cell]) for cell in cells if cell in impossible),
        forks=order_forks({cell: blocks_of(profile, cell) for cell in possible}, seed=seed),
        blocks=profile.blocks,
    )


# Of one search: the floor, eight halvings and three repeats were usual.
_SEARCH_STEPS = 12


def estimate_s(matrix: Matrix, profile: Profile, forks: Iterable[PlannedFork]) -> float:
    """Seconds that these forks are expected to take; the start and stop of a server are taken as 10 s, its way to the
    steady state as a quarter of the cap (20 s of 90 were usual on two CPUs, for mp-ping), and the gate as then looking
    at half of its longest tail more."""
    rules = matrix.warmup
    overhead_s = 10 + rules.max_s / 4 + rules.tail_s_max / 2 + rules.settle_s
    return sum(
        overhead_s + _measured_s(matrix.loads[fork.key.load], profile)
        if fork.key.has_server
        else _alone_s(matrix.experiments[fork.key.workload], fork.key, profile)
        for fork in forks
    )


# The start of a JVM, and what is done all at once.
_ALONE_S = 5.0


def _alone_s(experiment: Experiment, key: CellKey, profile: Profile) -> float:
    """A fork of an experiment without a server."""
    match experiment:
        case Burn() | Pinning():
            return _ALONE_S + experiment.warmup_s + profile.windows * profile.window_s
        case Spawn():
            return _ALONE_S
        case Fanout():
            return _ALONE_S + key.wait_us / 1e6


def _measured_s(load: AskedLoad, profile: Profile) -> float:
    if isinstance(load, StepsLoad):
        return load.step_s * len(load.rates_rps)
    if isinstance(load, RampedLoad):
        return load.duration_s
    search_s = _SEARCH_STEPS * load.step_s if isinstance(load, CapacityLoad) else 0.0
    return profile.windows * profile.window_s + search_s


def alone_words(experiment: Experiment, profile: Profile) -> str:
    """How long a fork of an experiment without a server is measured."""
    if isinstance(experiment, Burn | Pinning):
        return f"{profile.windows * profile.window_s:g} s in one piece"
    return "until all are done"


def length_words(load: AskedLoad, profile: Profile) -> str:
    """How long a fork under this load is measured."""
    if isinstance(load, StepsLoad):
        further = f", and up to {load.further_max} more until the server is saturated" if load.further_max else ""
        return f"up to {len(load.rates_rps)} steps of {load.step_s:g} s{further}"
    if isinstance(load, RampedLoad):
        return f"a ramp of {load.duration_s:g} s"
    windows = f"{profile.windows} windows of {profile.window_s:g} s"
    return f"{windows} and a search" if isinstance(load, CapacityLoad) else windows
