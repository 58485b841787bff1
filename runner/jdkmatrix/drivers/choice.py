"""Which driver makes which load. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jdkmatrix.drivers.base import Driver
from jdkmatrix.errors import MatrixError
from jdkmatrix.records import CapacityLoad, CellLoad, Load, RampedLoad, RateLoad


def choose(
    choice: Literal["auto", "wrk2", "loadgen"], load: CellLoad, *, loadgen: Driver, wrk2: Driver | str
) -> Driver | str:
    """The driver for `load`, or why there is none.

    "auto" takes wrk2 for what it can do, where it is installed, and loadgen for the rest. `wrk2` is the driver or why
    it cannot be had. All cells of a run with the same load get the same driver.
    """
    if choice == "loadgen":
        return _able(loadgen, load)
    if isinstance(wrk2, str):
        return wrk2 if choice == "wrk2" else _able(loadgen, load)
    if choice == "wrk2":
        return _able(wrk2, load)
    able = _able(wrk2, load)
    return _able(loadgen, load) if isinstance(able, str) else able


def choose_all(
    choice: Literal["auto", "wrk2", "loadgen"], loads: Mapping[str, CellLoad], *, loadgen: Driver, wrk2: Driver | str
) -> dict[str, Driver | str]:
    """By name of load. Raises: MatrixError when a driver is asked for by name and cannot be had at all."""
    if choice == "wrk2" and isinstance(wrk2, str):
        raise MatrixError(f'driver.choice = "wrk2": {wrk2}')
    return {name: choose(choice, load, loadgen=loadgen, wrk2=wrk2) for name, load in loads.items()}


def _able(driver: Driver, load: CellLoad) -> Driver | str:
    """The driver, or what of `load` it cannot do. One driver makes all of a load, so that figures are of one kind."""
    kinds: list[Load] = [load.in_windows]
    if isinstance(load, CapacityLoad):
        kinds.append(RateLoad(rate_rps=1, connections=load.connections))
    if isinstance(load, RampedLoad):
        kinds.append(load.ramp)
    return next((reason for kind in kinds if (reason := driver.cannot(kind))), driver)
