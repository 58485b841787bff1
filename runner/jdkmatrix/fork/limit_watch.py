"""Watch a server and its limits: when they are first hit, and end it where nothing else would stop it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from jdkmatrix.domain.tables import Limits
from jdkmatrix.host.limit_groups import LimitCounters
from jdkmatrix.host.limits import LimitPlan
from jdkmatrix.probes.pace import Pace
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.records.limits import LimitName

_EVERY_S = 0.25
_LOOK_AT_MOST_S = 1.0


@dataclass(frozen=True)
class Usage:
    threads: int
    rss_bytes: int


@dataclass(frozen=True)
class Sighting:
    """`value`: threads or bytes, where the watch itself saw too many of them and ended the server; None: the kernel has
    counted that it held something back."""

    limit: LimitName
    t_s: float
    value: int | None


class LimitWatch(Pace):
    """Between enter and exit, looks four times a second; `seen` has the first sighting of each limit.

    Calls `end` when a limit that is its own to enforce is exceeded, and looks no more then. Exit before the cgroups are
    removed: it takes a last look at the counters."""

    def __init__(
        self,
        pid: int,
        plan: LimitPlan,
        counters: Callable[[], LimitCounters],
        end: Callable[[], None],
        *,
        started_ns: int,
    ) -> None:
        super().__init__("limit watch", self._check_usage, every_s=_EVERY_S, look_at_most_s=_LOOK_AT_MOST_S)
        self._pid = pid
        self._plan = plan
        self._counters = counters
        self._end = end
        self._started_ns = started_ns
        self._seen: dict[LimitName, Sighting] = {}
        self._last = LimitCounters()

    @property
    def seen(self) -> tuple[Sighting, ...]:
        return tuple(self._seen.values())

    @property
    def counters(self) -> LimitCounters:
        """The counters at the last look."""
        return self._last

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._last = self._counters()

    def _check_usage(self) -> None:
        self._last = self._counters()
        t_s = (time.monotonic_ns() - self._started_ns) / 1e9
        for limit in held_back(self._last):
            self._seen.setdefault(limit, Sighting(limit, t_s, None))
        usage = read_usage(self._pid)
        breaches = {
            limit: value for limit, value in exceeded(usage, self._plan.limits).items() if limit in self._plan.watched
        }
        for limit, value in breaches.items():
            self._seen.setdefault(limit, Sighting(limit, t_s, value))
        if breaches:
            self._end()
            raise SutGoneError(f"process {self._pid} was ended")


def held_back(counters: LimitCounters) -> tuple[LimitName, ...]:
    """The limits that were hit. Memory that was held back is none: the kernel took it back from files."""
    found: list[LimitName] = []
    if counters.threads_refused:
        found.append("threads")
    if counters.oom_kills:
        found.append("memory")
    return tuple(found)


def exceeded(usage: Usage, limits: Limits) -> dict[LimitName, int]:
    """The limits that these figures exceed."""
    found: dict[LimitName, int] = {}
    if limits.threads_max is not None and usage.threads > limits.threads_max:
        found["threads"] = usage.threads
    if limits.memory_bytes_max is not None and usage.rss_bytes > limits.memory_bytes_max:
        found["memory"] = usage.rss_bytes
    return found


def read_usage(pid: int) -> Usage:
    """Read /proc/PID/status (proc_pid_status(5)).

    Raises:
        SutGoneError: no such process, or it is ending.
    """
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        raise SutGoneError(f"process {pid} has ended") from None
    threads = re.search(r"^Threads:\s+(\d+)", text, re.MULTILINE)
    rss = re.search(r"^VmRSS:\s+(\d+) kB", text, re.MULTILINE)
    if threads is None or rss is None:
        raise SutGoneError(f"process {pid} is ending")
    return Usage(int(threads.group(1)), int(rss.group(1)) * 1024)
