"""Find out by trial whether the clock of a process leaves out the interrupts that interrupted it.

A kernel with CONFIG_IRQ_TIME_ACCOUNTING does not charge the time of hard and soft interrupts to the task that they
interrupt, unless it was started with `tsc=noirqtime` or has no clock that is good enough; other kernels do. The
configuration of a kernel is not always readable, and does not tell what its command line changed. So a thread sends
itself datagrams over loopback, a millisecond at a time, and its own clock is compared with the time that passed: the
kernel delivers a datagram in a soft interrupt on top of the thread that sends it. Only bursts count in which the thread
was never switched out: whatever else runs on this host has no part in those.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import quantiles

_DATAGRAM = bytes(64)
_DATAGRAMS = 100  # in one burst, which takes about a millisecond
_FOR_S = 0.5
BURSTS_MIN = 20
# Soft interrupts are 15 to 30 % of such a burst; reading the clocks and a tick are below 1 %.
MISSING_SHARE_MIN = 0.05


def decide(missing_shares: Sequence[float]) -> bool | None:
    """Return True if the clock leaves interrupts out; None: too few undisturbed bursts to tell.

    `missing_shares`: for each undisturbed burst, the share of the elapsed time that the clock of the thread lacks. Time
    that a hypervisor takes away is missing too, from some of them: the first quartile decides.
    """
    if len(missing_shares) < BURSTS_MIN:
        return None
    return quantiles(missing_shares, n=4)[0] > MISSING_SHARE_MIN


def irq_time_accounting(cpu: int) -> bool | None:
    """Try it on `cpu`, which this process may use, for half a second; None where it cannot be told."""
    try:
        with _on(cpu):
            return decide(list(undisturbed_bursts()))
    except OSError:
        return None


def undisturbed_bursts() -> Iterator[float]:
    """Yield, for each burst in which this thread was never switched out, the share that its CPU clock lacks."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as itself:
        itself.bind(("127.0.0.1", 0))
        itself.settimeout(1.0)
        address = itself.getsockname()
        until_ns = time.monotonic_ns() + round(_FOR_S * 1e9)
        while time.monotonic_ns() < until_ns:
            switches = _switches()
            begun_ns, own_begun_ns = time.monotonic_ns(), time.thread_time_ns()
            for _ in range(_DATAGRAMS):
                itself.sendto(_DATAGRAM, address)
                itself.recv(len(_DATAGRAM))
            own_ns, elapsed_ns = time.thread_time_ns() - own_begun_ns, time.monotonic_ns() - begun_ns
            if _switches() == switches:
                yield 1 - own_ns / elapsed_ns


def _switches() -> int:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_nvcsw + used.ru_nivcsw


@contextmanager
def _on(cpu: int) -> Iterator[None]:
    """Keep this thread on one CPU."""
    found = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, found)
