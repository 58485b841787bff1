"""How a run pins: by cgroup where that is permitted, else by affinity, with the reason; and what each does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.drivers.base import Driver
from jdkmatrix.fork.affinity import astray
from jdkmatrix.fork.confinement import Confiner, Role, confinement
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.host import cgroup_folders, launch
from jdkmatrix.host.cgroup_cpuset import CpuGroup
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import probe
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.instance import Instance
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.cgroup_doubles import MadeUpKernel, sleeper
from tests.support.fork_setups import draft_of, usual
from tests.support.real_parts import Silent

__all__ = ["sleeper"]

ALLOWED = sorted(os.sched_getaffinity(0))
SUT, DRIVER = ALLOWED[-1], ALLOWED[0]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpKernel:
    made = MadeUpKernel(tmp_path, cpus=f"0-{max(3, SUT)}")
    made.rule(monkeypatch)
    return made


def folders(kernel: MadeUpKernel) -> list[str]:
    return sorted(path.name for path in kernel.parent.glob("*/"))


# ---------------------------------------------------------------------------------------------------- the choice
def test_by_cgroup_where_it_is_permitted_and_nothing_is_left(kernel: MadeUpKernel) -> None:
    with confinement(probe(kernel.proc), ALLOWED) as confiner:
        assert (confiner.method, confiner.why_not_cgroup) == ("cgroup cpuset", None)
        assert [name.split("-")[-2] for name in folders(kernel)] == ["driver", "remote", "sut"]
    assert folders(kernel) == []
    assert (kernel.parent / "cgroup.subtree_control").read_text() == ""


@pytest.mark.parametrize(
    ("cgroup", "reason"),
    [("0::/\n", "does not have the cpuset controller"), ("3:cpuset:/\n", "no cgroup hierarchy of version 2")],
)
def test_else_by_affinity_with_the_reason(kernel: MadeUpKernel, cgroup: str, reason: str) -> None:
    kernel.place(cgroup)
    (kernel.parent / "cgroup.controllers").write_text("memory\n")
    with confinement(probe(kernel.proc), ALLOWED) as confiner:
        assert confiner.method == "sched_setaffinity"
        assert reason in confiner.why_not_cgroup
        assert confiner.group("sut", ALLOWED) is None
    assert kernel.writes == []


def test_what_only_trying_shows_leads_to_affinity_too(kernel: MadeUpKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples are CPUs that are not granted, and a process that cannot join."""
    state = probe(kernel.proc)
    with confinement(state, [max(3, SUT) + 1]) as confiner:
        assert "the kernel grants none" in confiner.why_not_cgroup
    assert folders(kernel) == []

    spawn = launch.spawn
    monkeypatch.setattr(
        launch, "spawn", lambda command, **named: spawn(command, **named | {"cgroups": [Path("/none")]})
    )
    with confinement(state, ALLOWED) as confiner:
        said = "launch: cannot join the cgroup /none: No such file or directory"
        assert (confiner.method, confiner.why_not_cgroup) == ("sched_setaffinity", said)
        assert folders(kernel) == [], "they are removed at once, not at the end of the run"


def test_nothing_is_left_when_the_run_fails(kernel: MadeUpKernel) -> None:
    with pytest.raises(CgroupError, match="in the middle"), confinement(probe(kernel.proc), ALLOWED):
        raise CgroupError("in the middle of a run, so not a reason to go on with affinity")
    assert folders(kernel) == []


# --------------------------------------------------------------------------------------------------------- a fork
def test_a_fork_starts_wide_and_is_then_closed_in(kernel: MadeUpKernel, sleeper: subprocess.Popen[bytes]) -> None:
    with confinement(probe(kernel.proc), ALLOWED) as made:
        confiner = replace(made, proc=kernel.proc)
        folder = confiner.group("sut", {SUT, DRIVER})
        assert folder is not None
        assert CpuGroup(folder).cpus == tuple(sorted({SUT, DRIVER}))
        kernel.show_threads(sleeper.pid, {sleeper.pid: folder})
        confiner.confine(sleeper.pid, {SUT})
        assert CpuGroup(folder).cpus == (SUT,)
        assert astray(sleeper.pid, {SUT}) == ()
        assert confiner.group("sut", ALLOWED) == folder, "the next fork gets it as it asks for it"
        assert CpuGroup(folder).cpus == tuple(ALLOWED)


