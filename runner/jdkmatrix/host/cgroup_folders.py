"""Make and remove cgroups of our own, in a hierarchy of either version: their names say whose they are, and those of a
killed runner are removed too."""

from __future__ import annotations

import errno
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.reading import text_if_readable

_NAME = re.compile(r"jdk-matrix-(?P<pid>\d+)-(?P<started>\d+)-[a-z]+(?P<handed_down>(-[a-z]+)*)")
_EMPTY_TIMEOUT_S = 2.0
_PROC = Path("/proc")


class CgroupError(MatrixError):
    """The kernel does not let us use cgroups this way."""


def make(parent: Path, role: str, handed_down: frozenset[str] = frozenset()) -> Path:
    """Make a cgroup below `parent`. Its name tells which controllers its owner handed down for it in `parent`: another
    runner may have to clean up.

    Raises:
        CgroupError: the kernel refuses.
    """
    name = "-".join([f"jdk-matrix-{os.getpid()}", str(_started(_PROC, os.getpid())), role, *sorted(handed_down)])
    with refused(f"cannot make the cgroup {parent / name}", CgroupError):
        mkdir(parent / name)
    return parent / name


def remove(folder: Path, home: Path) -> None:
    """Remove a cgroup; move processes that are still in it to `home`. If one cannot be moved, the cgroup stays and
    shows it."""
    deadline = time.monotonic() + _EMPTY_TIMEOUT_S
    while not _try_rmdir(folder) and time.monotonic() < deadline:
        for pid in members(folder):
            with suppress(CgroupError):  # it has ended
                add(home, pid)
        time.sleep(0.01)  # a process that has just ended leaves its cgroup a moment later


def remove_leftovers(parent: Path, proc: Path = _PROC) -> dict[Path, frozenset[str]]:
    """Remove the cgroups of runners that are gone; one that still has processes stays. Return the removed ones, with
    the controllers that were handed down for each."""
    removed: dict[Path, frozenset[str]] = {}
    for folder in sorted(parent.glob("jdk-matrix-*")):
        name = _NAME.fullmatch(folder.name)
        if name and _started(proc, int(name["pid"])) != name["started"] and _try_rmdir(folder):
            removed[folder] = frozenset(filter(None, name["handed_down"].split("-")))
    return removed


def is_ours(folder: Path) -> bool:
    """Return whether a runner made it, this one or another."""
    return _NAME.fullmatch(folder.name) is not None


def members(folder: Path) -> tuple[int, ...]:
    """Return the processes in it. A threaded cgroup does not show them, only its threads."""
    try:
        text = (folder / "cgroup.procs").read_text()
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        tids = (folder / "cgroup.threads").read_text().split()
        return tuple(sorted({pid for tid in tids if (pid := _process_of(int(tid)))}))
    return tuple(sorted(int(pid) for pid in text.split()))


def add(folder: Path, pid: int) -> None:
    """Move the process there, with all its threads; what it starts from then on is in there too.

    Raises:
        CgroupError: there is no such process, or the kernel refuses.
    """
    write(folder / "cgroup.procs", str(pid))


def read(path: Path) -> str:
    """Return the text without surrounding white space; empty where there is no such file."""
    return text_if_readable(path) or ""


def write(path: Path, text: str) -> None:
    """Raises: CgroupError when there is no such file, or the kernel refuses."""
    with refused(f"cannot write {text!r} to {path}", CgroupError):
        file = os.open(path, os.O_WRONLY)  # never makes one
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def mkdir(folder: Path) -> None:
    folder.mkdir()


def rmdir(folder: Path) -> None:
    folder.rmdir()


def is_read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _try_rmdir(folder: Path) -> bool:
    try:
        rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _started(proc: Path, pid: int) -> str | None:
    """Return when the process started, in clock ticks since boot (proc_pid_stat(5), field 22); None when there is none.

    Together with the pid it identifies a process for good: a pid alone is reused."""
    text = read(proc / str(pid) / "stat")
    return text.rpartition(")")[2].split()[19] if text else None


def _process_of(tid: int) -> int | None:
    found = re.search(r"^Tgid:\s+(\d+)", read(Path(f"/proc/{tid}/status")), re.MULTILINE)
    return int(found.group(1)) if found else None
