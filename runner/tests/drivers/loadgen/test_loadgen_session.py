"""The driver as a process: its facts, its end, its files, its bounds."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.drivers import loadgen
from jdkmatrix.drivers.base import Driver, DriverError, DriverSession, Edge, Phase, Target
from jdkmatrix.drivers.loadgen import LoadgenDriver
from tests.drivers.loadgen.conftest import Moody, Open
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real

LOAD = RateLoad(rate_rps=200, connections=5)
CLOCK_TICKS_S = 0.02  # user and system time of a process, each rounded down to a tick


def test_facts(driver: LoadgenDriver) -> None:
    interface: Driver = driver
    (facts,) = interface.programs
    assert (facts.name, facts.jdk) == ("loadgen", "test-jdk")
    assert facts.sha256 == hashlib.sha256(driver.jar.read_bytes()).hexdigest()
    assert facts.version.startswith("1 (netty 4.")
    release = (driver.java.parents[1] / "release").read_text()
    assert facts.java_version.split("+")[0] in release


def test_missing_parts(driver: LoadgenDriver, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="has not been built"):
        _ = LoadgenDriver(tmp_path / "none.jar", driver.java, "x").facts
    with pytest.raises(DriverError, match="cannot be started"):
        _ = LoadgenDriver(driver.jar, tmp_path / "no-java", "x").facts
    broken = tmp_path / "broken.jar"
    broken.write_bytes(b"not a jar")
    with pytest.raises(DriverError, match="does not start"):
        _ = LoadgenDriver(broken, driver.java, "x").facts
    session = LoadgenDriver(broken, driver.java, "x").open(Target("http://127.0.0.1:1/", (0,), tmp_path))
    with session, pytest.raises(DriverError, match="ended with exit status"):
        session.wait_ready()
    with pytest.raises(DriverError, match="has ended"):
        session.run(LOAD, 1.0, label="one")


def test_java_options_of_the_callers_shell_stay_out(
    driver: LoadgenDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+NoJvmHasThisFlag")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+NoJvmHasThisFlag")
    assert LoadgenDriver(driver.jar, driver.java, "x").facts.name == "loadgen"
    with driver.open(Target("http://127.0.0.1:1/", (0,), tmp_path)) as session:
        session.wait_ready()


def test_cannot(driver: LoadgenDriver) -> None:
    def cannot(load: Load) -> str | None:
        return driver.cannot(Phase(load, duration_s=3, timeout_s=10, cpus=1))

    assert cannot(SaturateLoad(connections=10)) is None
    assert cannot(RateLoad(rate_rps=0.5, connections=10)) is None
    of_a_share = RateLoad(rate_rps=1, connections=10).model_copy(update={"rate_rps": 1e8})
    assert "10,000,000" in cannot(of_a_share)


def test_the_nearest_rate_is_one_that_it_schedules(open_session: Open) -> None:
    session = open_session("http://127.0.0.1:1/")
    for asked_rps, made_rps in ((333.333, 333.333), (2e7, 1e7)):
        load = RateLoad(rate_rps=1, connections=5).model_copy(update={"rate_rps": asked_rps})
        assert session.nearest(load) == load.model_copy(update={"rate_rps": made_rps})


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "127.0.0.1:80", "http://", "http://127.0.0.1:1:1/"])
def test_bad_url(url: str, open_session: Open) -> None:
    with pytest.raises(DriverError, match="url = "):
        open_session(url)


@dataclass
class Heard(Edge):
    """An edge that records what it was told, and when."""

    told: list[tuple[str, int]] = field(default_factory=list)

    def ahead(self, at_s: float | None = None) -> None:
        self.told.append(("ahead", time.monotonic_ns()))

    def at(self, *, under_load: bool) -> None:
        self.told.append(("at", time.monotonic_ns()))

    def passed(self) -> None:
        self.told.append(("passed", time.monotonic_ns()))

    def over(self) -> None:
        self.told.append(("over", time.monotonic_ns()))


def test_parts_of_a_load_are_as_long_as_is_asked_for(moody: Moody, open_session: Open) -> None:
    """Each part is reported as it ends, with the percentiles of its own answers."""
    server, heard = moody(delay_us=100_000), Heard()
    session, heard.interval_s = open_session(server.url), 0.75
    result = session.warm(SaturateLoad(connections=4), 2.1, label="parts", edge=heard, lead_s=1.0)
    assert [name for name, _ in heard.told] == ["ahead", "at", *["passed"] * 3, "over"]
    passed_s = [(ns - result.started_monotonic_ns) / 1e9 for name, ns in heard.told if name == "passed"]
    ends_s = [part.t_s for part in result.intervals]
    assert ends_s == [0.75, 1.5, 2.1] and all(told >= end for told, end in zip(passed_s, ends_s, strict=True))
    assert sum(part.completed for part in result.intervals) == result.completed > 0
    assert all(part.p99_us is not None and part.p99_us >= 100_000 for part in result.intervals)
    heard.interval_s = 0.01
    with pytest.raises(DriverError, match=r"interval_s = 0\.01: 0\.1 to 86400 is allowed"):
        session.warm(SaturateLoad(connections=4), 1.0, label="short", edge=heard, lead_s=1.0)


def test_connections_join_over_the_first_answer_of_a_lead(moody: Moody, open_session: Open) -> None:
    """In step, they would be answered in waves, of which a window counts only whole ones. A driver that this host holds
    up as they join sends at once what is due by then, so it may try several times."""

    def spread_s() -> float:
        server = moody(delay_us=200_000)
        open_session(server.url).run(SaturateLoad(connections=20), 0.5, label="led", lead_s=2.0)
        first_s: dict[int, float] = {}
        for one in sorted(server.report().requests, key=lambda one: one.arrived_ns):
            first_s.setdefault(one.connection, one.arrived_ns / 1e9)
        assert len(first_s) == 20
        return max(first_s.values()) - min(first_s.values())

    assert any(spread_s() >= 0.15 for _ in range(5))


def test_parts_of_a_rate_need_no_lead(moody: Moody, open_session: Open) -> None:
    """Its schedule goes on from part to part; what is still due at the end is in none."""
    server, heard = moody(delay_us=50_000), Heard()
    heard.interval_s, heard.is_divided = 0.5, True
    result = open_session(server.url).warm(RateLoad(rate_rps=200, connections=50), 1.5, label="parts", edge=heard)
    assert [name for name, _ in heard.told] == ["ahead", "at", *["passed"] * 3, "over"]
    assert [part.t_s for part in result.intervals] == [0.5, 1.0, 1.5]
    assert sum(part.completed for part in result.intervals) == result.completed
    assert all(part.p99_us is not None and part.p99_us >= 50_000 for part in result.intervals)
    sent = [one.arrived_ns for one in server.report().requests]
    assert len(sent) == result.sent and heard.told[0][1] < min(sent)


@pytest.mark.parametrize("lead_s", [0.0, 3.0])
def test_a_load_that_is_on_before_what_counts(lead_s: float, moody: Moody, open_session: Open) -> None:
    server, heard = moody(delay_us=400_000), Heard()
    session = open_session(server.url)
    result = session.run(SaturateLoad(connections=8), 1.0, label="led", edge=heard, lead_s=lead_s)
    seen = server.report().requests
    passed = ["passed"] if lead_s else []
    assert [name for name, _ in heard.told] == ["ahead", "at", *passed, "over"]
    ahead_ns, at_ns, *_, over_ns = (ns for _, ns in heard.told)
    first_ns = min(one.arrived_ns for one in seen)
    answered = [one for one in seen if one.answered_ns]
    before = sum(one.answered_ns < result.started_monotonic_ns for one in answered)
    assert ahead_ns < first_ns and over_ns >= result.ended_monotonic_ns
    assert result.sent == result.completed + (result.outstanding or 0) and result.latency_from_s == lead_s
    if result.lead is None:
        assert (lead_s, before) == (0.0, 0) and at_ns < first_ns
        assert (result.sent, result.answers) == (len(seen), result.completed + (result.answered_late or 0))
        return
    assert at_ns >= result.started_monotonic_ns and first_ns < result.started_monotonic_ns - 1e9
    assert result.lead.sent + result.sent == len(seen) and result.lead.sent == result.lead.completed > 0
    assert result.lead.completed == pytest.approx(before, abs=8), "an answer takes its way"
    assert result.answers == result.completed, "as many are on their way at the end as at the start"


def test_runs_where_it_is_told(moody: Moody, open_session: Open) -> None:
    cpu = min(os.sched_getaffinity(0))
    session = open_session(moody().url, cpus=(cpu,))
    process = psutil.Process(session._process.pid)
    assert tuple(process.cpu_affinity() or ()) == (cpu,)
    assert Path(process.cmdline()[0]) == Path(session.command[0])
    interface: DriverSession = session
    result = interface.run(LOAD, 1.0, label="one")
    assert result.driver_cpu_s > 0
    assert result.driver_cpu_share == pytest.approx(result.driver_cpu_s / result.duration_s)
    assert result.driver_loop_cpu_share is None


def test_is_started_in_its_cgroup(driver: LoadgenDriver, tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("")
    with driver.open(Target("http://127.0.0.1:1/", (0,), tmp_path, cgroup=tmp_path)) as session:
        session.wait_ready()
        assert (tmp_path / "cgroup.procs").read_text() == str(session._process.pid)


def test_two_event_loops(moody: Moody, open_session: Open) -> None:
    """First the connections cannot be shared evenly, then one event loop gets none."""
    server = moody()
    cpu = min(os.sched_getaffinity(0))
    session = open_session(server.url, cpus=(cpu, cpu))
    for label, connections in (("odd", 3), ("one", 1)):
        result = session.run(RateLoad(rate_rps=300, connections=connections), 1.0, label=label)
        assert result.due == 300
        assert result.sent > 3
        assert result.corrected.count == 300
        busiest_s = result.driver_loop_cpu_share * result.duration_s
        assert 0 < busiest_s <= result.driver_cpu_s + CLOCK_TICKS_S
    saturated = session.run(SaturateLoad(connections=3), 0.5, label="closed")
    assert saturated.completed > 0
    assert server.report().connections == 3 + 2  # kept between phases; the surplus had been closed


def test_interval_log(moody: Moody, open_session: Open, tmp_path: Path) -> None:
    """All lines of a tag together are the histogram of the result."""
    result = open_session(moody().url).run(LOAD, 1.5, label="logged")
    assert result.hlog == "logged.hlog"
    assert [interval.t_s for interval in result.intervals] == [1.0, 1.5]
    summed: dict[str, HdrHistogram] = {}
    reader = HistogramLogReader(str(tmp_path / result.hlog), HdrHistogram(1, 2 * 3600 * 10**9, 3))
    while (interval := reader.get_next_interval_histogram()) is not None:
        summed.setdefault(interval.get_tag(), HdrHistogram(1, 2 * 3600 * 10**9, 3)).add(interval)
    assert summed.keys() == {"corrected", "uncorrected"}
    for tag, latency in (("corrected", result.corrected), ("uncorrected", result.uncorrected)):
        whole = HdrHistogram.decode(latency.histogram)
        assert summed[tag].get_total_count() == whole.get_total_count() > 0
        assert summed[tag].get_max_value() == whole.get_max_value()


def test_killed(moody: Moody, open_session: Open) -> None:
    session = open_session(moody().url)
    timer = threading.Timer(1.0, os.kill, (session._process.pid, signal.SIGKILL))
    timer.start()
    started = time.monotonic()
    with pytest.raises(DriverError, match="killed by signal 9"):
        session.run(LOAD, 60.0, label="killed")
    assert time.monotonic() - started < 30
    with pytest.raises(DriverError, match="has ended"):
        session.run(LOAD, 1.0, label="after")
    session.close()
    session.close()


def test_hanging(moody: Moody, open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped process says nothing and does not end, so the wait has a bound."""
    session = open_session(moody().url)
    session.run(LOAD, 0.5, label="fine")
    monkeypatch.setattr(loadgen, "_OVERRUN_S", 1.0)
    os.kill(session._process.pid, signal.SIGSTOP)
    with pytest.raises(DriverError, match="no answer in time"):
        session.run(LOAD, 0.5, label="stopped")
    assert session._process.returncode == -signal.SIGKILL


