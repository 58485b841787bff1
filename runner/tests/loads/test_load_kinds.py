"""The decisions that each kind of load makes."""

from __future__ import annotations

import importlib
import math
import shutil
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from jdkmatrix.domain.loads import CellLoad, GivenLoad, RateLoad, SaturateLoad
from jdkmatrix.figures.metrics import METRICS, metrics_of
from jdkmatrix.loads import kinds
from jdkmatrix.loads.base import Lengths, answer_s, lead_s
from jdkmatrix.loads.kinds import KINDS, AnyLoad, AskedLoad, kind_of, loads_words
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad
from jdkmatrix.loads.kinds.rising_steps import RisingSteps, StepsLoad
from jdkmatrix.records.windows import Window
from tests.support.builders import window
from tests.support.outcome_runs import MISSED
from tests.support.shipped import MATRIX

CLOSED = SaturateLoad(connections=50)
RATE = RateLoad(rate_rps=2000, connections=50)
STEPS = StepsLoad(rates_rps=(1000, 2000), connections=50, step_s=6, warmup_rps=500, further_max=3)
LEVEL = RampedLoad(points=((0, 100), (30, 600), (90, 600)), connections=600, warmup_rps=50)
RISING = RampedLoad(points=((0, 50), (100, 2000)), connections=2000, warmup_rps=50)
JOINED = JoinedLoad(connections=600, join_s=30, held_s=60, warmup_rps=50)
SEARCH = CapacityLoad(connections=50, p99_max_us=1e4, floor_share=0.1, resolution=0.05, step_s=3)
LENGTHS = Lengths(2, 3)


def test_every_load_of_a_cell_has_a_kind() -> None:
    loads = (CLOSED, RATE, STEPS, LEVEL, JOINED, RISING, SEARCH)
    assert set(map(type, loads)) <= set(KINDS)
    recorded, asked = TypeAdapter[GivenLoad](AnyLoad), TypeAdapter[GivenLoad](AskedLoad)
    for load in loads:
        assert kind_of(load).load is load
        assert recorded.validate_json(load.model_dump_json()) == asked.validate_python(load.model_dump()) == load


TRICKLE = """
from typing import Literal
from jdkmatrix.domain.loads import CellLoad, SaturateLoad
from jdkmatrix.loads.kinds.closed_loop import ClosedLoop

class TrickleLoad(CellLoad):
    kind: Literal["trickle"] = "trickle"

    @property
    def in_windows(self):
        return SaturateLoad(connections=self.connections)

LOADS = {TrickleLoad: ClosedLoop}
"""


