"""The steps of matrix.yml on a machine of ours, one job after another."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.project import called
from tests.support.workflow_steps import FOLDER, Ended, load, run_step, shell_step

# What `matrix run` leaves, and how it ends: cut off as at the end of a slice, when `timeout` ends what it started.
MEASURES = """
if arguments[3:4] == ["run"]:
    run = Path(arguments[-1])
    (run / "cells").mkdir(parents=True, exist_ok=True)
    (run / "run.json").write_text("{}")
"""
CUT_OFF = "os.kill(os.getppid(), signal.SIGTERM); signal.pause()"
PAUSES = f"{MEASURES}    {CUT_OFF}\n"
# Cancels like GitHub, which signals the process of the step and no other.
CANCELS = f"""{MEASURES}
    step = os.getpid()
    while (above := int(Path(f"/proc/{{step}}/stat").read_text().rpartition(")")[2].split()[1])) != {os.getpid()}:
        step = above
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.kill(step, signal.SIGTERM)
    sys.exit(143 if signal.sigtimedwait([signal.SIGTERM], 20) else 1)
"""
EVENTS = ("17 3 * * 6", "17 3 * * 3", "17 3 * * 0,1,2,4,5")


class Machine:
    """A machine of ours. Every step belongs to a new job, on a runner of its own: only `store` outlives it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.jobs = folder, 0
        self.store = folder / "store"

    def step(self, name: str, *, job: int | None = None, **how: object) -> Ended:
        """Run a step. `job`: that of an earlier step, in whose checkout this one continues."""
        self.jobs += job is None
        number = str(job or self.jobs)
        env = {"MATRIX_BENCH": str(self.store), "GITHUB_RUN_ID": number, **how.pop("env", {})}  # type: ignore[dict-item]
        return run_step(shell_step(name), self._folder / f"job-{job or self.jobs}", env=env, **how)  # type: ignore[arg-type]

    def names(self, what: str) -> list[str]:
        return sorted(path.name for path in (self.store / what).iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


# ---------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({}, "--profile matrix"),
        ({"profile": "quick"}, "--profile quick"),
        ({"profile": "article", "scenario": "infoq-ping"}, "--scenario infoq-ping"),
        ({"jdk": "temurin-25"}, "--profile matrix --jdk temurin-25"),
        ({"profile": "full", "jdk": " temurin-21  temurin-25 ", "executor": "liberty virtual"},
         "--profile full --jdk temurin-21 --jdk temurin-25 --executor liberty --executor virtual"),
    ],
)  # fmt: skip
def test_inputs_become_known_arguments(machine: Machine, home: Path, inputs: dict[str, str], arguments: str) -> None:
    assert machine.step("Line up", inputs=inputs).outputs == {"waits": "true"}
    (name,) = machine.names("line")
    assert machine.step("Measure", does=MEASURES).calls == (
        (
            *("nix", "run", f"git+file://{machine.store.parent / 'job-2'}?rev=c0ffee#everything", "--", "run"),
            *(*arguments.split(), "--run", str(machine.store / "results" / name)),
        ),
    )
    planned = called(home, "plan", *arguments.split())  # takes what `run` takes, and measures nothing
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(
    ("when", "asked"), [(EVENTS[0], "--profile matrix"), (EVENTS[1], "--scenario in-turn"), (EVENTS[2], None)]
)
def test_the_schedule_has_the_matrix_and_scenarios(machine: Machine, home: Path, when: str, asked: str | None) -> None:
    assert when in [entry["cron"] for entry in load(FOLDER / "matrix.yml")["on"]["schedule"]]
    ended = machine.step("Line up", schedule=when)
    if asked is None:
        assert (ended.outputs, machine.names("line")) == ({}, []), "nothing waits: there is nothing to do"
        return
    (name,) = machine.names("line")
    assert (machine.store / "line" / name).read_text().splitlines() == ["c0ffee", *asked.split()]
    planned = called(home, "plan", *asked.split())
    assert planned.returncode == 0, planned.stderr


def test_the_schedule_comes_every_day() -> None:
    days = [entry["cron"].split()[-1] for entry in load(FOLDER / "matrix.yml")["on"]["schedule"]]
    assert sorted("".join(days).replace(",", "")) == list("0123456")


@pytest.mark.parametrize("name", ["profile", "scenario", "jdk", "executor", "machine"])
def test_an_input_is_never_run_nor_expanded(machine: Machine, tmp_path: Path, name: str) -> None:
    hostile = '";touch${IFS}pwned;#*$(touch${IFS}pwned)`touch${IFS}pwned`/../../..'
    assert machine.step("Line up", inputs={name: hostile}).code == 0
    (run,) = machine.names("line")
    assert re.fullmatch(r"[A-Za-z0-9-]+", run), "it becomes the name of a folder, a file and a tag"
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert name == "machine" or call[-4:-2] == (f"--{name}", hostile)
    assert not list(tmp_path.rglob("pwned"))


# ---------------------------------------------------------------- a run of several days


