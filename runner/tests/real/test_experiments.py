"""Small real experiments without a server, on real JDKs: what physics says about them, not how fast they are."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import psutil
import pytest

from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.provision.project import Project
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import MeasuredSpan, ProgramResult
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import Calibration
from jdkmatrix.run.prepare import set_up_parts
from jdkmatrix.subjects.experiments.host_watch import SHORTEST_S, Moment, Stretch, enclosing
from jdkmatrix.subjects.experiments.measurement import ProgramCell
from jdkmatrix.subjects.kinds import assemble
from jdkmatrix.subjects.parts import Flags, Parts
from tests.support.builders import key as key_of
from tests.support.fork_setups import draft_of, usual
from tests.support.pinning_results import assert_pinned
from tests.support.project import C1_ALONE
from tests.support.real_parts import Silent

pytestmark = pytest.mark.real

PINS, FREE = "temurin-21.0.8", "temurin-25"
BOTH = (PINS, FREE)
# Long compared with how late a busy host makes a thread.
BLOCK_MS = 200
DURATION_S = 3.0
BURN_S = 1.0
PINNED_PER_S = 2 * 1000 / BLOCK_MS  # two carriers
FAN = {"experiment": "fanout", "remote": {"size_bytes": 64}, "warmup_requests": 5}
SMALL: dict[str, dict[str, Any]] = {
    "experiments": {
        **{f"pin-{inside}": {"experiment": "pinning", "inside": inside, "block_ms": BLOCK_MS, "warmup_s": 0.5}
           for inside in ("synchronized", "lock", "object-wait", "native", "contended-monitor")},
        **{f"few-{pool}": {"experiment": "borrow", "pool": pool, "connections": 5, "yields": True, "warmup_s": 0.5}
           for pool in ("hikari-7.0.2", "hikari-7.1.0", "agroal")},
        **{f"puts-small{name}": {"experiment": "puts", "size_bytes": 4096, "sync": bool(name), "warmup_s": 0.5}
           for name in ("", "-sync")},
        "json-small": {"experiment": "json", "buffers": "thread-local", "warmup_s": 0.5},
        "burn-small": {"experiment": "burn", "warmup_s": 0.5, "drain_s": 5, "parks": True},
        "sleep-small": {"experiment": "spawn", "task": "sleep", "sleep_s": 60, "stack_kib": 512, "timeout_s": 60},
        "sleep-boxed": {"experiment": "spawn", "task": "sleep", "sleep_s": 60, "timeout_s": 60,
                        "limits": {"threads_max": 300}},
        "print-small": {"experiment": "spawn", "task": "print", "timeout_s": 60},
        "print-cold": {"experiment": "spawn", "task": "print", "sink": "stdout", "cold": True, "timeout_s": 60},
        "fan": {**FAN, "timeout_s": 30},
        "fan-few-files": {**FAN, "timeout_s": 10, "limits": {"open_files_max": 80}},
    },
    "loads": {
        **{f"count-{n}": {"kind": "count", "count": n} for n in (3, 20, 2000)},
        "tasks-4": {"kind": "in-flight", "tasks": 4}, "tasks-50-per-s": {"kind": "task-rate", "rate_per_s": 50},
    },
}  # fmt: skip


class Real(NamedTuple):
    matrix: Matrix
    parts: Parts


@pytest.fixture(scope="module")
def real(project: Project) -> Real:
    matrix = parse_files({**read_files(project.matrix), "small": SMALL})
    # Late readings lower this limit, and a host on which other tests run may keep them waiting.
    calm = matrix.thresholds.model_copy(update={"foreign_sut_share_max": 100.0})
    matrix = matrix.model_copy(update={"thresholds": calm})
    cells = [cell("print-small", jdk, "virtual", "count-20") for jdk in BOTH]
    quick = matrix.profiles["quick"]
    return Real(matrix, set_up_parts(project, matrix, cells, profile=quick, capacities_rps={}, say=print))


def cell(workload: str, jdk: str, executor: str, load: str, burn_us: int = 0) -> CellKey:
    wait_us = 200_000 if workload.startswith("fan") else 0
    return key_of(executor, workload=workload, server=NO_SERVER, jdk=jdk, burn_us=burn_us, wait_us=wait_us, load=load)


def run(real: Real, key: CellKey, folder: Path, duration_s: float = DURATION_S) -> Fork:
    mine: Sequence[int] = sorted(os.sched_getaffinity(0))
    cpus = CpuSets(sut=(mine[-1],), driver=(), remote=(mine[0],), overlapped=False)
    calibration = Calibration(jdk=key.jdk, rounds_per_us=500.0, repeats=1, spread=0.0, cpu=mine[-1])
    confiner = Confiner(None, "not tried in this test")
    shared = usual(window_s=duration_s)
    ((_, made),) = assemble(
        real.matrix, shared["profile"], real.parts, {key: cpus}, calibration, shared["host"], confiner, Flags(confiner)
    )
    if key.workload not in ("burn-small", "json-small"):  # the second compiler makes what these are about
        assert isinstance(made, ProgramCell)
        java, *arguments = made.command
        made = replace(made, command=(java, C1_ALONE, *arguments))
    draft = draft_of(made, folder, key)
    draft.scratch.mkdir()
    return measure_fork(draft, Silent())


def told(fork: Fork) -> ProgramResult:
    """Return what the program reported; the host's noise is not what these tests are about."""
    assert fork.status is not Status.FAILED, fork.reasons
    assert fork.result is not None
    return fork.result


