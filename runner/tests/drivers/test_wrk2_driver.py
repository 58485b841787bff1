"""The wrk2 driver's process handling, command line and result.

wrk2 itself is missing on the machines where these tests must pass. wrk2_stand_in plays it: it refuses what the real
one refuses and replays recorded outputs (tests/samples/wrk2). So these tests prove how wrk2 is found, called, watched
and read, not that wrk2 measures well. Plain wrk is played with Debian's real answer.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.drivers import wrk2
from jdkmatrix.drivers.base import DriverError
from jdkmatrix.drivers.wrk2 import Wrk2, find_wrk2
from jdkmatrix.drivers.wrk2_figures import Rounded, Wrk2Output
from jdkmatrix.drivers.wrk2_output import parse
from tests.drivers.loadgen.test_loadgen_session import Heard
from tests.support.programs import program
from tests.support.wrk2_bench import COUNTS_S, LOAD, URL, Bench, bench
from tests.support.wrk2_stand_in import SAMPLES, Asked, made_up_run, sample
from tests.support.wrk2_stand_in import main as stand_in

__all__ = ["bench"]


def answers(path: Path, recorded: str) -> Path:
    """Make a program that prints a recorded answer whatever it is asked."""
    return program(path, f"#!/bin/sh\ncat {SAMPLES / recorded}\nexit 1\n")


# ---------------------------------------------------------------- finding it


def test_found_on_path_with_version_and_digest(bench: Bench) -> None:
    sha256 = hashlib.sha256(bench.binary.read_bytes()).hexdigest()
    expected = {"name": "wrk2", "version": "4.0.0", "sha256": sha256, "jdk": None, "java_version": None}
    assert bench.wrk2("hang").facts.model_dump() == expected


def test_a_wrk_that_is_wrk2_is_taken(tmp_path: Path) -> None:
    answers(tmp_path / "wrk", "version.txt")
    found = find_wrk2({}, str(tmp_path))
    assert isinstance(found, Wrk2) and found.binary == tmp_path / "wrk"


def test_plain_wrk_is_refused_and_wrk2_beside_it_is_found(tmp_path: Path, bench: Bench) -> None:
    (tmp_path / "plain").mkdir()
    answers(tmp_path / "plain" / "wrk", "plain-wrk-version.txt")
    found = find_wrk2({}, str(tmp_path / "plain"))
    assert isinstance(found, str)
    assert "is plain wrk debian/4.1.0-3+b2" in found and "-R, --rate" in found
    assert isinstance(find_wrk2({}, f"{tmp_path / 'plain'}:{bench.folder}"), Wrk2)


def test_the_variable_wins_and_is_never_ignored(tmp_path: Path, bench: Bench) -> None:
    assert isinstance(find_wrk2({"MATRIX_WRK2": str(bench.binary)}, ""), Wrk2)
    plain = answers(tmp_path / "mine", "plain-wrk-version.txt")
    found = find_wrk2({"MATRIX_WRK2": str(plain)}, str(bench.folder))
    assert isinstance(found, str) and found.startswith(f"MATRIX_WRK2='{plain}': ") and "plain wrk" in found
    assert isinstance(find_wrk2({"MATRIX_WRK2": ""}, str(bench.folder)), Wrk2)
    found = find_wrk2({"MATRIX_WRK2": str(tmp_path / "absent")}, str(bench.folder))
    assert found == f"MATRIX_WRK2='{tmp_path / 'absent'}' is not an executable file"


def test_what_is_no_wrk_at_all(tmp_path: Path) -> None:
    program(tmp_path / "wrk2", "#!/bin/sh\necho hello\n")
    program(tmp_path / "wrk", "#!/no/such/interpreter\n")
    found = find_wrk2({}, str(tmp_path))
    assert isinstance(found, str)
    assert "is neither wrk2 nor wrk: -v printed 'hello'" in found and "cannot be started" in found


def test_none_at_all(tmp_path: Path) -> None:
    assert find_wrk2({}, str(tmp_path)) == "no wrk2 on PATH; set MATRIX_WRK2 to its executable"


# ---------------------------------------------------------------- running it


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_phase(bench: Bench) -> None:
    """samples/wrk2/minutes.txt has 29,963 answers in 60.0004 s, 24,871 of them recorded after 10.25 s."""
    heard = Heard()
    with bench.session("calculate") as session:
        assert len(session.command) == 0
        before = time.monotonic_ns()
        result = session.run(LOAD, COUNTS_S, label="window-1", edge=heard)
        after = time.monotonic_ns()
        expected = ("-t1", "-c50", "-d60s", "-R500", "-L", "-U", "--timeout", "10s", URL)
        assert list(session.command) == [str(bench.binary), *expected]
    assert [what for what, _ in heard.told] == ["ahead", "at", "over"]
    assert (bench.logs / "window-1.txt").read_text() == (SAMPLES / "minutes.txt").read_text()
    assert (bench.folder / "cpus").read_text() == f"[{bench.cpu}]"
    assert before <= result.started_monotonic_ns <= result.ended_monotonic_ns <= after
    assert (result.driver, result.load, result.latency_from_s) == ("wrk2", LOAD, 10.25)
    assert (result.due, result.completed, result.sent, result.unsent) == (24_870, 24_871, None, None)
    assert result.duration_s == pytest.approx(COUNTS_S, abs=0.01)
    assert result.throughput_rps == pytest.approx(499.9, abs=0.1)
    assert result.corrected.count == result.completed
    assert result.intervals == () and result.send_lateness is None


def test_a_phase_gets_its_share_of_all_refusals(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth of 29,963 answers is a refusal, and 24,871 answers count."""
    monkeypatch.setattr(wrk2, "parse", lambda text: replace(parse(text), non_2xx=2996))
    with bench.session("calculate") as session:
        result = session.run(LOAD, COUNTS_S, label="window-1")
    assert (result.completed, result.non_2xx) == (24_871, 2487)
    assert result.succeeded_rps == pytest.approx(0.9 * result.throughput_rps, rel=1e-4)


