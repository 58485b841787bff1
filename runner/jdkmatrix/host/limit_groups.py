"""Carry out a plan of limits: make the cgroups that hold them, count what ran into them, leave none behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.quantities import rise
from jdkmatrix.domain.tables import Limits
from jdkmatrix.host import cgroup_folders as folders
from jdkmatrix.host import cgroup_tree
from jdkmatrix.host.cgroup_limits import counted
from jdkmatrix.host.limits import Controller, LimitPlan

_ROLE = "limits"
_HUGE_PAGE_BYTES = 2 << 20
_PERIOD_US = 100_000  # the kernel's default, and that of containers


@dataclass(frozen=True)
class LimitCounters:
    """Counts of what the kernel held back since the limits were set; None: nothing counts it here.

    `threads_refused`: threads that were not started. `memory_held_back`: how often memory was asked for at the limit;
    the kernel then reclaims file pages and, if that is not enough, kills: `oom_kills`, which do not include kills of a
    host that had no memory left."""

    threads_refused: int | None = None
    memory_held_back: int | None = None
    oom_kills: int | None = None


@dataclass(frozen=True)
class QuotaCounters:
    """Counts since the quota was set: periods in which something ran, in how many of them it was throttled, and for how
    long, over all its CPUs."""

    periods: int
    throttled_periods: int
    throttled_us: float


class LimitGroups:
    """The cgroups to start the server in, beside the one that pins it. Its counters can be read while they exist."""

    def __init__(self, v1: Mapping[Controller, Path], v2: Path | None, *, to_join: tuple[Path, ...]) -> None:
        self.folders = to_join
        self._v1 = v1
        self._v2 = v2
        self._before, self._kills_before = self._read(), self._kills()

    def counters(self) -> LimitCounters:
        now, kills = self._read(), zip(self._kills_before, self._kills(), strict=True)
        rises = [found for before, after in kills if (found := rise(before, after)) is not None]
        return LimitCounters(
            threads_refused=rise(self._before.threads_refused, now.threads_refused),
            memory_held_back=rise(self._before.memory_held_back, now.memory_held_back),
            oom_kills=min(rises, default=None),
        )

    def quota(self) -> QuotaCounters | None:
        """Read the quota's counters; None where there is no quota of CPU time."""
        folder = self._v1.get("cpu", self._v2)
        found = dict(line.split() for line in folders.read(folder / "cpu.stat").splitlines()) if folder else {}
        if "nr_periods" not in found:
            return None
        in_us, in_ns = found.get("throttled_usec"), found.get("throttled_time", "0")  # of version 2, of version 1
        throttled_us = int(in_ns) / 1e3 if in_us is None else float(in_us)
        return QuotaCounters(int(found["nr_periods"]), int(found["nr_throttled"]), throttled_us)

    def _read(self) -> LimitCounters:
        held_back = None
        pids = self._v1.get("pids", self._v2)
        threads = counted(folders.read(pids / "pids.events"), "max") if pids else None
        if self._v2 is not None:
            held_back = counted(folders.read(self._v2 / "memory.events"), "max")
        if "memory" in self._v1:
            count = folders.read(self._v1["memory"] / "memory.failcnt")
            held_back = int(count) if count else None
        return LimitCounters(threads, held_back)

    def _kills(self) -> tuple[int | None, ...]:
        """Read counts that each rise by no less than the number of processes that the limit has killed."""
        if "memory" in self._v1:
            count = counted(folders.read(self._v1["memory"] / "memory.oom_control"), "oom_kill")
            return (count if count is None or _was_full(self._v1["memory"]) else 0,)
        # "oom_kill" counts any kill (mm/oom_kill.c, __oom_kill_process), "oom" how often the limit was the reason.
        events = folders.read(self._v2 / "memory.events") if self._v2 is not None else ""
        return tuple(counted(events, name) for name in ("oom_kill", "oom"))


@contextmanager
def limit_groups(plan: LimitPlan, cpu_group: Path | None = None) -> Iterator[LimitGroups]:
    """Make the cgroups of the plan; `cpu_group` is the server's cgroup of version 2 that the plan was made for.

    Leaves nothing behind, neither of ours nor of a killed runner, and no limit in `cpu_group`. Read the counters before
    the end: they go with the cgroups.

    Raises:
        CgroupError: the kernel refuses; then nothing is changed.
    """
    with ExitStack() as stack:
        # Controllers that are mounted together have one parent, and so one group.
        made = {parent: stack.enter_context(_v1_group(parent)) for parent in dict.fromkeys(plan.v1_parents.values())}
        v1 = {controller: made[parent] for controller, parent in plan.v1_parents.items()}
        for controller, folder in v1.items():
            _write_all(folder, _settings(controller, 1, plan.limits))
        v2 = None
        if plan.v2_parent is not None:
            children = cgroup_tree.children(plan.v2_parent, [_ROLE], plan.v2_controllers)
            v2 = stack.enter_context(children)[_ROLE]
        elif plan.v2_controllers:
            v2 = cpu_group
        if v2 is not None:
            for controller in plan.v2_controllers:
                if v2 == cpu_group:
                    stack.callback(_write_all, v2, dict.fromkeys(_settings(controller, 2, plan.limits), "max"))
                _write_all(v2, _settings(controller, 2, plan.limits))
        to_join = [*made.values(), *([v2] if v2 is not None and v2 != cpu_group else [])]
        yield LimitGroups(v1, v2, to_join=tuple(to_join))


@contextmanager
def _v1_group(parent: Path) -> Iterator[Path]:
    folders.remove_leftovers(parent)
    folder = folders.make(parent, _ROLE)
    try:
        yield folder
    finally:
        folders.remove(folder, parent)


def _settings(controller: Controller, version: int, limits: Limits) -> dict[str, str]:
    """Return the settings by file. Without a limit of its own, swap would take what memory may not."""
    if controller == "pids":
        return {"pids.max": str(limits.threads_max)}
    if controller == "cpu":
        quota_us = round((limits.cpu_quota_cpus or 0) * _PERIOD_US)
        if version == 1:
            return {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota_us)}
        return {"cpu.max": f"{quota_us} {_PERIOD_US}"}
    if version == 1:
        return dict.fromkeys(("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), str(limits.memory_bytes_max))
    return {"memory.max": str(limits.memory_bytes_max), "memory.swap.max": "0"}


def _write_all(folder: Path, settings: Mapping[str, str]) -> None:
    for name, text in settings.items():
        # A kernel that does not account for swap has no files for it.
        if "sw" not in name or (folder / name).exists():
            folders.write(folder / name, text)


def _was_full(v1_memory: Path) -> bool:
    """Return whether it was full, to within a huge page: version 1 does not say why the kernel killed. True where it
    does not tell how full it was."""
    most, limit = (folders.read(v1_memory / f"memory.{name}_in_bytes") for name in ("max_usage", "limit"))
    return not most or int(most) > int(limit) - _HUGE_PAGE_BYTES
