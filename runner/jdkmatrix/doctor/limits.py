"""Limits and random choices of the kernel, and its ports and queues for the loopback connections between driver, server
and remote system."""

from __future__ import annotations

import re

from jdkmatrix.doctor.base import Check, Host, HostChange

_ASLR = "/proc/sys/kernel/randomize_va_space"
_UNLIMITED = 2**63 - 1

# A connection is a file on each side; a JVM that runs Liberty holds about 500 more (jars, sockets, epoll).
FILES_NEEDED = 2048
FILES_COMFORTABLE = 8192
# One platform thread per request: as many threads as connections, plus those that a JVM has anyway.
THREADS_NEEDED = 1024
THREADS_COMFORTABLE = 4096

_PORTS = "/proc/sys/net/ipv4/ip_local_port_range"

# A closed connection keeps its port for 60 s (TIME_WAIT): a load that reconnects 150 times a second needs 9,000.
PORTS_COMFORTABLE = 10_000
PORTS_NEEDED = 2_000  # connections to the server and to the remote that are open at the same time
PORTS_TUNED = "16384\t60999"  # above the ports that servers listen on; ends where the kernel's own default does
QUEUE_COMFORTABLE = 1024  # connections that a driver opens in one go
QUEUE_TUNED = "4096"  # the kernel's own default for somaxconn since 5.4


def aslr(host: Host) -> Check | None:
    """Check ASLR. Random addresses are wanted: each fork then draws a memory layout, and the interval over forks has
    their effect in it (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong", 2009)."""
    value = host.number(_ASLR)
    if value is None:
        return None
    found = {0: "off", 1: "without the heap", 2: "full"}.get(value, str(value))
    if value == 2:
        return Check("ready", found)
    why = "every fork gets the same memory layout: a lucky one would look like a fast executor"
    changes = (HostChange(_ASLR, "2", "each fork draws a memory layout of its own"),)
    return Check("noisy", found, why, f"echo 2 > {_ASLR}", changes)


def perf_events(host: Host) -> Check | None:
    """Check perf events: never noisy and never tuned, as they disturb no figure and access is a security decision."""
    value = host.number("/proc/sys/kernel/perf_event_paranoid")
    if value is None:
        return None
    found = f"perf_event_paranoid {value}"
    if value <= 2:
        return Check("ready", found)
    why = "harmless, but only root can count cycles and cache misses to explain a difference"
    return Check("ready", found, why, "sysctl kernel.perf_event_paranoid=2 for profiling")


def open_files(host: Host) -> Check | None:
    """Check the limit on open files. A JVM raises its soft limit to the hard one (-XX:+MaxFDLimit), and the runner does
    the same for wrk2, but makes do with the soft limit itself."""
    limits = _soft_and_hard(host, "Max open files")
    if limits is None:
        return None
    soft, hard = limits
    found = f"{_count(soft)} (at most {_count(hard)})"
    # Without -S it would also lower the hard limit, which is what a JVM and wrk2 have.
    advice = f"ulimit -Sn {FILES_COMFORTABLE}"
    if hard < FILES_COMFORTABLE:
        advice = f"raise the hard limit to {FILES_COMFORTABLE:,}: only root can (LimitNOFILE of systemd, limits.conf)"
    if min(soft, hard) < FILES_NEEDED:
        why = "many connections would fail with 'Too many open files'"
        return Check("unfit" if hard < FILES_NEEDED else "noisy", found, why, advice)
    if hard < FILES_COMFORTABLE:
        return Check("noisy", found, "loads with thousands of connections would be refused", advice)
    return Check("ready", found)


def processes(host: Host) -> Check | None:
    """Check the limit on processes. Threads count as processes here (getrlimit(2), RLIMIT_NPROC). That of a user binds
    every user but root, unless it is root only in a user namespace (fork(2), user_namespaces(7))."""
    limits = None if _is_root_of_the_host(host) else _soft_and_hard(host, "Max processes")
    sources = [("ulimit", limits[0] if limits else None)]
    sources += [(file, host.number(file)) for file in ("/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max")]
    groups = host.group_files("pids", "pids.max")
    sources += [("pids.max of the control group", host.number(file)) for file in groups]
    known = [(number, source) for source, number in sources if number is not None]
    if not known:
        return None
    number, source = min(known, key=lambda limit: limit[0])
    found = f"{_count(number)} ({source})"
    if number >= THREADS_COMFORTABLE:
        return Check("ready", found)
    why = "one thread per request or connection would end in 'unable to create native thread'"
    advice = f"raise it to {THREADS_COMFORTABLE:,}: {'ulimit -u' if source == 'ulimit' else 'only root can'}"
    return Check("unfit" if number < THREADS_NEEDED else "noisy", found, why, advice)


def _is_root_of_the_host(host: Host) -> bool:
    real = re.search(r"^Uid:\s+(\d+)", host.text("/proc/self/status") or "", re.MULTILINE)
    every_id = ["0", "0", "4294967295"]  # mapped to itself
    return real is not None and real[1] == "0" and (host.text("/proc/self/uid_map") or "").split() == every_id


def _soft_and_hard(host: Host, name: str) -> tuple[int, int] | None:
    """Read an rlimit (getrlimit(2)); unlimited is the largest number."""
    match = re.search(rf"^{name}\s+(\w+)\s+(\w+)", host.text("/proc/self/limits") or "", re.MULTILINE)
    if match is None:
        return None
    soft, hard = (_UNLIMITED if text == "unlimited" else int(text) for text in match.groups())
    return soft, hard


def _count(number: int) -> str:
    return "unlimited" if number == _UNLIMITED else f"{number:,}"


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
    why = "when a driver opens all connections at once, those beyond it are dropped and try again after a second"
    return _queue(host, "/proc/sys/net/core/somaxconn", why)


def syn_queue(host: Host) -> Check | None:
    why = "when a driver opens all connections at once, those beyond it are dropped or lose their TCP options"
    return _queue(host, "/proc/sys/net/ipv4/tcp_max_syn_backlog", why)


def _queue(host: Host, file: str, why: str) -> Check | None:
    """Check a queue of connections that wait for the server (tcp(7), listen(2))."""
    length = host.number(file)
    if length is None:
        return None
    if length >= QUEUE_COMFORTABLE:
        return Check("ready", f"{length:,}")
    change = HostChange(file, QUEUE_TUNED, "room for all connections of a load at once")
    return Check("noisy", f"{length:,}", why, f"echo {QUEUE_TUNED} > {file}", (change,))
