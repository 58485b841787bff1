"""Forks that were measured and replaced: why, and what they left. Pure; logs were read before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.views import AttemptView, Fact, LogView, Notice
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun

Logs = Mapping[tuple[int, int], Sequence[LogView]]  # by number and attempt of a fork


def attempt_views(cell: CellRecord, run: RunRecord, logs: Logs) -> tuple[AttemptView, ...]:
    """In the order of measurement."""
    return tuple(
        AttemptView(
            title=f"Fork {fork.fork}, attempt {fork.attempt}",
            status=STATUS_WORDS[fork.status],
            status_class=STATUS_CLASS[fork.status],
            reasons=_reasons(fork),
            facts=(Fact("Order", order_words(fork, run)), facts.started(fork)),
            logs=tuple(logs.get((fork.fork, fork.attempt), ())),
        )
        for fork in cell.attempts
    )


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
