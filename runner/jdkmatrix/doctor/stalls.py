"""Measure how long the CPUs stand still under a loop that does nothing but read the clock.

A gap between two readings is time in which the loop did not run. The kernel says for how much of it the loop waited for
other processes of this host (run_delay: Documentation/scheduler/sched-stats.rst); for the rest the CPU itself was
away: the hypervisor ran another guest, or firmware or an interrupt held it. The steal column of /proc/stat shows only
what the hypervisor admits. The idea is that of the kernel's own hwlat detector
(Documentation/trace/hwlat_detector.rst).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jdkmatrix.doctor.spin import GAP_NS
from jdkmatrix.host.cpu_ticks import read_ticks

_START_S = 0.5  # every spinner has imported what it needs by then, and they all begin together
_ENDED_S = 10.0


@dataclass(frozen=True)
class Stalls:
    """One CPU over `spun_s` seconds. `gaps` counts stretches above 0.5 ms in which the loop neither ran nor waited for
    a process of this host; `away_s` is their sum and `longest_away_s` the longest; `waited_s` is the wait for such
    processes; `stolen_s` is what the hypervisor admits, None if it is not shown."""

    cpu: int
    spun_s: float
    gaps: int
    away_s: float
    longest_away_s: float
    waited_s: float
    stolen_s: float | None


def probe(root: Path, cpus: Sequence[int], spin_s: float) -> tuple[Stalls, ...] | None:
    """Spin on all `cpus` at once for `spin_s`: a run also loads the CPUs of server and driver at the same time.

    Returns None if no CPU could be probed.
    """
    before = read_ticks(root / "proc")
    start_ns = time.monotonic_ns() + int(_START_S * 1e9)
    spin = [sys.executable, "-I", str(Path(__file__).with_name("spin.py"))]
    spinners = []
    try:
        for cpu in cpus:
            command = [*spin, str(cpu), str(start_ns), str(spin_s)]
            spinners.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        printed = [spinner.communicate(timeout=_START_S + spin_s + _ENDED_S)[0] for spinner in spinners]
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    after = read_ticks(root / "proc")
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    stalls = []
    for cpu, spinner, text in zip(cpus, spinners, printed, strict=True):
        if spinner.returncode == 0:
            shown = cpu in before and cpu in after
            stolen_s = (after[cpu].steal - before[cpu].steal) / ticks_per_s if shown else None
            stalls.append(sum_stalls(cpu, json.loads(text), stolen_s=stolen_s))
    return tuple(stalls) or None


def sum_stalls(cpu: int, printed: dict[str, Any], *, stolen_s: float | None) -> Stalls:
    """Sum up what spin.py `printed`: spun_ns, and gaps as pairs (length, of which waited), in ns. Pure."""
    gaps = printed["gaps"]
    # A gap less its wait still includes the two context switches and a cold cache, which are the process's doing.
    away = [length - waited for length, waited in gaps if length - waited > GAP_NS]
    return Stalls(
        cpu=cpu,
        spun_s=printed["spun_ns"] / 1e9,
        gaps=len(away),
        away_s=sum(away) / 1e9,
        longest_away_s=max(away, default=0) / 1e9,
        waited_s=sum(waited for _, waited in gaps) / 1e9,
        stolen_s=stolen_s,
    )
