"""The inputs that decide a result: two cells with the same identity may stand for each other. Pure.

An identity has only what a cell runs with, so that nothing else makes it a different one. A reboot of the host is not
in it: that begins a session of its own (records.Session), and is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jdkmatrix.records.forks import ConfinementMethod
from jdkmatrix.records.run import Calibration, HostFacts, RunRecord, in_gib
from jdkmatrix.store.cells import Identity, digest_of

_NAMED_AT_MOST = 6
_SHOWN_AT_MOST = 80


def identity_of(inputs: Mapping[str, Any]) -> Identity:
    """Make an identity of `inputs`, which must be JSON."""
    return Identity(digest=digest_of(inputs), inputs=dict(inputs))


def host_inputs(host: HostFacts, confinement: ConfinementMethod) -> dict[str, Any]:
    """Return the facts of the host that stay the same unless somebody changes it: not its load, nor its free memory."""
    cpu = host.cpu
    return {
        "hostname_hash": host.hostname_hash,
        "cpu": cpu.model,
        "microcode": cpu.microcode,
        "mitigations": dict(cpu.mitigations),
        "smt": cpu.smt,
        "governor": cpu.governor,
        "boost": cpu.boost,
        "kernel": host.kernel,
        "kernel_command_line_sha256": host.kernel_command_line_sha256,
        "memory_gib": host.memory_gib,
        "clocksource": host.clocksource,
        "transparent_huge_pages": host.transparent_huge_pages,
        "confinement": confinement,
    }


def is_same_host(earlier: RunRecord, host: HostFacts, confinement: ConfinementMethod) -> bool:
    """Return whether nothing has changed on the host since the last session of a run that is continued."""
    last = earlier.latest_session
    return host_inputs(last.host, last.confinement) == host_inputs(host, confinement)


def calibration_of(earlier: RunRecord, host: HostFacts, confinement: ConfinementMethod) -> Calibration | None:
    """Return the calibration of a run that is continued; None if it has none, or if anything of this host has changed,
    so that all of its cells are measured again."""
    return next(iter(earlier.calibrations), None) if is_same_host(earlier, host, confinement) else None


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Name the inputs that differ, in plain words; with both values if they are short."""
    before, now = dict(_flat(old)), dict(_flat(new))
    differing = sorted(key for key in {*before, *now} if before.get(key, _ABSENT) != now.get(key, _ABSENT))
    named = [_words(key, before.get(key, _ABSENT), now.get(key, _ABSENT)) for key in differing[:_NAMED_AT_MOST]]
    more = len(differing) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


_ABSENT = object()
# Tables whose entries are named one by one.
_TABLES = ("host", "artefacts")
_NAMES = {
    "application": "the application",
    "burn_rounds": "the rounds of work per request",
    "cell": "the cell",
    "drivers": "the driver",
    "driver_cpus": "the driver's CPUs",
    "driver_jdk_files_sha256": "the files of the driver's JDK",
    "experiment": "the experiment's parameters",
    "host.boost": "the CPU's boost",
    "host.clocksource": "the clock source",
    "host.cpu": "the CPU",
    "host.governor": "the CPU governor",
    "host.hostname_hash": "the host",
    "host.kernel": "the Linux kernel",
    "host.kernel_command_line_sha256": "the kernel's command line",
    "host.memory_gib": "the memory in GiB",
    "host.microcode": "the CPU's microcode",
    "host.mitigations": "the kernel's mitigations",
    "host.confinement": "the CPU confinement",
    "host.smt": "SMT",
    "host.transparent_huge_pages": "transparent huge pages",
    "jdk": "the JDK",
    "jdk_files_sha256": "the files of the JDK",
    "jvm_options": "the JVM's options",
    "kernel": "the kernel's settings",
    "load": "the load",
    "measure": "the rules of measuring",
    "measuring_code": "the code that measures",
    "mix": "the mix of requests",
    "option_files": "the files that the JVM's options name",
    "own_files": "the files of your application",
    "precision": "the precision that is promised",
    "protocol": "the protocol",
    "remote": "the rules of the remote system",
    "remote_cpus": "the remote system's CPUs",
    "remote_jdk": "the remote system's JDK",
    "postgresql": "PostgreSQL",
    "server": "the server",
    "server_files_sha256": "the files of the server",
    "sut_cpus": "the server's CPUs",
    "thresholds": "the thresholds",
    "turns": "the rules of taking turns",
    "warmup": "the rules of the warm-up",
    "window_s": "the length of a window",
    "windows": "the number of windows",
    "workload": "the workload's parameters",
}


def _flat(inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in inputs.items():
        if key in _TABLES and isinstance(value, Mapping):
            yield from (_as_today(f"{key}.{name}", entry) for name, entry in value.items())
        else:
            yield key, value


def _as_today(key: str, value: Any) -> tuple[str, Any]:
    """Convert an input of older runs, which had the memory in bytes."""
    return ("host.memory_gib", in_gib(value)) if key == "host.memory_bytes" else (key, value)


def _words(key: str, before: object, now: object) -> str:
    name = _NAMES.get(key, key.removeprefix("artefacts."))
    if before is _ABSENT:
        return f"{name} (not recorded before)"
    if now is _ABSENT:
        return f"{name} (no longer part of it)"
    values = [str(value) for value in (before, now) if isinstance(value, str | int | float | None)]
    digest = key.startswith("artefacts.") or key.endswith(("_sha256", "_hash", "_code"))
    if digest or len(values) < 2 or any(len(value) > _SHOWN_AT_MOST for value in values):
        return name
    return f"{name} (was {values[0]}, is {values[1]})"
