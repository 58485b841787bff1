"""Who is ahead over many conditions, in a line. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Protocol

from jdkmatrix.domain.quantities import work_words
from jdkmatrix.report.cells.advice import Advice, Side


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
