"""Limits of a server: what a host can enforce, what is then set, and what becomes of a limit that was hit."""

from __future__ import annotations

import resource
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.limit_outcome import outcomes
from jdkmatrix.fork.limit_watch import Sighting, exceeded, held_back
from jdkmatrix.host.cgroup_cpuset import cpu_groups
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import probe
from jdkmatrix.host.limit_groups import LimitCounters, LimitGroups, QuotaCounters, limit_groups
from jdkmatrix.host.limits import (
    CONTROLLERS,
    LimitHost,
    V1Place,
    plan_limits,
    read_limit_host,
    why_no_limit,
    why_no_quota,
)
from jdkmatrix.records.limits import LimitHit, LimitName
from tests.support.cgroup_doubles import MadeUpKernel, kernel

__all__ = ["kernel"]

ALL = Limits(threads_max=200, memory_bytes_max=300 << 20, open_files_max=512)
NOTHING = LimitHost(unified=None, v1={}, of_cpu_group=None, open_files_max=4096)
NAMES = ("threads", "memory", "open files", "CPU quota")
V1 = {name: V1Place(Path(f"/cg/{name}"), writable=True, read_only=False) for name in CONTROLLERS}


def means(host: LimitHost, limits: Limits = ALL) -> dict[str, str]:
    return {one.limit: one.by for one in plan_limits(limits, host).enforced}


# --------------------------------------------------------------------------------------------------------- the plan
def test_a_host_that_offers_nothing_is_watched() -> None:
    plan = plan_limits(ALL, NOTHING)
    assert means(NOTHING) == {"threads": "watch", "memory": "watch", "open files": "rlimit"}
    assert (plan.watched, plan.open_files_max) == ({"threads", "memory"}, 512)
    assert plan.enforced[0].why_not == (
        "no cgroup hierarchy of version 2 is mounted",
        "no cgroup hierarchy of version 1 has the pids controller",
    )


def test_version_1_is_used_where_it_may_be() -> None:
    assert means(replace(NOTHING, v1=V1)) == {"threads": "cgroup v1", "memory": "cgroup v1", "open files": "rlimit"}
    pids = V1["pids"]
    for place, reason in (
        (replace(pids, writable=False), "may not write"),
        (replace(pids, read_only=True), "mounted read-only"),
    ):
        held = replace(NOTHING, v1={**V1, "pids": place})
        plan = plan_limits(ALL, held)
        assert means(held)["threads"] == "watch" and reason in plan.enforced[0].why_not[1]
        assert dict(plan.v1_parents) == {"memory": Path("/cg/memory")}


def test_a_runner_among_its_processes_can_limit_threads_only(kernel: MadeUpKernel) -> None:
    """In version 2 a cgroup with processes hands down threaded controllers alone."""
    plan = plan_limits(ALL, replace(NOTHING, unified=probe(kernel.proc)))
    assert plan.v2_controllers == {"pids"}
    assert "has processes, and so cannot hand down the memory controller" in plan.enforced[1].why_not[0]
    kernel.put(kernel.parent, ())
    plan = plan_limits(ALL, replace(NOTHING, unified=probe(kernel.proc)))
    assert plan.v2_controllers == {"pids", "memory"}


def test_a_pinned_server_is_limited_where_it_is_pinned() -> None:
    pinned = replace(NOTHING, of_cpu_group=frozenset({"cpuset", "pids"}), v1=V1)
    assert means(pinned) == {"threads": "cgroup v2", "memory": "cgroup v1", "open files": "rlimit"}
    plan = plan_limits(ALL, replace(NOTHING, of_cpu_group=frozenset({"cpuset"})))
    assert plan.enforced[0].why_not[0] == "the cgroup that keeps the server on its CPUs has no pids controller"
    assert plan.v2_parent is None


def test_more_files_than_the_host_permits_are_not_promised() -> None:
    wanted = Limits(open_files_max=5000)
    (files,) = plan_limits(wanted, NOTHING).enforced
    assert (files.maximum, files.why_not) == (4096, ("5,000 were asked for, but this host permits 4,096",))
    (files,) = plan_limits(wanted, replace(NOTHING, open_files_max=1 << 20)).enforced
    assert (files.maximum, files.why_not) == (5000, ())
    (files,) = plan_limits(Limits(open_files_max=4096), NOTHING).enforced
    assert (files.maximum, files.why_not) == (4096, ())


