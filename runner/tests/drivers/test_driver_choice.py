"""The choice of the driver for each load, made before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jdkmatrix.config.cell_loads import basis_cells, cell_loads
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CellLoad, RateLoad, SaturateLoad
from jdkmatrix.drivers.base import Driver, Phase
from jdkmatrix.drivers.choice import Choice, choose_all
from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2 import Wrk2
from jdkmatrix.errors import MatrixError
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.run.plan import select_cells
from jdkmatrix.run.prepare import planned_phases
from tests.support.builders import key
from tests.support.machines import DESKTOP, VM
from tests.support.shipped import MATRIX

LOADGEN = LoadgenDriver(Path("loadgen.jar"), Path("java"), "jdk")
PROFILE = MATRIX.profiles["quick"].model_copy(update={"protocol": "separate", "window_s": 3.0})
WRK2 = Wrk2Driver(Wrk2(Path("wrk2"), "4.0.0", "0"), LOADGEN)
RAMP = RampedLoad(points=((0, 0), (30, 6000)), connections=6000, warmup_rps=100)
STEPS = StepsLoad(rates_rps=(500, 1000, 2000), connections=50, step_s=12, warmup_rps=1500)


def phases(load: CellLoad, *, window_s: float = 10, timeout_s: float = 10) -> tuple[Phase, ...]:
    return tuple(Phase(made, made_s, timeout_s, cpus=1) for made, made_s in kind_of(load).driver_loads(window_s))


def choose(choice: Choice, phases: Sequence[Phase], *, wrk2: Driver | str = WRK2) -> Driver | str:
    return choose_all(choice, {("one", 0): phases}, loadgen=LOADGEN, wrk2=wrk2)["one", 0]


def by_auto(load: CellLoad, *, window_s: float = 10) -> Driver | str:
    return choose("auto", phases(load, window_s=window_s))


RATE = RateLoad(rate_rps=2000, connections=50)
CAPACITY = CapacityLoad(connections=50, p99_max_us=10_000, floor_share=0.1, resolution=0.05, step_s=10)


def steps(**changes: object) -> StepsLoad:
    return StepsLoad.model_validate({**STEPS.model_dump(), **changes})


@pytest.mark.parametrize(
    ("load", "window_s", "why_not"),
    [
        (RAMP, 10, "cannot change its rate"),
        (SaturateLoad(connections=50), 10, "no closed loop"),
        (CAPACITY, 10, "no closed loop"),
        (RATE, 10, None),
        (RATE, 6, "its windows must be at least 10 s long, not 6 s"),
        (STEPS, 10, None),
        (steps(rates_rps=(500, 1000.5, 2000)), 10, "whole requests per second, not 1000.5"),
        (steps(step_s=6), 10, "discards the latencies of its first 10.25 s"),
    ],
)
def test_what_wrk2_cannot_make_is_for_loadgen_or_says_why(load: CellLoad, window_s: float, why_not: str | None) -> None:
    asked = phases(load, window_s=window_s)
    assert choose("loadgen", asked) is LOADGEN
    assert choose("auto", asked) is (LOADGEN if why_not else WRK2)
    by_name = choose("wrk2", asked)
    assert by_name is WRK2 if why_not is None else why_not in str(by_name)


def test_rates_behind_the_written_ones_are_asked_about_too() -> None:
    further = phases(steps(further_factor=1.5, further_max=2))
    asked = [phase.load.rate_rps for phase in further if isinstance(phase.load, RateLoad)]
    assert asked == [500, 1000, 2000, 3000, 4500]


def test_the_loads_of_the_matrix_that_wrk2_makes() -> None:
    loads = {name: load for name, load in MATRIX.loads.items() if isinstance(load, CellLoad)}
    found = {name for name, load in loads.items() if by_auto(load, window_s=60) is WRK2}
    assert found == {
        "rate-500", "rate-2000", "steps-150s", "ping-steps-60s", "chappe-100k", "chappe-150k", "chappe-200k",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wait_us", "by_wrk2"), [(0, True), (2_000, True), (20_000, True), (200_000, True), (1_000_000, False)]
)
def test_shares_are_for_wrk2_as_long_as_it_opens_their_connections_in_time(wait_us: int, by_wrk2: bool) -> None:
    for name in ("share-75", "share-90"):
        cell = key(workload="banking", wait_us=wait_us, load=name)
        load = cell_loads(MATRIX, [cell], {key("liberty", workload="banking", load="saturate-50"): 3000.0})[cell]
        assert (by_auto(load) is WRK2) is by_wrk2
    flood = cell_loads(MATRIX, [key(load="flood")], {key("liberty", load="saturate-50"): 3000.0})
    assert by_auto(*flood.values()) is LOADGEN


def test_each_load_is_asked_about_with_the_shortest_timeout_of_its_workloads() -> None:
    workloads = dict(MATRIX.workloads)
    for name, timeout_s in (("banking", 2.0), ("mp-ping", None)):
        workloads[name] = workloads[name].model_copy(update={"timeout_s": timeout_s})
    cells = [key(workload=name, load="rate-2000") for name in ("mp-ping", "banking")]
    loads = cell_loads(MATRIX, cells, {})
    planned = planned_phases(MATRIX.model_copy(update={"workloads": workloads}), loads, PROFILE, VM)
    assert planned == {("rate-2000", 0): (Phase(RATE, 3.0, 2.0, 1),)}
    planned = planned_phases(MATRIX, {cells[0]: loads[cells[0]]}, PROFILE, VM)
    assert planned["rate-2000", 0][0].timeout_s == MATRIX.driver.timeout_s


def test_a_driver_is_asked_about_each_number_of_cpus_that_it_has() -> None:
    """wrk2 has a thread for each CPU, and these open their connections side by side."""
    cells = [key(load="rate-2000", cpus=cpus) for cpus in (1, 2, 8)]
    planned = planned_phases(MATRIX, cell_loads(MATRIX, cells, {}), PROFILE, DESKTOP)
    assert [phase.cpus for phase in planned["rate-2000", 0]] == [1, 2, 8]


@pytest.mark.parametrize(
    ("load", "wait_us", "window_s"),
    [
        (SaturateLoad(connections=50), 0, 1.0),
        (SaturateLoad(connections=50), 200_000, 3.0),
        (RATE, 0, 3.0),
        (STEPS, 0, STEPS.step_s),
    ],
)
def test_forks_that_take_turns_need_a_driver_of_short_windows(load: CellLoad, wait_us: int, window_s: float) -> None:
    """Forks that take no turns are measured one after another, in longer windows."""
    in_turns = PROFILE.model_copy(update={"protocol": "interleaved"})
    (planned,) = planned_phases(MATRIX, {key(wait_us=wait_us): load}, in_turns, VM).values()
    assert planned[0].duration_s == window_s


def test_wrk2_by_name_must_be_there() -> None:
    with pytest.raises(MatrixError, match=r'driver\.choice = "wrk2": none here'):
        choose_all("wrk2", {("rate", 0): phases(STEPS)}, loadgen=LOADGEN, wrk2="none here")
    assert choose("auto", phases(STEPS), wrk2="none here") is LOADGEN


def drivers_of(cells: list[CellKey], capacity_rps: float, *, choice: Choice = "auto") -> dict[CellKey, Driver | str]:
    """Return each cell's driver. At 6,850 requests/s, half the capacity, 20 ms take 276 connections, 1 s 13,700."""
    bases = dict.fromkeys(basis_cells(MATRIX, cells), capacity_rps)
    profile = PROFILE.model_copy(update={"window_s": MATRIX.profiles["mission"].window_s})
    planned = planned_phases(MATRIX, cell_loads(MATRIX, cells, bases), profile, VM)
    chosen = choose_all(choice, planned, loadgen=LOADGEN, wrk2=WRK2)
    return {cell: chosen[cell.load, cell.wait_us] for cell in cells}


