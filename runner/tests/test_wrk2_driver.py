"""The wrk2 driver's process handling, command line and result.

wrk2 itself cannot be had on the machines where these tests must pass. A small program of the test's own stands in for
it: it checks its arguments by wrk2's rules and replays recorded outputs (tests/samples/wrk2). So these tests prove how
wrk2 is found, called, watched and read; not that wrk2 measures well. Plain wrk is played with Debian's real answer.
"""

from __future__ import annotations

import hashlib
import os
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.drivers import wrk2
from jdkmatrix.drivers.base import Driver, DriverError, Target
from jdkmatrix.drivers.wrk2 import Wrk2Driver, due_requests, find_wrk2, thread_count
from jdkmatrix.records import RateLoad, SaturateLoad

SAMPLES = Path(__file__).parent / "samples" / "wrk2"
URL = "http://127.0.0.1:18190/"
STALL_LOAD = RateLoad(rate_rps=1000, connections=50)

DOUBLE = """\
    #!{python}
    import getopt, os, pathlib, re, signal, sys, time

    samples = pathlib.Path({samples!r})

    def refuse(complaint):
        print(complaint, file=sys.stderr)
        print((samples / "usage.txt").read_text(), end="")
        sys.exit(1)

    def whole(text, units):
        match = re.fullmatch(r"(\\d+)(" + units + ")?", text)
        return int(match[1]) if match else refuse("bad number " + text)

    try:
        pairs, rest = getopt.gnu_getopt(sys.argv[1:], "t:c:d:s:H:T:R:LUBv", ["timeout="])
    except getopt.GetoptError as error:
        refuse(str(error))
    options = dict(pairs)
    if "-v" in options:
        print((samples / "version.txt").read_text(), end="")
        sys.exit(1)
    threads, connections = whole(options["-t"], "k"), whole(options["-c"], "k")
    duration, rate, timeout = whole(options["-d"], "s"), whole(options["-R"], "k"), whole(options["--timeout"], "s")
    if connections < threads:
        refuse("number of connections must be >= threads")
    if not (duration and rate and timeout and rest == [{url!r}]):
        refuse("bad arguments " + repr(sys.argv))
    behaviour = (pathlib.Path(__file__).parent / "behaviour").read_text()
    {behaviours}
"""

BEHAVIOURS = """
if behaviour == "hang":
    time.sleep(600)
elif behaviour == "die":
    os.kill(os.getpid(), signal.SIGSEGV)
elif behaviour == "refuse":
    sys.stderr.write((samples / "refused.txt").read_text())
    sys.exit(1)
elif behaviour == "cut":
    print((samples / "stall.txt").read_text()[:2000])
elif behaviour == "no-latencies":
    text = (samples / "stall.txt").read_text()
    head, _, tail = text.partition("  Latency Distribution")
    print(head + "  9902 requests" + tail.partition("  9902 requests")[2], end="")
elif behaviour == "calculate":
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    (pathlib.Path(__file__).parent / "cpus").write_text(repr(sorted(os.sched_getaffinity(0))))
    print((samples / "stall.txt").read_text(), end="")
"""


