"""TCP ports of this host: how many connections one can have at once, and which one a server may use."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from jdkmatrix.errors import MatrixError

_RANGE = Path("proc/sys/net/ipv4/ip_local_port_range")
_USUAL = (32_768, 60_999)  # the kernel's default, Documentation/networking/ip-sysctl.rst
_FIRST = 10_000  # well-known services are below
_TRIES = 100


def local_ports(root: Path = Path("/")) -> int:
    """Return how many connections one address can have to one port of another: each has a local port of its own."""
    low, high = _local_range(root)
    return high - low + 1


def server_port(root: Path = Path("/")) -> int:
    """Pick a TCP port on loopback that nobody listens on, if possible one that the kernel never gives to whoever asks
    for any: in the seconds until the server opens it, only somebody who wants exactly that one can then take it.

    Raises:
        MatrixError: there is none.
    """
    low, high = _local_range(root)
    never = [port for some in (range(_FIRST, low), range(high + 1, 65_536)) for port in some]
    draw = random.SystemRandom()
    tried = [*draw.sample(never, min(_TRIES, len(never))), *draw.sample(range(_FIRST, 65_536), _TRIES)]
    for port in tried:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise MatrixError(f"no free port for a server: tried {len(tried)} between {_FIRST} and 65535")


def _local_range(root: Path) -> tuple[int, int]:
    try:
        low, high = map(int, (root / _RANGE).read_text().split())
    except (OSError, ValueError):
        return _USUAL
    return low, high
