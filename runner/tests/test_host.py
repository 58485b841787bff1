"""CPU sets on made-up machines, and facts of the real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpusets import TooFewCpusError, assign
from jdkmatrix.host.facts import parse_cpu_list, read_facts
from jdkmatrix.host.topology import Cpu, Topology, read_topology


def machine(cores: int, threads_per_core: int = 1) -> Topology:
    """Siblings are numbered as Linux does: 0..n-1 first threads, n..2n-1 their siblings."""
    return Topology(
        tuple(Cpu(cpu=i, core=i % cores, package=0) for i in range(cores * threads_per_core)),
    )


def test_a_small_machine_gives_one_cpu_to_each_side() -> None:
    sets = assign(machine(2), sut_cpus=1, driver_cpus=1, overlap=False)
    assert (sets.sut, sets.driver, sets.overlapped, sets.shares_cores) == ((1,), (0,), False, False)


def test_too_few_cpus_say_what_is_missing() -> None:
    with pytest.raises(TooFewCpusError, match=r"cpus = 8 needs 8 \+ 2 for the driver; this host has 2"):
        assign(machine(2), sut_cpus=8, driver_cpus=2, overlap=True)
    with pytest.raises(TooFewCpusError):
        assign(machine(2), sut_cpus=2, driver_cpus=1, overlap=False)


def test_overlap_only_where_it_is_allowed() -> None:
    sets = assign(machine(2), sut_cpus=2, driver_cpus=1, overlap=True)
    assert (sets.sut, sets.driver, sets.overlapped) == ((0, 1), (0,), True)


def test_sibling_threads_stay_idle_while_there_are_cores() -> None:
    sets = assign(machine(4, threads_per_core=2), sut_cpus=2, driver_cpus=1, overlap=False)
    assert (sets.sut, sets.driver, sets.shares_cores) == ((2, 3), (0,), False)
    crowded = assign(machine(4, threads_per_core=2), sut_cpus=4, driver_cpus=1, overlap=False)
    assert crowded.shares_cores


@given(cores=st.integers(1, 64), threads=st.integers(1, 2), sut=st.integers(1, 64), driver=st.integers(1, 8))
def test_sets_are_disjoint_complete_and_real(cores: int, threads: int, sut: int, driver: int) -> None:
    host = machine(cores, threads)
    try:
        sets = assign(host, sut_cpus=sut, driver_cpus=driver, overlap=False)
    except TooFewCpusError:
        assert sut + driver > cores * threads
    else:
        assert (len(sets.sut), len(sets.driver)) == (sut, driver)
        assert not set(sets.sut) & set(sets.driver)
        assert {*sets.sut, *sets.driver} <= {cpu.cpu for cpu in host.cpus}


def test_cpu_lists() -> None:
    assert parse_cpu_list("0-2,5\n") == (0, 1, 2, 5)
    assert parse_cpu_list("") == ()


def test_topology_from_files(tmp_path: Path) -> None:
    for cpu, core in ((0, 0), (1, 0), (2, 1)):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "core_id").write_text(f"{core}\n")
        (folder / "physical_package_id").write_text("0\n")
    assert read_topology(tmp_path, [0, 1, 2]).cores == ((0, 1), (2,))
    assert read_topology(tmp_path / "hidden", [4, 7]).cores == ((4,), (7,))


def test_facts_of_this_host() -> None:
    facts = read_facts(read_topology())
    assert set(facts.cpu.allowed) == os.sched_getaffinity(0)
    assert facts.cpu.model
    assert facts.memory_bytes > 100e6
    assert facts.kernel.startswith(os.uname().release)