def test_a_phase_counts_no_time_in_which_no_answer_could_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread stops with its next answer, or notices every 2 s that there was none: it ran for 62 s instead of 60."""

    def late(text: str) -> Wrk2Output:
        rate_rps = Rounded(Decimal(round(29_963 / 62, 2)), Decimal("0.005"))
        return replace(parse(text), runtime_s=Rounded(Decimal(62), Decimal(1)), requests_per_s=rate_rps)

    monkeypatch.setattr(wrk2, "parse", late)
    with bench.session("calculate") as session:
        result = session.run(LOAD, COUNTS_S, label="window-1")
    assert (result.duration_s, result.throughput_rps) == (49.75, pytest.approx(24_871 / 49.75))
    assert result.awaited_s == pytest.approx(2.0, abs=0.01)
    assert result.driver_cpu_share == pytest.approx(result.driver_cpu_s / 51.75, rel=1e-3)


def test_a_phase_counts_from_the_moment_its_edge_is_heard(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in says how much CPU time it took in all; what it took before the edge is not the phase's."""
    monkeypatch.setattr(wrk2, "calibrated_s", lambda connections, threads: 0.15)
    heard = Heard()
    with bench.session("calculate") as session:
        result = session.run(LOAD, COUNTS_S, label="window-1", edge=heard)
    (_, ahead_ns), (_, at_ns), _ = heard.told
    assert ahead_ns <= result.started_monotonic_ns <= at_ns
    assert 0 < result.driver_cpu_s < float((bench.folder / "cpu_s").read_text())
    ran_s = result.duration_s + result.awaited_s
    assert result.driver_cpu_share == pytest.approx(result.driver_cpu_s / ran_s)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_that_wait_for_a_timer_that_is_overdue_are_woken(bench: Bench, threads: int) -> None:
    """Real wrk2 would wait for up to a second, and then open many connections at once."""
    with bench.session("late", cpus=(bench.cpu,) * threads) as session:
        others = children()
        result = session.run(LOAD, COUNTS_S, label="window-1")
    assert f"-t{threads}" in session.command and result.completed == result.due
    assert children() <= others


def test_every_phase_is_started_in_the_drivers_cgroup(bench: Bench) -> None:
    joined = bench.folder / "cgroup.procs"
    with bench.session("calculate", cgroup=bench.folder) as session:
        for label in ("warmup-1", "window-1"):
            joined.write_text("")
            session.run(LOAD, COUNTS_S, label=label)
            assert joined.read_text().isdigit()


def test_fractions_of_a_second_are_rounded_up(bench: Bench) -> None:
    with bench.session("run") as session:
        result = session.run(LOAD, 12.2, label="window-1")
        assert "-d23s" in session.command
    assert result.duration_s == pytest.approx(12.75, abs=1e-3)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("refuse", r"unable to connect to 127\.0\.0\.1:18199 Connection refused \(exit status 1"),
        ("die", "killed by signal 11"),
        ("cut", "wrk2's output, line"),
        ("no-latencies", "no latency distribution"),
        ("short", r"ended after 10\.\d+ s, before its latencies count"),
    ],
)
def test_failures(bench: Bench, behaviour: str, message: str) -> None:
    with bench.session(behaviour) as session, pytest.raises(DriverError, match=message) as raised:
        session.run(LOAD, COUNTS_S, label="window-1")
    assert str(bench.logs / "window-1.txt") in str(raised.value)


