"""What wrk2 can send, and when it does. Pure.

A thread opens its connections `CONNECT_STAGGER_MS` apart. Each sends at once when it is opened, and from then on every
connections / rate seconds (`thread_main` and `usec_to_next_send` in wrk2's `src/wrk.c`). Over a short time, or with few
requests for each connection, that is another load than the one asked for. Rates and times are whole numbers
(`scan_metric`, `scan_time`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from jdkmatrix.drivers.base import Phase
from jdkmatrix.drivers.wrk2_figures import CALIBRATE_DELAY_MS, CONNECT_STAGGER_MS, STOP_CHECK_S, calibrated_s, opening_s
from jdkmatrix.terms.loads import Load, RampLoad, RateLoad

# Of a dozen such phases the warm-up consists; shorter ones are made longer (`asked_s`) up to this.
_SHORTEST_MAX_S = 4
_SENDS_EACH = 4  # of every connection in a phase: what the first one is too early is then a quarter at most
_DUE_DEVIATION_MAX = 0.1  # of the requests of a measured window
_RECORDED_MIN = 0.5  # of a measured window


def thread_count(connections: int, cpus: int) -> int:
    """As many threads as there are CPUs, or the next number below that divides the connections.

    wrk2 gives every thread `connections / threads` rounded down and leaves the rest unopened.
    """
    return next(threads for threads in range(max(cpus, 1), 0, -1) if connections % threads == 0)


def whole_timeout_s(timeout_s: float) -> int:
    return math.ceil(timeout_s)


def asked_s(load: RateLoad, threads: int, duration_s: float) -> int:
    """How long a phase is made that is to last for `duration_s`: whole seconds, in which half of the time all
    connections are open, and each sends a few times."""
    return math.ceil(max(duration_s, _shortest_s(load, threads)))


def nearest(load: RateLoad, timeout_s: float) -> RateLoad:
    """The load with the next rate that is a whole number and high enough for its connections."""
    least_rps = max(
        math.ceil(load.connections * _SENDS_EACH / _SHORTEST_MAX_S),
        load.connections // whole_timeout_s(timeout_s) + 1,
    )
    return load.model_copy(update={"rate_rps": float(max(round(load.rate_rps), least_rps))})


def due_requests(load: RateLoad, threads: int, asked_s: int) -> int:
    """How many requests wrk2's own schedule asks for.

    With 50 connections in one thread at 1,000 requests/s that is 1 % less than rate times duration in 10 s, and 12 %
    less in 1 s.
    """
    per_thread = load.connections // threads
    per_connection_rps = Fraction(load.rate_rps) / load.connections
    delays_s = (Fraction(CONNECT_STAGGER_MS * index, 1000) for index in range(per_thread))
    return threads * sum(
        math.ceil((asked_s - delay_s) * per_connection_rps) for delay_s in delays_s if delay_s < asked_s
    )


def cannot_send(load: Load, *, cpus: int, timeout_s: float) -> str | None:
    """Why wrk2 cannot make that load for any length of time, or None."""
    if isinstance(load, RampLoad):
        return "wrk2 cannot change its rate: it sends at a constant one from start to end"
    if not isinstance(load, RateLoad):
        return "wrk2 has no closed loop: it always sends at a constant rate"
    if not load.rate_rps.is_integer():
        return f"wrk2 takes whole requests per second, not {load.rate_rps:g}"
    return next(_too_slow(load, thread_count(load.connections, cpus), whole_timeout_s(timeout_s)), None)


def cannot_measure(phase: Phase) -> str | None:
    """Why a window of that length would not say with wrk2 what it is to say, or None."""
    reason = cannot_send(phase.load, cpus=phase.cpus, timeout_s=phase.timeout_s)
    if reason is not None or not isinstance(phase.load, RateLoad):
        return reason
    threads = thread_count(phase.load.connections, phase.cpus)
    return next(_too_short(phase.load, threads, asked_s(phase.load, threads, phase.duration_s)), None)


def _too_slow(load: RateLoad, threads: int, timeout_s: int) -> Iterator[str]:
    period_s = load.connections / load.rate_rps
    sending = f"{load.connections:,} connections at {load.rate_rps:g} requests/s send every {period_s:.3g} s each"
    if period_s >= timeout_s:
        yield (
            f"{sending}; wrk2 would count such a pause as a timeout ({timeout_s} s): "
            "use fewer connections or a higher rate"
        )
    if period_s * _SENDS_EACH > _SHORTEST_MAX_S:
        yield (
            f"{sending}, but wrk2 sends on all of them as soon as they are open: over a window of the warm-up that is "
            f"another rate if they send less often than every {_SHORTEST_MAX_S / _SENDS_EACH:g} s; use fewer "
            "connections or a higher rate"
        )
    open_s = opening_s(load.connections, threads)
    if open_s * 2 > _SHORTEST_MAX_S:
        yield (
            f"each thread of wrk2 opens its {load.connections // threads:,} connections {CONNECT_STAGGER_MS} ms apart, "
            f"which takes {open_s:g} s and may take {_SHORTEST_MAX_S / 2:g} s: use fewer connections, or more CPUs for "
            "the driver"
        )


def _too_short(load: RateLoad, threads: int, lasts_s: int) -> Iterator[str]:
    due, wanted = due_requests(load, threads, lasts_s), load.rate_rps * lasts_s
    if abs(due / wanted - 1) > _DUE_DEVIATION_MAX:
        yield (
            f"wrk2 sends {due:,} requests in {lasts_s} s and not {wanted:,.0f}, since it opens its "
            f"{load.connections:,} connections {CONNECT_STAGGER_MS} ms apart and sends on each at once: use longer "
            "windows or fewer connections"
        )
    # A thread ends with its first answer after the end, or at its last look for timeouts before it calibrates.
    harmless_s = int(CALIBRATE_DELAY_MS / 1000 - STOP_CHECK_S)
    lost_s = calibrated_s(load.connections, threads)
    enough_s = math.ceil(lost_s / (1 - _RECORDED_MIN))
    if harmless_s < lasts_s < enough_s:
        yield (
            f"wrk2 throws the latencies of its first {lost_s:g} s away if it is still running then: of a window of "
            f"{lasts_s} s too few may be left; use windows of at most {harmless_s} s or at least {enough_s} s"
        )


def _shortest_s(load: RateLoad, threads: int) -> float:
    return max(2 * opening_s(load.connections, threads), _SENDS_EACH * load.connections / load.rate_rps)
