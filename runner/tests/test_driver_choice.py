"""Which driver makes a ramp."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.drivers.choice import choose
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2 import Wrk2Driver
from jdkmatrix.records import RampedLoad, RateLoad

LOADGEN = LoadgenDriver(Path("loadgen.jar"), Path("java"), "jdk")
WRK2 = Wrk2Driver(Path("wrk2"), "4.0.0", "0")
RAMP = RampedLoad(points=((0, 0), (30, 6000)), connections=6000, warmup_rps=100)


def test_a_ramp_is_for_loadgen() -> None:
    assert choose("auto", RAMP, loadgen=LOADGEN, wrk2=WRK2) is LOADGEN
    assert choose("loadgen", RAMP, loadgen=LOADGEN, wrk2=WRK2) is LOADGEN
    assert choose("wrk2", RAMP, loadgen=LOADGEN, wrk2=WRK2) == WRK2.cannot(RAMP.ramp)
    assert "cannot change its rate" in str(WRK2.cannot(RAMP.ramp))


def test_a_rate_is_for_wrk2() -> None:
    assert choose("auto", RateLoad(rate_rps=10, connections=1), loadgen=LOADGEN, wrk2=WRK2) is WRK2
