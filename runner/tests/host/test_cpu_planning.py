"""Who gets which CPUs, on made-up machines."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpusets import CpuSets, TooFewCpusError, assign
from jdkmatrix.host.topology import Cpu, Topology
from tests.support.machines import (
    CONTAINER,
    DESKTOP,
    HALF_CORES,
    HYBRID,
    ISOLATED,
    MACHINES,
    METERED,
    PARTLY_OFF,
    SERVER,
    VM,
    confined,
    machine,
    without,
)

AXIS = (1, 2, 4, 8)


@st.composite
def machines(draw: st.DrawFn) -> Topology:
    """Any machine: a well-known one, or one that nobody would build; whole, confined, metered or partly off."""
    topology = draw(
        st.one_of(
            st.sampled_from(list(MACHINES.values())),
            st.builds(
                machine,
                st.integers(1, 24),
                threads_per_core=st.integers(1, 4),
                cores_per_l3=st.sampled_from([None, 1, 2, 4, 8]),
                cores_per_node=st.sampled_from([None, 4, 8]),
                efficiency_cores=st.sampled_from([0, 0, 4, 8]),
                isolated=st.frozensets(st.integers(0, 24), max_size=12),
                tickless=st.frozensets(st.integers(0, 24), max_size=12),
            ),
        )
    )
    numbers = [cpu.cpu for cpu in topology.cpus]
    some = st.frozensets(st.sampled_from(numbers), min_size=1)
    if draw(st.booleans()):
        topology = confined(topology, draw(some))
    elif draw(st.booleans()):
        topology = without(topology, set(numbers) - draw(some))
    return replace(topology, quota_cpus=draw(st.one_of(st.none(), st.floats(0.5, 64))))


SIZES = st.integers(1, 20)
OTHERS = st.integers(1, 5)
REMOTES = st.integers(0, 2)
AXES = st.lists(SIZES, max_size=5)


def busy_limit(topology: Topology) -> int:
    usable = len(topology.cpus)
    return usable if topology.quota_cpus is None else min(usable, int(topology.quota_cpus))


def by_number(topology: Topology) -> dict[int, Cpu]:
    return {cpu.cpu: cpu for cpu in topology.cpus}


def codes(sets: CpuSets) -> list[str]:
    return [compromise.code for compromise in sets.compromises]


def siblings_in_use(topology: Topology, sets: CpuSets) -> bool:
    """Whether somebody runs on another thread of a core of the server."""
    cpus = by_number(topology)
    used = {*sets.sut, *sets.driver, *sets.remote}
    return any(cpus[mine].core == cpus[other].core for mine in sets.sut for other in used if other != mine)


def fitted(topology: Topology, sut: int, driver: int, remote: int = 0, **how: Any) -> CpuSets | None:
    """None: too few CPUs."""
    try:
        return assign(topology, sut_cpus=sut, driver_cpus=driver, remote_cpus=remote, **{"overlap": False, **how})
    except TooFewCpusError:
        return None


# ------------------------------------------------------------------------------------------------- any machine
@given(topology=machines(), sut=SIZES, driver=OTHERS, remote=REMOTES, smt=st.booleans(), axis=AXES)
def test_sets_are_disjoint_complete_and_usable(
    topology: Topology, sut: int, driver: int, remote: int, smt: bool, axis: list[int]
) -> None:
    sets = fitted(topology, sut, driver, remote, smt=smt, axis=axis)
    assert (sets is not None) == (sut + driver + remote <= busy_limit(topology))
    if sets is None:
        return
    assert (len(sets.sut), len(sets.driver), len(sets.remote)) == (sut, driver, remote)
    used = [*sets.sut, *sets.driver, *sets.remote]
    assert len(set(used)) == len(used)
    assert not sets.overlapped
    assert set(used) <= {cpu.cpu for cpu in topology.cpus}
    assert set(used).isdisjoint(topology.offline)
    assert set(used).isdisjoint(cpu.cpu for cpu in topology.withheld)


@given(topology=machines(), driver=OTHERS, remote=REMOTES, smt=st.booleans(), axis=AXES, overlap=st.booleans())
def test_all_sizes_share_one_reserved_set(
    topology: Topology, driver: int, remote: int, smt: bool, axis: list[int], overlap: bool
) -> None:
    sizes = (fitted(topology, size, driver, remote, overlap=overlap, smt=smt, axis=axis) for size in sorted({*axis}))
    cells = [sets for sets in sizes if sets is not None]
    for smaller, larger in itertools.pairwise(cells):
        assert (smaller.driver, smaller.remote) == (larger.driver, larger.remote)
        assert set(smaller.sut) < set(larger.sut)


@given(topology=machines(), sut=SIZES, driver=OTHERS, smt=st.booleans(), axis=AXES)
def test_the_remote_system_shares_the_drivers_cpus_only_where_there_are_none_for_it(
    topology: Topology, sut: int, driver: int, smt: bool, axis: list[int]
) -> None:
    how: dict[str, Any] = {"smt": smt, "axis": axis}
    sets = fitted(topology, sut, driver, 1, share_remote=True, **how)
    apart = fitted(topology, sut, driver, 1, share_remote=False, **how)
    without = fitted(topology, sut, driver, share_remote=True, **how)
    if apart is not None:
        assert sets == apart
        assert "remote-shares-driver" not in codes(apart)
        return
    if without is None:
        assert sets is None
        return
    assert sets is not None
    assert (sets.sut, sets.driver, sets.remote) == (without.sut, without.driver, without.driver)
    assert "remote-shares-driver" in codes(sets)
    assert not sets.overlapped


@given(topology=machines(), sut=SIZES, driver=OTHERS, remote=REMOTES)
def test_siblings_of_the_server_idle_while_there_are_cores(
    topology: Topology, sut: int, driver: int, remote: int
) -> None:
    if sut + driver + remote > min(len(topology.cores), busy_limit(topology)):
        return
    sets = assign(topology, sut_cpus=sut, driver_cpus=driver, remote_cpus=remote, overlap=False)
    assert not siblings_in_use(topology, sets)
    assert not sets.shares_cores


@given(topology=machines(), sut=SIZES, driver=OTHERS)
def test_one_domain_and_one_kind_where_one_is_large_enough(topology: Topology, sut: int, driver: int) -> None:
    cores = {cpu.core: cpu for cpu in topology.cpus if not cpu.isolated}
    domains = Counter((cpu.l3, cpu.node, cpu.kind) for cpu in cores.values())
    if not domains or sut + driver > min(max(domains.values()), busy_limit(topology)):
        return
    sets = assign(topology, sut_cpus=sut, driver_cpus=driver, overlap=False)
    cpus = by_number(topology)
    assert len({(cpus[cpu].l3, cpus[cpu].node, cpus[cpu].kind) for cpu in sets.sut}) == 1


@given(topology=machines(), sut=SIZES, driver=OTHERS, remote=REMOTES, axis=AXES, overlap=st.booleans())
def test_what_is_given_up_is_said_and_nothing_else(
    topology: Topology, sut: int, driver: int, remote: int, axis: list[int], overlap: bool
) -> None:
    sets = fitted(topology, sut, driver, remote, overlap=overlap, axis=axis)
    if sets is None:
        return
    cpus = by_number(topology)
    mine = [cpus[cpu] for cpu in sets.sut]
    nodes = {cpu.node for cpu in mine}
    others = [cpus[cpu] for cpu in (*sets.driver, *sets.remote)]
    assert set(codes(sets)) == {
        code
        for code, given_up in {
            "uses-cpu-0": 0 in sets.sut,
            "remote-shares-driver": not set(sets.driver).isdisjoint(sets.remote),
            "driver-on-other-node": any(cpu.node not in nodes for cpu in others),
            "foreign-siblings": any(cpu.core == other.core for cpu in mine for other in topology.withheld),
            "crosses-l3": len({cpu.l3 for cpu in mine}) > 1,
            "crosses-numa": len(nodes) > 1,
            "mixed-core-kinds": len({cpu.kind for cpu in mine}) > 1,
            "unbalanced": any(
                len(group) > 1 and any(cpus[cpu].isolated for cpu in group)
                for group in (sets.sut, sets.driver, sets.remote)
            ),
            "shares-cores": siblings_in_use(topology, sets),
            "overlapped": bool({*sets.sut} & {*sets.driver, *sets.remote}),
        }.items()
        if given_up
    }
    assert sets.overlapped == ("overlapped" in codes(sets))
    assert sets.shares_cores == ("shares-cores" in codes(sets))
    assert all(compromise.message for compromise in sets.compromises)


@given(topology=machines(), sut=SIZES, driver=OTHERS, axis=AXES)
def test_the_order_of_the_axis_does_not_matter(topology: Topology, sut: int, driver: int, axis: list[int]) -> None:
    if sut + driver > busy_limit(topology):
        return
    plain = assign(topology, sut_cpus=sut, driver_cpus=driver, overlap=False, axis=axis)
    again = assign(topology, sut_cpus=sut, driver_cpus=driver, overlap=False, axis=[*axis[::-1], *axis, sut])
    assert plain == again


@given(topology=machines(), sut=SIZES, driver=OTHERS, remote=REMOTES)
def test_sharing_is_allowed_up_to_what_the_host_has(topology: Topology, sut: int, driver: int, remote: int) -> None:
    limit = busy_limit(topology)
    sets = fitted(topology, sut, driver, remote, overlap=True)
    if sets is None:
        assert max(sut, driver, remote) > limit
        return
    assert (len(sets.sut), len(sets.driver), len(sets.remote)) == (sut, driver, remote)
    assert len({*sets.sut, *sets.driver, *sets.remote}) <= limit
    assert sets.overlapped == (sut + driver + remote > limit)


# --------------------------------------------------------------------------------------------- well-known machines
def cell(topology: Topology, cpus: int, *, driver: int = 1, remote: int = 0, smt: bool = False) -> CpuSets:
    return assign(topology, sut_cpus=cpus, driver_cpus=driver, remote_cpus=remote, overlap=False, smt=smt, axis=AXIS)


def test_a_small_machine_gives_one_cpu_to_each_side() -> None:
    sets = cell(VM, 1)
    assert (sets.sut, sets.driver, sets.remote) == ((1,), (0,), ())
    assert (sets.overlapped, sets.shares_cores, sets.compromises) == (False, False, ())


def test_overlap_only_where_it_is_allowed() -> None:
    with pytest.raises(TooFewCpusError):
        assign(VM, sut_cpus=2, driver_cpus=1, overlap=False)
    sets = assign(VM, sut_cpus=2, driver_cpus=1, overlap=True, axis=AXIS)
    assert (sets.sut, sets.driver, sets.overlapped) == ((0, 1), (0,), True)
    assert codes(sets) == ["uses-cpu-0", "overlapped"]
    alone = assign(machine(1), sut_cpus=1, driver_cpus=1, remote_cpus=1, overlap=True)
    assert (alone.sut, alone.driver, alone.remote, alone.overlapped) == ((0,), (0,), (0,), True)


def test_the_remote_shares_before_the_driver() -> None:
    sets = assign(machine(4), sut_cpus=3, driver_cpus=1, remote_cpus=1, overlap=True, axis=AXIS)
    assert (sets.sut, sets.driver, sets.remote) == ((1, 2, 3), (0,), (1,))


def test_a_desktop_puts_the_driver_into_the_other_l3_domain() -> None:
    assert [cell(DESKTOP, cpus).sut for cpus in AXIS] == [
        (15,),
        (14, 15),
        (12, 13, 14, 15),
        (8, 9, 10, 11, 12, 13, 14, 15),
    ]
    assert {(cell(DESKTOP, cpus).driver, cell(DESKTOP, cpus).compromises) for cpus in AXIS} == {((1,), ())}


def test_whole_cores_only_when_they_are_asked_for() -> None:
    sets = cell(DESKTOP, 4, smt=True)
    assert (sets.sut, sets.shares_cores, sets.compromises) == ((14, 15, 30, 31), True, ())
    crowded = assign(DESKTOP, sut_cpus=16, driver_cpus=1, overlap=False)
    assert crowded.shares_cores
    assert "shares-cores" in codes(crowded)


def test_a_large_server_keeps_everybody_on_one_node() -> None:
    cpus = by_number(SERVER)
    for size in AXIS:
        sets = cell(SERVER, size, driver=2, remote=1)
        assert sets.compromises == ()
        assert len({cpus[cpu].node for cpu in (*sets.sut, *sets.driver, *sets.remote)}) == 1
        assert {cpus[cpu].l3 for cpu in sets.sut}.isdisjoint(cpus[cpu].l3 for cpu in (*sets.driver, *sets.remote))


def test_the_driver_leaves_the_node_before_the_server_is_split() -> None:
    sets = assign(SERVER, sut_cpus=16, driver_cpus=2, overlap=False)
    assert codes(sets) == ["driver-on-other-node", "crosses-l3"]
    assert (sets.sut, sets.driver) == (tuple(range(48, 64)), (32, 33))  # the other node of the same socket
    assert codes(assign(SERVER, sut_cpus=20, driver_cpus=2, overlap=False)) == ["crosses-l3", "crosses-numa"]


def test_performance_cores_go_to_the_server_and_the_driver_makes_room() -> None:
    cpus = by_number(HYBRID)
    roomy = assign(HYBRID, sut_cpus=4, driver_cpus=1, overlap=False, axis=(1, 2, 4))
    assert {cpus[cpu].kind for cpu in (*roomy.sut, *roomy.driver)} == {"performance"}
    tight = cell(HYBRID, 8)
    assert {cpus[cpu].kind for cpu in tight.sut} == {"performance"}
    assert {cpus[cpu].kind for cpu in tight.driver} == {"efficiency"}
    assert codes(tight) == ["uses-cpu-0"]
    wide = assign(HYBRID, sut_cpus=16, driver_cpus=1, overlap=False)
    assert {cpus[cpu].kind for cpu in wide.sut} == {"efficiency"}
    assert codes(assign(HYBRID, sut_cpus=20, driver_cpus=1, overlap=False)) == ["mixed-core-kinds"]


def test_cores_that_are_shared_with_neighbours_go_to_the_driver() -> None:
    sets = assign(HALF_CORES, sut_cpus=4, driver_cpus=2, overlap=False)
    assert (sets.sut, sets.driver, sets.compromises) == ((4, 5, 6, 7), (0, 1), ())
    assert codes(cell(CONTAINER, 2)) == ["foreign-siblings"]


def test_the_server_passes_by_cores_that_are_shared_with_neighbours() -> None:
    shared_at_the_top = confined(machine(8, threads_per_core=2), [*range(8), 8, 9, 10, 11])
    sets = assign(shared_at_the_top, sut_cpus=3, driver_cpus=1, overlap=False, axis=(1, 2, 3))
    assert (sets.sut, sets.driver, sets.compromises) == ((1, 2, 3), (0,), ())


def test_the_server_fills_a_lower_domain_before_it_spills_into_a_higher_one() -> None:
    ragged = confined(machine(16, cores_per_l3=8), range(12))
    sets = assign(ragged, sut_cpus=7, driver_cpus=1, overlap=False)
    assert (sets.sut, sets.driver, sets.compromises) == ((1, 2, 3, 4, 5, 6, 7), (8,), ())


def test_the_server_spills_into_one_domain_before_it_takes_another() -> None:
    interleaved = Topology(tuple(Cpu(cpu=cpu, core=cpu, l3=cpu % 3) for cpu in range(12)))
    sets = assign(interleaved, sut_cpus=6, driver_cpus=1, overlap=False)
    assert sets.sut == (2, 5, 7, 8, 10, 11)


def test_the_server_stays_on_its_node_while_others_have_cpus() -> None:
    ragged = confined(machine(64, cores_per_l3=8, cores_per_node=16), [*range(16, 32), *range(48, 52)])
    sets = assign(ragged, sut_cpus=12, driver_cpus=2, overlap=False)
    assert (sets.sut, codes(sets)) == (tuple(range(20, 32)), ["crosses-l3"])


def test_several_isolated_cpus_are_left_idle_because_nothing_balances_them() -> None:
    assert assign(ISOLATED, sut_cpus=1, driver_cpus=1, overlap=False).sut == (7,)
    assert assign(machine(8, isolated=[2]), sut_cpus=1, driver_cpus=1, overlap=False).sut == (2,)
    assert assign(ISOLATED, sut_cpus=2, driver_cpus=1, overlap=False, axis=(1, 2)).sut == (2, 3)
    assert codes(assign(ISOLATED, sut_cpus=6, driver_cpus=1, overlap=False)) == ["unbalanced"]


def test_a_core_that_is_isolated_by_half_gives_its_other_thread() -> None:
    half = machine(4, threads_per_core=2, isolated=[2, 3])
    sets = assign(half, sut_cpus=3, driver_cpus=1, overlap=False)
    assert (sets.sut, sets.driver, sets.compromises) == ((1, 6, 7), (0,), ())


def test_cpus_without_a_tick_go_to_the_server() -> None:
    tickless = machine(8, tickless=[2, 3, 4])
    assert assign(tickless, sut_cpus=2, driver_cpus=1, overlap=False, axis=(1, 2)).sut == (3, 4)
    assert assign(tickless, sut_cpus=3, driver_cpus=1, overlap=False).driver == (1,)


def test_a_remote_system_shares_no_cpus_of_a_driver_that_has_none() -> None:
    """An experiment that calls one loads itself."""
    assert assign(VM, sut_cpus=1, driver_cpus=0, remote_cpus=1, share_remote=True, overlap=False).remote == (0,)
    with pytest.raises(TooFewCpusError, match="at most cpus = 1"):
        assign(VM, sut_cpus=2, driver_cpus=0, remote_cpus=1, share_remote=True, overlap=False)


# ------------------------------------------------------------------------------------------------------- messages
@pytest.mark.parametrize(
    ("topology", "remote", "message"),
    [
        (VM, 0, "cpus = 40 needs 40 + 2 for the driver; this host has 2"),
        (VM, 1, "cpus = 40 needs 40 + 2 for the driver + 1 for the remote system or the database; this host has 2"),
        (CONTAINER, 0, "cpus = 40 needs 40 + 2 for the driver; the cgroup's cpuset allows 12 of the 128 of this host"),
        (METERED, 0, "cpus = 40 needs 40 + 2 for the driver; the cgroup's CPU quota grants 4.5 of the 32 of this host"),
        (PARTLY_OFF, 0, "cpus = 40 needs 40 + 2 for the driver; this host has 26, and 6 that are switched off"),
    ],
)
@pytest.mark.parametrize("overlap", [False, True])
def test_too_few_cpus_say_what_is_missing_and_what_can_be_had(
    topology: Topology, remote: int, message: str, overlap: bool
) -> None:
    def refused(cpus: int) -> str:
        with pytest.raises(TooFewCpusError) as error:
            assign(topology, sut_cpus=cpus, driver_cpus=2, remote_cpus=remote, overlap=overlap, axis=AXIS)
        return str(error.value)

    told, enough, most = refused(40).partition(": at most cpus = ")
    assert told == message
    if enough:
        assign(topology, sut_cpus=int(most), driver_cpus=2, remote_cpus=remote, overlap=overlap, axis=AXIS)
    assert enough or (topology is VM and not overlap)
    refused(int(most or 0) + 1)
