"""Is this host fit to measure? Pure: facts in, judgements in plain words out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jdkmatrix.records import HostFacts

_LOAD_PER_CPU_MAX = 0.2
_MEMORY_MIN_BYTES = 3 * 2**30
_NOT_SHOWN = "not shown by this host"

Verdict = Literal["ready", "noisy", "unfit"]


@dataclass(frozen=True)
class Check:
    """One property: what was found, what follows, what to do about it (empty when nothing)."""

    name: str
    found: str
    verdict: Verdict
    advice: str = ""


def examine(facts: HostFacts) -> tuple[Check, ...]:
    """Every check of this host."""
    return tuple(check(facts) for check in _CHECKS)


def overall(checks: tuple[Check, ...]) -> Verdict:
    """The worst verdict."""
    verdicts = {check.verdict for check in checks}
    return "unfit" if "unfit" in verdicts else "noisy" if "noisy" in verdicts else "ready"


def _cpus(facts: HostFacts) -> Check:
    found = f"{len(facts.cpu.allowed)} usable, {facts.cpu.cores} cores"
    if len(facts.cpu.allowed) < 2:
        return Check("CPUs", found, "unfit", "the server and the driver need a CPU each")
    return Check("CPUs", found, "ready")


def _machine(facts: HostFacts) -> Check:
    if facts.virtualisation:
        advice = "other guests share the hardware: compare inside one run only"
        return Check("machine", facts.virtualisation, "noisy", advice)
    return Check("machine", "no hypervisor seen", "ready")


def _load(facts: HostFacts) -> Check:
    found = f"{facts.load_1min:.2f} over the last minute"
    if facts.load_1min > _LOAD_PER_CPU_MAX * len(facts.cpu.allowed):
        return Check("load", found, "noisy", "end what else is running")
    return Check("load", found, "ready")


def _memory(facts: HostFacts) -> Check:
    found = f"{facts.memory_bytes / 2**30:.1f} GiB"
    if facts.memory_bytes < _MEMORY_MIN_BYTES:
        return Check("memory", found, "unfit", "server and driver need 3 GiB")
    return Check("memory", found, "ready")


def _swap(facts: HostFacts) -> Check:
    if facts.swap_bytes:
        return Check("swap", f"{facts.swap_bytes / 2**30:.1f} GiB", "noisy", "swapoff -a while measuring")
    return Check("swap", "none", "ready")


def _governor(facts: HostFacts) -> Check:
    found = facts.cpu.governor or _NOT_SHOWN
    if found in ("performance", _NOT_SHOWN):
        return Check("frequency governor", found, "ready")
    return Check("frequency governor", found, "noisy", "cpupower frequency-set --governor performance")


def _boost(facts: HostFacts) -> Check:
    if facts.cpu.boost == "on":
        advice = "clock rates depend on temperature and on neighbours: switch boost off"
        return Check("boost", "on", "noisy", advice)
    return Check("boost", facts.cpu.boost or _NOT_SHOWN, "ready")


def _smt(facts: HostFacts) -> Check:
    if facts.cpu.smt:
        return Check("SMT", "on", "noisy", "sibling threads are left idle while there are enough cores")
    return Check("SMT", "off or not shown", "ready")


def _clock_source(facts: HostFacts) -> Check:
    found = facts.clocksource or _NOT_SHOWN
    if found in ("tsc", "arch_sys_counter", _NOT_SHOWN):
        return Check("clock source", found, "ready")
    return Check("clock source", found, "noisy", "reading the time costs a system call")


_CHECKS = (_cpus, _machine, _load, _memory, _swap, _governor, _boost, _smt, _clock_source)
