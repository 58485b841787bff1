"""The search for the capacity as a fork runs it: windows in, a record out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.figures.fork_figures import capacity_rps
from jdkmatrix.fork.faults import faults
from jdkmatrix.loads.base import Ask, Bound, ForkFigure, Lengths, NearestRate
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad, CapacitySearch
from jdkmatrix.method.gates import Thresholds
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Capacity, Warmup, Window
from jdkmatrix.stats.capacity import SearchOutcome, is_known
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.windows import Windows, measure_all, measure_phases
from tests.support.builders import fork, latency, load_result, reasons, window
from tests.support.records import altered
from tests.support.shipped import MATRIX

LOAD = CapacityLoad(connections=50, p99_max_us=10_000, floor_share=0.1, resolution=0.05, step_s=3)


@dataclass
class Server:
    """A server that answers in time up to `capacity_rps`; other processes disturb the windows in `spoilt`, windows of
    its closed loop have the values in `closed`, and it ends after `windows`."""

    capacity_rps: float
    spoilt: frozenset[int] = frozenset()
    closed: Mapping[str, Any] = field(default_factory=dict)
    windows: int | None = None
    seen: list[tuple[Load, float, str]] = field(default_factory=list)
    thresholds: Thresholds = MATRIX.thresholds

    def nearest_rps(self, connections: int) -> NearestRate:
        return float

    def measure(self, ask: Ask, *, index: int) -> Window:
        load = ask.load
        if len(self.seen) == self.windows:
            raise MatrixError("the server has ended")
        self.seen.append((load, ask.duration_s, ask.label))
        if not isinstance(load, RateLoad):
            return window(index, load_result(load, **self.closed))
        late = load.rate_rps > self.capacity_rps
        result = load_result(load, corrected=latency(500_000.0 if late else 900.0))
        spoilt, short = reasons("foreign-cpu") if index in self.spoilt else (), reasons("rate-missed") if late else ()
        return window(index, result, reasons=spoilt, shortfalls=short)


def search(server: Server, ceiling_rps: float = 20_000) -> Capacity:
    asks = CapacitySearch(LOAD).search_below(ceiling_rps, float)
    return measure_all(asks, cast(Windows, cast(Any, server)), [])


def test_the_rate_is_found_and_every_window_is_kept() -> None:
    server = Server(12_345)
    found = search(server)
    assert SearchOutcome(found.outcome) is SearchOutcome.FOUND
    assert found.held_rps is not None and found.failed_rps is not None
    assert found.held_rps <= 12_345 < found.failed_rps <= found.held_rps * 1.05
    assert (found.floor_rps, found.ceiling_rps) == (2_000, 20_000)
    assert len(found.steps) == len(server.seen)
    assert [step.held for step in found.steps] == [step.rate_rps <= 12_345 for step in found.steps]
    assert {(load.connections, duration_s) for load, duration_s, _ in server.seen} == {(50, 3.0)}
    assert len({label for _, _, label in server.seen}) == len(server.seen), "each has files of its own"


def test_a_window_that_the_host_spoilt_is_kept_and_says_nothing() -> None:
    found = search(Server(12_345, spoilt=frozenset({2, 5})))
    assert [step.held for step in found.steps if step.window.index in (2, 5)] == [None, None]
    assert found.steps[1].rate_rps == found.steps[2].rate_rps
    assert is_known(found)


@pytest.mark.parametrize(
    ("server", "outcome", "figure"),
    [
        (Server(1_000), SearchOutcome.FLOOR_FAILED, ForkFigure(2_000, Bound.BELOW)),
        (Server(30_000), SearchOutcome.CEILING_HELD, ForkFigure(20_000, Bound.AT_LEAST)),
        (Server(12_345, spoilt=frozenset(range(1, 9))), SearchOutcome.INVALID_WINDOWS, None),
    ],
)
def test_ends_without_a_bracket(server: Server, outcome: SearchOutcome, figure: ForkFigure | None) -> None:
    found = search(server)
    assert SearchOutcome(found.outcome) is outcome
    seen = capacity_rps(altered(fork(), {"capacity": found}), LOAD)
    assert seen == figure
    assert seen is None or not seen.compares, "a bound stands in no ratio"
    assert is_known(found) == (figure is not None)


@pytest.mark.parametrize(
    ("spoilt", "status", "found"),
    [(range(1, 9), Status.INVALID, ("no-capacity",)), (range(0), Status.OK, ())],
)
def test_a_search_that_the_host_spoilt_is_made_again(
    spoilt: Iterable[int], status: Status, found: tuple[str, ...]
) -> None:
    steady = Warmup(windows=(), steady=True, jit_cpus=(), duration_s=1.0)
    findings = Findings(windows=[window()], warmup=steady, capacity=search(Server(12_345, spoilt=frozenset(spoilt))))
    judged, why = findings.judged(MATRIX.thresholds, MATRIX.warmup)
    assert judged is status
    assert faults(judged, [reason.code for reason in why], ()) == found


@pytest.mark.parametrize("changes", [{"completed": 0, "throughput_rps": 0.0}, {"non_2xx": 1000}])
def test_where_the_closed_loop_has_no_answer_nothing_is_searched_for(changes: dict[str, Any]) -> None:
    server, found = Server(0, closed=changes), Findings()
    measure_phases(CapacitySearch(LOAD), cast(Windows, cast(Any, server)), Lengths(2, 1), found)
    assert found.capacity is None
    assert [load.kind for load, _, _ in server.seen] == ["saturate", "saturate"]


def test_what_a_search_has_found_is_kept_where_a_window_cannot_be_measured() -> None:
    """The server ends after two windows of the closed loop and five of the search."""
    server, found = Server(12_345, closed={"throughput_rps": 20_000.0}, windows=7), Findings()
    with pytest.raises(MatrixError, match="the server has ended"):
        measure_phases(CapacitySearch(LOAD), cast(Windows, cast(Any, server)), Lengths(2, 1), found)
    assert len(found.windows) == 2
    assert found.capacity is not None and len(found.capacity.steps) == 5
    assert SearchOutcome(found.capacity.outcome) is SearchOutcome.CUT_OFF
    assert found.capacity.held_rps is not None and found.capacity.held_rps <= 12_345
    assert not is_known(found.capacity)
    assert capacity_rps(altered(fork(), {"capacity": found.capacity}), LOAD) is None