class Bench:
    """A folder with the stand-in, and the driver that it makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.binary = executable(
            folder / "wrk2",
            textwrap.dedent(DOUBLE).format(python=sys.executable, samples=str(SAMPLES), url=URL, behaviours=BEHAVIOURS),
        )
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.cpu = min(os.sched_getaffinity(0))
        self.target = Target(url=URL, cpus=(self.cpu,), log_dir=self.logs)

    def driver(self, behaviour: str) -> Wrk2Driver:
        (self.folder / "behaviour").write_text(behaviour)
        found = find_wrk2({}, str(self.folder))
        assert isinstance(found, Wrk2Driver)
        return found


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def answers(path: Path, sample: str) -> Path:
    """A program that prints a recorded answer whatever it is asked."""
    return executable(path, f"#!/bin/sh\ncat {SAMPLES / sample}\nexit 1\n")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ---------------------------------------------------------------- finding it


def test_found_on_path_with_version_and_digest(bench: Bench) -> None:
    driver: Driver = bench.driver("hang")
    assert driver.facts.model_dump() == {
        "name": "wrk2",
        "version": "4.0.0",
        "sha256": hashlib.sha256(bench.binary.read_bytes()).hexdigest(),
        "jdk": None,
        "java_version": None,
    }


def test_a_wrk_that_is_wrk2_is_taken(tmp_path: Path) -> None:
    answers(tmp_path / "wrk", "version.txt")
    found = find_wrk2({}, str(tmp_path))
    assert isinstance(found, Wrk2Driver) and found.binary == tmp_path / "wrk"


def test_plain_wrk_is_refused_and_wrk2_beside_it_is_found(tmp_path: Path, bench: Bench) -> None:
    (tmp_path / "plain").mkdir()
    answers(tmp_path / "plain" / "wrk", "plain-wrk-version.txt")
    found = find_wrk2({}, str(tmp_path / "plain"))
    assert isinstance(found, str)
    assert "is plain wrk debian/4.1.0-3+b2" in found and "-R, --rate" in found
    assert isinstance(find_wrk2({}, f"{tmp_path / 'plain'}:{bench.folder}"), Wrk2Driver)


def test_the_variable_wins_and_is_never_ignored(tmp_path: Path, bench: Bench) -> None:
    assert isinstance(find_wrk2({"MATRIX_WRK2": str(bench.binary)}, ""), Wrk2Driver)
    plain = answers(tmp_path / "mine", "plain-wrk-version.txt")
    found = find_wrk2({"MATRIX_WRK2": str(plain)}, str(bench.folder))
    assert isinstance(found, str) and found.startswith(f"MATRIX_WRK2='{plain}': ") and "plain wrk" in found
    assert isinstance(find_wrk2({"MATRIX_WRK2": ""}, str(bench.folder)), Wrk2Driver)
    found = find_wrk2({"MATRIX_WRK2": str(tmp_path / "absent")}, str(bench.folder))
    assert found == f"MATRIX_WRK2='{tmp_path / 'absent'}' is not an executable file"


def test_what_is_no_wrk_at_all(tmp_path: Path) -> None:
    executable(tmp_path / "wrk2", "#!/bin/sh\necho hello\n")
    executable(tmp_path / "wrk", "#!/no/such/interpreter\n")
    found = find_wrk2({}, str(tmp_path))
    assert isinstance(found, str)
    assert "is neither wrk2 nor wrk: -v printed 'hello'" in found and "cannot be started" in found


def test_none_at_all(tmp_path: Path) -> None:
    assert find_wrk2({}, str(tmp_path)) == "no wrk2 on PATH; set MATRIX_WRK2 to its executable"


# ---------------------------------------------------------------- what it can and cannot


def test_cannot(bench: Bench) -> None:
    driver = bench.driver("hang")
    assert "closed loop" in str(driver.cannot(SaturateLoad(connections=5)))
    assert "whole requests per second, not 1000.5" in str(driver.cannot(RateLoad(rate_rps=1000.5, connections=5)))
    assert "whole" in str(driver.cannot(RateLoad(rate_rps=float("inf"), connections=5)))
    assert driver.cannot(STALL_LOAD) is None


@given(st.integers(1, 2000), st.integers(0, 64))
def test_threads_share_all_connections_and_have_a_cpu_each(connections: int, cpus: int) -> None:
    threads = thread_count(connections, cpus)
    assert 1 <= threads <= min(connections, max(cpus, 1))
    assert connections % threads == 0


def test_due_is_what_wrk2s_schedule_asks_for() -> None:
    """Against real runs that kept up: stall.txt recorded 9900 answers, 20s-calibration.txt counted 39911."""
    assert due_requests(STALL_LOAD, 1, 10) == 9900
    assert due_requests(RateLoad(rate_rps=2000, connections=20), 1, 20) == 39_910
    assert due_requests(RateLoad(rate_rps=1000, connections=1000), 1, 1) == 200  # most are opened after the end
    assert due_requests(RateLoad(rate_rps=1000, connections=4), 4, 10) == 10_000  # all are opened at once


# ---------------------------------------------------------------- running it


def test_a_phase(bench: Bench) -> None:
    with bench.driver("calculate").open(bench.target) as session:
        assert len(session.command) == 0
        before = time.monotonic_ns()
        result = session.run(STALL_LOAD, 10, label="window-1")
        after = time.monotonic_ns()
        expected = ("-t1", "-c50", "-d10s", "-R1000", "-L", "-U", "--timeout", "10s", URL)
        assert list(session.command) == [str(bench.binary), *expected]
    assert (bench.logs / "window-1.txt").read_text() == (SAMPLES / "stall.txt").read_text()
    assert (bench.folder / "cpus").read_text() == f"[{bench.cpu}]"
    assert before <= result.started_monotonic_ns < result.ended_monotonic_ns <= after
    assert (result.driver, result.load, result.latency_from_s) == ("wrk2", STALL_LOAD, 0.0)
    assert (result.due, result.completed, result.sent, result.unsent) == (9900, 9902, None, None)
    assert (
        result.throughput_rps == pytest.approx(result.completed / result.duration_s) == pytest.approx(990.0, abs=0.005)
    )
    assert result.corrected is not None and result.uncorrected is not None
    assert result.corrected.percentiles_us["99"] == 906_240
    assert result.uncorrected.percentiles_us["99"] == 2190
    assert result.bytes_read == 772_352
    assert result.intervals == () and result.send_lateness is None


def test_every_phase_is_started_in_the_drivers_cgroup(bench: Bench) -> None:
    joined = bench.folder / "cgroup.procs"
    with bench.driver("calculate").open(replace(bench.target, cgroup=bench.folder)) as session:
        for label in ("warmup-1", "window-1"):
            joined.write_text("")
            session.run(STALL_LOAD, 10, label=label)
            assert joined.read_text().isdigit()


def test_cpu_time_is_the_drivers_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process burns 0.4 s; the kernel's account of it also has the launcher's start, which must come off."""
    launcher_s: list[float] = []
    total_s: list[float] = []

    def spy(into: list[float], function: Callable[..., float]) -> Callable[..., float]:
        def call(*arguments: object) -> float:
            into.append(function(*arguments))
            return into[-1]

        return call

    monkeypatch.setattr(wrk2, "_cpu_until_replaced", spy(launcher_s, wrk2._cpu_until_replaced))
    monkeypatch.setattr(wrk2, "_wait", spy(total_s, wrk2._wait))  # type: ignore[arg-type]
    with bench.driver("calculate").open(bench.target) as session:
        result = session.run(STALL_LOAD, 10, label="window-1")
    assert launcher_s[0] > 0
    assert result.driver_cpu_s == pytest.approx(total_s[0] - launcher_s[0])
    assert result.driver_cpu_s >= 0.4
    assert result.driver_cpu_share == pytest.approx(result.driver_cpu_s / result.duration_s)


