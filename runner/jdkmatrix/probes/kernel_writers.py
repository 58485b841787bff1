"""CPU time of the threads of the kernel that write to disks: they work for whoever waits for the disk, and stand in no
clock of it."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.reading import text_if_readable

# Those of the block layer and of write-back, and the journals of ext4, XFS and Btrfs; the last two were not seen here.
_NAMES = ("kworker/", "jbd2/", "xfsaild/", "btrfs-")
_PARENT = "2"  # the parent of all threads of the kernel, where its processes are shown at all


class KernelWriters:
    """All of the host's. Threads that end take no time back, and new ones count from their start."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._told: dict[str, int] | None = None
        self._total_ns = 0

    def cpu_ns(self) -> int | None:
        """Their CPU time in ns since the first call, which has 0; None where this kernel shows no threads of its own,
        or not whose children they are (CONFIG_PROC_CHILDREN), or not for how long they ran (CONFIG_SCHED_INFO)."""
        if (text_if_readable(self._proc / _PARENT / "comm") or "").strip() != "kthreadd":
            return None
        children = text_if_readable(self._proc / _PARENT / "task" / _PARENT / "children")
        found = {pid: ran_ns for pid in (children or "").split() if (ran_ns := self._ran_ns(pid)) is not None}
        if not found:
            return None
        before = found if self._told is None else self._told
        self._total_ns += sum(max(0, ran_ns - before.get(pid, 0)) for pid, ran_ns in found.items())
        self._told = found
        return self._total_ns

    def _ran_ns(self, pid: str) -> int | None:
        """None where it is none of them, or has ended."""
        if not (text_if_readable(self._proc / pid / "comm") or "").startswith(_NAMES):
            return None
        fields = (text_if_readable(self._proc / pid / "schedstat") or "").split()
        return int(fields[0]) if fields else None
