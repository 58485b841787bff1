"""Who gets which CPUs, on made-up machines."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.cpusets import CpuSets, TooFewCpusError, assign, beside
from jdkmatrix.host.topology import Cpu, Topology
from tests.support.machines import DESKTOP, METERED, VM, machine

AXIS = (1, 2, 4, 8)


def confined(topology: Topology, allowed: Collection[int]) -> Topology:
    """Return the machine as a container with this cpuset sees it."""
    return replace(
        topology,
        cpus=tuple(cpu for cpu in topology.cpus if cpu.cpu in allowed),
        withheld=tuple(cpu for cpu in topology.cpus if cpu.cpu not in allowed),
        limit="the cgroup's cpuset",
    )


def without(topology: Topology, offline: Collection[int]) -> Topology:
    """Return the machine with these CPUs switched off."""
    cpus = tuple(cpu for cpu in topology.cpus if cpu.cpu not in offline)
    lowest: dict[int, int] = {}
    for cpu in cpus:  # a core is named after its lowest CPU that is online
        lowest.setdefault(cpu.core, cpu.cpu)
    return replace(
        topology, cpus=tuple(replace(cpu, core=lowest[cpu.core]) for cpu in cpus), offline=tuple(sorted(offline))
    )


SERVER = machine(64, threads_per_core=2, cores_per_l3=8, cores_per_node=16, cores_per_package=32)
HYBRID = machine(8, threads_per_core=2, efficiency_cores=16)
CONTAINER = confined(SERVER, range(20, 32))
HALF_CORES = confined(machine(8, threads_per_core=2), [*range(8), 12, 13, 14, 15])
PARTLY_OFF = without(DESKTOP, [3, 8, 9, 10, 11, 31])
ISOLATED = machine(8, isolated=[4, 5, 6, 7], tickless=[4, 5, 6, 7])
MACHINES = (VM, DESKTOP, SERVER, HYBRID, CONTAINER, HALF_CORES, METERED, PARTLY_OFF, ISOLATED)


@st.composite
def machines(draw: st.DrawFn) -> Topology:
    """Draw any machine: a well-known one, or one that nobody would build; whole, confined, metered or partly off."""
    topology = draw(
        st.one_of(
            st.sampled_from(MACHINES),
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
    """Return whether a sibling hyperthread of a server CPU is in use."""
    cpus = by_number(topology)
    used = {*sets.sut, *sets.driver, *sets.remote}
    return any(cpus[mine].core == cpus[other].core for mine in sets.sut for other in used if other != mine)


def fitted(topology: Topology, sut: int, driver: int, remote: int = 0, **how: Any) -> CpuSets | None:
    """Return the CPU sets, or None if there are too few CPUs."""
    try:
        return assign(topology, sut_cpus=sut, driver_cpus=driver, remote_cpus=remote, **{"overlap": False, **how})
    except TooFewCpusError:
        return None


# ------------------------------------------------------------------------------------- driver and remote system
@pytest.mark.parametrize(
    ("cpus", "sut", "driver", "remote", "found"),
    [
        (2, 1, None, 0, (1, 0)),
        (4, 2, None, 0, (2, 0)),
        (4, 2, None, None, (1, 1)),
        (128, 4, None, None, (4, 4)),
        (128, 8, None, 0, (8, 0)),
        (128, 64, None, None, (32, 32)),
        (16, 8, None, None, (4, 4)),
        (12, 8, None, None, (2, 2)),
        (9, 8, None, 0, (1, 0)),
        (128, 8, 3, None, (3, 8)),
        (12, 8, 3, None, (3, 1)),
        (128, 8, 0, None, (0, 8)),
        (2, 4, None, None, (1, 1)),
    ],
)
def test_driver_and_remote_system_grow_with_the_server_as_far_as_the_host_has_cpus(
    cpus: int, sut: int, driver: int | None, remote: int | None, found: tuple[int, int]
) -> None:
    assert beside(machine(cpus), sut_cpus=sut, driver_cpus=driver, remote_cpus=remote) == found


@pytest.mark.parametrize(
    ("cores", "sut", "smt", "found"),
    [(6, 4, False, (2, 2)), (6, 4, True, (4, 4)), (12, 8, False, (4, 4)), (4, 3, False, (1, 1)), (8, 8, False, (4, 4))],
)
def test_a_server_keeps_its_own_cores_while_they_last(cores: int, sut: int, smt: bool, found: tuple[int, int]) -> None:
    host = machine(cores, threads_per_core=2)
    assert beside(host, sut_cpus=sut, driver_cpus=None, remote_cpus=None, smt=smt) == found


def test_a_quota_bounds_what_is_left_for_them() -> None:
    assert beside(METERED, sut_cpus=3, driver_cpus=None, remote_cpus=None) == (1, 1)


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
def test_siblings_of_the_server_idle_while_cores_last(topology: Topology, sut: int, driver: int, remote: int) -> None:
    if sut + driver + remote > min(len(topology.cores), busy_limit(topology)):
        return
    sets = assign(topology, sut_cpus=sut, driver_cpus=driver, remote_cpus=remote, overlap=False)
    assert not siblings_in_use(topology, sets)


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
NEIGHBOURS_AT_THE_TOP = confined(machine(8, threads_per_core=2), [*range(8), 8, 9, 10, 11])
RAGGED = confined(machine(16, cores_per_l3=8), range(12))
INTERLEAVED = Topology(tuple(Cpu(cpu=cpu, core=cpu, l3=cpu % 3) for cpu in range(12)))
TWO_NODES = confined(machine(64, cores_per_l3=8, cores_per_node=16), [*range(16, 32), *range(48, 52)])
HALF_ISOLATED = machine(4, threads_per_core=2, isolated=[2, 3])
TICKLESS = machine(8, tickless=[2, 3, 4])


# How many CPUs server and driver ask for, on which axis, which CPUs each of them gets, and what is given up for it.
PLANS: dict[str, tuple[Topology, tuple[int, int], tuple[int, ...], set[int], set[int], list[str]]] = {
    "a small machine gives one CPU to each side": (VM, (1, 1), AXIS, {1}, {0}, []),
    **{
        f"a desktop puts the driver into the other L3 domain: {cpus}":
            (DESKTOP, (cpus, 1), AXIS, {*range(16 - cpus, 16)}, {1}, [])
        for cpus in AXIS
    },
    "the driver leaves for the other node of the same socket before the server is split":
        (SERVER, (16, 2), (), {*range(48, 64)}, {32, 33}, ["driver-on-other-node", "crosses-l3"]),
    "a server that is larger than a node is split":
        (SERVER, (20, 2), (), {*range(42, 48), *range(50, 64)}, {48, 49}, ["crosses-l3", "crosses-numa"]),
    "both have performance cores": (HYBRID, (4, 1), (1, 2, 4), {4, 5, 6, 7}, {1}, []),
    "the driver makes room for the server": (HYBRID, (8, 1), AXIS, {*range(8)}, {16}, ["uses-cpu-0"]),
    "a large server has efficiency cores alone": (HYBRID, (16, 1), (), {*range(16, 32)}, {1}, []),
    "a larger one has both kinds": (HYBRID, (20, 1), (), {*range(1, 8), *range(19, 32)}, {0}, ["mixed-core-kinds"]),
    "the driver has what neighbours share": (HALF_CORES, (4, 2), (), {4, 5, 6, 7}, {0, 1}, []),
    "the server passes by what neighbours share": (NEIGHBOURS_AT_THE_TOP, (3, 1), (1, 2, 3), {1, 2, 3}, {0}, []),
    "neighbours share all": (CONTAINER, (2, 1), AXIS, {30, 31}, {20}, ["foreign-siblings"]),
    "a lower domain is filled before a higher one is begun": (RAGGED, (7, 1), (), {*range(1, 8)}, {8}, []),
    "the server spills into one domain before it takes another":
        (INTERLEAVED, (6, 1), (), {2, 5, 7, 8, 10, 11}, {1}, ["crosses-l3"]),
    "the server stays on its node while others have CPUs":
        (TWO_NODES, (12, 2), (), {*range(20, 32)}, {16, 17}, ["crosses-l3"]),
    "one CPU may be isolated": (ISOLATED, (1, 1), (), {7}, {1}, []),
    "one CPU may be isolated wherever it is": (machine(8, isolated=[2]), (1, 1), (), {2}, {1}, []),
    "several isolated CPUs are left idle because nothing balances them": (ISOLATED, (2, 1), (1, 2), {2, 3}, {1}, []),
    "they are taken for want of others": (ISOLATED, (6, 1), (), {1, 2, 3, 5, 6, 7}, {0}, ["unbalanced"]),
    "a core that is isolated by half gives its other thread": (HALF_ISOLATED, (3, 1), (), {1, 6, 7}, {0}, []),
    "CPUs without a tick go to the server": (TICKLESS, (2, 1), (1, 2), {3, 4}, {1}, []),
    "all CPUs without a tick go to the server": (TICKLESS, (3, 1), (), {2, 3, 4}, {1}, []),
}  # fmt: skip


@pytest.mark.parametrize(("topology", "asked", "axis", "sut", "driver", "given_up"), PLANS.values(), ids=PLANS)
def test_who_gets_which_cpus(
    topology: Topology, asked: tuple[int, int], axis: tuple[int, ...], sut: set[int], driver: set[int],
    given_up: list[str],
) -> None:  # fmt: skip
    sets = assign(topology, sut_cpus=asked[0], driver_cpus=asked[1], overlap=False, axis=axis)
    assert (sets.sut, sets.driver, sets.remote) == (tuple(sorted(sut)), tuple(sorted(driver)), ())
    assert (codes(sets), sets.overlapped) == (given_up, False)


@pytest.mark.parametrize(("uncounted", "given_up"), [((0, 1), ["uncounted"]), ((0,), ["uncounted"]), ((7,), [])])
def test_that_nobody_tells_the_times_of_a_cpu_is_said(uncounted: tuple[int, ...], given_up: list[str]) -> None:
    assert codes(assign(replace(VM, uncounted=uncounted), sut_cpus=1, driver_cpus=1, overlap=False)) == given_up


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


def test_whole_cores_only_when_they_are_asked_for() -> None:
    sets = assign(DESKTOP, sut_cpus=4, driver_cpus=1, overlap=False, smt=True, axis=AXIS)
    assert (sets.sut, sets.compromises) == ((14, 15, 30, 31), ())
    crowded = assign(DESKTOP, sut_cpus=16, driver_cpus=1, overlap=False)
    assert "shares-cores" in codes(crowded)


def test_a_large_server_keeps_everybody_on_one_node() -> None:
    cpus = by_number(SERVER)
    for size in AXIS:
        sets = assign(SERVER, sut_cpus=size, driver_cpus=2, remote_cpus=1, overlap=False, axis=AXIS)
        assert sets.compromises == ()
        assert len({cpus[cpu].node for cpu in (*sets.sut, *sets.driver, *sets.remote)}) == 1
        assert {cpus[cpu].l3 for cpu in sets.sut}.isdisjoint(cpus[cpu].l3 for cpu in (*sets.driver, *sets.remote))


def test_a_remote_system_shares_no_cpus_of_a_driver_that_has_none() -> None:
    """An experiment that calls a remote system is its own load driver."""
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
