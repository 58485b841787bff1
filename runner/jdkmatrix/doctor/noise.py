"""Load, other processes, and time that the hypervisor takes away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jdkmatrix.doctor.activity import Activity
from jdkmatrix.doctor.base import Diagnosis, Host, Property
from jdkmatrix.doctor.stalls import Stalls
from jdkmatrix.method.gates import Thresholds

LOAD_PER_CPU_MAX = 0.2  # of the CPUs of a small host: a run in which others have every fifth moment is no run
LOAD_MAX = 1.0  # one process that never rests, however large the host: it shares cache and memory
FOREIGN_CPUS_MAX = Thresholds().foreign_sut_share_max  # of one CPU: above it, a window on that CPU is invalid
STEAL_SHARE_MAX = Thresholds().steal_per_precision_max * 0.02  # of a window of a profile that promises ± 2 %
STEAL_SHARE_UNFIT = 0.10  # hardly a window would be valid
AWAY_SHARE_MAX = 0.005  # a quarter of the difference that a run with `precision = 2 %` can tell
AWAY_SHARE_UNFIT = 0.10
LONGEST_AWAY_MAX_S = 0.005  # at 1,000 requests/s it delays the slowest 0.5 % of a second by as much
# Percent of the last 10 s in which some task waited (Documentation/accounting/psi.rst). Idle hosts show 0; a memory
# wait is a reclaim or a page read again, which a host with memory to spare never has.
PSI_AVG10_MAX = {"cpu": 5.0, "memory": 1.0, "io": 5.0}


@dataclass(frozen=True)
class LoadAverage:
    one_min: float
    cpus: int


class Load(Property[LoadAverage]):
    name = "load average"
    not_shown = "how busy the last minute was stays unknown"

    def read(self, host: Host) -> LoadAverage | None:
        text = host.text("/proc/loadavg")
        return LoadAverage(float(text.split()[0]), max(len(host.allowed), 1)) if text else None

    def judge(self, value: LoadAverage) -> Diagnosis:
        found = f"{value.one_min:.2f} over the last minute"
        if value.one_min <= min(LOAD_MAX, LOAD_PER_CPU_MAX * value.cpus):
            return Diagnosis("ready", found)
        return Diagnosis("noisy", found, "others use this host", "end what else is running, and wait a minute")


class PressureStall(Property[dict[str, float]]):
    name = "pressure (PSI)"
    not_shown = "how long tasks waited for CPU, memory and disk stays unknown: boot with psi=1"

    def read(self, host: Host) -> dict[str, float] | None:
        averages = {}
        for resource in PSI_AVG10_MAX:
            match = re.search(r"^some avg10=([\d.]+)", host.text(f"/proc/pressure/{resource}") or "", re.MULTILINE)
            if match:
                averages[resource] = float(match.group(1))
        return averages or None

    def judge(self, value: dict[str, float]) -> Diagnosis:
        found = ", ".join(f"{resource} {share:.1f} %" for resource, share in value.items()) + " of the last 10 s"
        above = [resource for resource, share in value.items() if share > PSI_AVG10_MAX[resource]]
        if not above:
            return Diagnosis("ready", found)
        return Diagnosis("noisy", found, f"tasks wait for {' and '.join(above)}", "end what else is running")


class ForeignLoad(Property[Activity]):
    """Sampled while this process sleeps."""

    name = "other load"
    not_shown = "what other processes use stays unknown"

    def read(self, host: Host) -> Activity | None:
        return host.activity

    def judge(self, value: Activity) -> Diagnosis:
        found = f"{value.foreign_cpus:.2f} CPUs over {value.elapsed_s:.1f} s"
        if value.foreign_cpus <= FOREIGN_CPUS_MAX:
            return Diagnosis("ready", found)
        named = ", ".join(f"{name} {cpus:.2f}" for name, cpus in value.busiest)
        why = "others take time and cache from server and driver; windows in which they do are invalid"
        return Diagnosis("noisy", f"{found}: {named or 'no process shown'}", why, "end these, or wait for them")


class Steal(Property[tuple[Stalls, ...]]):
    """Sampled while every CPU spins: from a CPU that has nothing to do, nothing is stolen."""

    name = "steal"
    not_shown = "how much a hypervisor takes away stays unknown"

    def read(self, host: Host) -> tuple[Stalls, ...] | None:
        return tuple(stall for stall in host.stalls or () if stall.stolen_s is not None) or None

    def judge(self, value: tuple[Stalls, ...]) -> Diagnosis:
        share, cpu = max(((stall.stolen_s or 0.0) / stall.spun_s, stall.cpu) for stall in value)
        found = f"up to {share:.1%} (CPU {cpu})" if share else "none"
        if share <= STEAL_SHARE_MAX:
            return Diagnosis("ready", found)
        why = "the hypervisor gives the CPUs to other guests meanwhile"
        advice = "dedicated CPUs or metal; else more blocks, as windows with steal are invalid"
        return Diagnosis("unfit" if share > STEAL_SHARE_UNFIT else "noisy", found, why, advice)


class Hiccups(Property[tuple[Stalls, ...]]):
    name = "hiccups"
    not_shown = "for how long the CPUs stand still was not probed"

    def read(self, host: Host) -> tuple[Stalls, ...] | None:
        return host.stalls

    def judge(self, value: tuple[Stalls, ...]) -> Diagnosis:
        worst = max(value, key=_away_share)
        longest_ms = max(stall.longest_away_s for stall in value) * 1e3
        share = _away_share(worst)
        waited_s = max(stall.waited_s for stall in value)
        others = f"; other processes had {waited_s * 1e3:.0f} ms" if waited_s > 0 else ""
        if not worst.gaps:
            return Diagnosis("ready", f"none above 0.5 ms on {len(value)} CPUs{others}")
        found = f"away up to {share:.2%} (CPU {worst.cpu}, {worst.gaps} gaps); longest {longest_ms:.1f} ms{others}"
        if share <= AWAY_SHARE_MAX and longest_ms <= LONGEST_AWAY_MAX_S * 1e3:
            return Diagnosis("ready", found)
        told = "none" if worst.stolen_s is None else f"{worst.stolen_s * 1e3:.0f} ms"
        official = f"{worst.away_s * 1e3:.0f} ms in all, reported as steal: {told}"
        why = f"the CPUs stood still although no process of this host had them ({official}): this is in every tail"
        advice = "metal or dedicated CPUs; else trust no tail shorter than these gaps, and use more blocks"
        return Diagnosis("unfit" if share > AWAY_SHARE_UNFIT else "noisy", found, why, advice)


def _away_share(stall: Stalls) -> float:
    return stall.away_s / stall.spun_s
