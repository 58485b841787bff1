"""Which driver makes which load. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from jdkmatrix.drivers.base import Driver, Phase
from jdkmatrix.errors import MatrixError
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.terms.loads import CellLoad

Asked = TypeVar("Asked")


def phases_of(load: CellLoad, *, window_s: float, timeout_s: float, cpus: int) -> tuple[Phase, ...]:
    """What a driver must be able to make for `load`.

    `window_s`: of loads that have no length of their own; `cpus`: the driver's.
    """

    asked = kind_of(load).driver_loads(window_s)
    return tuple(Phase(driver_load, duration_s, timeout_s, cpus) for driver_load, duration_s in asked)


def choose(
    choice: Literal["auto", "wrk2", "loadgen"], phases: Sequence[Phase], *, loadgen: Driver, wrk2: Driver | str
) -> Driver | str:
    """The driver for the load of these phases, or why there is none.

    "auto" takes wrk2 for what it can do, where it is installed, and loadgen for the rest. `wrk2` is the driver or why
    it cannot be had. All cells of a run with the same load get the same driver.
    """
    if choice == "loadgen":
        return _able(loadgen, phases)
    if isinstance(wrk2, str):
        return wrk2 if choice == "wrk2" else _able(loadgen, phases)
    able = _able(wrk2, phases)
    return _able(loadgen, phases) if choice == "auto" and isinstance(able, str) else able


def choose_all(
    choice: Literal["auto", "wrk2", "loadgen"],
    loads: Mapping[Asked, Sequence[Phase]],
    *,
    loadgen: Driver,
    wrk2: Driver | str,
) -> dict[Asked, Driver | str]:
    """Raises: MatrixError when a driver is asked for by name and cannot be had at all."""
    if choice == "wrk2" and isinstance(wrk2, str):
        raise MatrixError(f'driver.choice = "wrk2": {wrk2}')
    return {name: choose(choice, phases, loadgen=loadgen, wrk2=wrk2) for name, phases in loads.items()}


def _able(driver: Driver, phases: Sequence[Phase]) -> Driver | str:
    """The driver, or what it cannot do. One driver makes all of a load, so that figures are of one kind."""
    return next((reason for phase in phases if (reason := driver.cannot(phase))), driver)
