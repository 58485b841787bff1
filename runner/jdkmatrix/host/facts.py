"""Facts about the host that every result records."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import resource
from pathlib import Path

from jdkmatrix.host.command_line import masked
from jdkmatrix.host.cpulist import parse_cpu_list
from jdkmatrix.host.topology import CPU_ROOT, Topology
from jdkmatrix.records.run import CpuFacts, HostFacts

_SCHEDULER_KNOBS = Path("/sys/kernel/debug/sched")


def read_facts(topology: Topology) -> HostFacts:
    """Read them all; what this host does not tell is None."""
    cpuinfo = _text(Path("/proc/cpuinfo")) or ""
    command_line = _text(Path("/proc/cmdline"))
    shown = None if command_line is None else masked(command_line)
    return HostFacts(
        hostname_hash=hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        system=system(),
        kernel=f"{platform.release()} {platform.version()}",
        os=_os_name(),
        libc=" ".join(platform.libc_ver()),
        cpu=_cpu_facts(topology, cpuinfo),
        memory_bytes=memory_bytes(),
        swap_bytes=_meminfo_bytes("SwapTotal"),
        scheduler=_scheduler(),
        virtualisation=_virtualisation(cpuinfo),
        clocksource=_text(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        load_1min=os.getloadavg()[0],
        limits={
            "open files": _limit(resource.RLIMIT_NOFILE),
            "processes": _limit(resource.RLIMIT_NPROC),
            "locked memory (bytes)": _limit(resource.RLIMIT_MEMLOCK),
        },
        transparent_huge_pages=_chosen(_text(Path("/sys/kernel/mm/transparent_hugepage/enabled"))),
        kernel_command_line=shown,
        kernel_command_line_sha256=None if shown is None else hashlib.sha256(shown.encode()).hexdigest(),
    )


def boot_id() -> str | None:
    """Another one after each start of the host."""
    return _text(Path("/proc/sys/kernel/random/boot_id"))


def system() -> str:
    """Name of this kind of machine as Nix spells it: "x86_64-linux"."""
    return f"{platform.machine()}-linux"


def _cpu_facts(topology: Topology, cpuinfo: str) -> CpuFacts:
    frequency = CPU_ROOT / "cpu0/cpufreq"
    cores = topology.cores
    return CpuFacts(
        model=_cpuinfo_value(cpuinfo, "model name") or platform.processor() or platform.machine(),
        microcode=_cpuinfo_value(cpuinfo, "microcode"),
        online=parse_cpu_list(_text(CPU_ROOT / "online") or ""),
        allowed=tuple(cpu.cpu for cpu in topology.cpus),
        packages=len({cpu.package for cpu in topology.cpus}),
        cores=len(cores),
        smt=any(len(threads) > 1 for threads in cores),
        governor=_text(frequency / "scaling_governor"),
        driver=_text(frequency / "scaling_driver"),
        boost=_boost(),
        mitigations={
            file.name: _text(file) or ""
            for file in sorted((CPU_ROOT / "vulnerabilities").glob("*"))
            if _text(file) != "Not affected"
        },
    )


def _boost() -> str | None:
    no_turbo = _text(CPU_ROOT / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = _text(CPU_ROOT / "cpufreq/boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def _chosen(choices: str | None) -> str | None:
    """ "madvise" of "always [madvise] never"."""
    found = re.search(r"\[(.+)\]", choices or "")
    return found.group(1) if found else choices


def _scheduler() -> str | None:
    """The kernel's CPU scheduler as far as it shows: a loaded sched_ext one, or the tunables of the fair class."""
    extension = _text(Path("/sys/kernel/sched_ext/root/ops"))
    if extension:
        return f"sched_ext {extension}"
    knobs = {
        name: value
        for name in ("base_slice_ns", "min_granularity_ns", "wakeup_granularity_ns", "preempt")
        if (value := _text(_SCHEDULER_KNOBS / name)) is not None
    }
    return ", ".join(f"{name}={value}" for name, value in knobs.items()) or None


def _virtualisation(cpuinfo: str) -> str | None:
    layers = []
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        layers.append("container")
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
        vendor = _text(Path("/sys/class/dmi/id/sys_vendor"))
        layers.append(f"virtual machine ({vendor})" if vendor else "virtual machine")
    return " on a ".join(layers) or None


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def memory_bytes() -> int:
    """The memory of the whole host."""
    return _meminfo_bytes("MemTotal")


def available_memory_bytes() -> int:
    """The memory that new programs can have without swapping."""
    return _meminfo_bytes("MemAvailable")


def _meminfo_bytes(key: str) -> int:
    match = re.search(rf"^{key}:\s+(\d+) kB", _text(Path("/proc/meminfo")) or "", re.MULTILINE)
    return int(match.group(1)) * 1024 if match else 0


def _limit(kind: int) -> str:
    soft, _ = resource.getrlimit(kind)
    return "unlimited" if soft == resource.RLIM_INFINITY else str(soft)


def _cpuinfo_value(cpuinfo: str, key: str) -> str | None:
    match = re.search(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match.group(1).strip() if match else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
