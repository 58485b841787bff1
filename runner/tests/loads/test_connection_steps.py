"""A closed loop that adds connections step by step."""

from __future__ import annotations

import pytest

from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.loads.base import Bound, ForkFigure, Lengths
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.connection_steps import ConnectionStepsLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from tests.support.builders import fork_with, load_result, reasons, window
from tests.support.shipped import TOML

STEPS = ConnectionStepsLoad(first=10, more=20, connections=60, step_s=2)


def test_every_step_is_a_closed_loop_and_the_last_has_all_connections() -> None:
    asked = [ask.load for ask in kind_of(STEPS).asks(Lengths(1, 3))]
    assert asked == [SaturateLoad(connections=number) for number in (10, 30, 50, 60)]
    assert [load for load, _ in kind_of(STEPS).driver_loads(3)] == asked
    with pytest.raises(ValueError, match="first = 10 is not below connections = 10"):
        ConnectionStepsLoad(first=10, more=1, connections=10, step_s=1)


def test_a_file_of_the_project_may_ask_for_it() -> None:
    loads = {**TOML["loads"], "climb-N": {**STEPS.model_dump(), "connections": "N"}}
    select = {"workload": ["mp-ping"], "load": ["climb-60"]}
    profiles = {**TOML["profiles"], "climb": {"description": "", "blocks": 1, "select": select}}
    assert parse_files({"matrix.toml": {**TOML, "loads": loads, "profiles": profiles}}).loads["climb-60"] == STEPS


@pytest.mark.parametrize(
    ("throughputs_rps", "figure"),
    [
        ((900.0, 1000.0, 990.0), ForkFigure(1000.0)),
        ((900.0, 1000.0, 1049.0), ForkFigure(1049.0)),
        ((900.0, 1000.0, 1200.0), ForkFigure(1200.0, Bound.AT_LEAST)),
    ],
)
def test_the_most_it_answers_is_a_bound_while_it_gains(throughputs_rps: tuple[float, ...], figure: ForkFigure) -> None:
    windows = (window(index, load_result(throughput_rps=rps)) for index, rps in enumerate(throughputs_rps, start=1))
    assert kind_of(STEPS).throughput_rps(fork_with(*windows)) == figure


def test_a_last_step_that_does_not_count_might_have_gained() -> None:
    throughputs_rps = (900.0, 910.0, 2000.0)
    *counted, last = (window(index, load_result(throughput_rps=rps)) for index, rps in enumerate(throughputs_rps))
    spoilt = last.model_copy(update={"reasons": reasons("foreign-cpu")})
    assert kind_of(STEPS).throughput_rps(fork_with(*counted)) == ForkFigure(910.0)
    assert kind_of(STEPS).throughput_rps(fork_with(*counted, spoilt)) == ForkFigure(910.0, Bound.AT_LEAST)


@pytest.mark.parametrize("load", [STEPS, StepsLoad(rates_rps=(1000, 2000), connections=50, step_s=6, warmup_rps=500)])
def test_a_step_that_a_gate_refused_might_have_been_the_best(load: ConnectionStepsLoad | StepsLoad) -> None:
    """A driver reaches its limit first with the server that answers most."""

    for second_rps, bound in ((990.0, Bound.AT_LEAST), (890.0, Bound.NONE)):
        answered_rps = (880.0, second_rps, 900.0)
        first, second, last = (window(index, load_result(throughput_rps=rps)) for index, rps in enumerate(answered_rps))
        refused = second.model_copy(update={"reasons": reasons("driver-saturated")})
        missed = last.model_copy(update={"shortfalls": reasons("rate-missed")})
        assert kind_of(load).throughput_rps(fork_with(first, refused, missed)) == ForkFigure(900.0, bound)
