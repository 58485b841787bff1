"""A made-up cgroup file system: the kernel's rules that matter here, on plain files."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from jdkmatrix.host import cgroup_folders, cgroup_tree
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cpulist import format_cpu_list, parse_cpu_list

CONTROLLER_FILES = {
    "cpuset": {"cpuset.cpus": "", "cpuset.cpus.effective": "{cpus}"},
    "pids": {"pids.max": "max", "pids.events": "max 0\n"},
    "cpu": {"cpu.max": "max 100000", "cpu.stat": "usage_usec 0\n"},
    "memory": {"memory.max": "max", "memory.swap.max": "max", "memory.events": "low 0\nmax 0\noom 0\noom_kill 0\n"},
}
V1_FILES = {
    "pids": {"pids.max": "max", "pids.events": "max 0\n"},
    "cpu": {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "-1", "cpu.stat": "nr_periods 0\nnr_throttled 0\n"},
    "memory": {
        "memory.limit_in_bytes": "9223372036854771712",
        "memory.failcnt": "0\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    },
}


class MadeUpKernel:
    """A single cgroup, `parent`, mounted as the root of its hierarchy as a container sees it; `writes` holds the writes
    that succeeded, as file name and text."""

    def __init__(self, root: Path, cpus: str = "0-3") -> None:
        self.proc = root / "proc"
        self.parent = root / "cgroup"
        self.writes: list[tuple[str, str]] = []
        self.v1: dict[Path, str] = {}  # by folder; controllers mounted together are separated by commas
        self.cpus = cpus
        (self.proc / "self").mkdir(parents=True)
        self.place("0::/\n")
        self.mount(f"30 25 0:26 / {self.parent} rw,nosuid - cgroup2 cgroup2 rw\n")
        self.parent.mkdir()
        self.put(self.parent, (4711,))
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

    def mount_v1(self, controller: str) -> Path:
        """Mount a version 1 hierarchy beside the version 2 one, with this process in its root."""
        folder = self.proc.parent / f"v1-{controller}"
        folder.mkdir()
        self.put(folder, (4711,))
        self.v1[folder] = controller
        places, mounts = self.proc / "self/cgroup", self.proc / "self/mountinfo"
        self.place(f"4:{controller}:/\n{places.read_text()}")
        self.mount(f"40 25 0:30 / {folder} rw - cgroup cgroup rw,{controller}\n{mounts.read_text()}")
        return folder

    def put(self, folder: Path, pids: tuple[int, ...]) -> None:
        (folder / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))

    def pids(self, folder: Path) -> list[int]:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]

    def show_threads(self, pid: int, places: dict[int, Path]) -> None:
        """Let /proc say which thread of the process is in which cgroup."""
        for tid, folder in places.items():
            task = self.proc / str(pid) / "task" / str(tid)
            task.mkdir(parents=True)
            (task / "cgroup").write_text(f"3:memory:/elsewhere\n0::/{folder.relative_to(self.parent)}\n")

    def rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make the cgroups below `parent` behave from now on."""
        monkeypatch.setattr(cgroup_folders, "mkdir", self.make)
        monkeypatch.setattr(cgroup_folders, "rmdir", self._rmdir)
        monkeypatch.setattr(cgroup_folders, "write", self._write)
        monkeypatch.setattr(cgroup_tree, "own_folder", lambda: self.parent)

    def make(self, folder: Path) -> None:
        folder.mkdir()
        if folder.parent in self.v1:
            files = dict(chain.from_iterable(V1_FILES[one].items() for one in self.v1[folder.parent].split(",")))
        else:
            invalid = self._type(self.parent) == "domain threaded"
            files = {"cgroup.type": "domain invalid" if invalid else "domain"}
            for controller in (self.parent / "cgroup.subtree_control").read_text().split():
                files |= CONTROLLER_FILES[controller]
        for name, text in {"cgroup.procs": "", **files}.items():
            (folder / name).write_text(text.format(cpus=self.cpus))

    def _rmdir(self, folder: Path) -> None:
        if self.pids(folder) or any(one.is_dir() for one in folder.iterdir()):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        shutil.rmtree(folder)

    def _write(self, path: Path, text: str) -> None:
        if path.name == "cgroup.procs" and self._type(path.parent) == "domain invalid":
            raise CgroupError(f"cannot write {text!r} to {path}: {os.strerror(errno.EOPNOTSUPP)}")
        if not path.exists():
            raise CgroupError(f"cannot write {text!r} to {path}: {os.strerror(errno.ENOENT)}")
        self.writes.append((path.name, text))
        if path.name == "cgroup.procs":
            hierarchy = next((root for root in self.v1 if path.is_relative_to(root)), self.parent)
            for other in hierarchy.rglob("cgroup.procs"):
                self.put(other.parent, tuple(pid for pid in self.pids(other.parent) if pid != int(text)))
            self.put(path.parent, (*self.pids(path.parent), int(text)))
        elif path.name == "cpuset.cpus":
            granted = {*parse_cpu_list(text)} & {*parse_cpu_list(self.cpus)}
            (path.parent / "cpuset.cpus.effective").write_text(format_cpu_list(granted))
        elif path.name == "cgroup.subtree_control":
            wanted = {word[1:] for word in text.split() if word.startswith("+")}
            offered = path.with_name("cgroup.controllers")
            if not wanted <= set(offered.read_text().split() if offered.exists() else CONTROLLER_FILES):
                self.writes.pop()
                raise CgroupError(f"cannot write {text!r} to {path}: {os.strerror(errno.ENOENT)}")
            domain = wanted - {"cpu", "cpuset", "pids"}
            if domain and self.pids(path.parent) and (path.parent / "cgroup.type").exists():
                self.writes.pop()
                raise CgroupError(f"cannot write {text!r} to {path}: {os.strerror(errno.EBUSY)}")
            words = {*path.read_text().split(), *wanted}
            path.write_text(" ".join(sorted(words - {word[1:] for word in text.split() if word.startswith("-")})))
            if self.pids(self.parent) and (self.parent / "cgroup.type").exists():
                (self.parent / "cgroup.type").write_text("domain threaded" if text.startswith("+") else "domain")
        else:
            path.write_text(text)

    def _type(self, folder: Path) -> str:
        path = folder / "cgroup.type"
        return path.read_text().strip() if path.exists() else ""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    made = MadeUpKernel(tmp_path)
    made.rule(monkeypatch)
    return made


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()
