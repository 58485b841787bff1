"""The result that is made of the last event of a loadgen phase."""

from __future__ import annotations

import json

import pytest

from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.drivers import loadgen
from jdkmatrix.records.load_results import LoadResult

# As loadgen prints it: 2 s on two event loops, the second of which has no connection.
FINISHED = {
    "event": "finished", "label": "one", "started_monotonic_ns": 0, "ended_monotonic_ns": 2_000_000_000,
    "duration_s": 2.0, "lead": None, "due": None, "sent": 10, "unsent": None, "outstanding": 0, "answered_late": 0,
    "late_non_2xx": 0, "completed": 10, "non_2xx": 0, "errors": {"connect": 0, "read": 0, "write": 0, "timeout": 0},
    "reconnects": 0, "bytes_read": 780, "throughput_rps": 5.0, "lower_bounds": 0, "corrected": None,
    "uncorrected": None, "send_lateness": None, "cpu_s": 2.0, "busiest_loop_cpu_s": 1.9, "hlog": None,
}  # fmt: skip


@pytest.mark.parametrize(("cpus", "of_all", "of_one"), [(2, 0.5, 0.95), (1, 1.0, None)])
def test_the_busiest_event_loop_is_told_where_there_are_several(cpus: int, of_all: float, of_one: float | None) -> None:
    event = loadgen._EVENT.validate_json(json.dumps(FINISHED))
    assert isinstance(event, loadgen.Finished)
    result = loadgen._result(event, SaturateLoad(connections=1), (), cpus)
    assert (result.driver_cpu_share, result.driver_loop_cpu_share) == (of_all, of_one)


def test_a_record_from_before_it_was_read_stays_readable() -> None:
    event = loadgen._EVENT.validate_json(json.dumps(FINISHED))
    assert isinstance(event, loadgen.Finished)
    record = loadgen._result(event, SaturateLoad(connections=1), (), 2).model_dump(mode="json")
    del record["driver_loop_cpu_share"]
    assert LoadResult.model_validate(record).driver_loop_cpu_share is None
