"""The CPUs of the host, and what else may use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property, Verdict, chosen
from jdkmatrix.doctor.cgroup import limit_files
from jdkmatrix.host.cpulist import format_cpu_list

_CPU = "/sys/devices/system/cpu"

CPUS_NEEDED = 2  # one for the server, one for the driver
CORES_FOR_NO_SIBLINGS = 4  # a server of 2 CPUs, a driver and a remote, each on cores of their own

# An interrupt costs a few µs with what follows from it (cache, softirq): 1,000 per second are about 0.5 % of a CPU,
# a quarter of the difference that a run with `precision = 2 %` can tell.
INTERRUPTS_MAX_PER_S = 1000


class CpuCount(Property[tuple[int, ...]]):
    name = "CPUs"
    not_shown = "the kernel does not say which CPUs this process may use"

    def read(self, host: Host) -> tuple[int, ...] | None:
        return host.allowed or None

    def judge(self, value: tuple[int, ...]) -> Diagnosis:
        found = f"{len(value)} usable ({format_cpu_list(value)})"
        if len(value) >= CPUS_NEEDED:
            return Diagnosis("ready", found)
        why = "server and driver would share a CPU, and the driver would measure itself"
        return Diagnosis("unfit", found, why, f"give this machine or container {CPUS_NEEDED} CPUs or more")


@dataclass(frozen=True)
class Threads:
    control: str | None
    active: bool
    cores: int


class Smt(Property[Threads]):
    """Advice only: taking CPUs offline also takes them out of affinity masks, cpusets and interrupt masks of other
    processes, and bringing them back does not put those back."""

    name = "SMT"
    not_shown = "whether two CPUs share a core stays unknown"

    def read(self, host: Host) -> Threads | None:
        active = host.text(f"{_CPU}/smt/active")
        if active is None:
            return None
        cores = set()
        for cpu in host.allowed:
            folder = f"{_CPU}/cpu{cpu}/topology"
            cores.add((host.text(f"{folder}/physical_package_id"), host.text(f"{folder}/core_id") or str(cpu)))
        return Threads(host.text(f"{_CPU}/smt/control"), active == "1", len(cores))

    def judge(self, value: Threads) -> Diagnosis:
        if not value.active:
            return Diagnosis("ready", {"notsupported": "none"}.get(value.control or "", value.control or "off"))
        found = f"on, {value.cores} cores"
        if value.cores >= CORES_FOR_NO_SIBLINGS:
            return Diagnosis("ready", found, "siblings are left idle as long as no cell needs more CPUs than cores")
        why = "two CPUs share a core: what runs on one slows the other down"
        return Diagnosis(
            "noisy", found, why, f"echo off > {_CPU}/smt/control, while nothing else depends on these CPUs"
        )


@dataclass(frozen=True)
class Isolated:
    """`full_ticks_off`: the CPUs of nohz_full, empty where the kernel has none."""

    isolated: tuple[int, ...]
    full_ticks_off: tuple[int, ...]
    allowed: tuple[int, ...]


class Isolation(Property[Isolated]):
    """isolcpus (Documentation/admin-guide/kernel-parameters.txt): an isolated CPU takes part in no load balancing."""

    name = "isolcpus, nohz_full"
    not_shown = "whether the kernel leaves CPUs out of its load balancing stays unknown"

    def read(self, host: Host) -> Isolated | None:
        isolated = host.cpus(f"{_CPU}/isolated")
        if isolated is None:
            return None
        # Without any such CPU some kernels print "(null)" here.
        return Isolated(isolated, host.cpus(f"{_CPU}/nohz_full") or (), host.allowed)

    def judge(self, value: Isolated) -> Diagnosis:
        isolated = set(value.isolated) & set(value.allowed)
        tickless = set(value.full_ticks_off) & set(value.allowed)
        names = (format_cpu_list(cpus) or "none" for cpus in (value.isolated, value.full_ticks_off))
        found = "isolated {}, nohz_full {}".format(*names)
        if isolated:
            return Diagnosis(
                "noisy",
                found,
                "the kernel spreads no threads over isolated CPUs: a server of several would run on one of them",
                "boot without isolcpus=; a calm host does not need it, as each side gets CPUs of its own",
            )
        if tickless and tickless != set(value.allowed):
            return Diagnosis(
                "noisy",
                found,
                "entering the kernel costs more on CPUs of nohz_full than on the others",
                "boot without nohz_full=, or let the run use only one kind: taskset --cpu-list",
            )
        return Diagnosis("ready", found)


@dataclass(frozen=True)
class InterruptRouting:
    """`lists`: the CPUs that each interrupt may go to, by file; `default_mask` as the kernel shows it.
    `rates_per_s` by CPU, None where it is not shown."""

    default_mask: str | None
    lists: Mapping[str, tuple[int, ...]]
    irqbalance: bool
    rates_per_s: Mapping[int, float] | None
    server_cpus: tuple[int, ...]
    other_cpus: tuple[int, ...]


class Interrupts(Property[InterruptRouting]):
    """IRQ affinity (Documentation/core-api/irq/irq-affinity.rst)."""

    name = "IRQ affinity"
    not_shown = "which CPUs the devices interrupt stays unknown"

    def read(self, host: Host) -> InterruptRouting | None:
        files = host.matching("/proc/irq/[0-9]*/smp_affinity_list")
        lists = {file: cpus for file in files if (cpus := host.cpus(file)) is not None}
        if not lists or not host.server_cpus:
            return None
        return InterruptRouting(
            default_mask=host.text("/proc/irq/default_smp_affinity"),
            lists=lists,
            irqbalance=any(host.text(file) == "irqbalance" for file in host.matching("/proc/[0-9]*/comm")),
            rates_per_s=(host.activity.interrupts_per_s or None) if host.activity else None,
            server_cpus=host.server_cpus,
            other_cpus=tuple(cpu for cpu in host.allowed if cpu not in host.server_cpus),
        )

    def judge(self, value: InterruptRouting) -> Diagnosis:
        server = set(value.server_cpus)
        reaching = sum(bool(server & set(cpus)) for cpus in value.lists.values())
        rates_per_s = None if value.rates_per_s is None else [value.rates_per_s.get(cpu, 0.0) for cpu in server]
        rate_per_s = max(rates_per_s or (), default=0.0)
        rate = "how often not shown" if rates_per_s is None else f"up to {rate_per_s:,.0f}/s"
        found = f"{reaching} of {len(value.lists)} may interrupt the server (CPU {format_cpu_list(server)}), {rate}"
        if value.irqbalance:
            why = "irqbalance moves interrupts from CPU to CPU while a run goes on"
            return Diagnosis("noisy", f"{found}; irqbalance runs", why, "systemctl stop irqbalance")
        if reaching and rate_per_s > INTERRUPTS_MAX_PER_S:
            why = "devices take time from the CPUs of the server"
            advice = f"write {format_cpu_list(value.other_cpus)} to /proc/irq/*/smp_affinity_list"
            return Diagnosis("noisy", found, why, advice)
        return Diagnosis("ready", found)

    def fix(self, value: InterruptRouting) -> tuple[HostChange, ...]:
        """Nothing while irqbalance runs: it would undo it."""
        if self.judge(value).verdict == "ready" or value.irqbalance or not value.other_cpus:
            return ()
        server, why = set(value.server_cpus), "devices interrupt the lower CPUs only"
        target = format_cpu_list(value.other_cpus)
        moved = tuple(HostChange(file, target, why) for file, cpus in value.lists.items() if server & set(cpus))
        mask = cpu_mask(value.other_cpus, like=value.default_mask or "")
        if value.default_mask in (None, mask):
            return moved
        return (HostChange("/proc/irq/default_smp_affinity", mask, f"{why}, those to come too"), *moved)


@dataclass(frozen=True)
class Quota:
    """`cpus`: the tightest quota in CPUs, None without any. `throttled_periods`: since the group exists."""

    cpus: float | None
    throttled_periods: int | None
    allowed: int


class CpuQuota(Property[Quota]):
    """CFS bandwidth control (Documentation/scheduler/sched-bwc.rst)."""

    name = "CPU quota"
    not_shown = "whether this process is throttled stays unknown"

    def read(self, host: Host) -> Quota | None:
        files = limit_files(host, "cpu", "cpu.cfs_quota_us", "cpu.max")
        if files is None:
            return None
        quotas = [cpus for file in files if (cpus := _quota_cpus(host, file)) is not None]
        stats = limit_files(host, "cpu", "cpu.stat", "cpu.stat") or ()
        return Quota(min(quotas, default=None), _throttled_periods(host, stats), len(host.allowed))

    def judge(self, value: Quota) -> Diagnosis:
        throttled = f", throttled in {value.throttled_periods:,} periods so far" if value.throttled_periods else ""
        if value.cpus is None or value.cpus >= value.allowed:
            return Diagnosis("ready", "none" if value.cpus is None else f"{value.cpus:g} CPUs{throttled}")
        why = "whoever uses it up stands still until the next period, mostly for tens of ms"
        advice = "run without a quota (docker: no --cpus, but --cpuset-cpus)"
        verdict: Verdict = "unfit" if value.cpus < CPUS_NEEDED else "noisy"
        return Diagnosis(verdict, f"{value.cpus:g} of {value.allowed} CPUs{throttled}", why, advice)


def cpu_mask(cpus: tuple[int, ...], *, like: str) -> str:
    """The mask in hexadecimal, as wide as `like` and with commas where it has them. Pure."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}".rjust(len(like.replace(",", "")), "0")
    if "," not in like:
        return digits
    groups = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    return ",".join(reversed(groups))


def _quota_cpus(host: Host, file: str) -> float | None:
    text = chosen(host.text(file) or "")
    if file.endswith("cpu.max"):
        quota, _, period = text.partition(" ")
    else:
        quota, period = text, host.text(file.replace("quota", "period")) or ""
    if not quota.isdigit() or not period.isdigit():
        return None  # "max", and -1 in version 1: no limit
    return int(quota) / int(period)


def _throttled_periods(host: Host, stats: tuple[str, ...]) -> int | None:
    for file in stats:
        for line in (host.text(file) or "").splitlines():
            key, _, value = line.partition(" ")
            if key == "nr_throttled":
                return int(value)
    return None
