"""Every property of `matrix doctor`: read from a made-up host, and judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from jdkmatrix.doctor.activity import Activity
from jdkmatrix.doctor.base import NOT_SHOWN, Check, Host, overall
from jdkmatrix.doctor.catalogue import PROPERTIES, examine, proposed
from jdkmatrix.doctor.cpu_frequency import c_states
from jdkmatrix.doctor.cpu_sharing import cpu_mask, interrupts
from jdkmatrix.doctor.memory import disk
from jdkmatrix.doctor.noise import foreign_load, hiccups, steal
from jdkmatrix.doctor.stalls import Stalls
from jdkmatrix.host.facts import chosen
from tests.support.doctor_host import CALM, CLOCK, CPU, FIXABLE, LIMITS, MEMINFO, THP, make_host, write

SAMPLED = {"steal", "hiccups"}  # a made-up host has no CPUs to spin on


def checks_of(root: Path, changes: Mapping[str, str | None] | None = None) -> dict[str, Check]:
    return examine(make_host(root, changes))


def test_a_calm_host_is_ready_and_nothing_is_left_to_do(tmp_path: Path) -> None:
    checks = checks_of(tmp_path)
    assert overall(checks.values()) == "ready"
    assert {name for name, check in checks.items() if check.verdict == "not shown"} == SAMPLED
    assert not [check for check in checks.values() if check.advice or check.changes]


def test_a_host_that_shows_nothing_is_told_so_and_never_passes(tmp_path: Path) -> None:
    host = Host(root=tmp_path, results=tmp_path, interval_s=0, spin_s=0, processes=dict)
    checks = examine(host)
    assert {name for name, check in checks.items() if check.verdict != "not shown"} == {"disk"}
    assert all(check.why and not check.changes for check in checks.values() if check.verdict == "not shown")
    assert overall(checks.values()) == "ready"


@pytest.mark.parametrize(
    ("changes", "name", "verdict", "found"),
    [
        ({"proc/self/status": "Cpus_allowed_list:\t2\n"}, "CPUs", "unfit", "1 usable (2)"),
        ({"sys/fs/cgroup/user/cpu.max": "150000 100000\n"}, "CPU quota", "unfit", "1.5 of 4 CPUs"),
        ({"sys/fs/cgroup/user/cpu.max": "300000 100000\n", "sys/fs/cgroup/user/cpu.stat": "nr_throttled 7\n"},
         "CPU quota", "noisy", "3 of 4 CPUs, throttled in 7 periods so far"),
        ({f"{CPU}/smt/active": "1\n", f"{CPU}/cpu2/topology/core_id": "0\n", f"{CPU}/cpu3/topology/core_id": "1\n"},
         "SMT", "noisy", "on, 2 cores"),
        ({f"{CPU}/isolated": "2-3\n"}, "isolcpus, nohz_full", "noisy", "isolated 2-3, nohz_full none"),
        ({f"{CPU}/nohz_full": "3\n"}, "isolcpus, nohz_full", "noisy", "isolated none, nohz_full 3"),
        ({f"{CPU}/nohz_full": "0-3\n"}, "isolcpus, nohz_full", "noisy", "isolated none, nohz_full 0-3"),
        ({f"{CPU}/cpufreq/policy0/scaling_governor": "powersave\n"},
         "frequency governor", "noisy", "performance on 1, powersave on 1 (intel_pstate)"),
        ({f"{CPU}/intel_pstate/no_turbo": "0\n"}, "turbo / boost", "noisy", "on"),
        ({f"{CPU}/intel_pstate/no_turbo": None, f"{CPU}/cpufreq/boost": "1\n"}, "turbo / boost", "noisy", "on"),
        ({f"{CPU}/cpu1/cpuidle/state2/disable": "0\n"}, "C-states", "noisy", "deepest C6, 133 µs to wake up, intel"),
        ({"proc/meminfo": "MemAvailable: 2000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB"}, "memory", "unfit", "1.9 GiB"),
        ({"sys/fs/cgroup/user/memory.max": f"{2**30}\n"}, "memory", "unfit", "1.0 GiB available in this control group"),
        ({"proc/meminfo": MEMINFO.format(swap=2**20)}, "swap", "noisy", "0.0 of 1.0 GiB used, swappiness 60"),
        ({f"{THP}/enabled": "[always] madvise never"}, "huge pages", "noisy", "always, defrag madvise"),
        ({f"{THP}/defrag": "[always] madvise never"}, "huge pages", "noisy", "madvise, defrag always"),
        ({"proc/sys/kernel/numa_balancing": "1\n"}, "NUMA balancing", "noisy", "on"),
        ({"proc/sys/kernel/randomize_va_space": "0\n"}, "ASLR", "noisy", "off"),
        ({"proc/self/limits": LIMITS.replace("20000 ", "1024  ")}, "open files", "noisy", "1,024 (at most 524,288)"),
        ({"proc/self/limits": LIMITS.replace("20000 ", "1024  ").replace("524288", "1024")},
         "open files", "unfit", "1,024 (at most 1,024)"),
        ({"proc/self/limits": LIMITS.replace("524288", "4096")}, "open files", "noisy", "20,000 (at most 4,096)"),
        ({"proc/self/limits": LIMITS.replace("96365", "512")}, "processes", "unfit", "512 (ulimit)"),
        ({"sys/fs/cgroup/user/pids.max": "2000\n"}, "processes", "noisy", "2,000 (pids.max of the control group)"),
        ({"proc/sys/net/ipv4/ip_local_port_range": "50000\t54999"}, "ephemeral ports", "noisy", "5,000"),
        ({"proc/sys/net/ipv4/ip_local_port_range": "60000\t60999"}, "ephemeral ports", "unfit", "1,000"),
        ({"proc/sys/net/core/somaxconn": "128\n"}, "somaxconn", "noisy", "128"),
        ({"proc/sys/net/ipv4/tcp_max_syn_backlog": "512\n"}, "SYN backlog", "noisy", "512"),
        ({"proc/loadavg": "2.00 0.10 0.20 1/85 5186\n"}, "load average", "noisy", "2.00 over the last minute"),
        ({"proc/pressure/cpu": "some avg10=9.00 avg60=0.00 total=1\n"},
         "pressure (PSI)", "noisy", "cpu 9.0 %, memory 0.0 %, io 0.1 % of the last 10 s"),
        ({"proc/cpuinfo": "flags\t: fpu hypervisor tsc\n"}, "machine", "noisy", "VM"),
        ({"proc/cpuinfo": "flags: hypervisor\n", ".dockerenv": ""}, "machine", "noisy", "container on a VM"),
        ({f"{CLOCK}/current_clocksource": "hpet\n"}, "clock source", "noisy", "hpet"),
        ({"proc/77/comm": "irqbalance\n"},
         "IRQ affinity", "noisy", "1 of 2 may interrupt the server (CPU 2-3), up to 0/s; irqbalance runs"),
    ],
)  # fmt: skip
def test_what_disturbs_is_named_with_what_to_do(
    tmp_path: Path, changes: dict[str, str | None], name: str, verdict: str, found: str
) -> None:
    checks = checks_of(tmp_path, changes)
    disturbing = {name: check.verdict for name, check in checks.items() if check.verdict in ("noisy", "unfit")}
    assert disturbing == {name: verdict}
    assert overall(checks.values()) == verdict
    assert checks[name].found.startswith(found)
    assert checks[name].why
    assert checks[name].advice


def test_advice_that_would_harm_is_not_given(tmp_path: Path) -> None:
    """`ulimit -n` alone lowers the hard limit, too, which a JVM takes; swapoff needs room for what is swapped out."""

    def advice(number: int, name: str, changes: dict[str, str | None]) -> str | None:
        return checks_of(tmp_path / str(number), changes)[name].advice

    few, swapped = (
        LIMITS.replace("20000 ", "1024  "),
        "MemAvailable: {} kB\nSwapTotal: 4000000 kB\nSwapFree: 1000000 kB",
    )
    assert advice(1, "open files", {"proc/self/limits": few}) == "ulimit -Sn 8192"
    assert "only root can" in str(advice(2, "open files", {"proc/self/limits": few.replace("524288", "4096")}))
    assert str(advice(3, "swap", {"proc/meminfo": swapped.format(30_000_000)})).startswith("swapoff -a while")
    assert "swapoff" not in str(advice(4, "swap", {"proc/meminfo": swapped.format(5_000_000)}))


@pytest.mark.parametrize(
    ("changes", "name", "found"),
    [
        ({"proc/self/status": "Cpus_allowed_list:\t0-127\n"}, "CPUs", "4 usable (0-3)"),
        ({f"{CPU}/smt/active": "1\n"}, "SMT", "on, 4 cores"),
        ({f"{CPU}/smt/control": "notimplemented\n"}, "SMT", "none"),
        ({f"{CPU}/smt/control": "on\n"}, "SMT", "none"),
        ({f"{CPU}/isolated": "4-7\n"}, "isolcpus, nohz_full", "isolated 4-7, nohz_full none"),
        ({f"{CPU}/nohz_full": "4-7\n"}, "isolcpus, nohz_full", "isolated none, nohz_full 4-7"),
        ({"proc/sys/kernel/perf_event_paranoid": "4\n"}, "perf events", "perf_event_paranoid 4"),
        ({"sys/fs/cgroup/user/cpu.max": "400000 100000\n"}, "CPU quota", "4 CPUs"),
        ({"proc/meminfo": MEMINFO.format(swap=2**20), "proc/sys/vm/swappiness": "1\n"},
         "swap", "0.0 of 1.0 GiB used, swappiness 1"),
        ({f"{CPU}/intel_pstate/no_turbo": None, f"{CPU}/cpufreq/boost": "0\n"}, "turbo / boost", "off"),
        ({f"{THP}/enabled": "always madvise [never]", f"{THP}/defrag": "[always]"}, "huge pages", "never, defrag"),
    ],
)  # fmt: skip
def test_what_does_not_disturb_is_ready(tmp_path: Path, changes: dict[str, str | None], name: str, found: str) -> None:
    check = checks_of(tmp_path, changes)[name]
    assert (check.verdict, check.changes) == ("ready", ())
    assert check.found.startswith(found)


def test_one_is_no_plural(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/user"
    one = {f"{CPU}/smt/active": "1\n", "proc/self/status": "Cpus_allowed_list:\t2\n"}
    half = checks_of(tmp_path / "half", {**one, f"{group}/cpu.max": "50000 100000\n"})
    assert (half["SMT"].found, half["CPU quota"].found) == ("on, 1 core", "0.5 of 1 CPU")
    throttled = {f"{group}/cpu.max": "100000 100000\n", f"{group}/cpu.stat": "nr_throttled 1\n"}
    below = {"proc/self/cgroup": "0::/user/run\n", f"{group}/run/cpu.stat": "nr_throttled 0\n"}
    assert "throttled in 1 period so far" in checks_of(tmp_path / "below", one | throttled | below)["CPU quota"].found
    assert checks_of(tmp_path / "whole", one | throttled)["CPU quota"].found == "1 CPU, throttled in 1 period so far"


def test_the_idle_states_of_a_guest_say_nothing_about_the_hardware(tmp_path: Path) -> None:
    changes = {f"{CPU}/cpuidle/current_driver": "haltpoll\n", f"{CPU}/cpu0/cpuidle/state2/disable": "0\n"}
    assert checks_of(tmp_path, changes)["C-states"].verdict == "not shown"


@pytest.mark.parametrize(
    ("of_cpu_us", "of_all_us", "verdict"),
    [("0", 2_000_000_000, "noisy"), ("200", None, "noisy"), ("50", None, "ready"), ("n/a", None, "ready"),
     ("0", 10, "ready"), ("0", 0, "ready")],
)  # fmt: skip
def test_a_sleep_that_takes_longer_to_end_than_somebody_allows_is_not_entered(
    tmp_path: Path, of_cpu_us: str, of_all_us: int | None, verdict: str
) -> None:
    """A program that asks for quick CPUs, as the daemon `tuned` does, leaves all states switched on."""
    of_cpu = {"cpuidle/state2/disable": "0\n", "power/pm_qos_resume_latency_us": f"{of_cpu_us}\n"}
    host = make_host(tmp_path, {f"{CPU}/cpu1/{name}": text for name, text in of_cpu.items()})
    if of_all_us is not None:
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev/cpu_dma_latency").write_bytes(of_all_us.to_bytes(4, sys.byteorder, signed=True))
    found = c_states(host)
    assert (found.verdict, bool(found.changes)) == (verdict, verdict == "noisy")


def test_what_only_root_can_follow_says_so(tmp_path: Path) -> None:
    group = checks_of(tmp_path / "group", {"sys/fs/cgroup/user/pids.max": "2000\n"})["processes"]
    own = checks_of(tmp_path / "own", {"proc/self/limits": LIMITS.replace("96365", "2000")})["processes"]
    assert (group.advice, own.advice) == ("raise it to 4,096: only root can", "raise it to 4,096: ulimit -u")


@pytest.mark.parametrize(
    ("uid", "uid_map", "found"),
    [
        ("0 0 0 0", "0 0 4294967295", "200,000 (/proc/sys/kernel/threads-max)"),
        ("1000 0 0 0", "0 0 4294967295", "512 (ulimit)"),
        ("0 0 0 0", "0 100000 65536", "512 (ulimit)"),
    ],
)
def test_the_limit_of_a_user_does_not_bind_root_except_in_a_user_namespace(
    tmp_path: Path, uid: str, uid_map: str, found: str
) -> None:
    changes = {"status": f"Uid:\t{uid}\nCpus_allowed_list:\t0-3\n", "uid_map": uid_map}
    changes |= {"limits": LIMITS.replace("96365", "512")}
    checks = checks_of(tmp_path, {f"proc/self/{file}": text for file, text in changes.items()})
    assert checks["processes"].found == found


def test_a_machine_without_cpu_flags_is_of_unknown_kind(tmp_path: Path) -> None:
    cpuinfo = "processor: 0\nFeatures: fp asimd\n"
    assert checks_of(tmp_path / "arm", {"proc/cpuinfo": cpuinfo})["machine"].verdict == "not shown"
    inside = checks_of(tmp_path / "inside", {"proc/cpuinfo": cpuinfo, ".dockerenv": ""})["machine"]
    assert (inside.verdict, inside.found) == ("not shown", "container on a machine of unknown kind")
    guest = checks_of(tmp_path / "guest", {"proc/cpuinfo": cpuinfo, "proc/device-tree/hypervisor/compatible": "kvm"})
    assert guest["machine"].verdict == "noisy"


@pytest.mark.parametrize(
    ("maker", "product", "verdict"),
    [
        ("Amazon EC2", "m7g.large", "noisy"),
        ("Amazon EC2", "m7g.metal", "not shown"),
        ("QEMU", "QEMU Virtual Machine", "noisy"),
        ("Microsoft Corporation", "Virtual Machine", "noisy"),
        ("Ampere(R)", "Mt. Jade", "not shown"),
    ],
)
def test_a_guest_on_aarch64_is_known_by_its_maker(tmp_path: Path, maker: str, product: str, verdict: str) -> None:
    firmware = {"sys/class/dmi/id/sys_vendor": maker, "sys/class/dmi/id/product_name": product}
    found = checks_of(tmp_path, {"proc/cpuinfo": "processor: 0\nFeatures: fp asimd\n", **firmware})["machine"]
    assert found.verdict == verdict
    assert found.found == (f"VM ({maker})" if verdict == "noisy" else NOT_SHOWN)


@pytest.mark.parametrize(("free_bytes", "verdict"), [(2**31, "ready"), (2**31 - 1, "unfit")])
def test_a_full_disk_is_unfit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, verdict: str) -> None:
    space = SimpleNamespace(f_bavail=free_bytes, f_frsize=1)
    monkeypatch.setattr("jdkmatrix.doctor.memory.os.statvfs", lambda folder: space)
    found = disk(make_host(tmp_path))
    assert found.verdict == verdict
    assert found.advice == ("" if verdict == "ready" else f"free 2 GiB at {tmp_path}")


def interrupted(root: Path, rate_per_s: float, **files: str) -> Host:
    host = make_host(root, {"proc/irq/default_smp_affinity": "0000000f\n", **files})
    host.__dict__["activity"] = Activity(1.0, 0.0, (), {2: 5.0, 3: rate_per_s})
    return host


def test_interrupts_are_moved_only_where_they_are_many_and_nobody_moves_them_back(tmp_path: Path) -> None:
    busy = interrupts(interrupted(tmp_path / "busy", 5000.0))
    assert busy.verdict == "noisy"
    assert [(change.file, change.new) for change in busy.changes] == [
        ("/proc/irq/default_smp_affinity", "00000003"),
        ("/proc/irq/24/smp_affinity_list", "0-1"),
    ]
    calm = interrupts(interrupted(tmp_path / "calm", 50.0))
    assert (calm.verdict, calm.changes) == ("ready", ())
    balanced = interrupts(interrupted(tmp_path / "balanced", 5000.0, **{"proc/77/comm": "irqbalance\n"}))
    assert (balanced.verdict, balanced.changes) == ("noisy", ())
    untold = make_host(tmp_path / "untold")
    untold.__dict__["activity"] = None
    assert interrupts(untold).verdict == "not shown", "how often is what decides"


def test_interrupts_that_the_kernel_lets_nobody_move_are_left_where_they_are(tmp_path: Path) -> None:
    host = interrupted(tmp_path, 5000.0, **{"proc/irq/26/smp_affinity_list": "3\n"})
    (tmp_path / "proc/irq/26/smp_affinity_list").chmod(0o444)
    found = interrupts(host)
    assert found.found.startswith("2 of 3 may interrupt the server")
    assert "/proc/irq/26/smp_affinity_list" not in {change.file for change in found.changes}


def test_foreign_load_names_who_it_is(tmp_path: Path) -> None:
    host = make_host(tmp_path)
    host.__dict__["activity"] = Activity(1.0, 0.63, (("java (12)", 0.5), ("make (9)", 0.13)), {})
    finding = foreign_load(host)
    assert finding.verdict == "noisy"
    assert finding.found == "0.63 CPUs over 1.0 s: java (12) 0.50, make (9) 0.13"
    host.__dict__["activity"] = Activity(1.0, 0.015, (), {})
    assert foreign_load(host).verdict == "ready"


def test_what_a_container_is_told_of_its_cpus_is_not_taken_for_the_host(tmp_path: Path) -> None:
    """A file mounted over the kernel's, as lxcfs does, belongs to another file system."""
    host = replace(make_host(tmp_path))
    (tmp_path / "proc/stat").unlink()
    (tmp_path / "proc/stat").symlink_to("/proc/stat")
    assert foreign_load(host) is None


