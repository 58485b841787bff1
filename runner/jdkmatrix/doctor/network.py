"""Ports and queues for the loopback connections between driver, server and remote system."""

from __future__ import annotations

from typing import ClassVar

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property

_PORTS = "/proc/sys/net/ipv4/ip_local_port_range"
_SOMAXCONN = "/proc/sys/net/core/somaxconn"
_SYN_BACKLOG = "/proc/sys/net/ipv4/tcp_max_syn_backlog"

# A closed connection keeps its port for 60 s (TIME_WAIT): a load that reconnects 150 times a second needs 9,000.
PORTS_COMFORTABLE = 10_000
PORTS_NEEDED = 2_000  # connections to the server and to the remote that are open together
PORTS_TUNED = "16384\t60999"  # above what servers listen on; ends where the kernel's own default does
QUEUE_COMFORTABLE = 1024  # connections that a driver opens in one go
QUEUE_TUNED = "4096"  # the kernel's own default for somaxconn since 5.4


class EphemeralPorts(Property[tuple[int, int]]):
    name = "ephemeral ports"
    not_shown = "how many connections can be open stays unknown"

    def read(self, host: Host) -> tuple[int, int] | None:
        words = (host.text(_PORTS) or "").split()
        if len(words) != 2 or not all(word.isdigit() for word in words):
            return None
        return int(words[0]), int(words[1])

    def judge(self, value: tuple[int, int]) -> Diagnosis:
        count = value[1] - value[0] + 1
        found = f"{count:,} ({value[0]}-{value[1]})"
        if count >= PORTS_COMFORTABLE:
            return Diagnosis("ready", found)
        why = "closed connections keep their port for a minute: new ones would fail with 'Cannot assign address'"
        advice = f"echo '{PORTS_TUNED.replace(chr(9), ' ')}' > {_PORTS}"
        return Diagnosis("unfit" if count < PORTS_NEEDED else "noisy", found, why, advice)

    def fix(self, value: tuple[int, int]) -> tuple[HostChange, ...]:
        if self.judge(value).verdict == "ready":
            return ()
        return (HostChange(_PORTS, PORTS_TUNED, "enough ports for connections that come and go"),)


class _Queue(Property[int]):
    """A queue of connections that wait for the server (tcp(7), listen(2))."""

    file: ClassVar[str]
    why: ClassVar[str]

    def read(self, host: Host) -> int | None:
        return host.number(self.file)

    def judge(self, value: int) -> Diagnosis:
        if value >= QUEUE_COMFORTABLE:
            return Diagnosis("ready", f"{value:,}")
        return Diagnosis("noisy", f"{value:,}", self.why, f"echo {QUEUE_TUNED} > {self.file}")

    def fix(self, value: int) -> tuple[HostChange, ...]:
        if value >= QUEUE_COMFORTABLE:
            return ()
        return (HostChange(self.file, QUEUE_TUNED, "room for all connections of a load at once"),)


class ListenQueue(_Queue):
    name = "somaxconn"
    not_shown = "how many connections may wait to be accepted stays unknown"
    file = _SOMAXCONN
    why = "when a driver connects all at once, the rest is dropped and tries again after a second"


class SynQueue(_Queue):
    name = "SYN backlog"
    not_shown = "how many connections may be half open stays unknown"
    file = _SYN_BACKLOG
    why = "when a driver connects all at once, the rest is dropped or gets a connection without its TCP options"
