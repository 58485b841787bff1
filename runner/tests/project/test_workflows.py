"""The workflows of .github: what may run where with which rights, and every shell step run here with stand-ins."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT, called, make_project
from tests.support.served_runs import Shape, synthetic_run
from tests.support.workflow_steps import FOLDER, WORKFLOWS, Step, jobs, load, run_step, shell_step, shell_steps, steps

PINNED = re.compile(r"^ *(?:- )?uses: ([\w-]+(?:/[\w-]+)+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", re.MULTILINE)
BUILD = (("nix", "build"), ("nix", "store"))
APPS = {".#matrix", ".#doctor", ".#report"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one finished run, made up, with cells of every outcome."""
    folder = make_project(tmp_path_factory.mktemp("project"))
    shape = Shape(
        jdks=("temurin-25",),
        executors=("liberty", "virtual", "platform"),
        burn_us=(0, 50, 200),
        loads=("saturate-50", "rate-2000"),
        blocks=1,
        windows=1,
        accidents=True,
    )
    store = RunStore.create(folder / "results" / shape.run_id)
    loaded = synthetic_run(store.directory, shape)
    store.save_run(loaded.run)
    for cell in loaded.cells:
        store.save_cell(cell)
    return folder


def test_both_workflows_are_there() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "matrix.yml"]


# ---------------------------------------------------------------- what may run where


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_and_says_its_version(path: Path) -> None:
    used = [step.raw["uses"] for step in steps() if step.workflow == path.name and "uses" in step.raw]
    assert used == [f"{action}@{commit}" for action, commit, _ in PINNED.findall(path.read_text())]


