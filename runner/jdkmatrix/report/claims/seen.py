"""The preconditions of a claim’s check, and what was seen of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import range_words


@dataclass(frozen=True)
class SeenFigure:
    """A precondition, and the figure that was seen in `unit`; None where nothing was recorded."""

    says: str
    name: str
    arm: str
    value: float | None
    unit: str
    holds: bool


def seen_words(seen: Iterable[SeenFigure]) -> tuple[str, ...]:
    """Preconditions in words: a part of a sentence for what was not there, and one for what was."""
    found: dict[tuple[bool, str, str, str], list[SeenFigure]] = {}
    for one in seen:
        found.setdefault((one.holds, one.says, one.name, one.arm), []).append(one)
    there = [_range(same) for (holds, *_), same in found.items() if holds]
    lacking = [f"needs {same[0].says} ({_range(same)})" for (holds, *_), same in found.items() if not holds]
    if lacking:
        return tuple(lacking)
    return (f"seen: {', '.join(dict.fromkeys(there))}",) if there else ()


def _range(same: Sequence[SeenFigure]) -> str:
    """ "virtual: CPU use 93.1 to 99.2 %"."""
    one, values = same[0], [seen.value for seen in same if seen.value is not None]
    return f"{one.arm}: {one.name} {range_words(values, one.unit) if values else 'not recorded'}"
