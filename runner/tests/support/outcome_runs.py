"""SYNTHETIC runs in which servers fall short and forks are lost: made-up forks with these outcomes put into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.records import altered, run_record, with_forks, with_load
from tests.support.served_windows import latency

MISSED = Reason(code="rate-missed", message="6,000 of 8,000 requests that were due were answered")
ERRORS = Reason(code="errors", message="40 failed requests, 10 answers other than 2xx")
SILENT = Reason(code="no-answers", message="no request was answered")
STEAL = Reason(code="steal", message="the hypervisor took 9 % of the CPU time away")
HUNG = Reason(code="server-hangs", message="the server hangs: no answer within 10 s")
NO_DRIVER = Reason(code="driver", message="loadgen ended with status 1")

Change = Callable[[Fork], Fork]


def run_of(cells: Sequence[CellRecord], **changes: Any) -> LoadedRun:
    """Return a complete run of just these cells."""
    order = tuple(f"{cell.key.cell_id}#{fork.fork}" for cell in cells for fork in cell.forks)
    run = run_record("synthetic", cells=tuple(cell.key for cell in cells), **{"seed": 1, "order": order, **changes})
    return LoadedRun(run=run, cells=tuple(cells), problems=(), directory=Path())


def windows_of(fork: Fork, change: Callable[[Window], Window]) -> Fork:
    return altered(fork, {"windows": tuple(map(change, fork.windows))})


def refusing(fork: Fork) -> Fork:
    """Let gates refuse its first two windows."""
    return windows_of(fork, lambda one: one.model_copy(update={"reasons": (STEAL,)}) if one.index <= 2 else one)


def scaled(cell: CellRecord, factors: Sequence[float]) -> CellRecord:
    """Set throughput to 1,000 requests/s times the factor of each block, and drop all further blocks."""

    def at(fork: Fork, factor: float) -> Fork:
        return windows_of(fork, lambda window: with_load(window, {"throughput_rps": 1000 * factor}))

    return cell.model_copy(update={"forks": tuple(map(at, cell.forks, factors))})


def missed(fork: Fork) -> Fork:
    """Let three quarters of the rate be answered; the rest are in the histogram with the time that they had waited."""

    def change(window: Window) -> Window:
        due = window.load.due or window.load.completed
        completed = due * 3 // 4
        changes = {
            "completed": completed,
            "unsent": due - completed,
            "lower_bounds": due - completed,
            "throughput_rps": completed / window.load.duration_s,
            "corrected": latency(400_000.0, 1.0, due) if window.load.corrected else None,
        }
        return with_load(window, changes, shortfalls=(MISSED,))

    return windows_of(fork, change)


def failing(fork: Fork) -> Fork:
    """Let 40 requests of each window time out, and 10 be refused with a status other than 2xx."""

    changes = {"errors": Errors(timeout=40), "non_2xx": 10, "lower_bounds": 40}
    return windows_of(fork, lambda window: with_load(window, changes, shortfalls=(ERRORS,)))


def silent(fork: Fork) -> Fork:
    """Let nothing be answered."""

    def change(window: Window) -> Window:
        changes = {"completed": 0, "throughput_rps": 0.0, "corrected": None, "uncorrected": None}
        sut = window.sut.model_copy(update={"cpu_us_per_request": 0.0})
        return with_load(window, changes, sut=sut, shortfalls=(SILENT,))

    return windows_of(fork, change)


def refused(reason: Reason) -> Change:
    """Return a change that refuses every window, and so the fork."""

    def change(fork: Fork) -> Fork:
        windows = windows_of(fork, lambda window: window.model_copy(update={"reasons": (reason,)}))
        return windows.model_copy(update={"status": Status.INVALID, "reasons": (reason,)})

    return change


def failed(reason: Reason) -> Change:
    """Return a change that makes the fork fail without a result."""
    nothing = {"windows": (), "samples": (), "warmup": None, "proof": None, "first_response_s": None}
    return lambda fork: altered(fork, {"status": Status.FAILED, "reasons": (reason,), **nothing})


spoilt = refused(STEAL)  # the host spoilt every window
hung, without_driver = failed(HUNG), failed(NO_DRIVER)


def with_outcomes(loaded: LoadedRun, changes: Mapping[str, Mapping[int, Change]]) -> LoadedRun:
    """Apply `changes`, by executor and by the number of the fork."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        change = changes.get(cell.key.executor, {}).get(fork.fork)
        return change(fork) if change else fork

    return with_forks(loaded, changed)


def all_of(change: Change, forks: int = 5) -> dict[int, Change]:
    return dict.fromkeys(range(1, forks + 1), change)
