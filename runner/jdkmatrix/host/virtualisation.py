"""Find out whether this host is metal or a virtual machine, and whether it is a container."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.reading import text_if_readable

# Maker and product from the firmware (/sys/class/dmi/id) of guests on aarch64, whose CPUs have no flag for it.
_GUESTS = re.compile(r"QEMU|Virtual Machine|Google Compute Engine|Amazon EC2 (?!\S*metal)")


@dataclass(frozen=True)
class Machine:
    """`is_virtual`: None where nothing tells; `maker`: None where the firmware does not say."""

    in_container: bool
    is_virtual: bool | None
    maker: str | None


def read_machine(root: Path = Path("/")) -> Machine:
    """Read it from /sys and /proc: x86 guests see a CPU flag, others a device tree, /sys/hypervisor or a maker of
    guests. Containers have a file of their own or tell their first process (Docker, Podman, systemd-nspawn, LXC)."""

    def text(file: str) -> str:
        return text_if_readable(root / file) or ""

    maker = text("sys/class/dmi/id/sys_vendor")
    is_virtual: bool | None = None
    if text("sys/hypervisor/type") or (root / "proc/device-tree/hypervisor").exists():
        is_virtual = True
    elif flags := re.search(r"^flags\s*:(.*)$", text("proc/cpuinfo"), re.MULTILINE):
        is_virtual = "hypervisor" in flags.group(1).split()
    elif _GUESTS.search(f"{maker} {text('sys/class/dmi/id/product_name')}"):
        is_virtual = True
    left_behind = any((root / file).exists() for file in (".dockerenv", "run/.containerenv"))
    return Machine(left_behind or "container=" in text("proc/1/environ"), is_virtual, maker or None)
