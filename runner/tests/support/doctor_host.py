"""A made-up host for `matrix doctor`: a folder with the files of /proc and /sys that matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jdkmatrix.doctor.base import Host

CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
THP = "sys/kernel/mm/transparent_hugepage"
STAT = "cpu  10 0 10 100 0 0 0 0 0 0\n" + "".join(f"cpu{n} 5 0 5 50 0 0 0 0 0 0\n" for n in range(4))
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                unlimited            processes
Max open files            20000                524288               files
"""
MEMINFO = "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: {swap} kB\nSwapFree: {swap} kB\n"

# Four cores of bare metal, undisturbed.
CALM: Mapping[str, str] = {
    "proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-3\n",
    "proc/self/limits": LIMITS,
    "proc/self/cgroup": "0::/user\n",
    "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "sys/fs/cgroup/user/cpu.max": "max 100000\n",
    "sys/fs/cgroup/user/cpu.stat": "usage_usec 5\nnr_throttled 0\n",
    "sys/fs/cgroup/user/memory.max": "max\n",
    "sys/fs/cgroup/user/memory.current": "4096\n",
    "sys/fs/cgroup/user/pids.max": "max\n",
    "proc/stat": STAT,
    "proc/interrupts": "     CPU0 CPU1 CPU2 CPU3\n 24: 1 2 3 4 IO-APIC 5-edge ACPI:Ged\nLOC: 9 9 9 9 timer\n",
    "proc/loadavg": "0.02 0.10 0.20 1/85 5186\n",
    "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 total=0\n",
    "proc/pressure/io": "some avg10=0.10 avg60=0.00 avg300=0.00 total=1\n",
    "proc/cpuinfo": "processor: 0\nflags\t\t: fpu tsc constant_tsc\n",
    "proc/meminfo": MEMINFO.format(swap=0),
    "proc/irq/24/smp_affinity_list": "0-3\n",
    "proc/irq/25/smp_affinity_list": "0\n",
    "proc/irq/default_smp_affinity": "f\n",
    "proc/sys/kernel/random/boot_id": "first-boot\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "proc/sys/kernel/numa_balancing": "0\n",
    "proc/sys/kernel/threads-max": "200000\n",
    "proc/sys/kernel/pid_max": "4194304\n",
    "proc/sys/vm/swappiness": "60\n",
    "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
    "proc/sys/net/ipv4/tcp_max_syn_backlog": "2048\n",
    "proc/sys/net/core/somaxconn": "4096\n",
    f"{CLOCK}/current_clocksource": "tsc\n",
    f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm\n",
    f"{THP}/enabled": "always [madvise] never\n",
    f"{THP}/defrag": "always defer defer+madvise [madvise] never\n",
    f"{CPU}/isolated": "\n",
    f"{CPU}/nohz_full": "(null)\n",
    f"{CPU}/smt/active": "0\n",
    f"{CPU}/smt/control": "off\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/cpuidle/current_driver": "intel_idle\n",
    **{f"{CPU}/cpu{n}/topology/core_id": f"{n}\n" for n in range(4)},
    **{f"{CPU}/cpu{n}/topology/physical_package_id": "0\n" for n in range(4)},
    **{f"{CPU}/cpufreq/policy{n}/scaling_governor": "performance\n" for n in range(2)},
    **{f"{CPU}/cpufreq/policy{n}/scaling_available_governors": "performance powersave\n" for n in range(2)},
    **{f"{CPU}/cpufreq/policy{n}/scaling_driver": "intel_pstate\n" for n in range(2)},
    **{f"{CPU}/cpu{n}/cpuidle/state{s}/disable": f"{int(s == 2)}\n" for n in range(2) for s in range(3)},
    **{f"{CPU}/cpu{n}/cpuidle/state{s}/latency": f"{(0, 2, 133)[s]}\n" for n in range(2) for s in range(3)},
    **{f"{CPU}/cpu{n}/cpuidle/state{s}/name": f"{('POLL', 'C1', 'C6')[s]}\n" for n in range(2) for s in range(3)},
}

# Settings as a distribution leaves them: everything that --tune can do something about.
FIXABLE: Mapping[str, str] = {
    "proc/sys/kernel/randomize_va_space": "0\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    "proc/sys/net/ipv4/ip_local_port_range": "60000\t60999\n",
    "proc/sys/net/ipv4/tcp_max_syn_backlog": "512\n",
    "proc/sys/net/core/somaxconn": "128\n",
    "proc/meminfo": MEMINFO.format(swap=1000000),
    f"{CLOCK}/current_clocksource": "hpet\n",
    f"{THP}/enabled": "[always] madvise never\n",
    f"{THP}/defrag": "[always] defer defer+madvise madvise never\n",
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    **{f"{CPU}/cpufreq/policy{n}/scaling_governor": "powersave\n" for n in range(2)},
    **{f"{CPU}/cpu{n}/cpuidle/state2/disable": "0\n" for n in range(2)},
}


def make_host(root: Path, changes: Mapping[str, str | None] | None = None) -> Host:
    """Make a calm host with some files changed, or absent (None)."""
    for file, text in {**CALM, **(changes or {})}.items():
        if text is not None:
            write(root, file, text)
    host = Host(root=root, results=root / "results", server_cpus=(2, 3), interval_s=0.02, spin_s=0, processes=dict)
    seen = host.activity
    if seen is not None:
        # A CPU whose counters stand still does not count as idle.
        host.__dict__["activity"] = replace(seen, foreign_cpus=0.0)
    return host


def write(root: Path, file: str, text: str) -> None:
    path = root / file.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def read(root: Path, file: str) -> str:
    return (root / file.lstrip("/")).read_text()