def test_a_thread_that_was_moved_out_is_found(kernel: MadeUpKernel, sleeper: subprocess.Popen[bytes]) -> None:
    with confinement(probe(kernel.proc), ALLOWED) as made:
        confiner = replace(made, proc=kernel.proc)
        folder = confiner.group("sut", {SUT})
        assert folder is not None
        kernel.show_threads(sleeper.pid, {sleeper.pid: folder, 7: folder, 8: kernel.parent, 9: kernel.parent})
        with pytest.raises(CgroupError, match=f"2 threads of process {sleeper.pid} are not in the cgroup"):
            confiner.confine(sleeper.pid, {SUT})
        assert CpuGroup(folder).outside(sleeper.pid, kernel.proc) == (8, 9)
        assert CpuGroup(folder).outside(1, kernel.proc) == (), "there is no such process"


class Refused(Confiner):
    def group(self, role: Role, cpus: Collection[int]) -> Path | None:
        raise CgroupError(f"{role}: the kernel takes no CPUs any more")


@dataclass(frozen=True)
class EndsAtOnce:
    """An instance whose server ends as soon as it is started."""

    def lay_out(self, scratch: Path, log_dir: Path) -> Launch:
        log_dir.mkdir(parents=True, exist_ok=True)
        url = "http://127.0.0.1:1/"
        return Launch(
            [sys.executable, "-c", "exit(1)"], {}, url, "/ping", log_dir / "messages.log", log_dir / "console.log"
        )


def fork_with(confiner: Confiner, folder: Path) -> Fork:
    served = usual(
        driver=cast(Driver, SimpleNamespace(open=lambda target: nullcontext())),  # no load gets that far
        instance=cast(Instance, EndsAtOnce()),
        mix=None,
        cpu_sets=CpuSets(sut=(SUT,), driver=(DRIVER,), overlapped=False),
        confiner=confiner,
    )
    return measure_fork(draft_of(ServedCell(**served), folder), Silent())


def test_a_fork_whose_cgroup_breaks_fails_with_its_reason(tmp_path: Path) -> None:
    broken = fork_with(Refused(None, "-"), tmp_path)
    assert broken.status is Status.FAILED
    assert [(reason.code, reason.message) for reason in broken.reasons] == [
        ("confinement", "sut: the kernel takes no CPUs any more")
    ]


def test_a_server_starts_in_its_cgroup_and_the_fork_says_how_it_is_pinned(kernel: MadeUpKernel, tmp_path: Path) -> None:
    with confinement(probe(kernel.proc), ALLOWED) as confiner:
        group = CpuGroup(next(kernel.parent.glob("*-sut-*")))
        before = cgroup_folders.members(group.folder)
        fork = fork_with(confiner, tmp_path)
        now = cgroup_folders.members(group.folder)
        assert (len(now), now != before) == (1, True), "the pretended kernel keeps the last that joined"
        assert group.cpus == tuple(sorted({SUT, DRIVER})), "the compiler's too, until the server is warm"
    assert [reason.code for reason in fork.reasons] == ["server"]
    assert (fork.confinement.method, fork.confinement.why_not_cgroup) == ("cgroup cpuset", None)
    other = fork_with(Confiner(None, "it is not permitted"), tmp_path).confinement
    assert (other.method, other.why_not_cgroup) == ("sched_setaffinity", "it is not permitted")


def test_affinity_confines_and_has_no_cgroup(sleeper: subprocess.Popen[bytes]) -> None:
    confiner = Confiner(None, "it is not permitted")
    assert confiner.group("driver", {DRIVER}) is None
    confiner.confine(sleeper.pid, {SUT})
    assert os.sched_getaffinity(sleeper.pid) == {SUT}


CPUS = st.sets(st.integers(0, 63), min_size=1)


@given(st.lists(st.tuples(CPUS, CPUS), min_size=1, max_size=4))
def test_whatever_the_cells_ask_for_in_turn_each_gets_just_that(cells: list[tuple[set[int], set[int]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        kernel = MadeUpKernel(Path(folder), cpus="0-63")
        kernel.rule(patch)
        (kernel.parent / "cgroup.subtree_control").write_text("cpuset")
        for role in ("sut", "driver"):
            kernel.make(kernel.parent / role)
        roles: tuple[Role, ...] = ("sut", "driver")
        confiner = Confiner({role: CpuGroup(kernel.parent / role) for role in roles}, None)
        for sut, driver in cells:
            wide, others = confiner.group("sut", sut | driver), confiner.group("driver", driver)
            assert wide is not None and others is not None
            assert {*CpuGroup(wide).cpus} == sut | driver
            assert {*CpuGroup(others).cpus} == driver
            confiner.group("sut", sut)
            assert ({*CpuGroup(wide).cpus}, {*CpuGroup(others).cpus}) == (sut, driver)
