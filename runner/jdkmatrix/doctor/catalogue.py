"""The list of all properties, and the examination of a host."""

from __future__ import annotations

from jdkmatrix.doctor import cpu_frequency, cpu_sharing, limits, machine, memory, noise
from jdkmatrix.doctor.base import Check, Host, HostChange, Property

_HOST_DECIDES = "stays unknown; in a VM the host decides"

# In order of examination: averages first, before the samples that this program takes disturb them, and spinning last.
PROPERTIES = (
    Property("load average", "how busy the last minute was stays unknown", noise.load),
    Property(
        "pressure (PSI)",
        "how long tasks waited for CPU, memory and disk stays unknown: boot with psi=1",
        noise.pressure_stall,
    ),
    Property("other load", "what other processes use stays unknown", noise.foreign_load),
    Property("machine", "whether other guests share the hardware stays unknown", machine.machine),
    Property("clock source", "what reading the time costs stays unknown", machine.clock_source, tunable=True),
    Property("CPUs", "the kernel does not say which CPUs this process may use", cpu_sharing.cpu_count),
    Property("CPU quota", "whether this process is throttled stays unknown", cpu_sharing.cpu_quota),
    Property("SMT", "whether two CPUs share a core stays unknown", cpu_sharing.smt),
    Property(
        "isolcpus, nohz_full",
        "whether the kernel leaves CPUs out of its load balancing stays unknown",
        cpu_sharing.isolation,
    ),
    Property("IRQ affinity", "which CPUs the devices interrupt stays unknown", cpu_sharing.interrupts, tunable=True),
    Property(
        "frequency governor",
        f"whether the CPUs change their frequency with the load {_HOST_DECIDES}",
        cpu_frequency.governor,
        tunable=True,
    ),
    Property(
        "turbo / boost",
        f"whether the clock rate rises above its nominal one {_HOST_DECIDES}",
        cpu_frequency.boost,
        tunable=True,
    ),
    Property(
        "C-states", f"how long a sleeping CPU takes to wake up {_HOST_DECIDES}", cpu_frequency.c_states, tunable=True
    ),
    Property("memory", "how much memory is available stays unknown", memory.memory),
    Property("swap", "whether there is swap stays unknown", memory.swap, tunable=True),
    Property(
        "huge pages", "whether the kernel joins pages into huge ones stays unknown", memory.huge_pages, tunable=True
    ),
    Property(
        "NUMA balancing",
        "whether the kernel looks for the node of every page stays unknown",
        memory.numa_balancing,
        tunable=True,
    ),
    Property("disk", "the free space where results go stays unknown", memory.disk),
    Property("ASLR", "whether forks differ in their memory layout stays unknown", limits.aslr, tunable=True),
    Property("perf events", "who may read the CPU's counters stays unknown", limits.perf_events),
    Property("open files", "how many connections a process may hold stays unknown", limits.open_files),
    Property("processes", "how many threads a server may start stays unknown", limits.processes),
    Property("ephemeral ports", "how many connections can be open stays unknown", limits.ephemeral_ports, tunable=True),
    Property(
        "somaxconn", "how many connections may wait to be accepted stays unknown", limits.listen_queue, tunable=True
    ),
    Property("SYN backlog", "how many connections may be half open stays unknown", limits.syn_queue, tunable=True),
    Property("steal", "how much a hypervisor takes away stays unknown", noise.steal),
    Property("hiccups", "for how long the CPUs stand still was not probed", noise.hiccups),
)


def examine(host: Host) -> dict[str, Check]:
    """Check every property, by name; takes the two samples, and so about 3 s."""
    return {known.name: known.check(host) for known in PROPERTIES}


def proposed(host: Host) -> tuple[HostChange, ...]:
    """Return the changes that would make this host quieter. Only tunable properties are read, so no CPU spins."""
    return tuple(change for known in PROPERTIES if known.tunable for change in known.check(host).changes)
