"""Reading /sys and /proc, on made-up trees and on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpulist import format_cpu_list, parse_cpu_list
from jdkmatrix.host.topology import Cpu, Topology, read_topology


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


class Tree:
    """A /sys and a /proc of a made-up machine."""

    def __init__(self, root: Path) -> None:
        self.sysfs = root / "sys"
        self.proc = root / "proc"
        self.cgroup = root / "cgroup"

    def sys(self, files: dict[str, str]) -> None:
        write(self.sysfs, files)

    def cpu(self, files: dict[str, str]) -> None:
        write(self.sysfs / "devices/system/cpu", files)

    def cgroups(self, places: str, mounts: dict[str, str], files: dict[str, str]) -> None:
        """`mounts`: folder below the mount → "root-of-the-mount type options"."""
        lines = []
        for folder, what in mounts.items():
            root, kind, options = what.split(" ")
            mount = str(self.cgroup / folder).replace(" ", "\\040")
            lines.append(f"30 25 0:26 {root} {mount} rw,nosuid shared:4 - {kind} {kind} {options}")
        write(self.proc / "self", {"cgroup": places, "mountinfo": "\n".join(["1 1 8:1 / / rw - ext4 x rw", *lines])})
        write(self.cgroup, files)

    def read(self, affinity: range | list[int]) -> Topology:
        return read_topology(self.sysfs, self.proc, affinity)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


# ------------------------------------------------------------------------------------------------------ CPU lists
@pytest.mark.parametrize(
    ("text", "cpus"), [("0-2,5\n", (0, 1, 2, 5)), ("", ()), ("3", (3,)), ("0-1,8-9", (0, 1, 8, 9))]
)
def test_cpu_lists(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpu_list(text) == cpus
    assert format_cpu_list(cpus) == text.strip()


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_come_back_as_they_went(cpus: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == tuple(sorted(cpus))


def test_what_is_no_cpu_list_is_refused() -> None:
    with pytest.raises(ValueError, match="null"):
        parse_cpu_list("(null)")


# ---------------------------------------------------------------------------------------------------------- /sys
def test_cores_domains_nodes_and_packages(tree: Tree) -> None:
    tree.cpu({"online": "0-7", "present": "0-7", "isolated": "", "nohz_full": "(null)"})
    for cpu in range(8):
        core, package = cpu % 4, cpu % 4 // 2
        tree.cpu(
            {
                f"cpu{cpu}/topology/core_cpus_list": f"{core},{core + 4}",
                f"cpu{cpu}/topology/physical_package_id": str(package),
                f"cpu{cpu}/cache/index0/level": "1",
                f"cpu{cpu}/cache/index0/shared_cpu_list": str(cpu),
                f"cpu{cpu}/cache/index3/level": "3",
                f"cpu{cpu}/cache/index3/shared_cpu_list": "0-1,4-5" if package == 0 else "2-3,6-7",
            }
        )
    tree.sys({"devices/system/node/node0/cpulist": "0-1,4-5", "devices/system/node/node1/cpulist": "2-3,6-7"})
    topology = tree.read(range(8))
    assert topology.cores == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert topology.cpus[7] == Cpu(cpu=7, core=3, package=1, node=1, l3=2)
    assert [cpu.l3 for cpu in topology.cpus] == [0, 0, 2, 2, 0, 0, 2, 2]
    assert (topology.withheld, topology.limit, topology.offline, topology.quota_cpus) == ((), None, (), None)


def test_older_kernels_name_the_siblings_otherwise(tree: Tree) -> None:
    tree.cpu({f"cpu{cpu}/topology/thread_siblings_list": "0-1" for cpu in (0, 1)})
    assert tree.read([0, 1, 2]).cores == ((0, 1), (2,))


def test_hidden_files_leave_cores_of_their_own_in_one_domain(tree: Tree) -> None:
    assert tree.read([4, 7]).cpus == (Cpu(cpu=4, core=4, l3=4), Cpu(cpu=7, core=7, l3=4))


def test_a_package_is_the_domain_where_no_l3_cache_is_shown(tree: Tree) -> None:
    tree.cpu({f"cpu{cpu}/topology/physical_package_id": str(cpu // 2) for cpu in range(4)})
    assert [cpu.l3 for cpu in tree.read(range(4)).cpus] == [0, 0, 2, 2]


def test_offline_isolated_and_tickless_cpus(tree: Tree) -> None:
    tree.cpu({"online": "0-1,3-5", "present": "0-7", "isolated": "4-5", "nohz_full": "5"})
    topology = tree.read([0, 1, 3, 4, 5])
    assert topology.offline == (2, 6, 7)
    assert [cpu.cpu for cpu in topology.cpus if cpu.isolated] == [4, 5]
    assert [cpu.cpu for cpu in topology.cpus if cpu.tickless] == [5]


def test_cpus_whose_times_the_kernel_does_not_tell(tree: Tree) -> None:
    """A file mounted over the kernel's, as lxcfs does, belongs to another file system and numbers CPUs differently."""
    assert tree.read([0, 1]).uncounted == (0, 1)
    write(tree.proc, {"stat": "cpu  9 0 0 9 0 0 0 0\ncpu0 5 0 0 4 0 0 0 0\ncpu1 4 0 0 5 0 0 0 0"})
    assert tree.read([0, 1]).uncounted == ()
    assert tree.read([1, 4]).uncounted == (4,)
    write(tree.proc, {"stat": "cpu0 5 0 0"})
    assert tree.read([0]).uncounted == (0,), "a row without the columns that are needed"
    (tree.proc / "stat").unlink()
    (tree.proc / "stat").symlink_to("/proc/stat")
    assert tree.read([0]).uncounted == (0,)