def test_an_action_has_the_same_pin_everywhere() -> None:
    pins = {found for path in WORKFLOWS for found in PINNED.findall(path.read_text())}
    assert len({action for action, _, _ in pins}) == len(pins), pins


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_rights_but_those_of_its_jobs(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    assert workflow["defaults"] == {"run": {"shell": "bash"}}, "without it, a failure inside a pipe is not seen"
    assert workflow["name"]


@pytest.mark.parametrize(("label", "job"), list(jobs()))
def test_a_job_has_a_name_a_timeout_and_the_least_rights(label: str, job: dict[str, Any]) -> None:
    assert job["name"]
    assert 0 < int(job["timeout-minutes"]) <= 7200, "GitHub ends a job after 5 days"
    more = {
        "matrix.yml: deploy": {"pages": "write", "id-token": "write"},
        "matrix.yml: keep": {"contents": "write"},
    }
    assert job["permissions"] == more.get(label, {"contents": "read"})
    assert all(step.get("name") and "shell" not in step for step in job["steps"])


def test_no_checkout_leaves_its_token_behind() -> None:
    checkouts = [step for step in steps() if step.raw.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == 5
    assert all(step.raw["with"]["persist-credentials"] == "false" for step in checkouts)


def test_no_expression_is_pasted_into_a_script() -> None:
    assert not [step.label for step in shell_steps() if "${{" in step.raw["run"]]


def test_only_the_schedule_and_a_person_start_a_measurement() -> None:
    assert set(load(FOLDER / "matrix.yml")["on"]) == {"schedule", "workflow_dispatch"}
    for path in WORKFLOWS:
        if "pull_request" in load(path)["on"]:
            assert "self-hosted" not in path.read_text(), "code of a pull request would run on machines of our own"


def test_a_machine_measures_one_thing_at_a_time() -> None:
    workflow = load(FOLDER / "matrix.yml")
    measure = workflow["jobs"]["measure"]
    *kind, machine = measure["runs-on"]
    assert kind == ["self-hosted", "linux", "bare-metal"]
    assert workflow["concurrency"] == {
        "group": f"machine-{machine}",
        "cancel-in-progress": "false",
    }
    default = workflow["on"]["workflow_dispatch"]["inputs"]["machine"]["default"]
    assert machine == f"${{{{ inputs.machine || '{default}' }}}}"


def test_what_was_measured_is_kept_whatever_became_of_the_measurement() -> None:
    after = [step for step in steps() if step.workflow == "matrix.yml" and step.job == "measure"]
    measured = next(index for index, step in enumerate(after) if step.raw.get("id") == "measure")
    assert len(after) > measured + 1
    for step in after[measured + 1 :]:
        assert step.raw["if"].startswith("${{ always() && "), step.label
    kept = {
        step.raw["with"]["path"] for step in after if step.raw.get("uses", "").startswith("actions/upload-artifact@")
    }
    assert kept == {"results/", "site/"}
    minutes_left = int(load(FOLDER / "matrix.yml")["jobs"]["measure"]["timeout-minutes"]) - int(
        after[measured].raw["timeout-minutes"]
    )
    assert minutes_left >= 60


def test_only_a_measurement_on_the_main_branch_is_published() -> None:
    jobs = load(FOLDER / "matrix.yml")["jobs"]
    assert (jobs["deploy"]["needs"], jobs["keep"]["needs"]) == ("keep", "measure")
    assert jobs["deploy"]["if"] == jobs["keep"]["if"] == "${{ github.ref == 'refs/heads/main' }}"


def test_what_may_write_to_the_repository_runs_on_no_machine_of_ours() -> None:
    for label, job in jobs():
        if "contents" in job["permissions"] and job["permissions"]["contents"] == "write":
            assert job["runs-on"] == "ubuntu-24.04", label


# ---------------------------------------------------------------- the shell steps


# What these do to files has tests of its own.
WITH_FILES = {"Add them to the release", "Write the site of all runs"}


@pytest.mark.parametrize(
    "step", [step for step in shell_steps() if step.name not in WITH_FILES], ids=lambda step: step.label
)
@pytest.mark.parametrize("code", [0, 7])
def test_every_shell_step_is_one_call_and_fails_with_it(tmp_path: Path, step: Step, code: int) -> None:
    ended = run_step(step, tmp_path, code=code)
    assert (ended.code == 0) == (code == 0), ended.output
    if step.name == "Install what the README asks for":
        assert {program for program, *_ in ended.calls} == {"apt-get"}
        return
    if step.name == "Build each part":
        assert {(program, *arguments)[:2] for program, *arguments in ended.calls} <= {("nix", "eval"), *BUILD}
        return
    ((program, *arguments),) = ended.calls
    if program == "gh":
        assert arguments == ["release", "download", "results", "--pattern", "*.tar.gz", "--dir", "kept"]
        return
    assert (program, *arguments) in {("make", "test"), ("nix", "flake", "check", "--print-build-logs")} or (
        program == "nix" and arguments[0] == "run" and arguments[1] in APPS
    )


@pytest.mark.parametrize(("fails", "code", "said"), [("", 0, ""), (".#parts.jdk-b", 1, "not built: jdk-b\n")])
def test_each_part_is_built_by_itself_and_thrown_away(tmp_path: Path, fails: str, code: int, said: str) -> None:
    """Together they would fill the disk of a hosted runner. One that fails keeps no other from being tried."""
    ended = run_step(shell_step("Build each part"), tmp_path, says="jdk-a jdk-b liberty", fails=fails)
    (asked, *made) = ended.calls
    assert asked[:4] == ("nix", "eval", "--raw", ".#parts")
    assert [call[:2] for call in made] == [*BUILD] * 3
    assert [call[-1] for call in made] == [
        *(".#parts.jdk-a", "gc"), *(".#parts.jdk-b", "gc"), *(".#parts.liberty", "gc")
    ]  # fmt: skip
    assert ended.code == code
    assert ended.output.endswith(said)


def test_parts_are_built_by_the_schedule_alone() -> None:
    workflow = load(FOLDER / "ci.yml")
    assert "schedule" in workflow["on"]
    assert workflow["jobs"]["parts"]["if"] == "${{ github.event_name == 'schedule' }}"
    assert {name for name, job in workflow["jobs"].items() if "if" in job} == {"parts"}


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({}, "--profile matrix"),
        ({"profile": "quick"}, "--profile quick"),
        ({"profile": "article", "scenario": "infoq-ping"}, "--scenario infoq-ping"),
        ({"jdk": "temurin-25"}, "--profile matrix --jdk temurin-25"),
        (
            {"profile": "full", "jdk": " temurin-21  temurin-25 ", "executor": "liberty virtual"},
            "--profile full --jdk temurin-21 --jdk temurin-25 --executor liberty --executor virtual",
        ),
    ],
)
def test_inputs_become_arguments_that_matrix_knows(
    tmp_path: Path, home: Path, inputs: dict[str, str], arguments: str
) -> None:
    ended = run_step(shell_step("Measure"), tmp_path, inputs=inputs)
    assert ended.calls == (("nix", "run", ".#matrix", "--", "run", *arguments.split()),)
    planned = called(home, "plan", *arguments.split())  # takes what `run` takes, and measures nothing
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(("schedule", "arguments"), [(0, "--profile matrix"), (1, "--scenario in-turn")])
def test_the_schedule_measures_the_matrix_and_the_scenarios_in_turn(
    tmp_path: Path, home: Path, schedule: int, arguments: str
) -> None:
    when = load(FOLDER / "matrix.yml")["on"]["schedule"][schedule]["cron"]
    ended = run_step(shell_step("Measure"), tmp_path, schedule=when)
    assert ended.calls == (("nix", "run", ".#matrix", "--", "run", *arguments.split()),)
    planned = called(home, "plan", *arguments.split())
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize("there", [True, False])
def test_a_run_is_kept_beside_the_others_without_its_logs(tmp_path: Path, there: bool) -> None:
    run = tmp_path / "results" / "20260101T000000Z-matrix"
    for name in ("run.json", "cells/a.json", "logs/a/fork-1/messages.log"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text("{}")
    ended = run_step(
        shell_step("Add them to the release"), tmp_path, inputs={"machine": "iron"}, code=0 if there else 1
    )
    packed = "packed/iron-20260101T000000Z-matrix.tar.gz"
    with tarfile.open(tmp_path / packed) as found:
        names = {member.name for member in found if member.isfile()}
    assert names == {f"iron-{run.name}/run.json", f"iron-{run.name}/cells/a.json"}
    upload = ("gh", "release", "upload", "results", packed, "--clobber")
    if there:
        assert ended.calls == (("gh", "release", "view", "results"), upload)
    else:
        assert [call[:3] for call in ended.calls] == [("gh", "release", "view"), ("gh", "release", "create")]
        assert ended.code == 1, "what cannot be kept is a failure"


def test_the_site_is_made_of_the_runs_of_all_machines(tmp_path: Path, home: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (run,) = (home / "results").iterdir()
    for machine in ("iron", "steel"):
        here = tmp_path / machine
        shutil.copytree(run, here)
        told = (here / "run.json").read_text()
        (here / "run.json").write_text(told.replace(run.name, f"{run.name}-on-{machine}"))
        with tarfile.open(kept / f"{machine}.tar.gz", "w:gz") as packed:
            packed.add(here, arcname=f"{machine}-run")
    shutil.copytree(ROOT / "results" / "reference", tmp_path / "results" / "reference")
    ended = run_step(shell_step("Write the site of all runs"), tmp_path, real=True, home=home)
    assert ended.code == 0, ended.output
    assert ended.calls == (("nix", "run", ".#report", "--", "kept", "results/reference"),)


@pytest.mark.parametrize("name", ["profile", "scenario", "jdk", "executor"])
def test_an_input_is_never_run_nor_expanded(tmp_path: Path, name: str) -> None:
    (tmp_path / "a-file").write_text("")
    hostile = '";touch${IFS}pwned;#*$(touch${IFS}pwned)`touch${IFS}pwned`'
    ended = run_step(shell_step("Measure"), tmp_path, inputs={name: hostile})
    assert ended.code == 0, ended.output
    assert ended.calls[0][-2:] == (f"--{name}", hostile)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("code", "job_goes_on", "said"),
    [(0, True, ""), (3, True, "::warning title=matrix::"), (1, False, ""), (2, False, ""), (130, False, "")],
)
def test_failed_or_invalid_cells_are_told_and_do_not_end_the_job(
    tmp_path: Path, code: int, job_goes_on: bool, said: str
) -> None:
    ended = run_step(shell_step("Measure"), tmp_path, code=code, says="")
    assert ended.code == (0 if job_goes_on else code)
    assert ended.output.startswith(said) and bool(ended.output) == bool(said)


@pytest.mark.parametrize("name", ["Write the site", "Sum up"])
@pytest.mark.parametrize(("code", "job_goes_on"), [(0, True), (3, True), (1, False), (2, False)])
def test_damaged_result_files_are_told_and_what_is_left_is_shown(
    tmp_path: Path, name: str, code: int, job_goes_on: bool
) -> None:
    ended = run_step(shell_step(name), tmp_path, code=code, says="")
    assert ended.code == (0 if job_goes_on else code)
    assert ("::warning title=matrix::result files" in ended.output) == (code == 3)


@pytest.mark.parametrize(
    ("code", "force", "job_goes_on"),
    [(0, "", True), (1, "", True), (2, "", False), (2, "false", False), (2, "true", True), (127, "true", False)],
)
def test_an_unfit_machine_measures_only_when_forced(tmp_path: Path, code: int, force: str, job_goes_on: bool) -> None:
    ended = run_step(shell_step("Examine the machine"), tmp_path, inputs={"force": force}, code=code)
    assert ended.calls == (("nix", "run", ".#doctor", "--", "--markdown"),)
    assert (ended.code == 0) == job_goes_on
    assert ("::error title=doctor::" in ended.output) == (not job_goes_on)
    assert ended.summary == "said\n", "the verdict is shown in any case"


@pytest.mark.parametrize("code", [0, 1, 2])
def test_without_a_verdict_nothing_is_measured_even_when_forced(tmp_path: Path, code: int) -> None:
    ended = run_step(shell_step("Examine the machine"), tmp_path, inputs={"force": "true"}, code=code, says="")
    assert ended.code == 1
    assert f"ended with {code} and no verdict" in ended.output


# ---------------------------------------------------------------- with this checkout's matrix


@pytest.mark.real
@pytest.mark.parametrize("force", ["false", "true"])
def test_the_real_doctor_decides(tmp_path: Path, home: Path, force: str) -> None:
    ended = run_step(shell_step("Examine the machine"), tmp_path, inputs={"force": force}, real=True, home=home)
    verdict = re.match(r"### This host is (ready|noisy|unfit) \(", ended.summary)
    assert verdict, ended.summary + ended.output
    assert (ended.code == 0) == (verdict[1] != "unfit" or force == "true")


@pytest.mark.real
def test_the_real_report_and_summary_are_written(tmp_path: Path, home: Path) -> None:
    assert run_step(shell_step("Write the site"), tmp_path / "site", real=True, home=home, code=9).code == 0
    assert (home / "site" / "index.html").is_file()
    ended = run_step(shell_step("Sum up"), tmp_path / "summary", real=True, home=home)
    assert ended.code == 0, ended.output
    assert ended.summary.startswith("### ")
    assert "**Failed or invalid**" in ended.summary


@pytest.mark.real
@pytest.mark.usefixtures("one_run_on_this_host")
def test_the_real_matrix_refuses_what_it_does_not_know(tmp_path: Path, home: Path) -> None:
    ended = run_step(shell_step("Measure"), tmp_path, inputs={"profile": "quik"}, real=True, home=home)
    assert ended.code == 1
    assert 'did you mean "quick"' in ended.output
