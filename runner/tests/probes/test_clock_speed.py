"""Reading the speed of a CPU leaves this thread where it was."""

from __future__ import annotations

import os

import pytest

from jdkmatrix.probes import clock_speed as module
from jdkmatrix.probes.clock_speed import fastest_clock_speeds, mean_clock_speed, read_clock_speed


def test_it_runs_on_the_cpu_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    cpu = max(before)
    seen: list[set[int]] = []
    speeds = iter([3.0, 5.0, 4.0, 1.0, 2.0])

    def speed() -> float:
        seen.append(os.sched_getaffinity(0))
        return next(speeds)

    monkeypatch.setattr(module, "_speed", speed)
    assert read_clock_speed(cpu) == 5.0, "whatever disturbs a reading makes it slower"
    assert seen == [{cpu}] * 5
    assert os.sched_getaffinity(0) == before


def test_it_comes_back_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> float:
        raise KeyboardInterrupt

    before = os.sched_getaffinity(0)
    monkeypatch.setattr(module, "_speed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_clock_speed(max(before))
    assert os.sched_getaffinity(0) == before


def test_a_cpu_that_the_kernel_refuses_is_not_read() -> None:
    before = os.sched_getaffinity(0)
    assert read_clock_speed(100_000) is None
    assert mean_clock_speed([100_000]) is None
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("before", "readings", "found", "reads"),
    [
        (192.0, [150.0], 192.0, 1),
        (152.0, [191.0, 193.0], 191.0, 1),
        (152.0, [155.0, 150.0, 190.0, 193.0], 190.0, 3),
        (150.0, [160.0] * 20, 160.0, 11),
        (192.0, [None], None, 1),
    ],
)
def test_a_cpu_that_seems_slow_is_read_again(
    monkeypatch: pytest.MonkeyPatch, before: float, readings: list[float | None], found: float | None, reads: int
) -> None:
    left = iter(readings)
    pauses: list[float] = []
    monkeypatch.setattr(module, "read_clock_speed", lambda cpu: next(left))
    monkeypatch.setattr("jdkmatrix.probes.clock_speed.time.sleep", pauses.append)
    assert fastest_clock_speeds({3: before}, 191.4) == ({} if found is None else {3: found})
    assert len(pauses) == reads


def test_every_cpu_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even among CPUs of one kind, some are favoured, and faster."""
    now = {0: 190.0, 1: 200.0, 2: None}
    monkeypatch.setattr(module, "read_clock_speed", now.get)
    monkeypatch.setattr("jdkmatrix.probes.clock_speed.time.sleep", lambda pause_s: None)
    assert mean_clock_speed([0, 1, 2]) == 195.0
    assert fastest_clock_speeds({0: 195.0, 1: 198.0, 2: 190.0}, 199.0) == {0: 195.0, 1: 200.0}


def test_the_work_is_a_thousand_divisions_in_a_row() -> None:
    assert module._NUMBER.bit_length() > 30 * 999
    assert module._DIVISOR.bit_length() == 30, "one digit: CPython divides digit by digit"
    speed = read_clock_speed(max(os.sched_getaffinity(0)))
    # A division takes a few cycles at least and a hundred at most, and a cycle 0.1 to 10 ns.
    assert speed is not None and 1 < speed < 10_000