def test_a_load_that_it_cannot_make_is_an_error(bench: Bench) -> None:
    with bench.session("calculate") as session, pytest.raises(DriverError, match=r"whole requests per second, not 333"):
        session.run(RateLoad(rate_rps=1000 / 3, connections=5), 10, label="window-1")


def test_a_run_without_its_script_is_no_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """wrk2 goes on without a script that it cannot load, sends another request and ends with exit status 0."""
    monkeypatch.setattr(wrk2.Wrk2Session, "_write_script", lambda *_: bench.folder / "gone.lua")
    with (
        bench.session("run") as session,
        pytest.raises(
            DriverError, match=r"did not run as it was asked to: .*gone\.lua: cannot open .* \(exit status 0"
        ),
    ):
        session.run(LOAD, COUNTS_S, label="window-1")


def test_a_hanging_driver_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    monkeypatch.setattr(wrk2, "_bound_s", lambda target, load, lasts_s: 0.2)
    monkeypatch.setattr(wrk2, "calibrated_s", lambda connections, threads: 0.1)
    with bench.session("hang") as session, pytest.raises(DriverError, match="had not ended after 0 s and was stopped"):
        session.run(LOAD, COUNTS_S, label="window-1")
    assert children() <= before
    session.close()


def test_an_interruption_stops_the_driver(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    monkeypatch.setattr(wrk2, "_ends_by", mock.Mock(side_effect=KeyboardInterrupt))
    with bench.session("hang") as session, pytest.raises(KeyboardInterrupt):
        session.run(LOAD, COUNTS_S, label="window-1")
    assert children() <= before


def test_the_bound_leaves_time_for_what_wrk2_may_take(bench: Bench) -> None:
    slow = RateLoad(rate_rps=1000, connections=2000)
    assert wrk2._bound_s(bench.target, slow, 10) >= 10 + 2 + 10 + bench.target.timeout_s


# ---------------------------------------------------------------- its stand-in

REFUSALS: list[dict[str, Any]] = json.loads((SAMPLES / "refusals.json").read_text())


@pytest.mark.parametrize("recorded", REFUSALS, ids=[recorded["case"] for recorded in REFUSALS])
def test_the_stand_in_says_what_the_real_one_said(
    recorded: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("behaviour").write_text("run")
    assert stand_in(["wrk2", *recorded["arguments"]]) == recorded["exit"]
    said = capsys.readouterr()
    assert said.err == recorded["stderr"]
    if "runs" in recorded:
        assert said.out.startswith("Running ")
    else:
        assert said.out == ((SAMPLES / recorded["stdout"]).read_text() if recorded["stdout"] else "")


@pytest.mark.parametrize(("name", "asked"), [
    ("stall", Asked(threads=1, connections=50, duration=10, rate=1000, u_latency=True, url=URL)),
    ("20s-calibration", Asked(threads=1, connections=20, duration=20, rate=2000, url=URL)),
])  # fmt: skip
def test_a_made_up_run_has_as_many_requests_as_a_real_one(name: str, asked: Asked) -> None:
    real, made_up = parse(sample(name)), parse(made_up_run(asked).text)
    assert abs(made_up.requests - real.requests) <= 2
    assert made_up.calibrated == real.calibrated
    assert abs(made_up.corrected.total_count - real.corrected.total_count) <= 110
    assert (made_up.uncorrected is None) == (real.uncorrected is None)


def test_questions_that_wait_behind_requests_are_asked_so_much_earlier(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the window of an arm that has a queue begins late and is refused, and no other arm's is."""
    until: list[float] = []
    ends_by = wrk2._ends_by

    def told(process: Any, at_s: float) -> bool:
        until.append(at_s)
        return ends_by(process, at_s)

    monkeypatch.setattr(wrk2, "_ends_by", told)
    with bench.session("calculate") as session:
        for number, (ahead_s, earlier_s) in enumerate([(0.0, 0.1), (2.4, 2.5), (60.0, 10.25)]):
            heard = Heard()
            heard.ahead_s = ahead_s
            until.clear()
            session.run(LOAD, COUNTS_S, label=f"window-{number}", edge=heard)
            assert until[1] - until[0] == pytest.approx(earlier_s)
