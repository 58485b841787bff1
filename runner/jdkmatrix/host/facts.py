"""Facts about the host that every result records."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import resource
from pathlib import Path

from jdkmatrix.host.cgroup_limits import memory_left_bytes, read_hierarchies
from jdkmatrix.host.command_line import masked
from jdkmatrix.host.cpulist import read_cpu_list
from jdkmatrix.host.topology import CPU_ROOT, Topology
from jdkmatrix.host.virtualisation import Machine, read_machine
from jdkmatrix.reading import text_if_readable
from jdkmatrix.records.run import CpuFacts, HostFacts

_SCHEDULER_KNOBS = Path("/sys/kernel/debug/sched")


def read_facts(topology: Topology) -> HostFacts:
    """Read them all; what this host does not tell is None."""
    cpuinfo = text_if_readable(Path("/proc/cpuinfo")) or ""
    command_line = text_if_readable(Path("/proc/cmdline"))
    shown = None if command_line is None else masked(command_line)
    huge_pages = text_if_readable(Path("/sys/kernel/mm/transparent_hugepage/enabled"))
    return HostFacts(
        hostname_hash=hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        system=f"{platform.machine()}-linux",
        kernel=f"{platform.release()} {platform.version()}",
        os=_os_name(),
        libc=" ".join(platform.libc_ver()),
        cpu=_cpu_facts(topology, cpuinfo),
        memory_bytes=memory_bytes(),
        swap_bytes=_meminfo_bytes("SwapTotal"),
        scheduler=_scheduler(),
        virtualisation=_virtualisation(read_machine()),
        clocksource=text_if_readable(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        load_1min=os.getloadavg()[0],
        limits={
            "open files": _limit(resource.RLIMIT_NOFILE),
            "processes": _limit(resource.RLIMIT_NPROC),
            "locked memory (bytes)": _limit(resource.RLIMIT_MEMLOCK),
        },
        transparent_huge_pages=huge_pages and chosen(huge_pages),
        kernel_command_line=shown,
        kernel_command_line_sha256=None if shown is None else hashlib.sha256(shown.encode()).hexdigest(),
    )


def boot_id() -> str | None:
    """Return the boot id, which is different after each start of the host."""
    return text_if_readable(Path("/proc/sys/kernel/random/boot_id"))


def _cpu_facts(topology: Topology, cpuinfo: str) -> CpuFacts:
    frequency = CPU_ROOT / "cpu0/cpufreq"
    cores = topology.cores
    return CpuFacts(
        model=cpu_model(cpuinfo),
        microcode=_cpuinfo_value(cpuinfo, "microcode"),
        online=read_cpu_list(CPU_ROOT / "online"),
        allowed=tuple(cpu.cpu for cpu in topology.cpus),
        packages=len({cpu.package for cpu in topology.cpus}),
        cores=len(cores),
        smt=any(len(threads) > 1 for threads in cores),
        governor=text_if_readable(frequency / "scaling_governor"),
        driver=text_if_readable(frequency / "scaling_driver"),
        boost=_boost(),
        mitigations={
            file.name: text_if_readable(file) or ""
            for file in sorted((CPU_ROOT / "vulnerabilities").glob("*"))
            if text_if_readable(file) != "Not affected"
        },
    )


def cpu_model(cpuinfo: str) -> str:
    """Return the CPU’s name from the text of /proc/cpuinfo. aarch64 has numbers for its maker and the kind of core
    instead, which tell Graviton 2 from Graviton 4 (MIDR_EL1, Documentation/arch/arm64/cpu-feature-registers.rst)."""
    numbers = [
        f"{key.removeprefix('CPU ')} {value}"
        for key in ("CPU implementer", "CPU part")
        if (value := _cpuinfo_value(cpuinfo, key)) is not None
    ]
    return _cpuinfo_value(cpuinfo, "model name") or ", ".join([platform.machine(), *numbers])


def _boost() -> str | None:
    no_turbo = text_if_readable(CPU_ROOT / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = text_if_readable(CPU_ROOT / "cpufreq/boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def chosen(text: str) -> str:
    """ "always [madvise] never" → "madvise"; a text without brackets stays as it is, with single spaces."""
    words = text.split()
    return next((word[1:-1] for word in words if word.startswith("[") and word.endswith("]")), " ".join(words))


def _scheduler() -> str | None:
    """Return the kernel's CPU scheduler as far as it shows: a loaded sched_ext one, or the fair class's tunables."""
    extension = text_if_readable(Path("/sys/kernel/sched_ext/root/ops"))
    if extension:
        return f"sched_ext {extension}"
    knobs = {
        name: value
        for name in ("base_slice_ns", "min_granularity_ns", "wakeup_granularity_ns", "preempt")
        if (value := text_if_readable(_SCHEDULER_KNOBS / name)) is not None
    }
    return ", ".join(f"{name}={value}" for name, value in knobs.items()) or None


def _virtualisation(machine: Machine) -> str | None:
    layers = ["container"] if machine.in_container else []
    if machine.is_virtual:
        layers.append(f"virtual machine ({machine.maker})" if machine.maker else "virtual machine")
    return " on a ".join(layers) or None


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def memory_bytes() -> int:
    """Return the memory of the whole host."""
    return _meminfo_bytes("MemTotal")


def available_memory_bytes() -> int:
    """Return the memory that new programs can have without swapping, within the limits of this process's cgroups."""
    available, left = _meminfo_bytes("MemAvailable"), memory_left_bytes(read_hierarchies(Path("/proc")))
    return available if left is None else min(available, left)


def _meminfo_bytes(key: str) -> int:
    match = re.search(rf"^{key}:\s+(\d+) kB", text_if_readable(Path("/proc/meminfo")) or "", re.MULTILINE)
    return int(match.group(1)) * 1024 if match else 0


def _limit(kind: int) -> str:
    soft, _ = resource.getrlimit(kind)
    return "unlimited" if soft == resource.RLIM_INFINITY else str(soft)


def _cpuinfo_value(cpuinfo: str, key: str) -> str | None:
    match = re.search(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match.group(1).strip() if match else None
