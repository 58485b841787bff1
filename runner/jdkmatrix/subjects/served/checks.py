"""Checks of a server after its windows: its books, and how long the work of a request takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from jdkmatrix.domain.quantities import plural
from jdkmatrix.fork.faults import LostUpdateError
from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.probes.at_rest import AtRest
from jdkmatrix.probes.clock_speed import fastest_clock_speeds
from jdkmatrix.probes.sampler import read_gauges
from jdkmatrix.records.forks import Audit, BurnCheck
from jdkmatrix.records.run import Calibration

BURN_REPEATS = 50
_QUIET_POLL_S = 0.25


def audit_books(base_url: str, *, is_alive: Callable[[], bool], within_s: float) -> Audit:
    """Audit the books of a server at rest: what the driver gave up may still wait for the remote system, or a thread.

    Raises:
        LostUpdateError: money was made or lost.
        HttpError: the server has ended, does not come to rest, or does not say.
    """
    with Connection(base_url, timeout_s=within_s) as connection:
        until, rest = time.monotonic() + within_s, AtRest()
        while not rest.look(read_gauges(connection)):
            if not is_alive():
                raise HttpError("the server has ended")
            if time.monotonic() > until:
                raise HttpError(f"requests are still in flight {within_s:.0f} s after the load")
            time.sleep(_QUIET_POLL_S)
        answer = connection.get_json("/audit")
    try:
        audit = Audit.model_validate(answer)
    except ValidationError as error:
        raise HttpError(f"/audit: {error.error_count()} wrong fields: {error.errors()[0]['loc']}") from None
    if not audit.conserved:
        told, accounts = audit.transfers_answered, audit.contradictions
        answered = "" if told is None else f"; {audit.transfers_done:,} transfers are recorded, {told:,} were answered"
        contradicting = f"{plural(accounts, 'account')} contradict{'s' if accounts == 1 else ''} the bookings"
        raise LostUpdateError(
            f"money was not conserved: the accounts hold {audit.balance_sum_minor:,}, but {audit.expected_sum_minor:,} "
            f"were paid in; {contradicting}{answered}"
        )
    return audit


def check_burn(
    connection: Connection,
    *,
    rounds: int,
    asked_us: int,
    calibration: Calibration | None,
    clock_speeds_before: Mapping[int, float],
) -> BurnCheck:
    """Measure the burn. The fastest of the clock readings around it is the clock of that moment; `clock_speeds_before`:
    by CPU of the server. On which of them the burn ran is not known: assume the one whose clock fits best."""
    answer = connection.get_json(f"/burn?rounds={rounds}&repeats={BURN_REPEATS}")
    best_us = float(answer["best_us"])
    expected_us: list[float] = []
    if calibration and (calibrated := calibration.clock_speed):
        now = fastest_clock_speeds(clock_speeds_before, calibrated)
        expected_us = [asked_us * calibrated / speed for speed in now.values()]
    return BurnCheck(
        rounds=rounds,
        asked_us=asked_us,
        best_us=best_us,
        expected_us=min(expected_us, key=lambda us: abs(us - best_us), default=None),
    )
