"""Properties of the host: how each is examined and fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from jdkmatrix.doctor.activity import Activity, Process, observe, other_processes
from jdkmatrix.doctor.stalls import Stalls, probe
from jdkmatrix.host.cgroup_limits import Hierarchy, read_hierarchies
from jdkmatrix.host.cpu_ticks import read_ticks
from jdkmatrix.host.cpulist import parse_cpu_list
from jdkmatrix.reading import text_if_readable

HostVerdict = Literal["ready", "noisy", "unfit"]
Verdict = Literal["ready", "noisy", "unfit", "not shown"]
T = TypeVar("T")

NOT_SHOWN = "not shown by this host"


@dataclass(frozen=True)
class HostChange:
    """A file in /proc or /sys, the value to write to it, spelt as the kernel shows it, and the reason."""

    file: str
    new: str
    why: str


@dataclass(frozen=True)
class Check:
    """The result for a property. `found`: the value in words; `why`: what follows from it; `advice`: what to do; both
    may be empty. `changes`: what `--tune` would write."""

    verdict: Verdict
    found: str
    why: str = ""
    advice: str = ""
    changes: tuple[HostChange, ...] = ()


@dataclass(frozen=True)
class Host:
    """The file system of a host. `root` contains proc and sys; `results` is where a run writes; `server_cpus` are the
    CPUs that servers get.

    The two samples are taken at most once each, when first asked for: `interval_s` of watching, then `spin_s` of
    spinning on every CPU (0: no probe). `processes` lists the processes that exist.
    """

    root: Path
    results: Path
    server_cpus: tuple[int, ...] = ()
    interval_s: float = 1.0
    spin_s: float = 1.0
    processes: Callable[[], Mapping[int, Process]] = other_processes

    def text(self, file: str | Path) -> str | None:
        """Return the text of `file` (absolute, as on the host itself) without surrounding space; None if it cannot be
        read."""
        return text_if_readable(self.at(file))

    def number(self, file: str) -> int | None:
        return self._parsed(file, int)

    def cpus(self, file: str) -> tuple[int, ...] | None:
        """Parse a file in the kernel's list format; None if it is not shown, or is no such list."""
        return self._parsed(file, parse_cpu_list)

    def _parsed(self, file: str, parse: Callable[[str], T]) -> T | None:
        text = self.text(file)
        try:
            return None if text is None else parse(text)
        except ValueError:
            return None

    def is_settable(self, file: str) -> bool:
        """Return whether any permission to write is set on the file."""
        try:
            return bool(self.at(file).stat().st_mode & 0o222)
        except OSError:
            return False

    def at(self, file: str | Path) -> Path:
        return self.root / str(file).lstrip("/")

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the files that match the pattern, absolute as on the host itself, in a stable order."""
        found = self.root.glob(pattern.lstrip("/"))
        return tuple(sorted(f"/{path.relative_to(self.root)}" for path in found))

    def group_files(self, controller: str, name: str) -> tuple[str, ...]:
        """Return the paths of `name` in the control groups of this process, in either version (cgroups(7)): its own
        group first, then the groups above it, whether or not such files exist."""
        found = (one for one in self.hierarchies if one.version == 2 or controller in one.controllers)
        return tuple(str(group / name) for one in found for group in one.upwards)

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        return read_hierarchies(self.at("/proc"))

    @cached_property
    def allowed(self) -> tuple[int, ...]:
        """The CPUs that this process may use; empty if the kernel does not show them. The kernel also lists CPUs that
        are switched off, or could be plugged in; only those that are online have times."""
        online = read_ticks(self.at("/proc"))
        for line in (self.text("/proc/self/status") or "").splitlines():
            if line.startswith("Cpus_allowed_list:"):
                return tuple(cpu for cpu in parse_cpu_list(line.partition(":")[2]) if cpu in online or not online)
        return ()

    @cached_property
    def activity(self) -> Activity | None:
        return observe(self.root, self.interval_s, self.processes, self.allowed)

    @cached_property
    def stalls(self) -> tuple[Stalls, ...] | None:
        return probe(self.root, self.allowed, self.spin_s) if self.spin_s > 0 else None


class Property(NamedTuple):
    """A property of the host. `not_shown`: what stays unknown if the kernel does not show it, so that `examine` returns
    None or "not shown"; `tunable`: there may be changes that make the host calmer."""

    name: str
    not_shown: str
    examine: Callable[[Host], Check | None]
    tunable: bool = False

    def check(self, host: Host) -> Check:
        found = self.examine(host) or Check("not shown", NOT_SHOWN)
        return replace(found, why=self.not_shown) if found.verdict == "not shown" and not found.why else found


def overall(checks: Iterable[Check]) -> HostVerdict:
    """Return the worst verdict. A property that is not shown does not count: it was not measured."""
    verdicts = {check.verdict for check in checks}
    return "unfit" if "unfit" in verdicts else "noisy" if "noisy" in verdicts else "ready"
