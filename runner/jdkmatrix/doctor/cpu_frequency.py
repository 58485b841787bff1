"""How fast the CPUs run, and how fast they wake up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property

_CPU = "/sys/devices/system/cpu"

# A request of the smallest workload takes about 100 µs of CPU: a wake-up that costs half of that would be in every
# latency at a moderate rate, and in none at saturation.
DEEPEST_LATENCY_MAX_US = 50
GUEST_DRIVER = "haltpoll"  # Documentation/virt/guest-halt-polling.rst


@dataclass(frozen=True)
class Scaling:
    """`governors` by file; `performance` says whether every one of them may be set to it."""

    driver: str | None
    governors: Mapping[str, str]
    performance: bool


class Governor(Property[Scaling]):
    name = "frequency governor"
    not_shown = "whether the CPUs change their frequency with the load stays unknown; in a VM the host decides"

    def read(self, host: Host) -> Scaling | None:
        files = host.matching(f"{_CPU}/cpufreq/policy*/scaling_governor")
        governors = {file: text for file in files if (text := host.text(file)) is not None}
        if not governors:
            return None
        offered = [(host.text(file.replace("_governor", "_available_governors")) or "").split() for file in governors]
        driver = host.text(next(iter(governors)).replace("_governor", "_driver"))
        return Scaling(driver, governors, all("performance" in names for names in offered))

    def judge(self, value: Scaling) -> Diagnosis:
        counts = Counter(value.governors.values())
        found = ", ".join(name if len(counts) == 1 else f"{name} on {count}" for name, count in sorted(counts.items()))
        found += f" ({value.driver})" if value.driver else ""
        if set(counts) == {"performance"}:
            return Diagnosis("ready", found)
        return Diagnosis(
            "noisy",
            found,
            "the clock rate follows the load: an executor that leaves CPUs idle between requests gets slower CPUs",
            "cpupower frequency-set --governor performance",
        )

    def fix(self, value: Scaling) -> tuple[HostChange, ...]:
        if not value.performance:
            return ()
        why = "one clock rate, whatever the load"
        return tuple(
            HostChange(file, "performance", why) for file, now in value.governors.items() if now != "performance"
        )


@dataclass(frozen=True)
class BoostSwitch:
    """`off` is what to write to switch boost off: the two kinds of driver count the other way round."""

    file: str
    on: bool
    off: str


class Boost(Property[BoostSwitch]):
    name = "turbo / boost"
    not_shown = "whether the clock rate rises above its nominal one stays unknown; in a VM the host decides"

    def read(self, host: Host) -> BoostSwitch | None:
        for file, on, off in ((f"{_CPU}/intel_pstate/no_turbo", "0", "1"), (f"{_CPU}/cpufreq/boost", "1", "0")):
            text = host.text(file)
            if text in (on, off):
                return BoostSwitch(file, text == on, off)
        return None

    def judge(self, value: BoostSwitch) -> Diagnosis:
        if not value.on:
            return Diagnosis("ready", "off")
        return Diagnosis(
            "noisy",
            "on",
            "the clock rate depends on temperature and on how many CPUs are busy, and so on the order of the forks",
            f"echo {value.off} > {value.file}",
        )

    def fix(self, value: BoostSwitch) -> tuple[HostChange, ...]:
        return (HostChange(value.file, value.off, "one clock rate, whatever the temperature"),) if value.on else ()


@dataclass(frozen=True)
class IdleState:
    """`disable` is the file that switches it off."""

    name: str
    latency_us: int
    enabled: bool
    disable: str


@dataclass(frozen=True)
class IdleStates:
    driver: str | None
    states: tuple[IdleState, ...]


class CStates(Property[IdleStates]):
    """cpuidle (Documentation/admin-guide/pm/cpuidle.rst): `latency` is the time in µs to leave a state."""

    name = "C-states"
    not_shown = "how long a sleeping CPU takes to wake up stays unknown; in a VM the host decides"

    def read(self, host: Host) -> IdleStates | None:
        states = []
        for file in host.matching(f"{_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/disable"):
            folder = file.removesuffix("/disable")
            latency_us = host.number(f"{folder}/latency")
            if latency_us is not None:
                name = host.text(f"{folder}/name") or folder.rpartition("/")[2]
                states.append(IdleState(name, latency_us, host.text(file) == "0", file))
        return IdleStates(host.text(f"{_CPU}/cpuidle/current_driver"), tuple(states)) if states else None

    def judge(self, value: IdleStates) -> Diagnosis:
        deepest = max((state for state in value.states if state.enabled), key=_latency_us, default=None)
        if deepest is None:
            return Diagnosis("ready", "all off")
        driver = f", {value.driver}" if value.driver else ""
        found = f"deepest {deepest.name}, {deepest.latency_us} µs to wake up{driver}"
        if value.driver == GUEST_DRIVER:
            return Diagnosis(
                "not shown", found, "this CPU only hands over to the hypervisor, which decides how it sleeps"
            )
        if deepest.latency_us <= DEEPEST_LATENCY_MAX_US:
            return Diagnosis("ready", found)
        return Diagnosis(
            "noisy",
            found,
            "a CPU that slept answers later: at a moderate rate this is in the latency of whoever sleeps more",
            f"cpupower idle-set --disable-by-latency {DEEPEST_LATENCY_MAX_US + 1}",
        )

    def fix(self, value: IdleStates) -> tuple[HostChange, ...]:
        why = f"no sleep that takes more than {DEEPEST_LATENCY_MAX_US} µs to end"
        deep = (state for state in value.states if state.enabled and state.latency_us > DEEPEST_LATENCY_MAX_US)
        return tuple(HostChange(state.disable, "1", why) for state in deep)


def _latency_us(state: IdleState) -> int:
    return state.latency_us
