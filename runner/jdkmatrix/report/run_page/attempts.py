"""Forks that were measured and replaced: why, and what they left. Pure; logs were read before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import badge, joined, say
from jdkmatrix.report.blocks.kinds import Fact, FactList, Log, Notice, PageBlock, Prose, Section
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun

Logs = Mapping[tuple[int, int], Sequence[Log]]  # by number and attempt of a fork


def attempts_section(cell: CellRecord, run: RunRecord, logs: Logs) -> tuple[Section, ...]:
    """In the order of measurement; none where every fork stands at its first attempt."""
    if not cell.attempts:
        return ()
    blocks = tuple(block for fork in cell.attempts for block in _attempt(fork, run, logs))
    return (Section("attempts", "Earlier attempts", blocks, say("attempts")),)


def _attempt(fork: Fork, run: RunRecord, logs: Logs) -> Iterator[PageBlock]:
    status = badge(STATUS_WORDS[fork.status], STATUS_CLASS[fork.status])
    yield Prose(heading=joined(f"Fork {fork.fork}, attempt {fork.attempt} ", status))
    yield from (Prose(reason, css="reason") for reason in _reasons(fork))
    yield FactList((Fact("Order", order_words(fork, run)), facts.started(fork)))
    yield from logs.get((fork.fork, fork.attempt), ())


def order_words(fork: Fork, run: RunRecord) -> str:
    """Where it stood in block and run; which attempt and session it is, where there are several."""
    attempt = f", attempt {fork.attempt}" if fork.attempt > 1 else ""
    session = f", session {fork.session}" if len(run.sessions) > 1 else ""
    return f"{fork.position} in block {fork.fork}, {fork.sequence} in the run{attempt}{session}"


def notices(loaded: LoadedRun) -> Iterator[Notice]:
    cells = loaded.cells
    attempts = sum(len(cell.attempts) for cell in cells)
    again = sum(fork.attempt > 1 for cell in cells for fork in cell.forks)
    if attempts:
        yield Notice(
            "info",
            "Measured more than once",
            f"{plural(again, 'fork')} of this run {'is' if again == 1 else 'are'} not the first attempt: faults of the "
            "host or of the measurement had spoilt an earlier one, or its block was cut off. What the server itself "
            "did is never a reason to measure again, and no figure is looked at. The pages of the cells show "
            f"{plural(attempts, 'earlier attempt')}.",
        )


def _reasons(fork: Fork) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason.message for reason in (*fork.reasons, *fork.window_reasons)))
