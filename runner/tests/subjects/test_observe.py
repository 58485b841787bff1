"""What a phase leaves behind in the server."""

from __future__ import annotations

import pytest

from jdkmatrix.records.load_results import Errors, LoadResult
from jdkmatrix.subjects.served.observe import backlog_s
from jdkmatrix.terms.loads import RateLoad
from tests.support.builders import load_result


@pytest.mark.parametrize(
    ("left", "expected_s"),
    [
        (load_result(), None),
        (load_result(lower_bounds=0), None),
        # 196 of 200 requests wait for four carriers that are pinned for a second each.
        (load_result(completed=76, throughput_rps=4.0, lower_bounds=196), 49.0),
        # What timed out is still in the server.
        (load_result(throughput_rps=10.0, lower_bounds=5, errors=Errors(timeout=5)), 0.5),
        (load_result(completed=0, throughput_rps=0.0, lower_bounds=200), 0.0),
        (load_result(RateLoad(rate_rps=10, connections=5), lower_bounds=100), None),
    ],
)
def test_a_server_works_off_what_a_closed_loop_gave_up_at_the_rate_it_had(
    left: LoadResult, expected_s: float | None
) -> None:
    assert backlog_s(left) == expected_s
