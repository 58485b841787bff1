"""Resource limits of a server, how they were enforced, and which of them it hit."""

from __future__ import annotations

from typing import Literal, get_args

from jdkmatrix.domain.record import Record

LimitName = Literal["threads", "memory", "open files", "CPU quota"]
Enforcer = Literal["cgroup v2", "cgroup v1", "rlimit", "watch"]
LimitCode = Literal["threads-limit", "memory-limit", "files-limit", "jvm-memory-limit"]
LIMIT_CODES: frozenset[str] = frozenset(get_args(LimitCode))


class Enforcement(Record):
    """One limit. `maximum`: threads, bytes, files or thousandths of a CPU. The watch looks four times a second and ends
    the server: anything faster is not stopped. `why_not`: why no stronger means was used, and anything else worth
    knowing, in words."""

    limit: LimitName
    maximum: int
    by: Enforcer
    why_not: tuple[str, ...] = ()


class LimitHit(Record):
    """A limit that was hit; "jvm-memory-limit" is one that the JVM has set for itself, such as its heap size.
    `first_seen_s`: seconds since the process was started; None: seen only after its end."""

    code: LimitCode
    message: str
    figures: dict[str, float] = {}
    first_seen_s: float | None = None
