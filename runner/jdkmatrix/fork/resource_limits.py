"""The box that a fork's process runs in: its limits, what enforces them, and which were hit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.limit_outcome import outcomes
from jdkmatrix.fork.limit_watch import LimitWatch
from jdkmatrix.host.limit_groups import LimitGroups, QuotaCounters, limit_groups
from jdkmatrix.host.limits import LimitPlan, plan_limits, read_limit_host
from jdkmatrix.records.limits import LimitHit


@dataclass
class ResourceLimits:
    """The box of one process. `cpu_group`: the cgroup that keeps it on its CPUs; None where affinity does."""

    plan: LimitPlan
    groups: LimitGroups
    cpu_group: Path | None
    _watch: LimitWatch | None = field(default=None, init=False)

    @property
    def cgroups(self) -> list[Path]:
        """The cgroups that the process is started in."""
        return [*([self.cpu_group] if self.cpu_group else []), *self.groups.folders]

    def quota(self) -> QuotaCounters | None:
        """Return the counters of the quota of CPU time; None where there is no quota."""
        return self.groups.quota() if self.plan.limits.cpu_quota_cpus is not None else None

    @property
    def ended_it(self) -> bool:
        """True if the kernel or the watch killed the process for what it took."""
        if self._watch is None:
            return False
        return bool(self._watch.counters.oom_kills) or any(one.value is not None for one in self._watch.seen.values())

    def watch(self, pid: int, end: Callable[[], None], *, started_ns: int) -> AbstractContextManager[LimitWatch | None]:
        """Watch the process, if it has limits, while the context is entered; `end` stops the process."""
        if not self.plan.enforced:
            return nullcontext()
        self._watch = LimitWatch(pid, self.plan, self.groups.counters, end, started_ns=started_ns)
        return self._watch

    def outcomes(self, who: str, log_lines: Iterable[str]) -> tuple[LimitHit, ...]:
        """Return the limits that `who`, in words, ran into; empty where there are none, or nothing was watched."""
        if self._watch is None:
            return ()
        held = self.plan.limits.model_copy(update={"open_files_max": self.plan.open_files_max})
        return outcomes(who=who, limits=held, counters=self._watch.counters, seen=self._watch.seen, log_lines=log_lines)


@contextmanager
def limited(limits: Limits, cpu_group: Path | None) -> Iterator[ResourceLimits]:
    """Raises: MatrixError: this host cannot hold those limits."""
    plan = plan_limits(limits, read_limit_host(cpu_group))
    with limit_groups(plan, cpu_group) as groups:
        yield ResourceLimits(plan, groups, cpu_group)
