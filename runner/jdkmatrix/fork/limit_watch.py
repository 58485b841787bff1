"""Watch a server and its limits: note when each is first hit, and end the server where nothing else would stop it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from jdkmatrix.domain.tables import Limits
from jdkmatrix.host.limit_groups import LimitCounters
from jdkmatrix.host.limits import LimitPlan
from jdkmatrix.probes.pace import Pace
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.reading import text_if_readable
from jdkmatrix.records.limits import LimitName

_EVERY_S = 0.25
_LOOK_AT_MOST_S = 1.0


@dataclass(frozen=True)
class Sighting:
    """The first hit of a limit. `value`: threads or bytes, where the watch itself saw too many of them and ended the
    server; None: the kernel counted that it held something back."""

    t_s: float
    value: int | None


@dataclass(eq=False)
class LimitWatch(Pace):
    """A watch that looks four times a second between enter and exit; `seen` has the first sighting of each limit.

    Calls `end` when a limit that it enforces itself is exceeded, and then looks no more. Exit before the cgroups are
    removed: it takes a last look at the counters."""

    pid: int
    plan: LimitPlan
    read_counters: Callable[[], LimitCounters]
    end: Callable[[], None]
    _: KW_ONLY
    started_ns: int
    seen: dict[LimitName, Sighting] = field(default_factory=dict, init=False)
    counters: LimitCounters = field(default_factory=LimitCounters, init=False)  # at the last look

    def __post_init__(self) -> None:
        super().__init__("limit watch", self._check_usage, every_s=_EVERY_S, look_at_most_s=_LOOK_AT_MOST_S)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        super().__exit__(kind, error, trace)
        self.counters = self.read_counters()

    def _check_usage(self) -> None:
        self.counters = self.read_counters()
        t_s = (time.monotonic_ns() - self.started_ns) / 1e9
        for limit in held_back(self.counters):
            self.seen.setdefault(limit, Sighting(t_s, None))
        found = exceeded(read_usage(self.pid), self.plan.limits)
        breaches = {limit: value for limit, value in found.items() if limit in self.plan.watched}
        for limit, value in breaches.items():
            self.seen.setdefault(limit, Sighting(t_s, value))
        if breaches:
            self.end()
            raise SutGoneError(f"process {self.pid} was ended")


def held_back(counters: LimitCounters) -> tuple[LimitName, ...]:
    """Return the limits that were hit. Memory that was held back is not one: the kernel took it back from files."""
    counted: dict[LimitName, int | None] = {"threads": counters.threads_refused, "memory": counters.oom_kills}
    return tuple(limit for limit, count in counted.items() if count)


def exceeded(usage: Mapping[LimitName, int], limits: Limits) -> dict[LimitName, int]:
    """Return those of these figures that exceed a limit."""
    most = {"threads": limits.threads_max, "memory": limits.memory_bytes_max}
    return {limit: value for limit, value in usage.items() if (maximum := most[limit]) is not None and value > maximum}


def read_usage(pid: int) -> dict[LimitName, int]:
    """Read the number of threads and the resident bytes from /proc/PID/status (proc_pid_status(5)).

    Raises:
        SutGoneError: no such process, or it is ending.
    """
    text = text_if_readable(Path(f"/proc/{pid}/status"))
    if text is None:
        raise SutGoneError(f"process {pid} has ended")
    threads = re.search(r"^Threads:\s+(\d+)", text, re.MULTILINE)
    rss = re.search(r"^VmRSS:\s+(\d+) kB", text, re.MULTILINE)
    if threads is None or rss is None:
        raise SutGoneError(f"process {pid} is ending")
    return {"threads": int(threads.group(1)), "memory": int(rss.group(1)) * 1024}
