"""How much the clock of the host moved while a run measured, from a piece of serial work before each window. Pure.

The executors of a block are compared with each other: what moves inside a block disturbs ratios, what moves between
blocks disturbs whatever is compared across them, such as two JDKs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import digits
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import Calibration
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.words.numbers import share
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class Moved:
    """The fastest over the slowest, less 1, a share. `in_block`: where it was most; `blocks_beyond`: those of `blocks`
    in which it was more than asked about."""

    over_run: float
    in_block: float
    blocks: int
    blocks_beyond: int


def speeds(fork: Fork) -> tuple[float, ...]:
    """Every reading of a fork, in the order of time."""
    after = () if fork.clock_speed_after is None else (fork.clock_speed_after,)
    return (*fork.clock_speeds, *after)


def moved(cells: Iterable[CellRecord], beyond: float) -> Moved | None:
    """None where nothing was read. Readings on different CPUs are not compared."""
    by_cpu: dict[int, list[float]] = {}
    by_block: dict[tuple[str, int], list[float]] = {}
    for cell in cells:
        for fork in cell.forks:
            found = speeds(fork)
            by_cpu.setdefault(fork.confinement.sut_cpus[-1], []).extend(found)
            by_block.setdefault((cell.key.group_id, fork.fork), []).extend(found)
    blocks = [_moved(readings) for readings in by_block.values() if readings]
    if not blocks:
        return None
    return Moved(
        over_run=max(_moved(readings) for readings in by_cpu.values() if readings),
        in_block=max(blocks),
        blocks=len(blocks),
        blocks_beyond=sum(one > beyond for one in blocks),
    )


def _moved(readings: Sequence[float]) -> float:
    return max(readings) / min(readings) - 1


def clock_notices(cells: Iterable[CellRecord], promised: float | None) -> Iterable[Notice]:
    """A note where it moved by more than the run promises of its ratios."""
    found = moved(cells, promised) if promised is not None else None
    if found is None or promised is None or found.over_run <= promised:
        return
    inside = (
        f"inside {found.blocks_beyond} of {found.blocks} blocks it moved by more than that, in one by "
        f"{share(found.in_block).text}, and part of that is in their ratios"
        if found.blocks_beyond
        else f"inside a block by {share(found.in_block).text} at most"
    )
    yield Notice(
        "warn" if found.blocks_beyond else "info",
        "The CPUs’ speed changed",
        f"A fixed piece of serial work on a CPU of the server, right before each window, was up to "
        f"{share(found.over_run).text} faster at one moment of this run than at another, while ratios are promised to "
        f"± {promised * 100:g} %; {inside}. Compare blocks with each other, and JDKs, with care.",
    )


def calibration_notices(calibrations: Iterable[Calibration]) -> Iterable[Notice]:
    """A note where it moved while the work of a task was counted by more than was wanted."""
    for one in calibrations:
        if one.spread_wanted is not None and one.spread > one.spread_wanted:
            yield Notice(
                "info",
                "Task durations are approximate",
                f"The speed of CPU {one.cpu} varied by {share(one.spread).text} while it was counted how much work a "
                "microsecond is, so that tasks may be that much longer or shorter than their names say. They are the "
                "same work for every executor and every JDK: ratios do not suffer.",
            )


def speed_words(fork: Fork) -> str:
    """The readings of a fork in a line."""
    found = speeds(fork)
    if not found:
        return "not read"
    if len(found) == 1:
        return f"{digits(found[0], 4)} divisions/µs"
    return (
        f"{digits(min(found), 4)} to {digits(max(found), 4)} divisions/µs in {len(found)} readings: "
        f"moved by {share(_moved(found)).text}"
    )
