"""Turn a matrix and a profile into an ordered list of forks. Pure and seeded.

A block holds one fork of every executor that is compared under the same conditions, next to each other in time and in
counterbalanced order (counterbalance.py); ratios are paired inside it. All groups get their first block before any gets
its second, in random order, so that slow drift of the host affects every group alike, and a run that is cut off has
data for all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, getitem
from typing import Any

from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.domain.cell_key import AXES, NO_SERVER, CellKey
from jdkmatrix.domain.gc_pause import gc_paused
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.records.run import NotTestable
from jdkmatrix.run.counterbalance import block_orders
from jdkmatrix.subjects.kinds import kind_of

_NAME_BYTES_MAX = 200  # of a cell's name; a file name may have 255, and something is appended


@dataclass(frozen=True)
class Plan:
    """`seed`: the one that orders are drawn from. `forks`: all that may run; those beyond the first `blocks` blocks run
    only where a ratio is not precise enough."""

    cells: tuple[CellKey, ...]  # in the order of the axes
    not_testable: tuple[NotTestable, ...]
    forks: tuple[PlannedFork, ...]  # in the order of execution
    blocks: int
    seed: int = 0

    @property
    def sure(self) -> tuple[PlannedFork, ...]:
        return tuple(fork for fork in self.forks if fork.fork <= self.blocks)

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(fork.label for fork in self.forks)


def select_cells(matrix: Matrix, profile_name: str) -> tuple[CellKey, ...]:
    """Return the cells of a profile, in the order of the axes, without repetition.

    Raises:
        MatrixError: unknown profile, or one without a cell.
    """
    if profile_name not in matrix.profiles:
        raise MatrixError(f'profile "{profile_name}" is not in matrix.toml (there are: {", ".join(matrix.profiles)})')
    places, values = [_places(matrix)[axis] for axis in AXES], attrgetter(*AXES)
    with gc_paused():
        chosen = set(cells_of(matrix, profile_name))
        if not chosen:
            raise MatrixError(f'profile "{profile_name}": the selection matches no cell')
        return tuple(sorted(chosen, key=lambda cell: tuple(map(getitem, places, values(cell)))))


@dataclass(frozen=True)
class Stage:
    """Cells that are measured before those of the next stage, by the protocol of their own profile."""

    name: str
    profile: Profile
    cells: tuple[CellKey, ...]  # in the order of the axes


def stages(matrix: Matrix, profile_name: str) -> tuple[Stage, ...]:
    """Return the stages of a profile, in the order of execution. A cell is in the first stage that has it, and no stage
    is without cells.

    Raises:
        MatrixError: as select_cells; or executors that are compared are in two stages.
    """
    left = select_cells(matrix, profile_name)
    found: list[Stage] = []
    before: dict[CellKey, str] = {}  # the stage that has a condition
    for name in matrix.stages(profile_name):
        profile = matrix.profiles[name]
        own = frozenset(_profile_cells(matrix, profile))
        cells = tuple(cell for cell in left if cell in own)
        if apart := next((cell for cell in cells if cell.group in before), None):
            raise MatrixError(
                f'profile "{profile_name}": {apart.cell_id} is measured in stage "{name}", and what it is compared '
                f'with in "{before[apart.group]}", hours before: all executors of a condition must be in one stage'
            )
        before |= dict.fromkeys((cell.group for cell in cells), name)
        found.append(Stage(name, profile, cells))
        left = tuple(cell for cell in left if cell not in own)
    return tuple(stage for stage in found if stage.cells)


def cells_of(matrix: Matrix, profile_name: str) -> Iterator[CellKey]:
    """Yield the cells of all stages of a profile, in no particular order, some twice."""
    for stage in matrix.stages(profile_name):
        yield from _profile_cells(matrix, matrix.profiles[stage])


def _profile_cells(matrix: Matrix, profile: Profile) -> Iterator[CellKey]:
    everything = Selection(**dict.fromkeys(AXES, "all"))
    excluded = _any_of(profile.exclude)
    yield from (cell for cell in _product(matrix, profile.select, everything) if not excluded(cell))
    for rule in profile.include:
        yield from _product(matrix, rule, profile.select)


def _product(matrix: Matrix, rule: Selection, fallback: Selection) -> Iterator[CellKey]:
    picked = {axis: axis_values(matrix, fallback if getattr(rule, axis) is None else rule, axis) for axis in AXES}
    for workload in map(str, picked["workload"]):
        for point in itertools.product(*({**picked, **_of_workload(matrix, workload, picked)}.values())):
            cell = CellKey.model_validate(dict(zip(picked, point, strict=True)))
            if matrix.has_cell(cell):
                yield cell


def axis_values(matrix: Matrix, rule: Selection, axis: str) -> Sequence[str | int]:
    """Return the values that a rule names; the whole axis if it names none, or "all"."""
    named: Sequence[str | int] | None = getattr(rule, axis)
    whole: Sequence[str | int] = getattr(matrix.axes, axis)
    return whole if named is None or named == "all" else named


def _of_workload(
    matrix: Matrix, workload: str, picked: Mapping[str, Sequence[str | int]]
) -> dict[str, Sequence[str | int]]:
    """Return the values without those that no cell of this workload can have, so that no product is made of them;
    `Matrix.has_cell` decides about the others."""
    if workload in matrix.experiments:
        loads = [load for load in picked["load"] if isinstance(matrix.loads[str(load)], TaskLoad)]
        return {"workload": (workload,), "server": (NO_SERVER,), "load": loads}
    waits = (
        picked["wait_us"] if matrix.workloads[workload].remote else [wait for wait in picked["wait_us"] if wait == 0]
    )
    loads = [load for load in picked["load"] if not isinstance(matrix.loads[str(load)], TaskLoad)]
    return {"workload": (workload,), "wait_us": waits, "load": loads}


def _named(rule: Selection) -> dict[str, Any]:
    return {axis: values for axis in AXES if (values := getattr(rule, axis)) is not None}


def _matcher(rule: Selection, *, excludes: bool = False) -> Callable[[CellKey], bool]:
    """Return a test of whether a cell has one of the rule's values on every axis that the rule names. A rule that names
    servers selects experiments, too, which have none; it excludes none of them."""
    axes = [
        (attrgetter(axis), frozenset((*values, NO_SERVER) if axis == "server" and not excludes else values))
        for axis, values in _named(rule).items()
        if values != "all"
    ]
    return lambda cell: all(value(cell) in allowed for value, allowed in axes)


def _any_of(rules: Iterable[Selection]) -> Callable[[CellKey], bool]:
    matchers = [_matcher(rule, excludes=True) for rule in rules]
    return lambda cell: any(matches(cell) for matches in matchers)


def _places(matrix: Matrix) -> dict[str, dict[str | int, int]]:
    """Return the position of each value on its axis."""
    found = {axis: {value: at for at, value in enumerate(getattr(matrix.axes, axis))} for axis in AXES}
    found["server"][NO_SERVER] = len(found["server"])
    return found


def blocks_of(profile: Profile, cells: Iterable[CellKey]) -> dict[CellKey, int]:
    """Return the most blocks that each of these cells of the profile may have."""
    usual = profile.blocks_at_most
    selected, excluded = _matcher(profile.select), _any_of(profile.exclude)
    wholes = ((rule, profile.select.model_copy(update=_named(rule))) for rule in profile.include)
    added = [(_matcher(whole), rule.blocks or usual) for rule, whole in wholes]

    def blocks(cell: CellKey) -> int:
        if selected(cell) and not excluded(cell):
            return usual
        return max((blocks for adds, blocks in added if adds(cell)), default=usual)

    return {cell: blocks(cell) for cell in cells}


_Members = list[tuple[CellKey, int]]  # of a group, and how many blocks each has
# The axis values that are equal among cells whose executors are compared; cheaper than `CellKey.group`.
_place = attrgetter(*(axis for axis in AXES if axis != "executor"))


def order_forks(blocks: Mapping[CellKey, int], *, seed: int) -> tuple[PlannedFork, ...]:
    """Order the forks of every cell in blocks; the same arguments give the same order, and more blocks continue it.

    When some cells of a group have no more blocks, the others start a counterbalanced order of their own.
    """
    groups: dict[tuple[str | int, ...], _Members] = {}
    for cell, count in blocks.items():
        groups.setdefault(_place(cell), []).append((cell, count))
    orders = {place: _orders(members, f"{seed} {members[0][0].group_id}") for place, members in groups.items()}
    last = {place: max(count for _, count in members) for place, members in groups.items()}
    rng = random.Random(seed)
    forks: list[PlannedFork] = []
    for block in range(1, max(last.values(), default=0) + 1):
        places = [place for place in groups if last[place] >= block]
        for place in rng.sample(places, len(places)):
            for position, cell in enumerate(next(orders[place]), start=1):
                forks.append(PlannedFork(cell, fork=block, position=position, sequence=len(forks) + 1))
    return tuple(forks)


def _orders(members: _Members, seed: str) -> Iterator[tuple[CellKey, ...]]:
    """Yield the order of each block, of those cells of a group that have one."""
    rng = random.Random(seed)
    done = 0
    for last in sorted({count for _, count in members}):
        left = [cell for cell, count in members if count >= last]
        yield from itertools.islice(block_orders(left, rng), last - done)
        done = last


def make_plan(cells: Sequence[CellKey], profile: Profile, *, seed: int, impossible: Mapping[CellKey, str]) -> Plan:
    """Order the forks of all cells that this host can measure; the others keep their reason.

    Raises:
        MatrixError: the name of a cell is too long for the files that it gives a name.
    """
    with gc_paused():
        if long := next((cell.cell_id for cell in cells if len(cell.cell_id.encode()) > _NAME_BYTES_MAX), None):
            raise MatrixError(
                f"{long}: the name of a cell has at most {_NAME_BYTES_MAX} bytes, since files are named after it; "
                f"found {len(long.encode())}: shorten the names that it is made of"
            )
        possible = [cell for cell in cells if cell not in impossible]
        return Plan(
            cells=tuple(cells),
            not_testable=tuple(NotTestable(key=cell, reason=impossible[cell]) for cell in cells if cell in impossible),
            forks=order_forks(blocks_of(profile, possible), seed=seed),
            blocks=profile.blocks,
            seed=seed,
        )


def estimate_s(matrix: Matrix, profile: Profile, forks: Iterable[PlannedFork]) -> float:
    """Return the seconds that these forks are expected to take."""
    return sum(kind_of(matrix, fork.key).expected_s(matrix, profile, fork.key) for fork in forks)
