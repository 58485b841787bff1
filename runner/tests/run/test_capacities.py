"""What loads are shares of."""

from __future__ import annotations

from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run.capacities import capacity_of
from tests.support.builders import cell, fork_with, key, window


def test_a_capacity_that_is_not_known_says_what_spoilt_its_windows() -> None:
    why = Reason(code="driver-saturated", message="the driver used 97 % of its CPUs: it measured itself")
    spoilt = fork_with(*(window(index, reasons=(why,)) for index in (1, 2)), status=Status.INVALID)
    found = capacity_of(key("liberty"), cell(key("liberty"), (spoilt,)), None)
    assert (found.throughput_rps, found.why_not) == (None, why.message)
