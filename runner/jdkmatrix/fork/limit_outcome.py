"""Find the limits that a server ran into, from what the kernel counted, the watch saw and the JVM wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.limit_watch import Sighting
from jdkmatrix.host.limit_groups import LimitCounters
from jdkmatrix.records.limits import LimitCode, LimitHit, LimitName

# HotSpot's src/hotspot/share/runtime/threads.cpp, prims/jvm.cpp and utilities/vmError.cpp; OpenJ9's message is
# "Failed to create a thread: retVal -…, errno 11". "Too many open files" is strerror(EMFILE).
_PATTERNS: tuple[tuple[LimitCode, re.Pattern[str]], ...] = (
    (
        "threads-limit",
        re.compile(
            r"unable to create (new )?native thread|pthread_create failed \(EAGAIN\)|Failed to start .*\(EAGAIN\)"
            r"|Failed to create a thread: retVal"
        ),
    ),
    (
        "memory-limit",
        re.compile(
            r"insufficient memory for the Java Runtime Environment"
            r"|Native memory allocation \((malloc|mmap)\) failed"
            r"|failed; error='(Not enough space|Cannot allocate memory)'"
        ),
    ),
    ("files-limit", re.compile(r"Too many open files")),
    (
        "jvm-memory-limit",
        re.compile(
            r"OutOfMemoryError: (?P<kind>Java heap space|GC overhead limit exceeded|Metaspace|Compressed class space"
            r"|Direct buffer memory|Cannot reserve \d+ bytes of direct buffer memory)"
        ),
    ),
)
_LINE_SHOWN = 200
_DECORATION = re.compile(r"(\[[^\]\s]+\]\s?)+")  # of the JVM's own log: "[88.402s][warning][os,thread] "


@dataclass
class _Written:
    """The number of lines that say so, and the first of them."""

    first: str
    kind: str | None
    lines: int = 0


def outcomes(
    *, who: str, limits: Limits, counters: LimitCounters, seen: Mapping[LimitName, Sighting], log_lines: Iterable[str]
) -> tuple[LimitHit, ...]:
    """Return one outcome for each limit that any source says was hit. `who`: what was limited, in words; `limits`:
    those in force. The host or a container may also limit threads and memory: where neither the kernel nor the watch
    counted a hit against ours, the limit is not said to be ours."""
    written = _read(log_lines)
    found = [
        _outcome(who, "threads-limit", limits.threads_max, counters.threads_refused, seen.get("threads"), written),
        _outcome(who, "memory-limit", limits.memory_bytes_max, counters.oom_kills, seen.get("memory"), written),
        _outcome(who, "files-limit", limits.open_files_max, None, None, written),
        _outcome(who, "jvm-memory-limit", None, None, None, written),
    ]
    return tuple(outcome for outcome in found if outcome is not None)


def _outcome(
    who: str,
    code: LimitCode,
    maximum: int | None,
    counted: int | None,
    sighting: Sighting | None,
    written: dict[LimitCode, _Written],
) -> LimitHit | None:
    said = written.get(code)
    breach = sighting.value if sighting else None
    if not counted and breach is None and said is None:
        return None
    figures: dict[str, float] = {}
    words = []
    if counted:
        figure, sentence = _COUNTED[code]
        figures[figure] = counted
        words.append(sentence.format(counted))
    if breach is not None:
        figures["seen"] = breach
        words.append(f"it had {_amount(code, breach)}, and the watch ended it")
    if said is not None:
        figures["log_lines"] = said.lines
        lines = "1 line of its logs says" if said.lines == 1 else f"{said.lines:,} lines of its logs say"
        words.append(f"{lines} so, first: {said.first}")
    what = _WHAT[code] if said is None or said.kind is None else f"{_WHAT[code]} ({said.kind})"
    ours = code == "files-limit" or counted or breach is not None
    if maximum is not None and ours:
        figures["limit"] = maximum
        what = f"its limit of {_amount(code, maximum)}"
    message = f"{who} ran into {what}: {'; '.join(words)}"
    return LimitHit(code=code, message=message, figures=figures, first_seen_s=sighting.t_s if sighting else None)


_WHAT: dict[LimitCode, str] = {
    "threads-limit": "a limit on threads",
    "memory-limit": "a limit on memory",
    "files-limit": "a limit on open files",
    "jvm-memory-limit": "a memory limit that the JVM set itself",
}
_COUNTED: dict[LimitCode, tuple[str, str]] = {
    "threads-limit": ("threads_refused", "the kernel refused it {:,} threads"),
    "memory-limit": ("oom_kills", "the kernel killed {:,} of its processes for it"),
}


def _amount(code: LimitCode, value: int) -> str:
    if code == "threads-limit":
        return f"{value:,} threads"
    return f"{value / 1e6:,.0f} MB" if code == "memory-limit" else f"{value:,} open files"


def _read(log_lines: Iterable[str]) -> dict[LimitCode, _Written]:
    found: dict[LimitCode, _Written] = {}
    for line in log_lines:
        for code, pattern in _PATTERNS:
            if not (match := pattern.search(line)):
                continue
            if code not in found:
                first = _DECORATION.sub("", line.strip(), count=1)[:_LINE_SHOWN]
                found[code] = _Written(first, match.groupdict().get("kind"))
            found[code].lines += 1
    return found
