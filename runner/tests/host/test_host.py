"""Facts of the real host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jdkmatrix.host.cgroup_limits import Hierarchy, memory_left_bytes
from jdkmatrix.host.facts import cpu_model, read_facts
from jdkmatrix.host.file_systems import file_system_of, mounted
from jdkmatrix.host.topology import read_topology


def test_facts_of_this_host() -> None:
    facts = read_facts(read_topology())
    assert set(facts.cpu.allowed) == os.sched_getaffinity(0)
    assert facts.cpu.model
    assert facts.memory_bytes > 100e6
    assert facts.kernel.startswith(os.uname().release)


def test_a_cpu_without_a_name_is_told_by_its_numbers() -> None:
    graviton = "processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n"
    assert cpu_model(graviton) == f"{os.uname().machine}, implementer 0x41, part 0xd40"
    assert cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"
    assert cpu_model("") == os.uname().machine


@pytest.mark.parametrize(
    ("mounts", "found"),
    [
        ((("/", "overlay"), ("/data", "ext4"), ("/data/post", "xfs"), ("/sys", "sysfs")), "ext4"),
        ((("/data", "ext4"), ("/", "overlay"), ("/data", "tmpfs")), "tmpfs"),
        ((("/", "overlay"), ("/data/postgres/x", "xfs")), "overlay"),
        ((("/sys", "sysfs"),), None),
    ],
)
def test_a_folder_is_on_what_is_mounted_nearest_above(mounts: tuple[tuple[str, str], ...], found: str | None) -> None:
    assert file_system_of(Path("/data/postgres"), mounts) == found


def test_the_file_systems_of_this_host() -> None:
    assert file_system_of(Path("/proc/self"), mounted()) == "proc"


@pytest.mark.parametrize(
    ("version", "controllers", "limit", "used", "cache"),
    [
        (2, (), "memory.max", "memory.current", "inactive_file"),
        (1, ("memory",), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_the_narrowest_cgroup_leaves_what_its_page_cache_gives_way_to(
    tmp_path: Path, version: int, controllers: tuple[str, ...], limit: str, used: str, cache: str
) -> None:
    inner = tmp_path / "pod" / "job"
    inner.mkdir(parents=True)
    here = Hierarchy(version, tmp_path, inner, frozenset(controllers))
    assert memory_left_bytes([here]) is None
    (inner / limit).write_text("max\n" if version == 2 else f"{2**63 - 4096}\n")
    (inner / used).write_text("5000\n")
    (inner.parent / limit).write_text("10000\n")
    (inner.parent / used).write_text("9000\n")
    assert memory_left_bytes([here]) == 1000
    (inner.parent / "memory.stat").write_text(f"anon 6000\n{cache} 2500\n")
    assert memory_left_bytes([here]) == 3500
    assert memory_left_bytes([Hierarchy(1, tmp_path, inner, frozenset({"cpu"}))]) is None