@pytest.mark.parametrize(
    "files",
    [
        {"devices/cpu_core/cpus": "0-1", "devices/cpu_atom/cpus": "2-3"},
        {"devices/cpu_core/cpus": "0-1", "devices/cpu_atom/cpus": "2", "devices/cpu_lowpower/cpus": "3"},
        {f"devices/system/cpu/types/intel_{kind}_0/cpulist": cpus for kind, cpus in (("atom", "2-3"), ("core", "0-1"))},
        {f"devices/system/cpu/cpu{n}/cpu_capacity": str(size) for n, size in enumerate((1024, 990, 446, 446))},
    ],
)
def test_efficiency_cores_are_told_apart(tree: Tree, files: dict[str, str]) -> None:
    tree.sys(files)
    assert [cpu.kind for cpu in tree.read(range(4)).cpus] == ["performance"] * 2 + ["efficiency"] * 2


def test_one_capacity_is_one_kind(tree: Tree) -> None:
    tree.cpu({f"cpu{cpu}/cpu_capacity": "446" for cpu in range(2)})
    assert {cpu.kind for cpu in tree.read(range(2)).cpus} == {"performance"}


# -------------------------------------------------------------------------------------------------------- cgroups
def test_a_cpuset_and_a_quota_of_version_2(tree: Tree) -> None:
    tree.cpu({"online": "0-7"})
    tree.cgroups(
        "0::/system.slice/job.scope",
        {"": "/ cgroup2 rw"},
        {
            "system.slice/cpuset.cpus.effective": "2-5",
            "system.slice/cpu.max": "250000 100000",
            "system.slice/job.scope/cpu.max": "max 100000",
            "cpu.max": "900000 100000",
        },
    )
    topology = tree.read([2, 3, 4, 5])
    assert [cpu.cpu for cpu in topology.cpus] == [2, 3, 4, 5]
    assert [cpu.cpu for cpu in topology.withheld] == [0, 1, 6, 7]
    assert (topology.limit, topology.quota_cpus) == ("the cgroup's cpuset", 2.5)


def test_a_cpuset_and_a_quota_of_version_1_in_a_container(tree: Tree) -> None:
    """The mount shows only the container's part of the hierarchy; /proc/self/cgroup names all of it."""
    tree.cpu({"online": "0-3"})
    tree.cgroups(
        "4:cpu,cpuacct:/docker/abc\n3:cpuset:/docker/abc\n1:name=systemd:/docker/abc\n0::/",
        {"cpu set": "/docker/abc cgroup rw,cpuset", "cpu": "/docker/abc cgroup rw,cpu,cpuacct"},
        {"cpu set/cpuset.cpus": "1-2", "cpu/cpu.cfs_quota_us": "150000", "cpu/cpu.cfs_period_us": "100000"},
    )
    topology = tree.read([1, 2])
    assert ([cpu.cpu for cpu in topology.cpus], topology.limit) == ([1, 2], "the cgroup's cpuset")
    assert topology.quota_cpus == 1.5


def test_no_quota_is_none(tree: Tree) -> None:
    tree.cgroups(
        "2:cpu:/\n0::/",
        {"cpu": "/ cgroup rw,cpu", "unified": "/ cgroup2 rw"},
        {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000", "unified/cpu.max": "max 100000"},
    )
    assert tree.read([0]).quota_cpus is None


def test_an_affinity_inside_the_cpuset_is_the_limit(tree: Tree) -> None:
    tree.cpu({"online": "0-3"})
    tree.cgroups("0::/", {"": "/ cgroup2 rw"}, {"cpuset.cpus.effective": "0-2"})
    assert tree.read([1]).limit == "the CPU affinity of this process"
    assert tree.read([0, 1, 2]).limit == "the cgroup's cpuset"


# --------------------------------------------------------------------------------------------------- this machine
def test_this_machine() -> None:
    topology = read_topology()
    assert {cpu.cpu for cpu in topology.cpus} == os.sched_getaffinity(0)
    root = Path("/sys/devices/system/cpu")
    lists = [root / f"cpu{cpu.cpu}/topology/thread_siblings_list" for cpu in topology.cpus]
    siblings = {min(parse_cpu_list(path.read_text())) for path in lists if path.exists()}
    assert {cpu.core for cpu in topology.cpus} == siblings or not siblings
