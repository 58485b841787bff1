"""Load, other processes, and time that the hypervisor takes away."""

from __future__ import annotations

import math
import re

from jdkmatrix.doctor.base import Check, Host
from jdkmatrix.doctor.stalls import Stalls
from jdkmatrix.domain.quantities import plural
from jdkmatrix.host.cgroup_limits import quotas_cpus
from jdkmatrix.method.gates import Thresholds

LOAD_PER_CPU_MAX = 0.2  # of the CPUs of a small host: a run in which others take a fifth of the time is no run
LOAD_MAX = 1.0  # one process that is always busy, however large the host: it shares cache and memory
FOREIGN_CPUS_MAX = Thresholds().foreign_sut_share_max  # of one CPU: above it, a window on that CPU is invalid
STEAL_SHARE_MAX = Thresholds().steal_per_precision_max * 0.02  # of a window of a profile that promises ± 2 %
STEAL_SHARE_UNFIT = 0.10  # hardly any window would be valid
AWAY_SHARE_MAX = 0.005  # a quarter of the difference that a run with `precision = 2 %` can detect
AWAY_SHARE_UNFIT = 0.10
LONGEST_AWAY_MAX_S = 0.005  # at 1,000 requests/s it delays the slowest 0.5 % of a second's requests by up to as much
# Per cent of the last 10 s in which some task waited (Documentation/accounting/psi.rst). Idle hosts show 0; a memory
# wait is a reclaim, or a page that is read again, which never happens on a host with memory to spare.
PSI_AVG10_MAX = {"cpu": 5.0, "memory": 1.0, "io": 5.0}


def load(host: Host) -> Check | None:
    text = host.text("/proc/loadavg")
    if not text:
        return None
    one_min = float(text.split()[0])
    found = f"{one_min:.2f} over the last minute"
    if one_min <= min(LOAD_MAX, LOAD_PER_CPU_MAX * max(len(host.allowed), 1)):
        return Check("ready", found)
    return Check("noisy", found, "others use this host", "stop whatever else is running, and wait a minute")


def pressure_stall(host: Host) -> Check | None:
    shares = {}
    for resource in PSI_AVG10_MAX:
        match = re.search(r"^some avg10=([\d.]+)", host.text(f"/proc/pressure/{resource}") or "", re.MULTILINE)
        if match:
            shares[resource] = float(match.group(1))
    if not shares:
        return None
    found = ", ".join(f"{resource} {share:.1f} %" for resource, share in shares.items()) + " of the last 10 s"
    above = [resource for resource, share in shares.items() if share > PSI_AVG10_MAX[resource]]
    if not above:
        return Check("ready", found)
    return Check("noisy", found, f"tasks wait for {' and '.join(above)}", "stop whatever else is running")


def foreign_load(host: Host) -> Check | None:
    """Check the load of other processes, sampled while this process sleeps."""
    seen = host.activity
    if seen is None:
        return None
    found = f"{seen.foreign_cpus:.2f} CPUs over {seen.elapsed_s:.1f} s"
    # A sum over CPUs: the scatter of each, tick rounding included, adds up with the square root of their number.
    if seen.foreign_cpus <= FOREIGN_CPUS_MAX * math.sqrt(max(1, len(host.allowed))):
        return Check("ready", found)
    named = ", ".join(f"{name} {cpus:.2f}" for name, cpus in seen.busiest)
    why = "others take time and cache from server and driver; windows in which they do are invalid"
    return Check("noisy", f"{found}: {named or 'no process shown'}", why, "stop these, or wait until they end")


def steal(host: Host) -> Check | None:
    """Check steal, sampled while every CPU spins: nothing is stolen from an idle CPU."""
    shares = [(one.stolen_s / one.spun_s, one.cpu) for one in host.stalls or () if one.stolen_s is not None]
    if not shares:
        return None
    share, cpu = max(shares)
    found = f"up to {share:.1%} (CPU {cpu})" if share else "none"
    if share <= STEAL_SHARE_MAX:
        return Check("ready", found)
    why = "the hypervisor gives the CPUs to other guests for that time"
    advice = "dedicated CPUs or bare metal; else more blocks, as windows with steal are invalid"
    return Check("unfit" if share > STEAL_SHARE_UNFIT else "noisy", found, why, advice)


def hiccups(host: Host) -> Check | None:
    stalls = host.stalls
    if stalls is None:
        return None
    worst = max(stalls, key=_away_share)
    longest_ms = max(stall.longest_away_s for stall in stalls) * 1e3
    share = _away_share(worst)
    waited_s = max(stall.waited_s for stall in stalls)
    quota_cpus = min(quotas_cpus(host.hierarchies, host.text), default=math.inf)
    # A task that a quota keeps from running also counts as waiting, and this probe uses all CPUs at once.
    whose = "other processes had" if quota_cpus >= len(stalls) else "other processes, or the CPU quota, kept"
    others = f"; {whose} {waited_s * 1e3:.0f} ms" if waited_s > 0 else ""
    if not worst.gaps:
        return Check("ready", f"none above 0.5 ms on {plural(len(stalls), 'CPU')}{others}")
    gaps = plural(worst.gaps, "gap")
    found = f"away up to {share:.2%} (CPU {worst.cpu}, {gaps}); longest {longest_ms:.1f} ms{others}"
    if share <= AWAY_SHARE_MAX and longest_ms <= LONGEST_AWAY_MAX_S * 1e3:
        return Check("ready", found)
    told = "none" if worst.stolen_s is None else f"{worst.stolen_s * 1e3:.0f} ms"
    official = f"{worst.away_s * 1e3:.0f} ms in all, reported as steal: {told}"
    why = f"the CPUs stood still although no process of this host had them ({official}): every tail includes this"
    advice = "bare metal or dedicated CPUs; else trust no tail shorter than these gaps, and use more blocks"
    return Check("unfit" if share > AWAY_SHARE_UNFIT else "noisy", found, why, advice)


def _away_share(stall: Stalls) -> float:
    return stall.away_s / stall.spun_s
