"""Pinning by cgroup: when it may be done, what is then done, and that nothing is left behind."""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.host import cgroup_folders
from jdkmatrix.host.cgroup_cpuset import CPUSET, cpu_groups
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import CgroupState, probe, remove_leftovers, why_not
from tests.support.cgroup_doubles import MadeUpKernel, kernel, sleeper

__all__ = ["kernel", "sleeper"]

FREE = CgroupState(
    parent=Path("/cg/run.scope"), is_root=False, type="domain", controllers=frozenset({"cpuset", "cpu", "memory"}),
    handed_down=frozenset(), has_processes=True, busy_children=(), writable=True, may_hand_down=True, read_only=False,
    v1_controllers=frozenset(),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- the decision
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (None, "no cgroup hierarchy of version 2 is mounted"),
        (replace(FREE, v1_controllers=frozenset({"cpuset"})), "hierarchy of version 1"),
        (replace(FREE, controllers=frozenset({"memory"})), "does not have the cpuset controller"),
        (replace(FREE, read_only=True, writable=False), "mounted read-only"),
        (replace(FREE, writable=False), "this user may not write in the cgroup /cg/run.scope; root can start this"),
        (replace(FREE, may_hand_down=False), "this user may not write"),
        (replace(FREE, type="domain invalid"), "below a threaded cgroup"),
        (replace(FREE, busy_children=("init.scope",)), "as does init.scope in it"),
        (replace(FREE, handed_down=frozenset({"memory", "pids"})), "hands down memory: its children"),
    ],
)
def test_what_speaks_against_it_is_said(state: CgroupState | None, reason: str) -> None:
    assert reason in (why_not(state, CPUSET) or "")
    with pytest.raises(CgroupError, match="no cpusets by cgroup"), cpu_groups(state, {"sut": [1]}):
        pytest.fail("it was done nevertheless")


@pytest.mark.parametrize(
    ("state", "threaded"),
    [
        (FREE, True),
        (replace(FREE, has_processes=False, busy_children=("other",), handed_down=frozenset({"memory"})), False),
        (replace(FREE, type="domain threaded", handed_down=frozenset({"cpuset"})), True),
        (replace(FREE, type="threaded", has_processes=False), True),
        (replace(FREE, is_root=True, type="", busy_children=("init.scope",)), False),
    ],
)
def test_children_are_threaded_where_the_parent_has_processes(state: CgroupState, threaded: bool) -> None:
    assert why_not(state, CPUSET) is None
    assert state.threaded == threaded


# ------------------------------------------------------------------------------------------------------- looking
def test_a_scope_of_its_own_is_seen(kernel: MadeUpKernel) -> None:
    controllers = frozenset({"cpuset", "cpu", "memory", "pids"})
    assert probe(kernel.proc) == replace(FREE, parent=kernel.parent, controllers=controllers)