class Raw:
    """A session spoken to by hand."""

    def __init__(self, driver: LoadgenDriver, url: str) -> None:
        self.process = subprocess.Popen(
            [driver.java, "-jar", driver.jar, "session", "--url", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.next()["event"] == "ready"

    def next(self) -> dict[str, object]:
        event: dict[str, object] = json.loads(self.process.stdout.readline())
        return event

    def say(self, line: str) -> None:
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()


def test_protocol(driver: LoadgenDriver, moody: Moody) -> None:
    raw = Raw(driver, moody().url)
    good = {"label": "a", "kind": "rate", "rate_rps": 100.0, "connections": 2, "duration_s": 60.0}
    bad = {
        "not JSON": "Unrecognized token",
        "[]": "Cannot deserialize",
        "null": "a JSON object is needed",
        json.dumps(good | {"rate_rps": 0}): "rate_rps = 0.0: a number above 0",
        json.dumps(good | {"connections": 0}): "connections = 0: 1 to 100000",
        json.dumps(good | {"duration_s": -1}): "duration_s = -1.0: above 0",
        json.dumps(good | {"kind": "step", "rate_rps": None}): 'kind = "step": "rate", "ramp", "saturate" or "join"',
        json.dumps(good | {"kind": "ramp"}): 'rate_rps is not for kind "ramp"',
        json.dumps(good | {"kind": "saturate"}): "rate_rps is not for kind",
        json.dumps(good | {"label": "a/b"}): 'label = "a/b"',
        json.dumps(good | {"speed": 1}): 'Unrecognized field "speed"',
        json.dumps({k: v for k, v in good.items() if k != "duration_s"}): "duration_s is missing",
    }
    for line, message in bad.items():
        raw.say(line)
        event = raw.next()
        assert (event["event"], event["code"]) == ("error", "bad-command"), line
        assert message in str(event["message"])
    raw.say(json.dumps(good))
    assert raw.next()["event"] == "started"
    assert raw.next()["event"] == "interval"
    # The end of its input ends it, even in the middle of a phase.
    raw.process.stdin.close()
    assert raw.process.wait(HANGS_S) == 0


def run_cli(driver: LoadgenDriver, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(driver.java), "-jar", str(driver.jar), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)


def test_command_line(driver: LoadgenDriver, moody: Moody, tmp_path: Path) -> None:
    url = moody().url
    common = ("run", "--url", url, "--connections", "4")
    done = run_cli(
        driver, *common, "--rate", "200", "--duration", "1s", "--warmup", "200ms",
        "--json", str(tmp_path / "r.json"), "--hlog", str(tmp_path / "r.hlog"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "due 200, sent " in done.stdout
    assert "percentile corrected ms uncorrected ms sent late ms" in " ".join(done.stdout.split())
    written = json.loads((tmp_path / "r.json").read_text())
    assert written["due"] == 200
    assert (tmp_path / "r.hlog").read_text().count("Tag=corrected") >= 1
    closed = run_cli(driver, *common, "--saturate", "--duration", "500ms")
    assert closed.returncode == 0
    assert "closed loop over 4 connections" in closed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rate", "100", "--duration", "ten"), '--duration = "ten": a number with ms, s or m'),
        (("--rate", "100", "--duration", "1s", "--threads", "0"), "threads = 0: 1 to 256"),
        (("--ramp", "0:0,5"), '--ramp: "5"; SECONDS:RATE is needed'),
        (("--rate", "100", "--duration", "1s", "--timeout-ms", "0"), "timeout = 0 ms: 1 to"),
    ],
)
def test_wrong_usage(driver: LoadgenDriver, arguments: tuple[str, ...], message: str) -> None:
    refused = run_cli(driver, "run", "--url", "http://127.0.0.1:9/", "--connections", "1", *arguments)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "\tat " not in refused.stderr
