"""The list of all properties, and the examination of a host."""

from __future__ import annotations

from jdkmatrix.doctor import cpu_frequency, cpu_sharing, limits, machine, memory, noise
from jdkmatrix.doctor.base import Check, Host, HostChange, Property

_HOST_DECIDES = "; in a VM the host decides"

# In order of examination: averages first, before the samples that this program takes disturb them, and spinning last.
PROPERTIES = (
    Property("load average", "not known: how busy the last minute was", noise.load),
    Property(
        "pressure (PSI)",
        "not known: how long tasks waited for CPU, memory and disk; boot with psi=1",
        noise.pressure_stall,
    ),
    Property("other load", "not known: what other processes use", noise.foreign_load),
    Property("machine", "not known: whether other guests share the hardware", machine.machine),
    Property("clock source", "not known: what reading the time costs", machine.clock_source, tunable=True),
    Property("CPUs", "the kernel does not say which CPUs this process may use", cpu_sharing.cpu_count),
    Property("CPU quota", "not known: whether this process is throttled", cpu_sharing.cpu_quota),
    Property("SMT", "not known: whether two CPUs share a core", cpu_sharing.smt),
    Property(
        "isolcpus, nohz_full",
        "not known: whether the kernel leaves CPUs out of its load balancing",
        cpu_sharing.isolation,
    ),
    Property("IRQ affinity", "not known: which CPUs the devices interrupt", cpu_sharing.interrupts, tunable=True),
    Property(
        "frequency governor",
        f"not known: whether the CPUs change their frequency with the load{_HOST_DECIDES}",
        cpu_frequency.governor,
        tunable=True,
    ),
    Property(
        "turbo / boost",
        f"not known: whether the clock rate rises above its nominal one{_HOST_DECIDES}",
        cpu_frequency.boost,
        tunable=True,
    ),
    Property(
        "C-states",
        f"not known: how long a sleeping CPU takes to wake up{_HOST_DECIDES}",
        cpu_frequency.c_states,
        tunable=True,
    ),
    Property("memory", "not known: how much memory is available", memory.memory),
    Property("swap", "not known: whether there is swap", memory.swap, tunable=True),
    Property("huge pages", "not known: whether the kernel joins pages into huge ones", memory.huge_pages, tunable=True),
    Property(
        "NUMA balancing",
        "not known: whether the kernel looks for the node of every page",
        memory.numa_balancing,
        tunable=True,
    ),
    Property("disk", "not known: the free space where results go", memory.disk),
    Property("ASLR", "not known: whether forks differ in their memory layout", limits.aslr, tunable=True),
    Property("perf events", "not known: who may read the CPU's counters", limits.perf_events),
    Property("open files", "not known: how many connections a process may hold", limits.open_files),
    Property("processes", "not known: how many threads a server may start", limits.processes),
    Property("ephemeral ports", "not known: how many connections can be open", limits.ephemeral_ports, tunable=True),
    Property("somaxconn", "not known: how many connections may wait to be accepted", limits.listen_queue, tunable=True),
    Property("SYN backlog", "not known: how many connections may be half open", limits.syn_queue, tunable=True),
    Property("steal", "not known: how much CPU time a hypervisor takes away", noise.steal),
    Property("hiccups", "not probed: how long the CPUs stand still", noise.hiccups),
)


def examine(host: Host) -> dict[str, Check]:
    """Check every property, by name; takes the two samples, and so about 3 s."""
    return {known.name: known.check(host) for known in PROPERTIES}


def proposed(host: Host) -> tuple[HostChange, ...]:
    """Return the changes that would make this host quieter. Only tunable properties are read, so no CPU spins."""
    return tuple(change for known in PROPERTIES if known.tunable for change in known.check(host).changes)