def test_one_driver_makes_all_points_of_a_curve() -> None:
    curve = [key(workload="banking", wait_us=wait_us, load="share-50") for wait_us in (0, 20_000, 1_000_000)]
    assert set(drivers_of(curve[:2], 13_700).values()) == {WRK2}
    assert set(drivers_of(curve, 13_700).values()) == {LOADGEN}, "wrk2 cannot open 13,700 connections in time"
    other = key(workload="mp-ping", load="share-25")
    found = drivers_of([*curve, other], 13_700)
    assert (found[curve[0]], found[other]) == (LOADGEN, WRK2), "each load for itself"
    at_zero, at_20_ms, at_1_s = drivers_of(curve, 13_700, choice="wrk2").values()
    assert at_zero is at_20_ms is WRK2 and isinstance(at_1_s, str), "by name there is no other driver to mix with"


@pytest.mark.parametrize("profile", ["mission", "matrix"])
@pytest.mark.parametrize("capacity_rps", [2_000, 20_000, 100_000])
def test_wrk2_drives_every_share(profile: str, capacity_rps: float) -> None:
    """It does so on a small machine and on a large one."""
    shares = [cell for cell in select_cells(MATRIX, profile) if cell.load.startswith("share-")]
    assert set(drivers_of(shares, capacity_rps).values()) == {WRK2}
