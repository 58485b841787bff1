"""The wrk2 driver's process handling, command line and result.

wrk2 itself cannot be had on the machines where these tests must pass. wrk2_stand_in plays it: it refuses what the real
one refuses and replays recorded outputs (tests/samples/wrk2). So these tests prove how wrk2 is found, called, watched
and read; not that wrk2 measures well. Plain wrk is played with Debian's real answer.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jdkmatrix.drivers import wrk2
from jdkmatrix.drivers.base import Driver, DriverError, Phase
from jdkmatrix.drivers.wrk2 import Wrk2Driver, find_wrk2
from jdkmatrix.terms.loads import RateLoad, SaturateLoad
from tests.support.project import RECORDED
from tests.support.wrk2_bench import STALL_LOAD, URL, Bench, bench, executable

__all__ = ["bench"]

SAMPLES = RECORDED / "wrk2"


def answers(path: Path, sample: str) -> Path:
    """A program that prints a recorded answer whatever it is asked."""
    return executable(path, f"#!/bin/sh\ncat {SAMPLES / sample}\nexit 1\n")


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
    assert "closed loop" in str(driver.cannot(Phase(SaturateLoad(connections=5), 3, 10, 1)))
    assert driver.cannot(Phase(STALL_LOAD, 3, 10, 1)) is None


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


def test_a_process_that_begins_late_is_started_again_before_it_has_sent_anything(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real wrk2 does so in one of twenty processes: a second of its schedule is missing, and no latency shows it."""
    monkeypatch.setattr(wrk2, "_OPENS_WITHIN_S", 2.0)  # a Python takes longer to come so far
    with bench.driver("late 2").open(bench.target) as session:
        others = {child.pid for child in psutil.Process().children()}
        before = time.monotonic_ns()
        result = session.run(STALL_LOAD, 3, label="window-1")
    assert (bench.folder / "starts").read_text() == "..."
    assert result.due is not None and result.completed >= result.due
    assert result.started_monotonic_ns - before > 4e9, "what was started before is no part of the phase"
    assert not [child for child in psutil.Process().children() if child.pid not in others]


def test_one_that_is_late_every_time_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrk2, "_OPENS_WITHIN_S", 0.01)
    monkeypatch.setattr(wrk2, "_STARTS_MAX", 2)
    with bench.driver("late 9").open(bench.target) as session, pytest.raises(DriverError, match="no connection within"):
        session.run(STALL_LOAD, 3, label="window-1")


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
        with pytest.raises(DriverError, match=r"whole requests per second, not 333\.333"):
            session.run(RateLoad(rate_rps=1000 / 3, connections=5), 10, label="window-1")


def test_whatever_is_near_to_a_rate_runs(bench: Bench) -> None:
    with bench.driver("run").open(bench.target) as session:
        for asked_rps in (0.01, 333.333, 4999.5):
            load = session.nearest(RateLoad(rate_rps=asked_rps, connections=50))
            result = session.run(load, 0.5, label="warmup-1")
            assert result.load == load
            assert result.completed == result.due


def test_a_phase_in_which_connections_hardly_open_is_made_longer(bench: Bench) -> None:
    with bench.driver("run").open(bench.target) as session:
        result = session.run(RateLoad(rate_rps=4000, connections=400), 0.5, label="warmup-1")
        assert "-d4s" in session.command
    assert result.duration_s == pytest.approx(4)


def test_a_run_without_its_script_is_no_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """wrk2 goes on without a script that it cannot load, sends another request and ends with exit status 0."""
    monkeypatch.setattr(wrk2.Wrk2Session, "_write_script", lambda *_: bench.folder / "gone.lua")
    with (
        bench.driver("run").open(bench.target) as session,
        pytest.raises(
            DriverError, match=r"did not run as it was asked to: .*gone\.lua: cannot open .* \(exit status 0"
        ),
    ):
        session.run(STALL_LOAD, 3, label="window-1")


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_hanging_driver_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    monkeypatch.setattr(wrk2, "_bound_s", lambda target, load, lasts_s: 0.2)
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