def test_busy_neighbours_are_seen_but_not_those_of_another_run(kernel: MadeUpKernel) -> None:
    for name in ("user.slice", "jdk-matrix-1-2-sut"):
        (kernel.parent / name).mkdir()
        (kernel.parent / name / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    (kernel.parent / "empty.slice").mkdir()
    (kernel.parent / "empty.slice/cgroup.events").write_text("populated 0\nfrozen 0\n")
    assert probe(kernel.proc).busy_children == ("user.slice",)


def test_a_controller_that_version_1_has_is_seen(kernel: MadeUpKernel) -> None:
    kernel.place("3:cpuset:/\n0::/\n")
    kernel.mount(
        f"37 31 0:31 / {kernel.parent}/v1 rw - cgroup cgroup rw,cpuset\n"
        f"41 31 0:37 / {kernel.parent} rw - cgroup2 cgroup2 rw\n"
    )
    assert probe(kernel.proc).v1_controllers == {"cpuset"}
    kernel.place("3:cpuset:/\n")
    assert probe(kernel.proc) is None


def test_a_place_above_the_mounted_part_is_not_left(kernel: MadeUpKernel) -> None:
    kernel.place("0::/../../elsewhere\n")
    assert probe(kernel.proc).parent == kernel.parent


# -------------------------------------------------------------------------------------------------------- acting
def test_groups_are_made_filled_and_removed(kernel: MadeUpKernel, sleeper: subprocess.Popen[bytes]) -> None:
    with cpu_groups(probe(kernel.proc), {"sut": [3, 2], "driver": [0]}) as groups:
        assert (groups["sut"].cpus, groups["driver"].cpus) == ((2, 3), (0,))
        cgroup_folders.add(groups["sut"].folder, sleeper.pid)
        assert cgroup_folders.members(groups["sut"].folder) == (sleeper.pid,)
        groups["sut"].limit_to([3])
        assert groups["sut"].cpus == (3,)
    assert kernel.writes == [
        ("cgroup.subtree_control", "+cpuset"), *[("cgroup.type", "threaded")] * 2,
        ("cpuset.cpus", "2-3"), ("cpuset.cpus", "0"), ("cgroup.procs", str(sleeper.pid)), ("cpuset.cpus", "3"),
        ("cgroup.procs", str(sleeper.pid)),  # back home: it was still there
        ("cgroup.subtree_control", "-cpuset"),
    ]  # fmt: skip
    assert kernel.pids(kernel.parent) == [4711, sleeper.pid]
    assert [path.name for path in kernel.parent.glob("*/")] == []


def test_a_root_without_type_gets_plain_children(kernel: MadeUpKernel) -> None:
    (kernel.parent / "cgroup.type").unlink()
    with cpu_groups(probe(kernel.proc), {"sut": [1]}):
        assert ("cgroup.type", "threaded") not in kernel.writes


def test_a_controller_that_was_handed_down_before_stays(kernel: MadeUpKernel) -> None:
    (kernel.parent / "cgroup.subtree_control").write_text("cpuset\n")
    with cpu_groups(probe(kernel.proc), {"sut": [1]}):
        pass
    assert "cgroup.subtree_control" not in dict(kernel.writes)


def test_another_run_in_the_same_cgroup_keeps_the_controller(kernel: MadeUpKernel) -> None:
    with cpu_groups(probe(kernel.proc), {"sut": [1]}), cpu_groups(probe(kernel.proc), {"driver": [2]}) as inner:
        assert inner["driver"].cpus == (2,)
    assert (kernel.parent / "cgroup.subtree_control").read_text() == ""
    other = kernel.parent / "jdk-matrix-1-1-other"  # it does not go away: it has a process
    with cpu_groups(probe(kernel.proc), {"sut": [1]}):
        other.mkdir()
        kernel.put(other, (7,))
    assert (kernel.parent / "cgroup.subtree_control").read_text() == "cpuset"


def test_the_controller_that_a_killed_runner_handed_down_is_taken_back(kernel: MadeUpKernel) -> None:
    for mark in ("", "-cpuset"):
        (kernel.parent / "cgroup.subtree_control").write_text("cpuset")
        folder = kernel.parent / f"jdk-matrix-77-99-sut{mark}"
        folder.mkdir()
        kernel.put(folder, ())
        assert remove_leftovers(kernel.parent, kernel.proc) == (folder,)
        assert (kernel.parent / "cgroup.subtree_control").read_text() == ("" if mark else "cpuset")


def test_cpus_that_the_parent_has_not_are_refused_and_all_is_undone(kernel: MadeUpKernel) -> None:
    with (
        pytest.raises(CgroupError, match="asked for CPUs 3-4, but the kernel grants 3"),
        cpu_groups(probe(kernel.proc), {"driver": [0], "sut": [3, 4]}),
    ):
        pytest.fail("it was done nevertheless")
    assert list(kernel.parent.glob("*/")) == []
    assert (kernel.parent / "cgroup.subtree_control").read_text() == ""


def test_a_process_that_is_gone_cannot_be_moved(tmp_path: Path) -> None:
    kernel = MadeUpKernel(tmp_path)
    (kernel.parent / "cgroup.procs").unlink()
    with pytest.raises(CgroupError, match=r"cannot write '1' to .*cgroup\.procs: No such file"):
        cgroup_folders.add(kernel.parent, 1)


def test_leftovers_go_only_when_they_are_ours_and_nobody_owns_them(tmp_path: Path) -> None:
    kernel = MadeUpKernel(tmp_path)
    (kernel.proc / "77").mkdir()
    (kernel.proc / "77/stat").write_text(f"77 (a) b) S {' '.join(['0'] * 18)} 1234 0\n")
    names = ("jdk-matrix-77-1234-sut", "jdk-matrix-77-99-sut", "jdk-matrix-78-1-driver", "jdk-matrix-report", "user")
    for name in names:
        (kernel.parent / name).mkdir()
    removed = remove_leftovers(kernel.parent, kernel.proc)
    assert [path.name for path in removed] == ["jdk-matrix-77-99-sut", "jdk-matrix-78-1-driver"]
    assert sorted(path.name for path in kernel.parent.glob("*/")) == [names[0], names[3], names[4]]


def test_a_threaded_group_tells_its_members_by_their_threads(
    tmp_path: Path, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel does not let its processes be read (Documentation/admin-guide/cgroup-v2.rst, "Threads")."""
    (tmp_path / "cgroup.threads").write_text(f"{sleeper.pid}\n{2**22 + 1}\n")  # and one that has ended
    read = Path.read_text

    def refuse(self: Path, *args: Any, **more: Any) -> str:
        if self.name == "cgroup.procs":
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return read(self, *args, **more)

    monkeypatch.setattr(Path, "read_text", refuse)
    assert cgroup_folders.members(tmp_path) == (sleeper.pid,)


def test_a_process_on_this_machine_is_pinned_where_its_kernel_lets_us(sleeper: subprocess.Popen[bytes]) -> None:
    """Elsewhere the reason is the one predicted, and the test is skipped."""
    state = probe()
    reason = why_not(state, CPUSET)
    cpu = max(os.sched_getaffinity(0))
    if state is None or reason:
        assert reason
        with pytest.raises(CgroupError, match="no cpusets by cgroup"), cpu_groups(state, {"sut": [cpu]}):
            pytest.fail("it was done nevertheless")
        pytest.skip(f"{reason}; that is also what measuring says")
    before = {path.name for path in state.parent.glob("*/")}
    with cpu_groups(state, {"sut": [cpu], "driver": [min(os.sched_getaffinity(0))]}) as groups:
        cgroup_folders.add(groups["sut"].folder, sleeper.pid)
        assert cgroup_folders.members(groups["sut"].folder) == (sleeper.pid,)
        assert os.sched_getaffinity(sleeper.pid) == {cpu}
        assert groups["sut"].folder.name in Path(f"/proc/{sleeper.pid}/cgroup").read_text()
    assert {path.name for path in state.parent.glob("*/")} == before
    assert probe() == state
