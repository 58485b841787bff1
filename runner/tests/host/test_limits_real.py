"""A JVM that takes more than it may dies in its box, both by the best means of this host and by the watch alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.limit_outcome import outcomes
from jdkmatrix.fork.limit_watch import LimitWatch
from jdkmatrix.host import launch
from jdkmatrix.host.cgroup_limits import read_hierarchies
from jdkmatrix.host.limit_groups import limit_groups
from jdkmatrix.host.limits import LimitHost, plan_limits, read_limit_host, why_no_quota
from jdkmatrix.records.limits import LimitHit
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real
CPUS = tuple(sorted(os.sched_getaffinity(0)))
NOTHING = LimitHost(unified=None, v1={}, of_cpu_group=None, open_files_max=4096)

# Bounded, so that the host survives even if nothing stops it.
GREEDY = """
import java.util.ArrayList;

public class Greedy {
    public static void main(String[] args) throws Exception {
        var kept = new ArrayList<Object>();
        try {
            switch (args[0]) {
                case "threads" -> {
                    for (int i = 0; i < 2000; i++) Thread.ofPlatform().daemon().start(Greedy::sleep);
                }
                case "memory" -> { for (int i = 0; i < 600; i++) kept.add(new byte[1 << 20]); }
                case "nothing" -> { return; }
                case "cpu" -> {
                    System.out.println(Runtime.getRuntime().availableProcessors());
                    long until = System.nanoTime() + 2_000_000_000L;
                    for (int i = 0; i < 2; i++) Thread.ofPlatform().start(() -> { while (System.nanoTime() < until); });
                    return;
                }
                case "files" -> { for (int i = 0; i < 2000; i++) kept.add(new java.io.FileInputStream("/dev/null")); }
            }
            sleep();
        } catch (Throwable refused) {
            refused.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }

    static void sleep() {
        try { Thread.sleep(60_000); } catch (InterruptedException ended) { }
    }
}
"""


@pytest.fixture(scope="module")
def greedy(java: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command without the word that says what it is greedy for."""
    folder = tmp_path_factory.mktemp("greedy")
    (folder / "Greedy.java").write_text(GREEDY)
    subprocess.run([java.with_name("javac"), folder / "Greedy.java"], check=True)
    return [str(java), "-Xmx1g", "-XX:+UseSerialGC", "-Xshare:auto", "-cp", str(folder), "Greedy"]


@pytest.fixture(params=["this host", "the watch alone"])
def host(request: pytest.FixtureRequest) -> LimitHost:
    return read_limit_host() if request.param == "this host" else NOTHING


def own_groups() -> list[Path]:
    folders = (hierarchy.folder for hierarchy in read_hierarchies(Path("/proc")))
    return [path for folder in folders for path in folder.glob(f"jdk-matrix-{os.getpid()}-*")]


def run_greedy(greedy: list[str], what: str, limits: Limits, host: LimitHost, log: Path) -> tuple[int, list[LimitHit]]:
    plan = plan_limits(limits, host)
    with limit_groups(plan) as groups, log.open("wb") as sink:
        process = launch.spawn(
            [*greedy, what], cpus=CPUS, cgroups=groups.folders, open_files_max=plan.open_files_max, cwd=log.parent,
            stdout=sink, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            started_ns = time.monotonic_ns()
            with LimitWatch(process.pid, plan, groups.counters, process.kill, started_ns=started_ns) as watch:
                status = process.wait(HANGS_S)
        finally:
            launch.terminate(process, grace_s=0)
        with log.open(errors="replace") as lines:
            found = outcomes(who="the server", limits=limits, counters=watch.counters, seen=watch.seen, log_lines=lines)
    assert own_groups() == []
    return status, list(found)


def test_too_many_threads(greedy: list[str], host: LimitHost, tmp_path: Path) -> None:
    limits = Limits(threads_max=200)
    status, (found,) = run_greedy(greedy, "threads", limits, host, tmp_path / "log")
    assert found.code == "threads-limit"
    if plan_limits(limits, host).watched:
        assert status == -signal.SIGKILL
        assert found.figures["seen"] > 200 and found.first_seen_s is not None
    else:
        assert status == 3
        assert found.figures["threads_refused"] >= 1 and found.figures["log_lines"] >= 1


def test_too_much_memory(greedy: list[str], host: LimitHost, tmp_path: Path) -> None:
    limits = Limits(memory_bytes_max=200 << 20)
    status, (found,) = run_greedy(greedy, "memory", limits, host, tmp_path / "log")
    assert (found.code, status) == ("memory-limit", -signal.SIGKILL)
    if plan_limits(limits, host).watched:
        assert found.figures["seen"] > 200 << 20
    else:
        assert found.figures["oom_kills"] >= 1


def test_too_many_open_files(greedy: list[str], tmp_path: Path) -> None:
    status, (found,) = run_greedy(greedy, "files", Limits(open_files_max=256), read_limit_host(), tmp_path / "log")
    assert (found.code, status) == ("files-limit", 3)
    assert found.figures["limit"] == 256 and found.figures["log_lines"] >= 1


def test_what_stays_within_its_limits_has_no_outcome(greedy: list[str], host: LimitHost, tmp_path: Path) -> None:
    limits = Limits(threads_max=200, memory_bytes_max=500 << 20, open_files_max=256)
    assert run_greedy(greedy, "nothing", limits, host, tmp_path / "log") == (0, [])


def test_what_a_quota_throttles_is_counted_and_the_jvm_sees_it(greedy: list[str], tmp_path: Path) -> None:
    """Two threads spin for two seconds on a tenth of a CPU, which is less than busy neighbours leave them."""
    limits = Limits(cpu_quota_cpus=0.1)
    if reason := why_no_quota(0.1, read_limit_host()):
        pytest.skip(reason)
    plan = plan_limits(limits, read_limit_host())
    with limit_groups(plan) as groups, (tmp_path / "log").open("wb") as sink:
        process = launch.spawn([*greedy, "cpu"], cpus=CPUS, cgroups=groups.folders, stdout=sink)
        try:
            assert process.wait(HANGS_S) == 0
        finally:
            launch.terminate(process, grace_s=0)
        counted = groups.quota()
    assert counted is not None and 0 < counted.throttled_periods <= counted.periods and counted.throttled_us > 0
    assert (tmp_path / "log").read_text().split() == ["1"], "the JVM takes a tenth of a CPU for one processor"
    assert own_groups() == []
