"""Spin on one CPU and print the gaps in the clock as JSON: `spin.py CPU START_NS SECONDS`.

A separate program that imports little: one process per CPU, so that they do not share an interpreter lock.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path

GAP_NS = 500_000  # the loop takes about 0.1 µs a turn and a timer interrupt a few µs: half a millisecond is neither


def spin(start_ns: int, duration_ns: int) -> dict[str, object]:
    """Read CLOCK_MONOTONIC until `duration_ns` after `start_ns`. Gaps are pairs in ns: the length, and for how much of
    it the loop waited for other processes of this host."""
    gaps: list[tuple[int, int]] = []
    clock = time.monotonic_ns
    time.sleep(max(0, start_ns - clock()) / 1e9)
    waited = _waited_ns()
    began = previous = clock()
    end = began + duration_ns
    while previous < end:
        now = clock()
        length = now - previous
        if length > GAP_NS:
            waited_now = _waited_ns()
            gaps.append((length, min(length, max(0, waited_now - waited))))
            waited = waited_now
            now = clock()
        previous = now
    return {"spun_ns": previous - began, "gaps": gaps}


def _waited_ns() -> int:
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1])
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[1])})
    gc.disable()
    print(json.dumps(spin(int(sys.argv[2]), int(float(sys.argv[3]) * 1e9))))
