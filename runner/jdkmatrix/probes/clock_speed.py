"""Measure how fast a CPU does a fixed piece of serial work right now: its clock speed, in arbitrary units.

The work is the remainder of a large number by a small one: CPython divides digit by digit, each division waits for the
previous one, and the number fits into the first-level cache. So it keeps one unit of the CPU busy for a known number of
cycles, and leaves the rest to whatever else the core has to do. That is decisive: burn is such a chain, too, and both
follow the clock alike. Hashing does not. On a virtual machine with two CPUs (AMD EPYC) beside five to nine other busy
processes, burn varied by ± 1.9 % (half the interquartile range), PBKDF2 over SHA-256 by 18 %, with MD5 18 %, SHA-512
21 %, Adler-32 6 %, this by 2.1 %; divided by burn, 15, 17, 20, 6 and 1.6 %. Whatever shares the core slows hashing down
by a factor of 1.7, and a chain of divisions by nothing that could be seen.

What it cannot do: tell a lower clock from other work that used the CPU in each of the readings (the fastest of several
counts), or compare two hosts, two builds of Python or two kinds of core; it only compares moments of one CPU.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from statistics import fmean

_BITS_PER_DIGIT = 30
_DIGITS = 1000
_NUMBER = 2 ** (_DIGITS * _BITS_PER_DIGIT) // 7
_DIVISOR = 2**_BITS_PER_DIGIT - 35
_TIMES = 240
_READINGS = 5
_LIKELY = 0.98  # of the expected speed: a reading this close is believed
_AGAIN, _PAUSE_S = 10, 0.1


@cache
def clock_reader() -> str:
    """Return what the readings are comparable within: this build of Python, and this work."""
    work = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return f"{sys.version} {work[:12]}"


def read_clock_speed(cpu: int) -> float | None:
    """Return the divisions per microsecond on `cpu`, the fastest of several readings of a millisecond each.

    This thread runs on `cpu` meanwhile. None if the kernel does not let it.
    """
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return None
    try:
        return max(_speed() for _ in range(_READINGS))
    finally:
        os.sched_setaffinity(0, before)


def read_clock_speeds(cpus: Iterable[int]) -> dict[int, float]:
    """Read the speeds by CPU, except those on which the kernel does not let this thread run. CPUs of one kind can
    differ: the maker favours some, which reach higher clocks."""
    return {cpu: speed for cpu in cpus if (speed := read_clock_speed(cpu)) is not None}


def mean_clock_speed(cpus: Iterable[int]) -> float | None:
    """Read the CPUs now and return the mean speed of all that can be read."""
    return mean_speed(read_clock_speeds(cpus))


def mean_speed(speeds: Mapping[int, float]) -> float | None:
    """Return the mean of the speeds; None if none could be read."""
    return fmean(speeds.values()) if speeds else None


def fastest_clock_speeds(before: Mapping[int, float], expected: float) -> dict[int, float]:
    """Return the fastest of `before` and of readings since, by CPU, in divisions per microsecond.

    Whatever disturbs a reading makes it slower, and may last as long as one. So if a CPU seems slower than `expected`,
    all are read again, for about a second; a slower clock stays so. Leaves out the same CPUs as `read_clock_speeds`.
    """
    fastest = dict(before)
    for pause_s in (0.0, *[_PAUSE_S] * _AGAIN):
        time.sleep(pause_s)
        fastest = {cpu: max(fastest[cpu], now) for cpu, now in read_clock_speeds(fastest).items()}
        if min(fastest.values(), default=expected) >= _LIKELY * expected:
            break
    return fastest


def _speed() -> float:
    began_ns = time.perf_counter_ns()
    for _ in range(_TIMES):
        _ = _NUMBER % _DIVISOR
    return _TIMES * _DIGITS * 1e3 / (time.perf_counter_ns() - began_ns)
