"""The schedule of wrk2: rates that it can make, when it sends, and which requests count. Pure.

A thread opens its connections `CONNECT_STAGGER_MS` apart. Each sends as soon as it is open, and from then on every
connections / rate seconds (`thread_main` and `usec_to_next_send` in wrk2's `src/wrk.c`). While they are being opened,
and with few requests for each, that is a different load from the one asked for. Rates and times are whole numbers
(`scan_metric`, `scan_time`).
"""

from __future__ import annotations

import math
from fractions import Fraction

from jdkmatrix.domain.loads import Load, RampLoad, RateLoad
from jdkmatrix.drivers.base import Phase
from jdkmatrix.drivers.wrk2_figures import CONNECT_STAGGER_MS, calibrated_s, opening_s

WINDOW_S_MIN = 10.0  # beside the same time that wrk2 discards, shorter windows cost more than they tell
_OPENING_MAX_S = 20.0
_DUE_DEVIATION_MAX = 0.1  # of the requests of a measured window
_BURST_MAX = 0.01  # of a window's requests: no more may be missing if a rate was held (method.shortfalls)


def thread_count(connections: int, cpus: int) -> int:
    """Return the number of CPUs, or the next lower number that divides the connections.

    wrk2 gives every thread `connections / threads` rounded down and leaves the rest unopened.
    """
    return next(threads for threads in range(max(cpus, 1), 0, -1) if connections % threads == 0)


def asked_s(load: RateLoad, threads: int, duration_s: float) -> int:
    """Return the duration that wrk2 is started with so that at least `duration_s` count."""
    return math.ceil(calibrated_s(load.connections, threads) + duration_s)


def due_requests(load: RateLoad, threads: int, from_s: float, to_s: float) -> int:
    """Return how many requests wrk2's own schedule asks for between two times after its start."""
    per_connection_rps = Fraction(load.rate_rps) / load.connections
    delays_s = [Fraction(CONNECT_STAGGER_MS * index, 1000) for index in range(load.connections // threads)]

    def until(t_s: float) -> int:
        at_s = Fraction(repr(t_s))
        return sum(math.ceil((at_s - delay_s) * per_connection_rps) for delay_s in delays_s if delay_s < at_s)

    return threads * (until(to_s) - until(from_s))


def cannot_send(load: Load, *, cpus: int, timeout_s: float) -> str | None:
    """Return why wrk2 cannot make that load for any length of time, or None."""
    if isinstance(load, RampLoad):
        return "wrk2 cannot change its rate: it is constant from start to end"
    if not isinstance(load, RateLoad):
        return "wrk2 has no closed loop: it always sends at a constant rate"
    if not load.rate_rps.is_integer():
        return f"wrk2 takes whole requests per second, not {load.rate_rps:g}"
    period_s = load.connections / load.rate_rps
    if period_s >= math.ceil(timeout_s):
        return (
            f"{load.connections:,} connections at {load.rate_rps:g} requests/s each send every {period_s:.3g} s; wrk2 "
            f"would count such a pause as a timeout ({math.ceil(timeout_s)} s): use fewer connections or a higher rate"
        )
    threads = thread_count(load.connections, cpus)
    open_s = opening_s(load.connections, threads)
    if open_s > _OPENING_MAX_S:
        return (
            f"each thread of wrk2 opens its {load.connections // threads:,} connections {CONNECT_STAGGER_MS} ms apart, "
            f"which takes {open_s:g} s and may take {_OPENING_MAX_S:g} s: use fewer connections, or more CPUs for the "
            "driver"
        )
    return None


def cannot_measure(phase: Phase) -> str | None:
    """Return why a window of that length would not measure with wrk2 what it is meant to, or None."""
    load, duration_s = phase.load, phase.duration_s
    reason = cannot_send(load, cpus=phase.cpus, timeout_s=phase.timeout_s)
    if reason is not None or not isinstance(load, RateLoad):
        return reason
    threads = thread_count(load.connections, phase.cpus)
    lead = calibrated_s(load.connections, threads)
    if duration_s < WINDOW_S_MIN:
        return (
            f"wrk2 discards the latencies of its first {lead:g} s: after that, its windows must be at least "
            f"{WINDOW_S_MIN:g} s long, not {duration_s:g} s"
        )
    due, wanted = due_requests(load, threads, lead, lead + duration_s), load.rate_rps * duration_s
    if abs(due / wanted - 1) > _DUE_DEVIATION_MAX:
        return (
            f"wrk2 sends {due:,} requests in {duration_s:g} s instead of {wanted:,.0f}, since each of its "
            f"{load.connections:,} connections sends so rarely: use longer windows or fewer connections"
        )
    if (share := _burst_s(load, threads) / duration_s) > _BURST_MAX:
        return (
            f"wrk2 sends in bursts, one every {load.connections / load.rate_rps:.3g} s: in {duration_s:g} s there may "
            f"be up to {share:.0%} more or fewer answers than requests, which would look as though the server had "
            "missed the rate: use a higher rate, longer windows or fewer connections"
        )
    return None


def _burst_s(load: RateLoad, threads: int) -> float:
    """Return the seconds of the load by which the answers that arrive between two moments may differ from the requests
    that are sent between them, however long answers take.

    A thread's connections send one after another, from the first to the last in `opening_s`, and again every
    connections / rate seconds. If the first takes k times as long as the second, and f is the fraction in k, the rate
    is (k - f) / k of its mean for 1 - f of every period, and (k - f + 1) / k of it in the rest: up to f (1 - f) / k of
    the requests of a period come early or late, at either end."""
    period_s = load.connections / load.rate_rps
    k = opening_s(load.connections, threads) / period_s
    return 2 * period_s * (k % 1) * (1 - k % 1) / k