def spun(root: Path, stalls: tuple[Stalls, ...]) -> Host:
    host = make_host(root)
    host.__dict__["stalls"] = stalls
    return host


def stalls(*, away_s: float = 0.0, longest_s: float = 0.0, stolen_s: float | None = 0.0) -> tuple[Stalls, ...]:
    quiet = Stalls(0, 1.0, 0, 0.0, 0.0, 0.0, 0.0)
    return (quiet, Stalls(1, 1.0, int(away_s > 0), away_s, longest_s, 0.01 if away_s else 0.0, stolen_s))


@pytest.mark.parametrize(("stolen_s", "verdict"), [(0.0, "ready"), (0.01, "ready"), (0.05, "noisy"), (0.2, "unfit")])
def test_steal(tmp_path: Path, stolen_s: float, verdict: str) -> None:
    assert steal(spun(tmp_path, stalls(stolen_s=stolen_s))).verdict == verdict


@pytest.mark.parametrize(
    ("away_s", "longest_s", "verdict"),
    [(0, 0, "ready"), (0.004, 0.001, "ready"), (0.004, 0.006, "noisy"), (0.02, 0.001, "noisy"), (0.2, 0.1, "unfit")],
)
def test_hiccups(tmp_path: Path, away_s: float, longest_s: float, verdict: str) -> None:
    finding = hiccups(spun(tmp_path, stalls(away_s=away_s, longest_s=longest_s)))
    assert finding.verdict == verdict
    assert ("other processes had 10 ms" in finding.found) == (", 1 gap)" in finding.found) == (away_s > 0)
    quota = spun(tmp_path, stalls(away_s=away_s, longest_s=longest_s))
    write(tmp_path, "sys/fs/cgroup/user/cpu.max", "100000 100000\n")
    assert ("other processes, or the CPU quota, kept 10 ms" in hiccups(quota).found) == (away_s > 0)