def test_a_run_of_several_days_goes_on_where_it_was_cut_off(machine: Machine) -> None:
    """At the end of a slice, the run gets SIGTERM. The next job may have a new checkout, and main may have moved, yet
    neither the run's results nor its commit are lost."""
    machine.step("Line up")
    (name,) = machine.names("line")
    cut = machine.step("Measure", does=PAUSES)
    assert (cut.code, machine.names("line"), machine.names("changed")) == (0, [name], [name])
    assert f"::notice title=matrix::{name} was stopped (143) and goes on next time" in cut.output
    machine.step("Line up", schedule=EVENTS[2], env={"GITHUB_SHA": "f00d"})
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[2].endswith("?rev=c0ffee#everything")
    assert call[3:] == ("--", "run", "--resume", "--run", str(machine.store / "results" / name))
    assert (machine.names("line"), machine.names("results")) == ([], [name])


def test_whoever_cancels_a_job_ends_the_run_in_order_and_no_other_begins(machine: Machine) -> None:
    machine.step("Line up")
    machine.step("Line up", inputs={"profile": "quick"})
    ended = machine.step("Measure", does=CANCELS)
    assert (ended.code, len(ended.calls), len(machine.names("line"))) == (0, 1, 2), ended.output
    assert "was stopped (143) and goes on next time" in ended.output


def test_a_run_that_is_killed_goes_on_next_time_and_keeps_nothing_else_waiting(machine: Machine) -> None:
    """The kernel may kill it, say, for want of memory: it may need as much every day."""
    machine.step("Line up")
    machine.step("Line up", inputs={"profile": "quick"})
    ended = machine.step("Measure", does=MEASURES + "    os.kill(os.getpid(), signal.SIGKILL)\n")
    assert (ended.code, len(ended.calls)) == (1, 2)
    assert ended.output.count(" ended with 137; the next job tries again") == 2
    assert all("--resume" in call for call in machine.step("Measure", does=MEASURES).calls)


@pytest.mark.parametrize(("code", "kind"), [(0, "complete"), (1, "unfinished")])
def test_what_is_given_up_meanwhile_is_not_begun_nor_called_complete(machine: Machine, code: int, kind: str) -> None:
    """Runs are given up by deleting their files in line/, as the errors say."""
    machine.step("Line up")
    machine.step("Line up", inputs={"profile": "quick"})
    gives_up = MEASURES + '    for waiting in (run.parents[1] / "line").iterdir():\n        waiting.unlink()\n'
    ended = machine.step("Measure", does=gives_up, code=code)
    assert (ended.code, len(ended.calls), machine.names("line")) == (code, 1, []), ended.output
    assert machine.step("Pack").outputs == {kind: "true"}


def test_a_run_that_was_cut_off_before_it_had_a_run_json_is_begun_again(machine: Machine) -> None:
    """Its command runs again in its folder, which keeps the capacities that it has, as `matrix run --resume` says."""
    machine.step("Line up", inputs={"profile": "quick"})
    machine.step("Measure", does=CUT_OFF)
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[4:7] == ("run", "--profile", "quick")


def test_what_is_not_complete_is_measured_first_and_the_same_is_not_begun_twice(machine: Machine) -> None:
    machine.step("Line up", schedule=EVENTS[0])
    machine.step("Measure", does=PAUSES)
    (first,) = machine.names("line")
    again = machine.step("Line up", schedule=EVENTS[0], env={"GITHUB_SHA": "f00d"})
    assert f"{first} is the same" in again.output and machine.names("line") == [first]
    (machine.store / "line" / first).rename(machine.store / "line" / "20000101T000000Z-older")
    machine.step("Line up", inputs={"profile": "quick"})
    older, newer = machine.step("Measure", does=MEASURES).calls
    assert older[-1].endswith("/20000101T000000Z-older") and newer[4:7] == ("run", "--profile", "quick")


def test_the_scenario_in_turn_of_an_earlier_week_is_not_that_of_this_one(machine: Machine) -> None:
    """They differ although both are asked for in the same words. One that has not begun belongs to no week."""
    machine.step("Line up", schedule=EVENTS[1])
    machine.step("Measure", does=PAUSES)
    (first,) = machine.names("line")
    assert "is the same" in machine.step("Line up", schedule=EVENTS[1]).output
    for what in ("line", "results"):
        (machine.store / what / first).rename(machine.store / what / "20000101T000000Z-in-turn")
    machine.step("Line up", schedule=EVENTS[1])
    waiting = machine.names("line")
    assert len(waiting) == 2 and waiting[0] == "20000101T000000Z-in-turn"
    assert "is the same" in machine.step("Line up", schedule=EVENTS[1]).output


@pytest.mark.parametrize(
    ("code", "said"), [(0, ""), (3, "::warning title=matrix::{} is complete, but with failed or invalid cells")]
)
def test_failed_or_invalid_cells_are_told_and_do_not_end_the_job(machine: Machine, code: int, said: str) -> None:
    machine.step("Line up")
    (name,) = machine.names("line")
    ended = machine.step("Measure", does=MEASURES, code=code, says="")
    assert (ended.code, machine.names("line"), machine.names("changed")) == (0, [], [name])
    assert ended.output.startswith(said.format(name)) and bool(ended.output) == bool(said)


