"""CPU time of the kernel threads that write to disks: they work for whoever waits for the disk, and are not in the
clock of that process."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.reading import text_if_readable

# Those of the block layer and of write-back, and the journals of ext4, XFS and Btrfs; the last two were not seen here.
_NAMES = ("kworker/", "jbd2/", "xfsaild/", "btrfs-")
_PARENT = "2"  # the parent of all kernel threads, where they are shown at all


class KernelWriters:
    """All such threads of the host. Those that end do not reduce the sum, and new ones count from their start."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._told: dict[str, int] | None = None
        self._total_ns = 0

    def cpu_ns(self) -> int | None:
        """Return their CPU time in ns since the first call, which returns 0; None if this kernel does not show its own
        threads, whose children they are (CONFIG_PROC_CHILDREN), or how long they ran (CONFIG_SCHED_INFO)."""
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
        """Return the CPU time of a thread that writes; None if it is none of them, or has ended."""
        if not (text_if_readable(self._proc / pid / "comm") or "").startswith(_NAMES):
            return None
        fields = (text_if_readable(self._proc / pid / "schedstat") or "").split()
        return int(fields[0]) if fields else None
