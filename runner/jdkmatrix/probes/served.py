"""Find the threads on which the requests of a window ran: what the application counted, and what the driver says. Pure.

Every request of the application counts itself when it begins, on the thread that runs it, by the name that the thread's
maker gave it (workloads/server-probes: Served). That is better evidence than the number of tasks handed to a plugged
executor: it holds for the server's own pool as well, it counts nothing but requests (our own queries run on the
executor, too), and it shows a request that some other thread served. It costs each request of every executor the same:
an atomic counter. It cannot see one thread serving two requests where each should have its own; the number of threads
that the executor has started shows that.
"""

from __future__ import annotations

import math

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import rise
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Gauges


def served_between(
    before: Gauges | None, after: Gauges | None, result: LoadResult, *, left_over: int, early_s: float | None = None
) -> Served | None:
    """Count the requests that began between two readings; None if the server did not tell. `left_over`: requests of
    earlier phases that may begin only now; `early_s`: how long the load was on between `before` and the part of the
    phase that counts, where the driver does not tell what it sent meanwhile."""
    if before is None or after is None:
        return None
    counts = {name: rise(getattr(before, counter), getattr(after, counter)) for name, counter in _COUNTERS.items()}
    if None in counts.values():
        return None
    begun_min, on_their_way = _answered(result), 0
    if early_s is not None:
        on_their_way = result.load.connections
        # Those may have begun before; and how many were refused in the part that counts is not known.
        begun_min = 0 if result.non_2xx else max(0, begun_min - on_their_way)
    return Served(
        **counts,
        begun_min=begun_min,
        begun_max=_sent_at_most(result) + left_over + _sent_early(result, early_s),
        left_over=left_over + on_their_way,
        threads_started=rise(before.threads_started, after.threads_started),
        early_s=early_s,
    )


def left_over_after(served: Served | None, result: LoadResult, *, left_over: int) -> int:
    """Return how many requests sent in this phase or before may begin after it: usually none. Requests that the driver
    gave up wait in the server's queues, or are lost with their connections; nobody can tell the two apart.

    A driver that does not say what it sent leaves at most one request per connection, plus those that failed."""
    if result.sent is None:
        return _sent_at_most(result) - result.completed
    begun = served.begun if served else _answered(result)
    return max(0, left_over + _sent_at_most(result) - begun)


_COUNTERS = {
    "servers": "served_on_servers",
    "plugged_virtual": "served_on_plugged_virtual",
    "plugged_platform": "served_on_plugged_platform",
    "elsewhere": "served_elsewhere",
}


def _sent_at_most(result: LoadResult) -> int:
    if (sent := result.sent_with_lead) is not None:
        return sent
    return result.completed + result.errors.total + result.load.connections


def _answered(result: LoadResult) -> int:
    """Return the number of 2xx responses within the phase and its lead."""
    return result.succeeded + (result.lead.succeeded if result.lead else 0)


def _sent_early(result: LoadResult, early_s: float | None) -> int:
    """Return an upper bound on the requests sent early: wrk2 catches up at twice its rate."""
    return math.ceil(2 * result.load.rate_rps * early_s) if early_s and isinstance(result.load, RateLoad) else 0