def test_steal_that_is_not_shown_is_not_called_none(tmp_path: Path) -> None:
    host = spun(tmp_path, tuple(stall for stall in stalls(away_s=0.2, stolen_s=None) if stall.cpu == 1))
    assert steal(host) is None
    assert "reported as steal: none" in hiccups(host).why


def test_every_fix_ends_what_it_is_for_and_only_what_is_tunable_has_one(tmp_path: Path) -> None:
    host = make_host(tmp_path, FIXABLE)
    fixable = {known.name for known in PROPERTIES if known.tunable}
    checks = examine(host)
    assert {name for name, one in checks.items() if one.verdict in ("noisy", "unfit")} == fixable - {"IRQ affinity"}
    assert {name for name, one in checks.items() if one.changes} <= fixable
    fixed = {change.file.lstrip("/"): change.new for change in proposed(host)}
    assert overall(checks_of(tmp_path, {**FIXABLE, **fixed}).values()) == "ready"


def test_a_governor_or_clock_that_is_not_offered_is_not_written(tmp_path: Path) -> None:
    changes = {
        **FIXABLE,
        f"{CPU}/cpufreq/policy1/scaling_available_governors": "schedutil\n",
        f"{CLOCK}/available_clocksource": "hpet acpi_pm\n",
    }
    files = {change.file for change in proposed(make_host(tmp_path, changes))}
    assert not [file for file in files if "governor" in file or "clocksource" in file]


@pytest.mark.parametrize(
    ("cpus", "like", "mask"),
    [((0, 1), "f", "3"), ((0, 1), "0000000f", "00000003"), ((0, 33), "ffffffff,ffffffff", "00000002,00000001")],
)
def test_a_mask_is_spelt_as_the_kernel_does(cpus: tuple[int, ...], like: str, mask: str) -> None:
    assert cpu_mask(cpus, like=like) == mask


def test_the_chosen_word_of_several() -> None:
    assert chosen("always [madvise] never\n") == "madvise"
    assert chosen("32768\t60999\n") == "32768 60999"
    assert set(FIXABLE) <= set(CALM)
