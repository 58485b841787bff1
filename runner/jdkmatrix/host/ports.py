"""How many connections to one port of this host there can be at once."""

from __future__ import annotations

from pathlib import Path

_RANGE = Path("proc/sys/net/ipv4/ip_local_port_range")
_USUAL = (32_768, 60_999)  # the kernel's default, Documentation/networking/ip-sysctl.rst


def local_ports(root: Path = Path("/")) -> int:
    """Every connection from one address to one port of another has a local port of its own."""
    try:
        low, high = map(int, (root / _RANGE).read_text().split())
    except (OSError, ValueError):
        low, high = _USUAL
    return high - low + 1
