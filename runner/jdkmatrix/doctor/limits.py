"""Limits and random choices of the kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property, Verdict
from jdkmatrix.doctor.cgroup import limit_files

_ASLR = "/proc/sys/kernel/randomize_va_space"
_UNLIMITED = 2**63 - 1

# A connection is a file on both sides; a JVM with a Liberty holds about 500 more (jars, sockets, epoll).
FILES_NEEDED = 2048
FILES_COMFORTABLE = 8192
# One platform thread per request: as many as connections, and what a JVM has besides.
THREADS_NEEDED = 1024
THREADS_COMFORTABLE = 4096


class Aslr(Property[int]):
    """Random addresses are wanted: each fork then draws a layout of memory, and the interval over forks has the
    effect of layouts in it (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong", 2009)."""

    name = "ASLR"
    not_shown = "whether forks differ in their memory layout stays unknown"

    def read(self, host: Host) -> int | None:
        return host.number(_ASLR)

    def judge(self, value: int) -> Diagnosis:
        found = {0: "off", 1: "without the heap", 2: "full"}.get(value, str(value))
        if value == 2:
            return Diagnosis("ready", found)
        why = "every fork gets the same memory layout: a lucky one would look like a fast executor"
        return Diagnosis("noisy", found, why, f"echo 2 > {_ASLR}")

    def fix(self, value: int) -> tuple[HostChange, ...]:
        return () if value == 2 else (HostChange(_ASLR, "2", "each fork draws a memory layout of its own"),)


class PerfEvents(Property[int]):
    """Never noisy and never tuned: it disturbs no figure, and opening it is a decision about security."""

    name = "perf events"
    not_shown = "who may read the CPU's counters stays unknown"

    def read(self, host: Host) -> int | None:
        return host.number("/proc/sys/kernel/perf_event_paranoid")

    def judge(self, value: int) -> Diagnosis:
        found = f"perf_event_paranoid {value}"
        if value <= 2:
            return Diagnosis("ready", found)
        why = "disturbs nothing, but without root nobody can count cycles and cache misses to explain a difference"
        return Diagnosis("ready", found, why, "sysctl kernel.perf_event_paranoid=2 for profiling")


@dataclass(frozen=True)
class RLimit:
    """rlimit (getrlimit(2)); unlimited is the largest number."""

    soft: int
    hard: int


class OpenFiles(Property[RLimit]):
    """A JVM raises its soft limit to the hard one (-XX:+MaxFDLimit); so does the runner for wrk2, and lives with
    the soft one itself."""

    name = "open files"
    not_shown = "how many connections a process may hold stays unknown"

    def read(self, host: Host) -> RLimit | None:
        return _limit(host, "Max open files")

    def judge(self, value: RLimit) -> Diagnosis:
        found = f"{_count(value.soft)} (at most {_count(value.hard)})"
        advice = f"ulimit -n {FILES_COMFORTABLE}"
        if min(value.soft, value.hard) < FILES_NEEDED:
            verdict: Verdict = "unfit" if value.hard < FILES_NEEDED else "noisy"
            return Diagnosis(verdict, found, "many connections would fail with 'Too many open files'", advice)
        if value.hard < FILES_COMFORTABLE:
            return Diagnosis("noisy", found, "loads with thousands of connections would be refused", advice)
        return Diagnosis("ready", found)


@dataclass(frozen=True)
class ThreadLimits:
    """How many threads there may be, by what says so."""

    by_source: tuple[tuple[str, int], ...]


class Processes(Property[ThreadLimits]):
    """Threads count as processes here (getrlimit(2), RLIMIT_NPROC)."""

    name = "processes"
    not_shown = "how many threads a server may start stays unknown"

    def read(self, host: Host) -> ThreadLimits | None:
        limit = _limit(host, "Max processes")
        sources: list[tuple[str, int | None]] = [("ulimit", limit.soft if limit else None)]
        sources += [(file, host.number(file)) for file in ("/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max")]
        groups = limit_files(host, "pids", "pids.max", "pids.max") or ()
        sources += [("pids.max of the control group", host.number(file)) for file in groups]
        known = tuple((source, number) for source, number in sources if number is not None)
        return ThreadLimits(known) if known else None

    def judge(self, value: ThreadLimits) -> Diagnosis:
        source, number = min(value.by_source, key=lambda limit: limit[1])
        found = f"{_count(number)} ({source})"
        if number >= THREADS_COMFORTABLE:
            return Diagnosis("ready", found)
        why = "one thread per request or connection would end in 'unable to create native thread'"
        advice = f"raise it to {THREADS_COMFORTABLE:,}{': ulimit -u' if source == 'ulimit' else ''}"
        return Diagnosis("unfit" if number < THREADS_NEEDED else "noisy", found, why, advice)


def _limit(host: Host, name: str) -> RLimit | None:
    match = re.search(rf"^{name}\s+(\w+)\s+(\w+)", host.text("/proc/self/limits") or "", re.MULTILINE)
    if match is None:
        return None
    soft, hard = (_UNLIMITED if text == "unlimited" else int(text) for text in match.groups())
    return RLimit(soft, hard)


def _count(number: int) -> str:
    return "unlimited" if number == _UNLIMITED else f"{number:,}"
