"""A fork of an experiment: the program is a script that does what a test wants; process, limits and logs are real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from jdkmatrix.domain.cell_key import NO_SERVER
from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.faults import ProgramError, faults_of
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.loads.attainment import failed_by_itself
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.subjects.experiments.measurement import STDERR_LOG, ProgramCell, _wait, parse_result
from tests.support.builders import key
from tests.support.fork_setups import draft_of, usual
from tests.support.pinning_results import RESULT
from tests.support.real_parts import Silent
from tests.support.shipped import MATRIX
from tests.support.waiting import has_ended, wait_until

# What the host does while a test runs is not what these tests are about.
CALM = MATRIX.model_copy(
    update={
        "thresholds": MATRIX.thresholds.model_copy(
            update={"steal_per_precision_max": 100.0, "foreign_per_precision_max": 100.0,
                    "foreign_sut_share_max": 100.0, "throttled_share_max": 1.0,
                    "runner_cpu_share_max": 1.0, "readings_spread_max": 1e6, "swapped_bytes_per_s_max": 1e12,
                    "clock_step_s_max": 1e6}
        )
    }
)  # fmt: skip
KEY = key(workload="pinning-lock", server=NO_SERVER, load="count-100")

PINNING = CALM.experiments[KEY.workload]


def run(folder: Path, script: str, **changes: Any) -> Fork:
    (folder / "result.json").write_text(json.dumps(RESULT))
    program = usual(
        matrix=CALM, load=CALM.task_load(KEY), workload=CALM.experiments[KEY.workload].model_copy(update=changes),
        command=("sh", "-c", script, "standalone"),
    )  # fmt: skip
    planned = PlannedFork(KEY, fork=2, position=1, sequence=5)
    return measure_fork(draft_of(ProgramCell(**program), folder, planned=planned), Silent())


def test_the_last_line_counts(tmp_path: Path) -> None:
    fork = run(tmp_path, f"echo a warning of the JVM; cat {tmp_path}/result.json; echo progress >&2")
    assert (fork.status, fork.reasons, fork.fork, fork.sequence) == (Status.OK, (), 2, 5)
    assert [(one.metric, one.value, one.expected) for one in fork.readings] == [
        ("throughput", 1990.0, 2000.0), ("CPU used", 0.1, None),
    ]  # fmt: skip
    assert fork.usable
    assert fork.program is not None and fork.program.host is not None
    assert fork.command[-2:] == ("--warmup-s", "2")
    assert (tmp_path / "logs" / STDERR_LOG).read_text() == "progress\n"
    assert fork.logs[STDERR_LOG] == f"../logs/{STDERR_LOG}"


def test_it_runs_on_its_cpus_and_sees_what_it_is_asked(tmp_path: Path) -> None:
    script = f'grep Cpus_allowed_list /proc/$$/status >&2; echo "$@" >&2; cat {tmp_path}/result.json'
    fork = run(tmp_path, script)
    assert fork.status is Status.OK, fork.reasons
    said = (tmp_path / "logs" / STDERR_LOG).read_text()
    assert f"list:\t{fork.confinement.sut_cpus[0]}\n" in said
    assert "pinning --construct lock --threads 100 --block-ms 50" in said


def test_it_has_a_folder_of_its_own_that_is_gone_afterwards(tmp_path: Path) -> None:
    fork = run(tmp_path, f"mkdir {{folder}} && echo kept > {{folder}}/file && cat {tmp_path}/result.json")
    assert fork.status is Status.OK, fork.reasons
    assert f"{tmp_path}/scratch/file" in fork.command[2]
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo broken >&2; exit 1", ["ended with exit status 1", "broken"]),
        ("kill -SEGV $$", ["killed by signal 11"]),
        ("true", ["printed no result"]),
        ("echo '{}'", ["its last line is not a result"]),
        ("echo 'no json'", ["its last line is not a result"]),
        ("exec /nowhere/java", ["ended with exit status"]),
    ],
)
def test_what_goes_wrong_is_recorded(tmp_path: Path, script: str, expected: list[str]) -> None:
    fork = run(tmp_path, script)
    assert fork.status is Status.FAILED
    assert fork.program is not None and fork.result is None
    assert [reason.code for reason in fork.reasons] == ["program"]
    for text in expected:
        assert text in fork.reasons[0].message


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("kill -9 $$", "killed", "the program was ended by signal 9, which did not come from this tool"),
        ("kill $$", "killed", "the program was ended by signal 15, which did not come from this tool"),
        ("exit 143", "killed", "the program was ended by signal 15, which did not come from this tool"),
        ("rm -r {here}/logs; cat {here}/result.json", "internal-error", "No such file"),
        (
            "echo java.io.IOException: No space left on device >&2; exit 1",
            "disk-full",
            "the program ran out of disk space",
        ),
        (
            "echo launch: cannot run on CPUs 3: Invalid argument >&2; exit 1",
            "measurement",
            "launch: cannot run on CPUs",
        ),
    ],
)
def test_what_others_do_to_it_or_its_logs_is_a_host_fault(tmp_path: Path, script: str, code: str, message: str) -> None:
    fork = run(tmp_path, script.format(here=tmp_path))
    assert (fork.status, [reason.code for reason in fork.reasons]) == (Status.FAILED, [code])
    assert message in fork.reasons[0].message
    assert faults_of(fork) == (code,)


HEAP = "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("script", "how"),
    [
        (f"echo '# {HEAP}'; kill -9 $$", "was killed by signal 9"),
        (f"echo 'Terminating due to {HEAP}'; exit 3", "ended with exit status 3"),
        (f"echo 'Aborting due to {HEAP}'; kill -ABRT $$", "was killed by signal 6"),
        (f"echo 'Exception in thread \"main\" {HEAP}' >&2; exit 1", "ended with exit status 1"),
    ],
)
def test_a_program_that_ends_out_of_memory_is_not_measured_again(tmp_path: Path, script: str, how: str) -> None:
    fork = run(tmp_path, script)
    (reason,) = fork.reasons
    assert (fork.status, reason.code) == (Status.FAILED, "out-of-memory")
    assert reason.message.startswith(f"the program ran out of memory, and {how}: ") and HEAP in reason.message
    assert faults_of(fork) == () and failed_by_itself(fork)


def test_a_program_that_the_kernel_killed_is_measured_again_whatever_it_had_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jdkmatrix.subjects.experiments.measurement.oom_kills", lambda: 4)
    monkeypatch.setattr("jdkmatrix.host.ending.oom_kills", lambda: 5)
    fork = run(tmp_path, f"echo 'caught {HEAP}'; kill -9 $$")
    assert [reason.code for reason in fork.reasons] == ["killed"]
    assert fork.reasons[0].message.endswith("; meanwhile the kernel killed 1 for lack of memory")
    assert faults_of(fork) == ("killed",)


def test_a_program_that_somebody_stops_is_a_fault_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(process: subprocess.Popen[bytes], timeout_s: float) -> int:
        wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        return _wait(process, 0)

    monkeypatch.setattr("jdkmatrix.subjects.experiments.measurement._wait", stopped)
    monkeypatch.setattr("jdkmatrix.subjects.experiments.measurement._GRACE_S", 0)
    fork = run(tmp_path, "kill -STOP $$")
    assert [reason.message for reason in fork.reasons] == ["the program was stopped by somebody else, or by a debugger"]
    assert faults_of(fork) == ("killed",)


def test_a_limit_that_it_hits_is_an_outcome(tmp_path: Path) -> None:
    script = f"echo 'java.net.SocketException: Too many open files' >&2; ulimit -n >&2; cat {tmp_path}/result.json"
    fork = run(tmp_path, script, limits=Limits(open_files_max=64))
    assert fork.status is Status.OK, "its own figures stand"
    assert [outcome.code for outcome in fork.outcomes] == ["files-limit"]
    assert [reason.code for reason in fork.reasons] == ["files-limit"]
    assert fork.outcomes[0].message.startswith("the program ran into its limit of 64 open files")
    assert "\n64\n" in (tmp_path / "logs" / STDERR_LOG).read_text()
    assert [limit.limit for limit in fork.limits] == ["open files"]


def test_a_limit_that_it_hit_before_somebody_else_killed_it_is_no_excuse(tmp_path: Path) -> None:
    fork = run(tmp_path, "echo 'Too many open files' >&2; kill -KILL $$", limits=Limits(open_files_max=64))
    assert (fork.status, [reason.code for reason in fork.reasons]) == (Status.FAILED, ["killed", "files-limit"])
    assert faults_of(fork) == ("killed",)


def test_a_disturbed_host_makes_it_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strict = CALM.thresholds.model_copy(update={"steal_per_precision_max": -1.0})
    monkeypatch.setattr(f"{__name__}.CALM", CALM.model_copy(update={"thresholds": strict}))
    fork = run(tmp_path, f"cat {tmp_path}/result.json")
    assert (fork.status, [reason.code for reason in fork.reasons]) == (Status.INVALID, ["steal"])
    assert fork.program.reasons == fork.reasons
    assert fork.readings, "what was measured is kept"
    assert not fork.usable


def test_readings_far_from_what_it_measured_make_it_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks as if this tool had been stopped, for longer than the shortest time that is reported."""
    strict = CALM.thresholds.model_copy(update={"readings_spread_max": -10.0})
    monkeypatch.setattr(f"{__name__}.CALM", CALM.model_copy(update={"thresholds": strict}))
    tell = (
        "import json, sys, time; told = json.load(open(sys.argv[1])); now = time.monotonic_ns(); "
        "print(json.dumps({**told, 'measured_span': {'start_monotonic_ns': now, 'end_monotonic_ns': now + 1000}}))"
    )
    fork = run(tmp_path, f'"{sys.executable}" -c "{tell}" {tmp_path}/result.json')
    assert (fork.status, [reason.code for reason in fork.reasons]) == (Status.INVALID, ["readings-late"])


