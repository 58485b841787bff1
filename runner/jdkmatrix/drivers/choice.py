"""The choice of a driver for each load. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from jdkmatrix.drivers.base import Driver, Phase
from jdkmatrix.errors import MatrixError

Choice = Literal["auto", "wrk2", "loadgen"]
MadeAlike = tuple[str, int]  # a load by its name, and the remote system's delay in µs


def choose_all(
    choice: Choice, loads: Mapping[MadeAlike, Sequence[Phase]], *, loadgen: Driver, wrk2: Driver | str
) -> dict[MadeAlike, Driver | str]:
    """Return the driver for each load at each delay, or why there is none. `wrk2`: the driver, or why there is none.

    "auto" takes wrk2, if it is installed, for a load that it can make at all of these delays, and loadgen for the
    rest: figures from two drivers make no curve and no map.

    Raises:
        MatrixError: a driver is asked for by name and cannot be had at all.
    """
    if choice == "loadgen" or isinstance(wrk2, str):
        if choice == "wrk2":
            raise MatrixError(f'driver.choice = "wrk2": {wrk2}')
        return {asked: _able(loadgen, phases) for asked, phases in loads.items()}
    by_wrk2 = {asked: _able(wrk2, phases) for asked, phases in loads.items()}
    if choice == "wrk2":
        return by_wrk2
    too_much = {name for (name, _), able in by_wrk2.items() if isinstance(able, str)}
    return {asked: _able(loadgen, loads[asked]) if asked[0] in too_much else able for asked, able in by_wrk2.items()}


def _able(driver: Driver, phases: Sequence[Phase]) -> Driver | str:
    """Return the driver, or what it cannot do. One driver makes all of a load, so that its figures are of one kind."""
    return next((reason for phase in phases if (reason := driver.cannot(phase))), driver)
