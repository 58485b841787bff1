"""A made-up cgroup file system: the kernel's rules that matter here, on plain files."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from jdkmatrix.host import cgroup_cpuset
from jdkmatrix.host.cgroup_cpuset import CgroupError
from jdkmatrix.host.cpulist import format_cpu_list, parse_cpu_list

Write = tuple[str, str]


class MadeUpKernel:
    """One cgroup, `parent`, mounted as the root of its hierarchy as a container sees it; `writes` are those that went
    through, as file name and text."""

    def __init__(self, root: Path, cpus: str = "0-3", pids: tuple[int, ...] = (4711,)) -> None:
        self.proc = root / "proc"
        self.parent = root / "cgroup"
        self.writes: list[Write] = []
        self.cpus = cpus
        (self.proc / "self").mkdir(parents=True)
        self.place("0::/\n")
        self.mount(f"30 25 0:26 / {self.parent} rw,nosuid - cgroup2 cgroup2 rw\n")
        self.parent.mkdir()
        self.put(self.parent, pids)
        for name, text in (
            ("cgroup.type", "domain"),
            ("cgroup.controllers", "cpuset cpu memory pids"),
            ("cgroup.subtree_control", ""),
            ("cpuset.cpus.effective", cpus),
        ):
            (self.parent / name).write_text(f"{text}\n")

    def place(self, text: str) -> None:
        (self.proc / "self/cgroup").write_text(text)

    def mount(self, text: str) -> None:
        (self.proc / "self/mountinfo").write_text(text)

    def put(self, folder: Path, pids: tuple[int, ...]) -> None:
        (folder / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))

    def pids(self, folder: Path) -> list[int]:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]

    def show_threads(self, pid: int, places: dict[int, Path]) -> None:
        """Let /proc say of the process which of its threads is in which cgroup."""
        for tid, folder in places.items():
            task = self.proc / str(pid) / "task" / str(tid)
            task.mkdir(parents=True)
            (task / "cgroup").write_text(f"3:memory:/elsewhere\n0::/{folder.relative_to(self.parent)}\n")

    def rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From now on the cgroups below `parent` behave."""
        monkeypatch.setattr(cgroup_cpuset, "_mkdir", self.make)
        monkeypatch.setattr(cgroup_cpuset, "_rmdir", self._rmdir)
        monkeypatch.setattr(cgroup_cpuset, "_write", self._write)
        monkeypatch.setattr(cgroup_cpuset, "_own_folder", lambda: self.parent)

    def make(self, folder: Path) -> None:
        folder.mkdir()
        invalid = self._type(self.parent) == "domain threaded"
        (folder / "cgroup.type").write_text("domain invalid" if invalid else "domain")
        (folder / "cgroup.procs").write_text("")
        if "cpuset" in (self.parent / "cgroup.subtree_control").read_text():
            (folder / "cpuset.cpus").write_text("")
            (folder / "cpuset.cpus.effective").write_text(self.cpus)

    def _rmdir(self, folder: Path) -> None:
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if self.pids(folder):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        shutil.rmtree(folder)

    def _write(self, path: Path, text: str) -> None:
        if path.name == "cgroup.procs" and self._type(path.parent) == "domain invalid":
            raise CgroupError(f"cannot write {text!r} to {path}: {os.strerror(errno.EOPNOTSUPP)}")
        self.writes.append((path.name, text))
        if path.name == "cgroup.procs":
            for other in self.parent.rglob("cgroup.procs"):
                self.put(other.parent, tuple(pid for pid in self.pids(other.parent) if pid != int(text)))
            self.put(path.parent, (*self.pids(path.parent), int(text)))
        elif path.name == "cpuset.cpus":
            granted = {*parse_cpu_list(text)} & {*parse_cpu_list(self.cpus)}
            (path.parent / "cpuset.cpus.effective").write_text(format_cpu_list(granted))
        elif path.name == "cgroup.subtree_control":
            path.write_text(text[1:] if text.startswith("+") else "")
            if self.pids(self.parent) and (self.parent / "cgroup.type").exists():
                (self.parent / "cgroup.type").write_text("domain threaded" if text.startswith("+") else "domain")
        else:
            path.write_text(text)

    def _type(self, folder: Path) -> str:
        path = folder / "cgroup.type"
        return path.read_text().strip() if path.exists() else ""