def run_judged(real: Real, key: CellKey, folder: Path, duration_s: float = DURATION_S) -> Fork:
    """Run a fork and check that the host was judged by what it did while the program measured, if it did."""
    chosen: list[tuple[Sequence[Moment], Stretch]] = []

    def spy(moments: Sequence[Moment], span: MeasuredSpan | None) -> Stretch:
        chosen.append((moments, enclosing(moments, span)))
        return chosen[-1][1]

    with mock.patch("jdkmatrix.subjects.experiments.measurement.enclosing", spy):
        fork = run(real, key, folder, duration_s)
    found = told(fork)
    if found.seen is None:
        return fork
    ((moments, stretch),) = chosen
    span = found.measured_span
    assert span is not None and fork.program is not None
    measured_s = span.duration_s
    with_start = stretch.before == moments[0]
    assert not with_start or measured_s < SHORTEST_S, "not its start"
    assert stretch.before.monotonic_ns <= span.start_monotonic_ns
    assert span.end_monotonic_ns <= stretch.after.monotonic_ns <= moments[-1].monotonic_ns
    assert fork.program.host_span_s == pytest.approx(stretch.duration_s)
    # The kernel reports what an ended program has used in whole microseconds.
    used_us = [at.program_cpu_ns // 1000 for at in (stretch.before, stretch.after, moments[-1])]
    assert with_start or used_us[0] > 0
    assert used_us[0] < used_us[1] <= used_us[2]
    if found.experiment in ("burn", "pinning"):
        assert measured_s == pytest.approx(duration_s)
        # Two clocks of one process: that of all its threads, and the one that the program reads, in ticks of 10 ms.
        assert (used_us[1] - used_us[0]) / 1e6 >= 0.99 * found.seen["cpu_s"] - 0.02
    host = fork.program.host
    assert host is not None and host.elapsed_s == fork.program.host_span_s
    if found.experiment == "fanout":
        assert stretch.after.remote_cpu_ns > stretch.before.remote_cpu_ns > 0
    return fork


def seen(result: ProgramResult) -> dict[str, Any]:
    assert result.seen is not None, result.problem
    return result.seen


def pinning(real: Real, inside: str, jdk: str, folder: Path) -> ProgramResult:
    return told(run_judged(real, cell(f"pin-{inside}", jdk, "virtual+carriers-2", "count-20"), folder))


def test_synchronized_pins_on_21_and_no_more_on_25(real: Real, tmp_path: Path) -> None:
    result = pinning(real, "synchronized", PINS, tmp_path)
    before, after = seen(result), seen(pinning(real, "synchronized", FREE, tmp_path))
    assert_pinned(before["throughput_per_s"], PINNED_PER_S)
    assert result.expected is not None and result.expected.value == PINNED_PER_S
    assert after["throughput_per_s"] >= 5 * before["throughput_per_s"]
    assert before["pinned"]["count"]
    assert any("Blocking" in frame for frame in before["pinned"]["stacks"][0]["frames"])
    assert after["pinned"]["count"] == 0


@pytest.mark.parametrize("inside", ["lock", "object-wait"])
def test_a_lock_does_not_pin_and_more_carriers_make_up_for_waits_on_21(real: Real, tmp_path: Path, inside: str) -> None:
    found = seen(pinning(real, inside, PINS, tmp_path))
    assert found["throughput_per_s"] >= 5 * PINNED_PER_S
    assert found["pinned"]["count"] == 0 if inside == "lock" else found["carriers"]["compensating"] >= 10


def test_a_native_frame_pins_where_it_can_be_tried(real: Real, tmp_path: Path) -> None:
    assert pinning(real, "native", PINS, tmp_path).outcome == "not-on-this-jdk"
    assert_pinned(seen(pinning(real, "native", FREE, tmp_path))["throughput_per_s"], PINNED_PER_S)


def test_threads_that_enter_a_contended_monitor_leave_no_carrier_on_21(real: Real, tmp_path: Path) -> None:
    result = pinning(real, "contended-monitor", PINS, tmp_path)
    before, after = seen(result), seen(pinning(real, "contended-monitor", FREE, tmp_path))
    assert (before["operations"], before["threads_served"]) == (0, 0)
    assert result.expected is not None and result.expected.value == 0
    assert after["throughput_per_s"] >= 5 * PINNED_PER_S


def test_threads_that_wait_inside_synchronized_hang_on_21_alone(real: Real, tmp_path: Path) -> None:
    def hang(inside: str, jdk: str) -> Fork:
        return run(real, cell(f"hang-{inside}", jdk, "virtual+carriers-2", "count-3"), tmp_path / jdk / inside)

    for inside, jdk in (("synchronized", FREE), ("lock", PINS)):
        free = told(hang(inside, jdk))
        assert (free.outcome, seen(free)["went_on"], seen(free)["hung"]) == ("complete", 3, None)
    fork = hang("synchronized", PINS)
    assert fork.status is not Status.FAILED, "that it hung is its result"
    result = told(fork)
    assert (result.outcome, fork.readings[0].value, fork.readings[0].expected) == ("hung", 0, 0)
    found = seen(result)["hung"]
    assert (found["lock_free"], found["waiting"], found["went_on_after_interrupt"]) == (True, 3, 2)
    log = next((tmp_path / PINS / "synchronized").rglob("standalone.err")).read_text()
    assert "Contest.turn" in log, "a dump of all threads"


def test_a_thread_for_each_task_allocates_what_a_pool_keeps(real: Real, tmp_path: Path) -> None:
    kept, lost = (
        run(real, cell("json-small", FREE, arm, "count-20"), tmp_path / arm, BURN_S).readings
        for arm in ("work-stealing", "virtual")
    )
    assert kept[2].metric == lost[2].metric == "allocated per operation"
    assert lost[2].value >= 2 * kept[2].value, "Jackson's buffers have several KiB"


@pytest.mark.parametrize("pool", ["hikari-7.0.2", "hikari-7.1.0", "agroal"])
def test_connections_are_borrowed_from_the_pool_that_was_asked_for(real: Real, tmp_path: Path, pool: str) -> None:
    fork = run(real, cell(f"few-{pool}", FREE, "virtual", "count-20"), tmp_path, BURN_S)
    assert any(part.endswith(f"/{pool}.jar") for part in fork.command[fork.command.index("-cp") + 1].split(":"))
    result = told(fork)
    found = seen(result)
    assert found["operations"] > 0 and found["rounds"] == 1
    # Agroal 3.2.1 may leave a thread waiting though connections are free.
    assert result.outcome == "complete" or (pool == "agroal" and 0 < found["stuck"] < 20)
    # Each thread times one of 64, before the window and in it; the two counts are not read at the same moment. Those
    # that wait at the end are counted as lower bounds.
    assert 0 <= found["lower_bounds"] <= 20
    assert found["waited"]["count"] == pytest.approx(found["operations"] / 64, rel=0.05, abs=2 * 20)


def rows_of_the_ended() -> set[Path]:
    """Return the folders of rows whose program has ended, not those of another run on this host."""
    found = Path("/var/tmp").glob("jdkmatrix-puts-*")
    return {folder for folder in found if not psutil.pid_exists(int(folder.name.split("-")[2]))}


@pytest.mark.parametrize("workload", ["puts-small", "puts-small-sync"])
def test_rows_are_put_into_files_that_are_gone_afterwards(real: Real, tmp_path: Path, workload: str) -> None:
    before = rows_of_the_ended()
    one = cell(workload, FREE, "virtual-bounded-5+carriers-2", "count-20")
    found = seen(told(run(real, one, tmp_path, BURN_S)))
    assert found["operations"] > 0, "those that are under way at either end are told of, or counted"
    assert abs(found["operations"] - found["waited"]["count"]) <= 2 * 20
    assert found["about"]["H2"].startswith("2.2.224") and " on " in found["about"]["File system"]
    assert rows_of_the_ended() <= before


def test_rows_of_a_program_that_was_killed_are_gone_with_the_next_one(
    real: Real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of_the_ended()

    def ended(process: subprocess.Popen[bytes], timeout_s: float) -> int:
        """Kill the program once there are rows: a moment after its folder is made, it is ready to remove it."""
        while process.poll() is None and not list(Path("/var/tmp").glob(f"jdkmatrix-puts-{process.pid}-*/*")):
            time.sleep(0.01)
        process.kill()
        return process.wait(timeout_s)

    one = cell("puts-small", FREE, "fixed-5", "count-20")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("jdkmatrix.subjects.experiments.measurement._wait", ended)
        assert [reason.code for reason in run(real, one, tmp_path / "ended", BURN_S).reasons] == ["killed"]
    told(run(real, one, tmp_path / "next", BURN_S))
    assert rows_of_the_ended() <= before


def test_lines_on_standard_output_do_not_hide_the_result(real: Real, tmp_path: Path) -> None:
    found = told(run(real, cell("print-cold", FREE, "virtual", "count-20"), tmp_path))
    assert seen(found)["started"] == 20
    lines = next(tmp_path.rglob("standalone.out")).read_text().splitlines()
    assert sum(line.startswith("thread ") for line in lines) == 20


# In BurnTest of the program itself, every arm burns, on one JDK.
@pytest.mark.parametrize(
    ("jdk", "executor", "load"),
    [(FREE, "platform", "tasks-4"), (FREE, "fjp-fifo", "tasks-50-per-s"), (PINS, "virtual", "tasks-4")],
)
def test_an_arm_burns(real: Real, tmp_path: Path, jdk: str, executor: str, load: str) -> None:
    result = told(run_judged(real, cell("burn-small", jdk, executor, load, burn_us=500), tmp_path, BURN_S))
    assert result.outcome == "complete"
    found = seen(result)
    assert found["rounds_per_task"] == 500 * 500
    assert found["latency_to_end"]["count"] >= found["completed"] > 0
    assert (found["parks"]["probe"] == "on") == (executor != "platform"), "no worker waits for a second task"
    assert found["cpus"] == 1
    if load == "tasks-50-per-s":
        assert found["due"] == 50 * BURN_S, "whatever became of them"


def test_a_killed_program_leaves_no_file_behind(real: Real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed as by a box that ends it: nothing in the program can tidy up."""
    shared, places = Path("/tmp"), (Path("/tmp"), tmp_path / "scratch")
    before = set(shared.iterdir())

    def killed(process: subprocess.Popen[bytes], timeout_s: float) -> int:
        while process.poll() is None and not any(set(place.glob("parks*.jfr")) - before for place in places):
            time.sleep(0.01)
        process.kill()
        return process.wait(timeout_s)

    monkeypatch.setattr("jdkmatrix.subjects.experiments.measurement._wait", killed)
    fork = run(real, cell("burn-small", FREE, "fixed-5", "tasks-4", burn_us=500), tmp_path)
    assert [reason.code for reason in fork.reasons] == ["killed"]
    assert not set(shared.glob("parks*.jfr")) - before
    assert not (tmp_path / "scratch").exists()


def test_the_host_is_judged_by_what_it_did_while_many_threads_were_started(real: Real, tmp_path: Path) -> None:
    fork = run_judged(real, cell("print-small", FREE, "platform", "count-2000"), tmp_path)
    assert fork.program is not None and fork.program.host is not None
    ended = fork.program.host.threads_ended
    assert ended is not None and ended >= 1900, "of 2,000, and of others"


def test_a_virtual_thread_takes_less_memory_than_a_platform_thread(real: Real, tmp_path: Path) -> None:
    each = {}
    for kind in ("virtual", "platform"):
        found = seen(told(run(real, cell("sleep-small", PINS, kind, "count-2000"), tmp_path)))
        assert found["live"] == 2000
        each[kind] = found["per_thread"]
    virtual, platform = each["virtual"], each["platform"]
    assert virtual["rss_bytes"] < platform["rss_bytes"]
    assert platform["virt_bytes"] >= 0.99 * 512 * 1024, "its stack, -Xss512k; malloc takes 64 MiB now and then"
    assert platform["native_threads"] == pytest.approx(1.0, abs=0.01)
    assert virtual["native_threads"] == pytest.approx(0.0, abs=0.01)


def test_a_host_that_refuses_threads_is_a_result(real: Real, tmp_path: Path) -> None:
    fork = run(real, cell("sleep-boxed", FREE, "platform", "count-2000"), tmp_path)
    if fork.limits[0].by == "watch":
        assert fork.outcomes, "ended by the watch, which says so"
        return
    found = told(fork)
    assert found.outcome == "threads-refused"
    assert found.problem is not None and found.problem.at_count is not None
    assert 0 < found.problem.at_count < 300
    assert seen(found)["started"] == found.problem.at_count


@pytest.mark.parametrize("jdk", BOTH)
def test_a_pool_takes_rounds_and_virtual_threads_one(real: Real, tmp_path: Path, jdk: str) -> None:
    """Some run on either JDK; in FanoutTest of the program itself, all of them run on one."""
    for how in ("structured", "fixed-5" if jdk == PINS else "virtual-semaphore-5"):
        found = told(run_judged(real, cell("fan", jdk, how, "count-20"), tmp_path))
        assert (found.outcome, seen(found)["ok"], seen(found)["failed"]) == ("complete", 20, 0)
        if how.endswith("-5"):
            assert seen(found)["in_flight_most"] <= 5
            assert seen(found)["wall_s"] >= 20 / 5 * 0.2, "rounds come one after the other, on however slow a host"
        else:
            assert seen(found)["in_flight_most"] > 5, "on however slow a host"


def test_too_few_open_files_are_a_result_with_advice(real: Real, tmp_path: Path) -> None:
    found = told(run(real, cell("fan-few-files", FREE, "virtual", "count-2000"), tmp_path))
    assert found.outcome == "files-refused"
    assert found.problem is not None and found.problem.advice is not None
    assert "ulimit -n" in found.problem.advice