@given(
    st.builds(
        Limits,
        threads_max=st.none() | st.integers(1, 10**6),
        memory_bytes_max=st.none() | st.integers(1 << 20, 1 << 40),
        open_files_max=st.none() | st.integers(16, 10**6),
    ),
    st.sets(st.sampled_from(CONTROLLERS)),
    st.none() | st.frozensets(st.sampled_from(CONTROLLERS)),
)
def test_every_limit_is_held_by_one_means(limits: Limits, v1: set[str], of_cpu_group: frozenset[str] | None) -> None:
    plan = plan_limits(
        limits, replace(NOTHING, v1={name: V1[name] for name in CONTROLLERS if name in v1}, of_cpu_group=of_cpu_group)
    )
    asked = [name for name, maximum in zip(NAMES, limits.model_dump().values(), strict=True) if maximum is not None]
    assert [one.limit for one in plan.enforced] == asked
    assert not plan.v2_controllers & plan.v1_parents.keys()
    by_group = len(plan.v2_controllers) + len(plan.v1_parents)
    assert by_group + len(plan.watched) == len(set(asked) - {"open files"})
    assert all(one.why_not for one in plan.enforced if one.by == "watch")


@pytest.mark.parametrize(
    ("host", "means"),
    [
        (replace(NOTHING, of_cpu_group=frozenset({"cpuset", "cpu"})), "cgroup v2"),
        (replace(NOTHING, v1=V1), "cgroup v1"),
    ],
)
def test_only_a_cgroup_holds_a_quota_of_cpu_time(host: LimitHost, means: str) -> None:
    (quota,) = plan_limits(Limits(cpu_quota_cpus=0.5), host).enforced
    assert (quota.limit, quota.maximum, quota.by) == ("CPU quota", 500, means)
    assert why_no_quota(0.5, host) is None
    assert why_no_limit(3, 2) == "a quota of 3 CPUs limits nothing on 2 CPUs"
    reason = why_no_quota(0.5, NOTHING)
    assert reason and reason.startswith("no CPU quota can be set here: no cgroup hierarchy of version 2 is ")


@pytest.mark.parametrize(("effective", "most"), [("0" * 16, 1024), ("0000000001000000", 1 << 20)])
def test_nobody_gets_more_files_than_the_kernel_has(
    effective: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/status").write_text(f"Name:\tpython\nCapEff:\t{effective}\n")
    (tmp_path / "sys/fs").mkdir(parents=True)
    (tmp_path / "sys/fs/nr_open").write_text("1048576\n")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))
    assert read_limit_host(proc=tmp_path).open_files_max == most


def test_this_host_can_be_read() -> None:
    host = read_limit_host()
    assert host.open_files_max >= 16
    assert plan_limits(ALL, host).enforced[0].limit == "threads"


# ------------------------------------------------------------------------------------------------------- the groups
def test_limits_of_version_1_are_set_counted_and_removed(kernel: MadeUpKernel) -> None:
    parents = [kernel.mount_v1(name) for name in CONTROLLERS]
    host = read_limit_host(proc=kernel.proc)
    assert means(host) == {"threads": "cgroup v1", "memory": "cgroup v1", "open files": "rlimit"}
    with limit_groups(plan_limits(ALL, host)) as groups:
        pids, memory = groups.folders
        assert kernel.writes == [("pids.max", "200"), ("memory.limit_in_bytes", str(300 << 20))]
        assert groups.counters() == LimitCounters(0, 0, 0)
        (pids / "pids.events").write_text("max 3\n")
        (memory / "memory.failcnt").write_text("17\n")
        (memory / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
        assert groups.counters() == LimitCounters(threads_refused=3, memory_held_back=17, oom_kills=1)
    assert [path for parent in parents for path in parent.glob("*/")] == []


def test_controllers_that_are_mounted_together_share_a_group(kernel: MadeUpKernel) -> None:
    parent = kernel.mount_v1("memory,pids")
    with limit_groups(plan_limits(ALL, read_limit_host(proc=kernel.proc))) as groups:
        assert len(groups.folders) == len(list(parent.glob("*/"))) == 1
        assert {name for name, _ in kernel.writes} == {"pids.max", "memory.limit_in_bytes"}
    assert list(parent.glob("*/")) == []


def test_a_quota_is_set_and_what_it_throttles_is_counted(kernel: MadeUpKernel) -> None:
    limits = Limits(cpu_quota_cpus=0.25)
    kernel.put(kernel.parent, ())
    with limit_groups(plan_limits(limits, read_limit_host(proc=kernel.proc))) as groups:
        assert kernel.writes[-1] == ("cpu.max", "25000 100000")
        assert groups.quota() is None, "the kernel does not count yet"
        (folder,) = groups.folders
        (folder / "cpu.stat").write_text("usage_usec 9\nnr_periods 40\nnr_throttled 30\nthrottled_usec 2500000\n")
        assert groups.quota() == QuotaCounters(40, 30, 2.5e6)
    kernel.mount_v1("cpu")
    kernel.writes.clear()
    with limit_groups(plan_limits(limits, replace(read_limit_host(proc=kernel.proc), unified=None))) as groups:
        assert kernel.writes == [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "25000")]
        (folder,) = groups.folders
        (folder / "cpu.stat").write_text("nr_periods 40\nnr_throttled 30\nthrottled_time 2500000000\n")
        assert groups.quota() == QuotaCounters(40, 30, 2.5e6)


