"""Ports and queues for the loopback connections between driver, server and remote system."""

from __future__ import annotations

from jdkmatrix.doctor.base import Check, Host, HostChange

_PORTS = "/proc/sys/net/ipv4/ip_local_port_range"

# A closed connection keeps its port for 60 s (TIME_WAIT): a load that reconnects 150 times a second needs 9,000.
PORTS_COMFORTABLE = 10_000
PORTS_NEEDED = 2_000  # connections to the server and to the remote that are open together
PORTS_TUNED = "16384\t60999"  # above what servers listen on; ends where the kernel's own default does
QUEUE_COMFORTABLE = 1024  # connections that a driver opens in one go
QUEUE_TUNED = "4096"  # the kernel's own default for somaxconn since 5.4


def ephemeral_ports(host: Host) -> Check | None:
    words = (host.text(_PORTS) or "").split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    first, last = map(int, words)
    count = last - first + 1
    found = f"{count:,} ({first}-{last})"
    if count >= PORTS_COMFORTABLE:
        return Check("ready", found)
    why = "closed connections keep their port for a minute: new ones would fail with 'Cannot assign address'"
    advice = f"echo '{PORTS_TUNED.replace(chr(9), ' ')}' > {_PORTS}"
    changes = (HostChange(_PORTS, PORTS_TUNED, "enough ports for connections that come and go"),)
    return Check("unfit" if count < PORTS_NEEDED else "noisy", found, why, advice, changes)


def listen_queue(host: Host) -> Check | None:
    why = "when a driver connects all at once, the rest is dropped and tries again after a second"
    return _queue(host, "/proc/sys/net/core/somaxconn", why)


def syn_queue(host: Host) -> Check | None:
    why = "when a driver connects all at once, the rest is dropped or gets a connection without its TCP options"
    return _queue(host, "/proc/sys/net/ipv4/tcp_max_syn_backlog", why)


def _queue(host: Host, file: str, why: str) -> Check | None:
    """A queue of connections that wait for the server (tcp(7), listen(2))."""
    length = host.number(file)
    if length is None:
        return None
    if length >= QUEUE_COMFORTABLE:
        return Check("ready", f"{length:,}")
    change = HostChange(file, QUEUE_TUNED, "room for all connections of a load at once")
    return Check("noisy", f"{length:,}", why, f"echo {QUEUE_TUNED} > {file}", (change,))
