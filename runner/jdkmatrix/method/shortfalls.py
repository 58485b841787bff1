"""Shortfalls of a server under its load: no responses, too few, failed ones. A window with them is kept, since they are
what was to be found out: dropping it would keep only the forks that did well."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.loads import RampLoad, RateLoad
from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Share
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.reasons import Reason


class ResultLimits(Table):
    achieved_rate_min: Share = 0.99  # of the rate asked for
    error_share_max: Share = 0.0  # errors and responses other than 2xx, of all requests


def window_shortfalls(load: LoadResult, limits: ResultLimits, *, service_s: float = 0.0) -> tuple[Reason, ...]:
    """Return the server's shortfalls under its load; empty if there are none. `service_s`: see WindowContext."""
    return tuple(_of_answers(load, limits, _answer_s(load, service_s)))


def _of_answers(load: LoadResult, limits: ResultLimits, answer_s: float) -> Iterator[Reason]:
    if load.completed == 0:
        yield Reason(code="no-answers", message="no request was answered", figures={"completed": 0})
    due = _due(load, answer_s)
    # A server that at once refuses what is too much for it does not keep up.
    well = " with status 2xx" if load.non_2xx else ""
    if due is not None and (share := load.succeeded / due if due else 0.0) < limits.achieved_rate_min:
        yield Reason(
            code="rate-missed",
            message=f"{load.succeeded:,} of {due:,.0f} requests that were due were answered{well}",
            figures={"achieved_share": share, "min": limits.achieved_rate_min},
        )
    # Nor does one that worked off what it had not answered when the window began.
    elif due and load.latency_from_s and (share := load.succeeded / due) > 1 / limits.achieved_rate_min:
        yield Reason(
            code="rate-missed",
            message=f"{load.succeeded:,} requests were answered{well} where {due:,.0f} were due: the server was behind "
            "when the window began",
            figures={"achieved_share": share, "max": 1 / limits.achieved_rate_min},
        )
    errors, late = load.errors, load.late_non_2xx or 0
    failed = errors.total + load.non_2xx + late
    if failed > limits.error_share_max * (load.completed + (load.answered_late or 0) + errors.total):
        too_late = f" and {late} after the end" if late else ""
        unmade = f", {errors.connect} failed attempts to connect" if errors.connect else ""
        yield Reason(
            code="errors",
            message=f"{errors.unanswered} failed requests, {load.non_2xx} answers other than 2xx{too_late}{unmade}",
            figures={"failed": failed, "completed": load.completed, "max_share": limits.error_share_max},
        )


def _answer_s(load: LoadResult, service_s: float) -> float:
    """Return how long answers of a server that keeps up take: what is due later than that before the end of a window
    is answered after it. That is half of the requests' time in the second that was best: those of a server that does
    not keep up take longer from second to second."""
    typical_us = [one.p50_us for one in load.intervals if one.p50_us is not None]
    return max(service_s, min(typical_us) / 1e6) if typical_us else service_s


def _due(load: LoadResult, answer_s: float) -> float | None:
    """Return how many requests were due early enough to be answered in time; None for a closed loop."""
    match load.load:
        case RateLoad() as asked:
            # A driver may start its connections one after another, and then owes fewer than this.
            due = asked.rate_rps * load.duration_s if load.due is None else load.due
            # If the load was on before, responses to earlier requests stand in for those that come too late.
            return due if load.latency_from_s else max(0.0, due - asked.rate_rps * answer_s)
        case RampLoad() as ramp:
            return float(ramp.due_until(load.duration_s - answer_s))
        case _:
            return None
