"""The CPUs of the host, and what else may use them."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.doctor.base import Check, Host, HostChange, Verdict
from jdkmatrix.domain.quantities import plural
from jdkmatrix.host.cgroup_limits import counted, quotas_cpus
from jdkmatrix.host.cpulist import format_cpu_list

_CPU = "/sys/devices/system/cpu"

CPUS_NEEDED = 2  # one for the server, one for the driver
CORES_FOR_NO_SIBLINGS = 4  # a server with 2 CPUs, a driver and a remote, each on cores of its own

# An interrupt and its consequences (cache, softirq) cost a few µs: 1,000 per second are about 0.5 % of a CPU, a quarter
# of the difference that a run with `precision = 2 %` can detect.
INTERRUPTS_MAX_PER_S = 1000


def cpu_count(host: Host) -> Check | None:
    if not host.allowed:
        return None
    found = f"{len(host.allowed)} usable ({format_cpu_list(host.allowed)})"
    if len(host.allowed) >= CPUS_NEEDED:
        return Check("ready", found)
    why = "server and driver would share a CPU, and the driver would measure itself"
    return Check("unfit", found, why, f"give this machine or container {CPUS_NEEDED} CPUs or more")


def smt(host: Host) -> Check | None:
    """Check SMT. Advice only: taking CPUs offline also removes them from affinity masks, cpusets and interrupt masks of
    other processes, and bringing them back online does not restore those."""
    active = host.text(f"{_CPU}/smt/active")
    if active is None:
        return None
    if active != "1":
        control = host.text(f"{_CPU}/smt/control") or ""
        return Check("ready", control if control in ("off", "forceoff") else "none")
    folders = {cpu: f"{_CPU}/cpu{cpu}/topology" for cpu in host.allowed}
    cores = {
        (host.text(f"{folder}/physical_package_id"), host.text(f"{folder}/core_id") or str(cpu))
        for cpu, folder in folders.items()
    }
    found = f"on, {plural(len(cores), 'core')}"
    if len(cores) >= CORES_FOR_NO_SIBLINGS:
        return Check("ready", found, "siblings are left idle as long as no cell needs more CPUs than cores")
    why = "two CPUs share a core: what runs on one slows the other down"
    return Check("noisy", found, why, f"echo off > {_CPU}/smt/control, while nothing else depends on these CPUs")


def isolation(host: Host) -> Check | None:
    """Check isolcpus (Documentation/admin-guide/kernel-parameters.txt): isolated CPUs take no part in load balancing.
    nohz_full: the time that a thread used is added to its process's clock when it is switched out or at a tick
    (`thread_group_cputime`), and without a tick once a second (`sched_tick_remote`, both below kernel/sched)."""
    isolated, allowed = host.cpus(f"{_CPU}/isolated"), set(host.allowed)
    if isolated is None:
        return None
    tickless = host.cpus(f"{_CPU}/nohz_full") or ()  # if there is no such CPU, some kernels print "(null)" here
    found = f"isolated {format_cpu_list(isolated) or 'none'}, nohz_full {format_cpu_list(tickless) or 'none'}"
    if allowed & set(isolated):
        why = "the kernel does not spread threads over isolated CPUs: a server on several would use only one of them"
        advice = "boot without isolcpus=; a quiet host does not need it, as each side gets CPUs of its own"
        return Check("noisy", found, why, advice)
    if allowed & set(tickless):
        why = (
            "entering the kernel costs more on nohz_full CPUs, and the CPU clock of a process lags by up to a second "
            "where a thread runs without a pause: CPU time of short windows can be off by as much"
        )
        advice = "boot without nohz_full=, or keep the run off these CPUs: taskset --cpu-list"
        return Check("noisy", found, why, advice)
    return Check("ready", found)


def interrupts(host: Host) -> Check | None:
    """Check IRQ affinity (Documentation/core-api/irq/irq-affinity.rst). No change is proposed while irqbalance runs: it
    would undo it."""
    files = host.matching("/proc/irq/[0-9]*/smp_affinity_list")
    lists = {file: cpus for file in files if (cpus := host.cpus(file)) is not None}
    if not lists or not host.server_cpus:
        return None
    server = set(host.server_cpus)
    reaching = [file for file, cpus in lists.items() if server & set(cpus)]
    rates_per_s = host.activity.interrupts_per_s if host.activity else {}
    rate_per_s = max(rates_per_s.get(cpu, 0.0) for cpu in server)
    rate = f"up to {rate_per_s:,.0f}/s" if rates_per_s else "how often is not shown"
    found = f"{len(reaching)} of {len(lists)} may interrupt the server (CPU {format_cpu_list(server)}), {rate}"
    if any(host.text(file) == "irqbalance" for file in host.matching("/proc/[0-9]*/comm")):
        why = "irqbalance moves interrupts from CPU to CPU during a run"
        return Check("noisy", f"{found}; irqbalance runs", why, "systemctl stop irqbalance")
    if reaching and not rates_per_s:
        return Check("not shown", found)
    if not reaching or rate_per_s <= INTERRUPTS_MAX_PER_S:
        return Check("ready", found)
    others = tuple(cpu for cpu in host.allowed if cpu not in server)
    why, target = "devices take time from the CPUs of the server", format_cpu_list(others)
    advice = f"write {target} to /proc/irq/*/smp_affinity_list"
    return Check("noisy", found, why, advice, _routed(host, reaching, others) if others else ())


def _routed(host: Host, files: Sequence[str], cpus: tuple[int, ...]) -> tuple[HostChange, ...]:
    """Route these interrupts, and future ones, to `cpus` alone. Newer kernels make the files of interrupts that they
    spread themselves, such as those of the queues of an NVMe disk, read-only (kernel/irq/proc.c)."""
    why = "devices interrupt the lower CPUs only"
    moved = tuple(HostChange(file, format_cpu_list(cpus), why) for file in files if host.is_settable(file))
    default = host.text("/proc/irq/default_smp_affinity")
    mask = cpu_mask(cpus, like=default or "")
    if default in (None, mask):
        return moved
    return (HostChange("/proc/irq/default_smp_affinity", mask, f"{why}, future ones included"), *moved)


def cpu_quota(host: Host) -> Check | None:
    """Check CFS bandwidth control (Documentation/scheduler/sched-bwc.rst); the tightest quota counts."""
    if host.text("/proc/self/cgroup") is None:
        return None
    cpus = min(quotas_cpus(host.hierarchies, host.text), default=None)
    if cpus is None:
        return Check("ready", "none")
    periods = _throttled_periods(host)
    throttled = f", throttled in {plural(periods, 'period')} so far" if periods else ""
    if cpus >= len(host.allowed):
        return Check("ready", f"{cpus:g} {'CPU' if cpus == 1 else 'CPUs'}{throttled}")
    why = "whoever uses it up stands still until the next period, usually for tens of ms"
    advice = "run without a quota (docker: no --cpus, but --cpuset-cpus)"
    verdict: Verdict = "unfit" if cpus < CPUS_NEEDED else "noisy"
    return Check(verdict, f"{cpus:g} of {plural(len(host.allowed), 'CPU')}{throttled}", why, advice)


def cpu_mask(cpus: tuple[int, ...], *, like: str) -> str:
    """Return the mask in hexadecimal, as wide as `like`, and with commas if that has any. Pure."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}".rjust(len(like.replace(",", "")), "0")
    if "," not in like:
        return digits
    groups = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    return ",".join(reversed(groups))


def _throttled_periods(host: Host) -> int | None:
    """Return the throttled periods so far of the group that was throttled most: any of them may have the quota."""
    counts = (counted(host.text(file) or "", "nr_throttled") for file in host.group_files("cpu", "cpu.stat"))
    return max((count for count in counts if count is not None), default=None)
