"""How fast the CPUs run, and how fast they wake up."""

from __future__ import annotations

import math
import sys
from collections import Counter

from jdkmatrix.doctor.base import Check, Host, HostChange

_CPU = "/sys/devices/system/cpu"

# A request of the smallest workload takes about 100 µs of CPU: a wake-up that costs half as much would be part of every
# latency at a moderate rate, and of none at saturation.
DEEPEST_LATENCY_MAX_US = 50
GUEST_DRIVER = "haltpoll"  # Documentation/virt/guest-halt-polling.rst


def governor(host: Host) -> Check | None:
    files = host.matching(f"{_CPU}/cpufreq/policy*/scaling_governor")
    governors = {file: text for file in files if (text := host.text(file)) is not None}
    if not governors:
        return None
    counts = Counter(governors.values())
    found = ", ".join(name if len(counts) == 1 else f"{name} on {count}" for name, count in sorted(counts.items()))
    driver = host.text(next(iter(governors)).replace("_governor", "_driver"))
    found += f" ({driver})" if driver else ""
    if set(counts) == {"performance"}:
        return Check("ready", found)
    offered = [(host.text(file.replace("_governor", "_available_governors")) or "").split() for file in governors]
    slow = [file for file, now in governors.items() if now != "performance"]
    changes = (HostChange(file, "performance", "one clock rate, whatever the load") for file in slow)
    return Check(
        "noisy",
        found,
        "the clock rate follows the load: an executor that leaves CPUs idle between requests gets slower CPUs",
        "cpupower frequency-set --governor performance",
        tuple(changes) if all("performance" in names for names in offered) else (),
    )


def boost(host: Host) -> Check | None:
    """Check turbo boost. The two kinds of driver use opposite values for on and off."""
    for file, on, off in ((f"{_CPU}/intel_pstate/no_turbo", "0", "1"), (f"{_CPU}/cpufreq/boost", "1", "0")):
        text = host.text(file)
        if text == off:
            return Check("ready", "off")
        if text == on:
            why = (
                "the clock rate depends on temperature and on how many CPUs are busy, and so on the order of the forks"
            )
            change = HostChange(file, off, "one clock rate, whatever the temperature")
            return Check("noisy", "on", why, f"echo {off} > {file}", (change,))
    return None


def c_states(host: Host) -> Check | None:
    """Check cpuidle (Documentation/admin-guide/pm/cpuidle.rst): `latency` is the time in µs to leave a state. A state
    that takes longer than PM QoS allows is not entered (Documentation/power/pm_qos_interface.rst)."""
    files = host.matching(f"{_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/disable")
    latencies_us = {file: us for file in files if (us := host.number(file.replace("/disable", "/latency"))) is not None}
    if not latencies_us:
        return None
    max_us = _wake_up_max_us(host)
    enabled = {
        file: us
        for file, us in latencies_us.items()
        if host.text(file) == "0" and us <= min(max_us, _wake_up_max_us_of(host, file.partition("/cpuidle/")[0]))
    }
    if not enabled:
        return Check("ready", "all off")
    deepest = max(enabled, key=lambda file: enabled[file])
    folder, deepest_us = deepest.removesuffix("/disable"), enabled[deepest]
    driver = host.text(f"{_CPU}/cpuidle/current_driver")
    found = f"deepest {host.text(f'{folder}/name') or folder.rpartition('/')[2]}, {deepest_us} µs to wake up"
    found += f", {driver}" if driver else ""
    fix = f"no sleep that takes more than {DEEPEST_LATENCY_MAX_US} µs to end"
    changes = tuple(HostChange(file, "1", fix) for file, us in enabled.items() if us > DEEPEST_LATENCY_MAX_US)
    if driver == GUEST_DRIVER:
        why = "this CPU only hands over to the hypervisor, which decides how it sleeps"
        return Check("not shown", found, why, changes=changes)
    if not changes:
        return Check("ready", found)
    why = "a CPU that slept answers later: at a moderate rate this adds to the latency of the executor that sleeps more"
    advice = f"cpupower idle-set --disable-by-latency {DEEPEST_LATENCY_MAX_US + 1}"
    return Check("noisy", found, why, advice, changes)


def _wake_up_max_us(host: Host) -> float:
    """Return the wake-up latency in µs that some process allows all CPUs while it holds this file open; infinite if
    the file cannot be read: only root may read it."""
    try:
        return int.from_bytes(host.at("/dev/cpu_dma_latency").read_bytes(), sys.byteorder, signed=True)
    except OSError:
        return math.inf


def _wake_up_max_us_of(host: Host, cpu: str) -> float:
    """Return the same for one CPU. In its file, 0 means that there is no limit, "n/a" that the CPU must not sleep."""
    file = f"{cpu}/power/pm_qos_resume_latency_us"
    return 0 if host.text(file) == "n/a" else host.number(file) or math.inf
