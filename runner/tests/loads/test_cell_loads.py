"""Loads that are derived from a server's capacity."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.cell_loads import basis_cells, basis_of, cell_loads
from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.loads.kinds.relative import FloodLoad, RelativeLoad, ShareLoad
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run.capacities import capacity_of, profile_of_bases
from jdkmatrix.run.plan import select_cells
from tests.support.builders import cell, fork, fork_with, key, load_result, reasons, window
from tests.support.shipped import MATRIX

BANK = key("virtual", workload="banking", wait_us=20_000, load="share-50")
BASIS = key("liberty", workload="banking", load="saturate-50")


def share(name: str = "share-50") -> RelativeLoad:
    load = MATRIX.loads[name]
    assert isinstance(load, RelativeLoad)
    return load


def test_the_basis_is_the_same_condition_without_a_delay() -> None:
    assert basis_of(MATRIX, BANK) == BASIS
    assert basis_of(MATRIX, key(load="share-25", burn_us=100)) == key("liberty", load="saturate-50", burn_us=100)
    assert basis_of(MATRIX, key(load="saturate-50")) is None


def test_every_cell_of_the_matrix_profile_has_a_basis_that_can_be_measured() -> None:
    cells = select_cells(MATRIX, "matrix")
    bases = basis_cells(MATRIX, cells)
    assert {basis_of(MATRIX, cell) for cell in cells} == set(bases)
    assert all(MATRIX.has_cell(basis) for basis in bases)
    assert len(bases) == 3 * 3 * 4, "JDKs × CPUs × (three lengths of a task on mp-ping, and the bank)"


def test_a_share_is_a_whole_rate_over_enough_connections() -> None:
    loads = cell_loads(MATRIX, [BANK], {BASIS: 3001.0})
    assert loads == {BANK: RateLoad(rate_rps=1500, connections=60)}
    uneven = cell_loads(MATRIX, [BANK], {BASIS: 4301.0})
    assert uneven == {BANK: RateLoad(rate_rps=2150, connections=88)}, "86 would be 43 for each of two threads of wrk2"
    slow = BANK.model_copy(update={"wait_us": 1_000_000})
    assert cell_loads(MATRIX, [slow], {BASIS: 3001.0})[slow] == RateLoad(rate_rps=1500, connections=3000)


@pytest.mark.parametrize(("load", "wait_us", "connections"), [("flood", 200_000, 1200), ("flood-90", 1_000_000, 3600)])
def test_a_flood_has_more_connections_than_can_wait(load: str, wait_us: int, connections: int) -> None:
    """A flood with a share, such as `flood-90`, has that share of the connections that can wait."""
    flood = BANK.model_copy(update={"load": load, "wait_us": wait_us})
    assert cell_loads(MATRIX, [flood], {BASIS: 4000.0}) == {flood: SaturateLoad(connections=connections)}


def test_a_flood_that_no_host_has_ports_for_is_a_load_all_the_same() -> None:
    """The cell says why the load cannot be generated."""
    flood = BANK.model_copy(update={"load": "flood", "wait_us": 180_000_000})
    assert cell_loads(MATRIX, [flood], {BASIS: 4000.0}) == {flood: SaturateLoad(connections=1_000_000)}


def test_a_load_whose_basis_is_not_known_is_not_known() -> None:
    plain = key(load="saturate-50")
    assert cell_loads(MATRIX, [BANK, plain], {}) == {plain: MATRIX.loads["saturate-50"]}


@given(capacity_rps=st.floats(0.1, 1e5), wait_us=st.integers(0, 2_000_000), share_=st.floats(0.01, 2))
def test_connections_suffice_for_what_waits(capacity_rps: float, wait_us: int, share_: float) -> None:
    shared = share()
    assert isinstance(shared, ShareLoad)
    load = shared.model_copy(update={"share": share_}).resolved(capacity_rps, wait_us)
    assert load.rate_rps >= 1 and load.rate_rps == math.floor(load.rate_rps)
    assert load.connections >= load.rate_rps * wait_us / 1e6
    flood = share("flood")
    assert isinstance(flood, FloodLoad)
    assert flood.resolved(capacity_rps, wait_us).connections >= capacity_rps * wait_us / 1e6


def test_the_capacity_is_the_throughput_of_the_one_fork() -> None:
    windows = (window(1, load_result(throughput_rps=rps)) for rps in (900.0, 1100.0))
    found = capacity_of(BASIS, cell(BASIS, (fork_with(*windows),)), None)
    assert (found.throughput_rps, found.why_not) == (1000.0, None)


def test_of_several_forks_the_first_that_can_be_used_is_the_capacity() -> None:
    """A cell of an earlier stage has several forks."""
    spoilt = fork(1, Status.INVALID).model_copy(update={"reasons": reasons("steal")})
    later = (fork_with(window(1, load_result(throughput_rps=900.0)), number=number) for number in (2, 3))
    assert capacity_of(BASIS, cell(BASIS, (spoilt, *later)), None).throughput_rps == 900.0
    assert capacity_of(BASIS, cell(BASIS, (spoilt,)), None).why_not == "it was steal"
    why = Reason(code="driver-saturated", message="the driver used 97 % of its CPUs: it measured itself")
    windows = fork_with(*(window(index, reasons=(why,)) for index in (1, 2)), status=Status.INVALID)
    assert capacity_of(BASIS, cell(BASIS, (windows,)), None).why_not == why.message, "what spoilt its windows"
    assert capacity_of(BASIS, None, "too few CPUs").why_not == "too few CPUs"


def test_one_fork_of_each_basis_is_measured() -> None:
    profile = profile_of_bases(MATRIX.profiles["article"])
    assert (profile.blocks, profile.stopping, profile.windows) == (1, None, MATRIX.profiles["article"].windows)
    assert profile.promised_precision == MATRIX.profiles["article"].promised_precision
