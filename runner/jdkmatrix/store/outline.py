"""A cell without what only its own page shows.

Most of a cell's memory goes to second-by-second series and points of distributions: 2.4 MB of 3.1 for a cell of
`quick`, with three forks of ten rounds. Of the rest, nearly half was what each value records of its own construction:
which fields it was given. Without both, a run of thousands of cells fits into memory: such a cell takes 0.34 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jdkmatrix.domain.loads import LoadOverTime
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency, LoadResult
from jdkmatrix.records.windows import Capacity, Warmup, Window
from jdkmatrix.store.cells import CellRecord

_SETS: dict[frozenset[str], set[str]] = {}
_PLAIN = (int, float, str, dict, type(None))  # asking pydantic whether each is a model takes longer


def outline(cell: CellRecord) -> CellRecord:
    """Return the cell with every figure unchanged, but without series, except those of a rising load, whose figures are
    read from them, and without points of distributions that have a histogram."""
    if isinstance(cell.load, LoadOverTime):
        return cell
    less = cell.model_copy(
        update={"forks": tuple(map(_fork, cell.forks)), "attempts": tuple(map(_fork, cell.attempts)), "jvm_flags": {}}
    )
    _share_sets(less)
    return less


def _share_sets(cell: CellRecord) -> None:
    """Let values that were given the same fields share one set of their names. They are frozen: none changes it."""
    ahead: list[Any] = [cell]
    while ahead:
        one = ahead.pop()
        if isinstance(one, tuple):
            parts: Iterable[Any] = one
        else:
            given = one.model_fields_set
            object.__setattr__(one, "__pydantic_fields_set__", _SETS.setdefault(frozenset(given), given))
            parts = one.__dict__.values()
        ahead += [part for part in parts if not isinstance(part, _PLAIN)]


def _fork(fork: Fork) -> Fork:
    return fork.model_copy(
        update={
            "command": (),
            "remote_command": (),
            "logs": {},
            "driver_command": (),
            "warmup": _warmup(fork.warmup),
            "windows": tuple(map(_window, fork.windows)),
            "latency": _latency(fork.latency),
            "capacity": _capacity(fork.capacity),
            "samples": (),
        }
    )


def _warmup(warmup: Warmup | None) -> Warmup | None:
    """Keep the last window, whose end says how long the warm-up took."""
    return warmup and warmup.model_copy(update={"windows": warmup.windows[-1:]})


def _capacity(capacity: Capacity | None) -> Capacity | None:
    if capacity is None:
        return None
    steps = tuple(step.model_copy(update={"window": _window(step.window)}) for step in capacity.steps)
    return capacity.model_copy(update={"steps": steps})


def _window(window: Window) -> Window:
    return window.model_copy(update={"load": _load(window.load)})


def _load(load: LoadResult) -> LoadResult:
    late = load.send_lateness
    return load.model_copy(
        update={
            "intervals": (),
            "corrected": _latency(load.corrected),
            "uncorrected": _latency(load.uncorrected if load.corrected is None else None),
            "send_lateness": late and late.model_copy(update={"spectrum": (), "histogram": None}),
        }
    )


def _latency(latency: Latency | None) -> Latency | None:
    if latency is None or latency.histogram is None:
        return latency
    return latency.model_copy(update={"spectrum": ()})