def test_fractions_of_a_second_are_rounded_up(bench: Bench) -> None:
    with bench.driver("calculate").open(bench.target) as session:
        result = session.run(STALL_LOAD, 9.2, label="warmup-1")
        assert "-d10s" in session.command
    assert result.duration_s == pytest.approx(10.002, abs=1e-3)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("refuse", r"unable to connect to 127\.0\.0\.1:18199 Connection refused \(exit status 1"),
        ("die", "killed by signal 11"),
        ("cut", "wrk2's output, line"),
        ("no-latencies", "no latency distribution"),
    ],
)
def test_failures(bench: Bench, behaviour: str, message: str) -> None:
    with bench.driver(behaviour).open(bench.target) as session, pytest.raises(DriverError, match=message) as raised:
        session.run(STALL_LOAD, 10, label="window-1")
    assert str(bench.logs / "window-1.txt") in str(raised.value)


def test_loads_that_it_cannot_make_are_errors(bench: Bench) -> None:
    with bench.driver("calculate").open(bench.target) as session:
        with pytest.raises(DriverError, match="closed loop"):
            session.run(SaturateLoad(connections=5), 10, label="window-1")
        with pytest.raises(DriverError, match="would count such a pause as a timeout"):
            session.run(RateLoad(rate_rps=1, connections=50), 10, label="window-1")
        with pytest.raises(DriverError, match="did not run"):
            session.run(STALL_LOAD, 0, label="window-1")


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_hanging_driver_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    monkeypatch.setattr(wrk2, "_bound_s", lambda target, load, asked_s: 0.2)
    with (
        bench.driver("hang").open(bench.target) as session,
        pytest.raises(DriverError, match="had not ended after 0 s and was stopped"),
    ):
        session.run(STALL_LOAD, 10, label="window-1")
    assert children() <= before
    session.close()


def test_an_interruption_stops_the_driver(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(process: object, bound_s: float) -> float:
        raise KeyboardInterrupt

    before = children()
    monkeypatch.setattr(wrk2, "_wait", interrupt)
    with bench.driver("hang").open(bench.target) as session, pytest.raises(KeyboardInterrupt):
        session.run(STALL_LOAD, 10, label="window-1")
    assert children() <= before


def test_the_bound_leaves_time_for_what_wrk2_may_take(bench: Bench) -> None:
    slow = RateLoad(rate_rps=1000, connections=2000)
    assert wrk2._bound_s(bench.target, slow, 10) >= 10 + 2 + 10 + bench.target.timeout_s
