"""Ramps: what is due when, over few connections and over thousands, with jumps, pauses and a backlog."""

from __future__ import annotations

import math
import resource
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from jdkmatrix.domain.loads import RampLoad
from jdkmatrix.drivers.base import DriverError
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.records.load_results import LoadResult
from tests.drivers.loadgen.conftest import Moody, Open, Report
from tests.drivers.loadgen.test_loadgen_faults import assert_books_balance
from tests.drivers.loadgen.test_loadgen_session import run_cli

pytestmark = [pytest.mark.real, pytest.mark.alone]

# Up, a jump down, nothing, and down to nothing.
RAMP = RampLoad(points=((0, 0), (1, 800), (1, 250), (1.6, 250), (1.6, 0), (2.2, 0), (2.2, 600), (3, 0)), connections=20)
# More connections than the server's queue of those to accept holds.
MANY = RampLoad(points=((0, 0), (0.5, 6000)), connections=1500)


def assert_schedule(result: LoadResult, ramp: RampLoad) -> None:
    """Check the driver's own books: a busy machine may send late, but never early."""
    assert result.due == math.ceil(ramp.due_until(ramp.duration_s))
    start_s, due_so_far, sent_so_far = 0.0, 0, 0
    for interval in result.intervals:
        asked = float(ramp.due_until(interval.t_s) - ramp.due_until(start_s))
        assert abs(interval.due - asked) <= 1
        due_so_far, sent_so_far = due_so_far + interval.due, sent_so_far + interval.sent
        assert sent_so_far <= due_so_far
        start_s = interval.t_s
    assert (start_s, len(result.intervals)) == (ramp.duration_s, math.ceil(ramp.duration_s))
    assert (due_so_far, sent_so_far) == (result.due, result.sent)


def assert_slots(report: Report, result: LoadResult) -> None:
    """Check that each request of the first phase came on the connection whose turn it was, and none early."""
    assert isinstance(result.load, RampLoad)
    arrived_s: dict[int, list[float]] = {}
    for seen in report.requests:
        arrived_s.setdefault(seen.connection, []).append((seen.arrived_ns - result.started_monotonic_ns) / 1e9)
    for connection in range(result.load.connections):
        slots = range(connection, result.due or 0, result.load.connections)
        for slot, time_s in zip(slots, arrived_s[connection][: len(slots)], strict=True):
            assert result.load.due_until(time_s) >= slot - 1e-3, f"slot {slot} was sent before it was due"


def logged_per_second(hlog: Path) -> list[int]:
    counts: list[int] = []
    reader = HistogramLogReader(str(hlog), HdrHistogram(1, 2 * 3600 * 10**9, 3))
    while (line := reader.get_next_interval_histogram()) is not None:
        if line.get_tag() == "corrected":
            counts.append(line.get_total_count())
    return counts


def test_a_ramp_and_one_over_thousands_of_connections(moody: Moody, open_session: Open, tmp_path: Path) -> None:
    server = moody()
    session = open_session(server.url)
    ramp = session.run(RAMP, RAMP.duration_s, label="ramp")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(session._process.pid, resource.RLIMIT_NOFILE, (MANY.connections, limits[1]))
    with pytest.raises(DriverError, match=r"connections = 1500: \d+ open files are needed, 1500 are allowed here"):
        session.run(MANY, MANY.duration_s, label="files")
    resource.prlimit(session._process.pid, resource.RLIMIT_NOFILE, limits)
    many = session.run(MANY, MANY.duration_s, label="many")
    report = server.report()
    for result, load in ((ramp, RAMP), (many, MANY)):
        assert_books_balance(result)
        assert_schedule(result, load)
        assert (result.unsent, result.errors.total, result.reconnects) == (0, 0, 0)
    assert report.connections == MANY.connections
    assert_slots(report, ramp)
    logged = logged_per_second(tmp_path / "ramp.hlog")
    assert len(logged) in (3, 4)  # the fourth: what came in after the end
    assert sum(logged) == ramp.due


def test_the_end_with_a_backlog(moody: Moody, open_session: Open) -> None:
    """100 requests/s can be answered: most of what the ramp asks for at its end is not sent, and is counted."""
    ramp = RampLoad(points=((0, 0), (2, 1000)), connections=10)
    result = open_session(moody(serial_us=10_000).url).run(ramp, 2, label="backlog")
    assert_books_balance(result)
    assert_schedule(result, ramp)
    assert result.unsent > 500
    assert result.corrected.count == 1000
    assert result.lower_bounds >= result.unsent


def test_by_hand(driver: LoadgenDriver, moody: Moody) -> None:
    common = ("run", "--url", moody().url, "--connections", "4")
    done = run_cli(driver, *common, "--ramp", "0:0,0.5:400,0.5:0,1:0")
    assert done.returncode == 0, done.stderr
    assert "a ramp of 4 points up to 400.0 requests/s over 4 connections for 1.000 s" in done.stdout
    assert "due 100, sent 100, unsent 0" in done.stdout