def test_a_kind_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new kind needs only a file, as tried in a copy of the folder of kinds."""
    folder = tmp_path / "copied_kinds"
    shutil.copytree(Path(kinds.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "trickle.py").write_text(TRICKLE)
    monkeypatch.syspath_prepend(tmp_path)
    copied = importlib.import_module(folder.name)
    table = {"kind": "trickle", "connections": 3}
    asked, recorded = (TypeAdapter(union).validate_python(table) for union in (copied.AskedLoad, copied.AnyLoad))
    assert asked == recorded and asked.kind == "trickle"
    assert copied.kind_of(asked).words().startswith("closed loop: 3 connections")


@pytest.mark.parametrize(
    ("wait_us", "rates_rps"),
    [
        (0, (500, 1000, 2000, 4000, 6000)),
        (10_000, (500, 1000, 2000, 4000)),
        (20_000, (500, 1000, 2000)),
        (200_000, (500, 1000)),  # the plan refuses this one
    ],
)
def test_steps_go_no_higher_than_connections_can_carry_behind_a_delay(
    wait_us: int, rates_rps: tuple[float, ...]
) -> None:
    steps = StepsLoad(
        rates_rps=(500, 1000, 2000, 4000), connections=50, step_s=5, warmup_rps=500, further_factor=1.5, further_max=1
    )
    assert steps.carried(wait_us).every_rate_rps == rates_rps


def test_only_a_closed_loop_with_slow_answers_is_on_before_its_windows() -> None:
    assert [lead_s(CLOSED, service_s) for service_s in (0, 0.002, 0.025, 0.05, 0.1, 1)] == [0, 0, 0, 1, 1, 10]
    assert [lead_s(load, 1.0) for load in (RATE, LEVEL.ramp, STEPS, JOINED)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("load", "wait_us", "burn_us", "cpus", "least_s"),
    [
        (CLOSED, 2_000, 0, 1.0, 0.002),
        (CLOSED, 0, 5_000, 1.0, CLOSED.connections * 0.005),
        (CLOSED, 0, 5_000, 0.5, CLOSED.connections * 0.01),
        (SaturateLoad(connections=50), 0, 1_000, 0.3, 0.166667),  # in whole µs, like the parts of a load
        (CLOSED, 3_000_000, 500, 2.0, 3.0),
        (RATE, 2_000, 50_000, 1.0, 0.002),
    ],
)
def test_a_closed_loop_has_all_of_its_work_at_once(
    load: CellLoad, wait_us: int, burn_us: int, cpus: float, least_s: float
) -> None:
    assert answer_s(load, wait_us=wait_us, burn_us=burn_us, cpus=cpus) == pytest.approx(least_s)


@pytest.mark.parametrize(
    ("load", "metrics", "expected_s", "ahead_s", "words"),
    [
        (CLOSED, ["throughput", "cpu"], 6, 6, "2 windows of 3 s"),
        (RATE, ["cpu", "p99"], 6, 6, "2 windows of 3 s"),
        (
            STEPS,
            ["saturated", "lowest-cpu"],
            12,
            6,
            "up to 2 steps of 6 s, and up to 3 more until the server is saturated",
        ),
        (LEVEL, ["time-to-peak", "throughput", "cpu"], 90, 10, "a ramp of 90 s"),
        (JOINED, ["time-to-peak", "throughput", "cpu"], 90, 10, "a ramp of 90 s"),
        (RISING, ["knee"], 100, 10, "a ramp of 100 s"),
        (RampedLoad(points=((0, 1), (3, 2)), connections=1, warmup_rps=1), ["knee"], 3, 3, "a ramp of 3 s"),
        (SEARCH, ["capacity", "throughput", "cpu"], 6 + 12 * 3, 6, "2 windows of 3 s and a search"),
    ],
)
def test_what_a_load_is_compared_by_and_how_long_it_is_measured(
    load: CellLoad, metrics: list[str], expected_s: float, ahead_s: float, words: str
) -> None:
    """The first load that the window generator asks for is among those that the driver is asked about."""
    kind = kind_of(load)
    assert [metric.id for metric in metrics_of(load)] == metrics
    assert set(metrics) <= {metric.id for metric in METRICS}
    assert (kind.expected_s(LENGTHS), kind.ahead_s(LENGTHS), kind.length_words(LENGTHS)) == (expected_s, ahead_s, words)
    in_one_window = "1 window of 60 s" if words.startswith("2 windows") else words[:9]
    assert kind.length_words(Lengths(1, 60)).startswith(in_one_window)
    assert next(kind.asks(LENGTHS)).load in {one for one, _ in kind.driver_loads(3.0)}


def test_a_load_that_is_not_known_yet_has_its_length() -> None:
    loads = MATRIX.loads
    assert kind_of(loads["share-50"]).length_words(LENGTHS) == kind_of(loads["flood"]).length_words(LENGTHS)
    assert kind_of(loads["share-50"]).question.did == "held the rate"


def test_loads_of_one_name_that_differ_are_told_together() -> None:
    assert loads_words([CLOSED, CLOSED]) == kind_of(CLOSED).words()
    more = RateLoad(rate_rps=8000, connections=200)
    assert loads_words([RATE, more]) == (
        "open loop: 2,000 to 8,000 requests/s by condition, on a fixed schedule over 50 to 200 connections"
    )
    assert loads_words([CLOSED, SaturateLoad(connections=400)]) == (
        "closed loop: 50 to 400 connections by condition, each sending its next request as soon as it has the answer"
    )


@pytest.mark.parametrize("rates_rps", [(2000, 1000), (1000, 1000), (500, 1000, 900)])
def test_steps_rise(rates_rps: tuple[float, ...]) -> None:
    """CPU per request is reported for the first step, as that of the lowest rate."""
    with pytest.raises(ValueError, match=r"after \d+ requests/s come \d+: rates must rise"):
        StepsLoad(rates_rps=rates_rps, connections=50, step_s=6, warmup_rps=500)


def test_steps_that_something_spoilt_end_no_series_for_the_server() -> None:
    """The series ends only if every window is spoilt, because the driver has no more to give."""

    def asked_for(*windows: Window) -> int:
        """Return how many steps are asked for if their windows end like these."""
        load = StepsLoad(rates_rps=(1, 2, 3, 4, 5, 6), connections=5, step_s=1, warmup_rps=1, missed_max=2)
        asks = RisingSteps(load).asks(Lengths(1, 1))
        next(asks)
        for number, one in enumerate(windows, start=1):
            try:
                asks.send(one)
            except StopIteration:
                return number
        return len(windows) + 1

    held, why = window(), (MISSED,)
    missed, spoilt = (held.model_copy(update={name: why}) for name in ("shortfalls", "reasons"))
    both = missed.model_copy(update={"reasons": why})
    assert asked_for(held, both, both, held) == 5
    assert asked_for(held, missed, both, missed, held) == 4
    assert asked_for(spoilt, spoilt, spoilt, held) == 3


def test_no_step_asks_for_more_than_a_driver_can_be_asked_for() -> None:
    steps = {"rates_rps": (500, 16_000), "connections": 50, "step_s": 5, "warmup_rps": 500, "further_factor": 1.5}
    assert StepsLoad.model_validate({**steps, "further_max": 15})
    with pytest.raises(ValueError, match="the last further rate is 53,204,073 requests/s: 10,000,000 at most"):
        StepsLoad.model_validate({**steps, "further_max": 20})
    for changes in ({"rates_rps": (500, math.inf)}, {"rates_rps": (500, 1e308), "further_max": 2}, {"warmup_rps": 1e8}):
        with pytest.raises(ValueError, match=r"finite number|less than or equal to 10000000"):
            StepsLoad.model_validate({**steps, **changes})