def test_no_process_outlives_a_run_that_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = tmp_path / "pid"

    def stop(*_: object) -> None:
        wait_until(lambda: pid.exists() and bool(pid.read_text().strip()))
        raise KeyboardInterrupt

    monkeypatch.setattr("jdkmatrix.subjects.experiments.measurement._wait", stop)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, f"echo $$ > {pid}; sleep 600")
    assert has_ended(int(pid.read_text()))


def test_a_result_without_figures_is_no_failure() -> None:
    refused = {**RESULT, "outcome": "not-on-this-jdk", "seen": None, "expected": None,
               "problem": {"message": "no such API", "at_count": None, "advice": "JDK 22"}}  # fmt: skip
    result, readings = parse_result(json.dumps(refused), PINNING)
    assert (result.outcome, readings) == ("not-on-this-jdk", ())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seen": {}}, "seen: KeyError: 'threads_started'"),
        ({"seen": {**RESULT["seen"], "throughput_per_s": float("inf")}}, "seen: ValidationError"),
        ({"experiment": "burn"}, "not a result: of burn, not pinning"),
        ({"outcome": "done"}, "outcome: "),
    ],
)
def test_what_no_such_experiment_prints_is_no_result(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        parse_result(json.dumps({**RESULT, **changes}), PINNING)