def test_what_fails_is_tried_again_and_keeps_nothing_else_waiting(machine: Machine) -> None:
    """Somebody may be measuring by hand, or the network may be down."""
    machine.step("Line up", schedule=EVENTS[0])
    machine.step("Line up", schedule=EVENTS[1])
    ended = machine.step("Measure", code=1)
    assert (ended.code, len(ended.calls), len(machine.names("line"))) == (1, 2, 2)
    assert ended.output.count("the next job tries again, until line/") == 2
    assert machine.step("Pack").outputs == {}, "there is nothing to hand over"
    assert len(machine.step("Measure", does=MEASURES).calls) == 2


def test_what_has_nothing_measured_yet_begins_at_the_commit_of_the_newest_request(machine: Machine) -> None:
    """The commit of an older request may be the reason why it fails."""
    machine.step("Line up")
    machine.step("Measure", code=1)
    machine.step("Line up", env={"GITHUB_SHA": "f00d"})
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[2].endswith("?rev=f00d#everything")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [({"profile": "quik"}, ("--profile", "quik")), ({"profile": "", "scenario": "fan-out"}, ("--scenario", "fan-out"))],
)
def test_what_a_person_mistyped_is_not_lined_up(
    machine: Machine, inputs: dict[str, str], words: tuple[str, ...]
) -> None:
    asked = machine.step("Line up", inputs=inputs, code=1)
    assert asked.calls == (("nix", "run", ".#everything", "--", "plan", *words),)
    assert (asked.code, machine.names("line")) == (1, [])


# ---------------------------------------------------------------- handing it over


def test_what_could_not_be_handed_over_is_handed_over_by_the_next_job(machine: Machine) -> None:
    machine.step("Line up", inputs={"profile": "quick"})
    machine.step("Line up", inputs={"profile": "article"})
    quick, article = sorted(machine.names("line"), key=lambda name: "article" in name)
    machine.step("Measure", does=MEASURES)
    (machine.store / "changed" / article).write_text("")  # as if it were cut off
    for _ in range(2):  # the upload of the first one fails
        packed = machine.step("Pack")
        assert packed.outputs == {"complete": "true", "unfinished": "true"}
        job = machine.store.parent / f"job-{machine.jobs}" / "packed"
        assert [str(path.relative_to(job)) for path in sorted(job.rglob("*.gz"))] == [
            f"complete/{quick}.tar.gz", f"unfinished/{article}.tar.gz"
        ]  # fmt: skip
    machine.step("Note what was handed over", job=machine.jobs)
    assert (machine.names("changed"), machine.names("results")) == ([], sorted([quick, article]))
    assert machine.step("Pack").outputs == {}


def test_a_workflow_that_is_run_again_hands_over_all_once_more_and_measures_nothing_twice(machine: Machine) -> None:
    """A release may have failed, or the site: GitHub reruns every job after the one that failed, or all of them."""
    same = {"GITHUB_RUN_ID": "a workflow run"}
    for _ in range(2):
        machine.step("Line up", env=same)
        machine.step("Measure", does=MEASURES, env=same)
        packed = machine.step("Pack", env=same)
        assert packed.outputs == {"complete": "true"}
        machine.step("Note what was handed over", job=machine.jobs, env=same)
    assert (machine.names("line"), len(machine.names("results"))) == ([], 1)
    machine.step("Line up")
    assert len(machine.names("line")) == 1, "whoever asks anew"
    assert machine.step("Pack").outputs == {}


@pytest.mark.parametrize(("name", "summary"), [("Sum up", "said\n"), ("Write the site of these runs", "")])
def test_damaged_result_files_are_told_and_what_is_left_is_shown(machine: Machine, name: str, summary: str) -> None:
    machine.step("Line up")
    machine.step("Measure", does=MEASURES)
    for code, job_goes_on in ((0, True), (3, True), (1, False), (2, False)):
        ended = machine.step(name, code=code)
        assert (ended.code == 0) == job_goes_on, code
        assert ("::warning title=matrix::result files" in ended.output) == (code == 3)
        assert ended.summary == summary


# ---------------------------------------------------------------- with this checkout's matrix


@pytest.mark.real
def test_the_real_summary_is_written(machine: Machine, home: Path) -> None:
    machine.step("Line up")
    (name,) = machine.names("line")
    (machine.store / "changed" / name).touch()
    (run,) = (home / "results").iterdir()
    (machine.store / "results" / name).symlink_to(run)
    ended = machine.step("Sum up", home=home)
    assert ended.code == 0, ended.output
    assert ended.summary.startswith("### ")
    assert "**Failed, invalid, not steady, or without a figure**" in ended.summary


@pytest.mark.real
def test_the_real_matrix_refuses_what_it_does_not_know(machine: Machine, home: Path) -> None:
    asked = machine.step("Line up", inputs={"profile": "quik"}, home=home)
    assert asked.code == 1
    assert 'did you mean "quick"' in asked.output
    assert machine.names("line") == []
