"""The file system that a folder is on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil

Mount = tuple[str, str]  # the mount point and the type of its file system


def mounted() -> tuple[Mount, ...]:
    """Return all that this process sees, in the order of mounting."""
    return tuple((one.mountpoint, one.fstype) for one in psutil.disk_partitions(all=True))


def file_system_of(folder: Path, mounts: Sequence[Mount]) -> str | None:
    """Return its type, such as "ext4", by the longest mount point above the folder; of several at one place, the last
    covers the others. None: there is none above it. Links are followed."""
    path = folder.resolve()
    found = [mount for mount in reversed(mounts) if path.is_relative_to(mount[0])]
    return max(found, key=lambda mount: len(mount[0]))[1] if found else None