def test_a_process_that_was_killed_since_the_host_had_no_memory_did_not_reach_its_limit(kernel: MadeUpKernel) -> None:
    kernel.put(kernel.parent, ())
    with limit_groups(plan_limits(ALL, read_limit_host(proc=kernel.proc))) as groups:
        (folder,) = groups.folders
        (folder / "memory.events").write_text("low 0\nmax 9\noom 0\noom_kill 1\n")
        assert groups.counters().oom_kills == 0
    memory = kernel.mount_v1("memory")
    plan = plan_limits(Limits(memory_bytes_max=300 << 20), replace(read_limit_host(proc=kernel.proc), unified=None))
    with limit_groups(plan) as groups:
        (folder,) = groups.folders
        assert folder.parent == memory
        (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
        (folder / "memory.max_usage_in_bytes").write_text(f"{100 << 20}\n")
        assert groups.counters().oom_kills == 0
        (folder / "memory.max_usage_in_bytes").write_text(f"{300 << 20}\n")
        assert groups.counters().oom_kills == 1


def test_limits_of_version_2_go_where_the_server_is_pinned(kernel: MadeUpKernel) -> None:
    with cpu_groups(probe(kernel.proc), {"sut": [1], "driver": [0]}, also=CONTROLLERS) as pinned:
        folder = pinned["sut"].folder
        (folder / "cgroup.controllers").write_text("cpuset pids\n")
        plan = plan_limits(ALL, read_limit_host(folder, proc=kernel.proc))
        (folder / "pids.events").write_text("max 5\n")
        with limit_groups(plan, folder) as groups:
            assert groups.folders == (), "it is in there already"
            assert (folder / "pids.max").read_text() == "200"
            (folder / "pids.events").write_text("max 7\n")
            assert groups.counters() == LimitCounters(threads_refused=2)
        assert (folder / "pids.max").read_text() == "max"
        assert not (folder / "memory.max").exists(), "its parent has processes"
    assert (kernel.parent / "cgroup.subtree_control").read_text() == ""
    assert list(kernel.parent.glob("*/")) == []


def test_without_pinning_version_2_gets_a_cgroup_for_the_limits(kernel: MadeUpKernel) -> None:
    kernel.put(kernel.parent, ())
    plan = plan_limits(ALL, read_limit_host(proc=kernel.proc))
    with limit_groups(plan) as groups:
        (folder,) = groups.folders
        assert folder.name.endswith("-limits-memory-pids")
        assert (folder / "memory.max").read_text() == str(300 << 20)
        assert (folder / "memory.swap.max").read_text() == "0"
        (folder / "memory.events").write_text("low 0\nmax 9\noom 1\noom_kill 1\n")
        assert groups.counters() == LimitCounters(threads_refused=0, memory_held_back=9, oom_kills=1)
        again = LimitGroups({}, folder, to_join=())
        (folder / "memory.events").write_text("low 0\nmax 9\noom 1\noom_kill 2\n")
        assert again.counters().oom_kills == 0, "the host had no memory, and the limit was not the reason"
    assert (kernel.parent / "cgroup.subtree_control").read_text() == ""
    assert list(kernel.parent.glob("*/")) == []


def test_a_kernel_that_refuses_leaves_nothing_behind(kernel: MadeUpKernel) -> None:
    pids = kernel.mount_v1("pids")
    plan = plan_limits(Limits(threads_max=5), read_limit_host(proc=kernel.proc))
    kernel.v1[pids] = "memory"  # so that a new cgroup has no pids.max
    with pytest.raises(CgroupError, match=r"cannot write '5' to .*pids\.max"), limit_groups(plan):
        pytest.fail("it was done nevertheless")
    assert list(pids.glob("*/")) == []


def test_limits_of_a_killed_runner_are_removed(kernel: MadeUpKernel) -> None:
    pids = kernel.mount_v1("pids")
    kernel.make(pids / "jdk-matrix-77-99-limits")
    with limit_groups(plan_limits(Limits(threads_max=5), read_limit_host(proc=kernel.proc))) as groups:
        assert list(pids.glob("*/")) == list(groups.folders)


# ----------------------------------------------------------------------------------------------- the watch's decision
@given(st.integers(0, 1000), st.integers(0, 1 << 32))
def test_the_watch_sees_what_is_more_than_allowed(threads: int, rss_bytes: int) -> None:
    usage: dict[LimitName, int] = {"threads": threads, "memory": rss_bytes}
    found = exceeded(usage, ALL)
    assert ("threads" in found) == (threads > 200) and ("memory" in found) == (rss_bytes > 300 << 20)
    assert exceeded(usage, Limits()) == {}


def test_memory_that_was_taken_back_from_files_is_no_limit_that_was_hit() -> None:
    assert held_back(LimitCounters(threads_refused=0, memory_held_back=1000, oom_kills=0)) == ()
    assert held_back(LimitCounters(threads_refused=1, memory_held_back=0, oom_kills=1)) == ("threads", "memory")


# ----------------------------------------------------------------------------------------------------- the outcome
NO_THREAD = [
    '[0.935s][warning][os,thread] Failed to start thread "Unknown thread" with pthread_create (EAGAIN) for attributes: '
    "stacksize: 1024k, guardsize: 4k, detached.",
    'Exception in thread "main" java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or '
    "process/resource limits reached",
]


def hits(
    lines: list[str], seen: Mapping[LimitName, Sighting] | None = None, *, limits: Limits = ALL, **counted: int
) -> Sequence[LimitHit]:
    counters = LimitCounters(**counted)
    return outcomes(who="the server", limits=limits, counters=counters, seen=seen or {}, log_lines=lines)


def test_threads_that_the_kernel_refused() -> None:
    lines = [*NO_THREAD, "something else"]
    (found,) = hits(lines, {"threads": Sighting(3.5, None)}, threads_refused=12, memory_held_back=5)
    assert (found.code, found.first_seen_s) == ("threads-limit", 3.5)
    assert found.figures == {"threads_refused": 12, "log_lines": 2, "limit": 200}
    assert found.message.startswith("the server ran into its limit of 200 threads: the kernel refused it 12")


def test_a_limit_that_is_not_known_to_be_ours_is_not_said_to_be() -> None:
    """A container around us may allow fewer threads; for open files there is one limit, the one that we set."""
    (found,) = hits([NO_THREAD[1]])
    assert found.message.startswith("the server ran into a limit on threads: 1 line") and "limit" not in found.figures
    (found,) = hits(["Too many open files"], limits=Limits(open_files_max=64))
    assert found.message.startswith("the server ran into its limit of 64 open files") and found.figures["limit"] == 64


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (NO_THREAD[1], "threads-limit"),
        ("java.lang.OutOfMemoryError: Failed to create a thread: retVal -1073741830, errno 11", "threads-limit"),
        ("java.net.SocketException: Too many open files", "files-limit"),
        ("# There is insufficient memory for the Java Runtime Environment to continue.", "memory-limit"),
        ("# Native memory allocation (mmap) failed to map 65536 bytes.", "memory-limit"),
        ("OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00000000f0000000, 1048576, 0) failed; "
         "error='Not enough space' (errno=12)", "memory-limit"),
        ("java.lang.OutOfMemoryError: Java heap space", "jvm-memory-limit"),
        ("Caused by: java.lang.OutOfMemoryError: Cannot reserve 8192 bytes of direct buffer memory (allocated: 1, "
         "limit: 2)", "jvm-memory-limit"),
    ],
)  # fmt: skip
def test_what_a_jvm_writes(line: str, code: str) -> None:
    (found,) = hits(["a start", line], limits=Limits())
    assert (found.code, found.figures, found.first_seen_s) == (code, {"log_lines": 1}, None)
    assert line[:60] in found.message


def test_the_watch_that_ended_it_says_what_it_saw() -> None:
    (found,) = hits([], {"memory": Sighting(7.0, 512_000_000)})
    assert found.message == ("the server ran into its limit of 315 MB: it had 512 MB, and the watch ended it")
    assert found.first_seen_s == 7.0


NEARLY = ["OutOfMemoryError", "Too many", "open files", "unable to create", "-XX:OnOutOfMemoryError=kill", "memory"]


@given(st.lists(st.lists(st.sampled_from(NEARLY), max_size=1).map(" ".join)))
def test_a_log_that_says_nothing_of_limits_has_no_outcome(lines: list[str]) -> None:
    assert hits(lines, memory_held_back=99) == ()
