"""The workflows of .github: what may run where with which rights, and every shell step run here with stand-ins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.project import ROOT
from tests.support.workflow_steps import (
    FOLDER,
    WORKFLOWS,
    Step,
    jobs,
    load,
    run_step,
    runners,
    shell_step,
    shell_steps,
    steps,
)

PINNED = re.compile(r"^ *(?:- )?uses: ([\w-]+(?:/[\w-]+)+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", re.MULTILINE)
BUILD = (("nix", "build"), ("nix", "store"))
WHOLE = {
    ("make", "test"),
    ("nix", "flake", "check", "--print-build-logs"),
    ("nix", "develop", "--command", "make", "test-thorough"),
}
HOSTED = {"ubuntu-24.04", "ubuntu-24.04-arm"}


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
        "matrix.yml: settings": {"actions": "read"},
        "matrix.yml: keep": {"contents": "write"},
    }
    assert job["permissions"] == more.get(label, {"contents": "read"})
    assert all(step.get("name") and "shell" not in step for step in job["steps"])


def test_no_expression_is_pasted_into_a_script() -> None:
    assert not [step.label for step in shell_steps() if "${{" in step.raw["run"]]


def test_only_the_schedule_and_a_person_start_what_runs_on_machines_of_ours() -> None:
    """The runner group decides whom GitHub lets through (docs/bare-metal.md); this tests what a workflow can do."""
    ours = {label: job for label, job in jobs() if not runners(job) <= HOSTED}
    assert set(ours) == {"matrix.yml: measure", "matrix.yml: hand-over"}
    for label, job in ours.items():
        assert "self-hosted" in runners(job), label
        assert job["environment"] == "bench", f"{label}: nothing keeps other branches than main away"
        assert job["permissions"] == {"contents": "read"}, label
    assert set(load(FOLDER / "matrix.yml")["on"]) == {"schedule", "workflow_dispatch"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_workflow_gives_its_rights_to_a_pull_request(path: Path) -> None:
    assert set(load(path)["on"]) <= {"push", "pull_request", "schedule", "workflow_dispatch"}


def test_a_machine_measures_one_thing_at_a_time() -> None:
    workflow = load(FOLDER / "matrix.yml")
    default = workflow["on"]["workflow_dispatch"]["inputs"]["machine"]["default"]
    machine = f"${{{{ inputs.machine || '{default}' }}}}"
    for job in ("measure", "hand-over"):
        assert workflow["jobs"][job]["runs-on"] == ["self-hosted", "linux", "bare-metal", machine]
    # Not one group for both events: the schedule comes every day, and would displace what a person started.
    # Nor one for all days: a job that only continues would displace one that begins something.
    assert workflow["concurrency"] == {
        "group": f"machine-{machine}-${{{{ github.event_name }}}}-${{{{ github.event.schedule }}}}",
        "cancel-in-progress": "false",
    }


def test_a_slice_ends_long_before_the_token_of_its_job() -> None:
    """https://docs.github.com/en/actions/concepts/security/github_token: 24 hours, on a machine of ours."""
    job = load(FOLDER / "matrix.yml")["jobs"]["measure"]
    step = shell_step("Measure").raw
    slice_min = int(step["env"]["SLICE_S"]) / 60
    assert slice_min <= 20 * 60 < int(step["timeout-minutes"]) < int(job["timeout-minutes"]) < 24 * 60


def test_what_was_measured_is_handed_over_whatever_became_of_the_measurement() -> None:
    workflow = load(FOLDER / "matrix.yml")["jobs"]
    after = [step for step in steps() if step.workflow == "matrix.yml" and step.job == "measure"]
    assert [step.name for step in after[-2:]] == ["Measure", "Sum up"]
    assert after[-1].raw["if"].startswith("${{ always() && ")
    assert workflow["hand-over"]["needs"] == "measure"
    assert workflow["hand-over"]["if"] == "${{ always() && needs.measure.result != 'skipped' }}"
    names = [step["name"] for step in workflow["hand-over"]["steps"]]
    assert names == ["Check out", "Pack", "Keep the results", "Note what was handed over"]
    assert "if" not in workflow["hand-over"]["steps"][-1], "it comes after an upload that worked"


def test_only_a_complete_run_on_the_main_branch_is_published() -> None:
    jobs = load(FOLDER / "matrix.yml")["jobs"]
    assert [jobs[name]["needs"] for name in ("keep", "site", "deploy")] == ["hand-over", "keep", "site"]
    assert jobs["keep"]["if"] == (
        "${{ always() && needs.hand-over.outputs.complete && github.ref == 'refs/heads/main' }}"
    )
    assert jobs["site"]["if"] == "${{ always() && needs.keep.result == 'success' }}"


def test_a_site_of_an_earlier_attempt_is_not_published() -> None:
    """A job that is run again alone, days later, would put it over a newer one."""
    jobs = load(FOLDER / "matrix.yml")["jobs"]
    assert jobs["site"]["outputs"] == {"attempt": "${{ github.run_attempt }}"}
    assert jobs["deploy"]["if"] == (
        "${{ always() && needs.site.result == 'success' && needs.site.outputs.attempt == github.run_attempt }}"
    )


def test_a_site_can_be_published_in_a_second_attempt() -> None:
    """An artifact outlives the job that uploaded it, and deploy-pages refuses two artifacts of one name."""
    handed, published = (step.raw["with"] for step in steps() if "-pages" in step.raw.get("uses", ""))
    assert handed["name"] == published["artifact_name"]
    assert "${{ github.run_attempt }}" in handed["name"]


def test_what_may_write_to_the_repository_runs_on_no_machine_of_ours() -> None:
    for label, job in jobs():
        if "write" in job["permissions"].values():
            assert job["runs-on"] == "ubuntu-24.04", label


def test_no_machine_of_ours_is_set_up_by_a_job() -> None:
    """The action that installs Nix leaves the job's token in /etc/nix/nix.conf, and trusts its user with everything."""
    used = {step.raw.get("uses", "").partition("@")[0] for step in steps() if step.job in ("measure", "hand-over")}
    assert used == {"", "actions/checkout", "actions/upload-artifact"}


def test_dependabot_looks_after_actions_python_and_maven() -> None:
    """https://docs.github.com/en/code-security/reference/supply-chain-security/dependabot-options-reference"""
    updates = load(ROOT / ".github" / "dependabot.yml")["updates"]
    pinned = {"github-actions": "/.github/workflows/ci.yml", "pip": "/runner/requirements.txt"}
    pinned["maven"] = "/workloads/pom.xml"
    assert {update["package-ecosystem"] for update in updates} == set(pinned)
    for update in updates:
        folder = ROOT / update["directory"].strip("/")
        pin = ROOT / pinned[update["package-ecosystem"]].strip("/")
        assert pin.is_file() and folder in pin.parents


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it is about what Git has")
def test_every_pom_is_there_for_what_reads_the_repository_without_building() -> None:
    """Dependabot's reader of Maven projects gives up where the pom.xml of a module is missing."""

    def modules(pom: Path) -> Iterator[Path]:
        for module in ElementTree.parse(pom).iterfind("{*}modules/{*}module"):
            yield (child := pom.parent / str(module.text) / "pom.xml")
            yield from modules(child)

    listed = subprocess.run(["git", "ls-files", "workloads"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {ROOT / name for name in listed.stdout.splitlines()}
    found = {*modules(ROOT / "workloads" / "pom.xml")}
    assert found <= tracked
    assert {pom for pom in tracked if pom.name == "pom.xml"} == found | {ROOT / "workloads" / "pom.xml"}


@pytest.mark.parametrize(
    ("server", "boot", "hikari"), [("spring-boot", "4.0.7", "7.0.2"), ("spring-boot-3.5", "3.5.7", "6.3.3")]
)
def test_spring_boot_has_the_pool_of_connections_that_it_brings(server: str, boot: str, hikari: str) -> None:
    """The parent's pool is newer, and virtual threads wait differently in it; Dependabot would put it here, too."""
    pom = ElementTree.parse(ROOT / "workloads" / "servers" / server / "pom.xml")
    managed = pom.iterfind("{*}dependencyManagement/{*}dependencies/{*}dependency")
    versions = {one.findtext("{*}artifactId"): one.findtext("{*}version") for one in managed}
    parent = ElementTree.parse(ROOT / "workloads" / "pom.xml")
    own = [one.findtext("{*}properties/{*}spring-boot.version") for one in (pom, parent)]
    assert (next(filter(None, own)), versions.get("HikariCP")) == (boot, hikari)


# ---------------------------------------------------------------- the shell steps


# These have tests of their own.
OTHERS = {"Look at the environment bench", "Look for Nix", "Trust the checkout", "Write the site of these runs"}


@pytest.mark.parametrize(
    "step",
    [step for step in shell_steps() if step.name not in OTHERS and ".github/" not in step.raw["run"]],
    ids=lambda step: step.label,
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
    (call,) = ended.calls
    assert call in WHOLE


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what this is about")
def test_in_a_container_git_works_in_a_checkout_of_another_user(tmp_path: Path) -> None:
    """The steps of `without-nix` run in order, as GitHub runs them there: as root, in a workspace that is the host
    user's. Git refuses that until it is told otherwise, and this project's tests list files with Git."""
    checkout = tmp_path / "checkout"
    for name, job in jobs():
        steps_of_job = [step for step in shell_steps() if f"{step.workflow}: {step.job}" == name]
        if "container" not in job:
            continue
        checkout.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
        env = {"HOME": str(tmp_path)}
        if os.geteuid() == 0:
            os.chown(checkout, 1001, 1001)
            os.chown(checkout / ".git", 1001, 1001)
        else:
            env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"  # as Git's own tests do
        does = """if program == "make": os.execvp("git", ["git", "ls-files"])"""
        for step in steps_of_job:
            ended = run_step(step, checkout, does=does, env=env)
            assert ended.code == 0, f"{step.label}: {ended.output}"
    assert checkout.is_dir(), "no job runs in a container any more"


@pytest.mark.parametrize(
    ("branches", "code", "job_goes_on"), [("main", 0, True), ("main\nv*", 0, False), ("", 0, False), ("", 1, False)]
)
def test_nothing_is_measured_if_other_branches_may(tmp_path: Path, branches: str, code: int, job_goes_on: bool) -> None:
    ended = run_step(shell_step("Look at the environment bench"), tmp_path, says=branches, code=code)
    asked = "repos/someone/something/environments/bench/deployment-branch-policies"
    assert ended.calls == (("gh", "api", asked, "--jq", ".branch_policies[].name"),)
    assert (ended.code == 0) == job_goes_on
    assert len(ended.output.splitlines()) == (not job_goes_on)
    assert load(FOLDER / "matrix.yml")["jobs"]["measure"]["needs"] == "settings"


def test_a_machine_without_nix_says_so_in_one_line(tmp_path: Path) -> None:
    assert run_step(shell_step("Look for Nix"), tmp_path / "with").code == 0
    here = tmp_path / "without"
    here.mkdir()
    (here / "bash").symlink_to(str(shutil.which("bash")))
    ended = run_step(shell_step("Look for Nix"), here, env={"PATH": str(here)})
    assert (ended.code, ended.output) == (1, "::error title=nix::no nix on the PATH of this machine's runner\n")


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


def test_parts_are_built_and_many_examples_tried_by_the_schedule_alone() -> None:
    workflow = load(FOLDER / "ci.yml")
    assert "schedule" in workflow["on"]
    when = {name: job["if"] for name, job in workflow["jobs"].items() if "if" in job}
    assert when == dict.fromkeys(("parts", "properties"), "${{ github.event_name == 'schedule' }}")


@pytest.mark.parametrize(
    ("code", "force", "job_goes_on"),
    [(0, "", True), (1, "", True), (2, "", False), (2, "false", False), (2, "true", True), (127, "true", False)],
)
def test_an_unfit_machine_measures_only_when_forced(tmp_path: Path, code: int, force: str, job_goes_on: bool) -> None:
    ended = run_step(shell_step("Examine the machine"), tmp_path, inputs={"force": force}, code=code)
    assert ended.calls == (("nix", "run", f"git+file://{tmp_path}#doctor", "--", "--markdown"),)
    assert (ended.code == 0) == job_goes_on
    assert ("::error title=doctor::" in ended.output) == (not job_goes_on)
    assert ended.summary == "said\n", "the verdict is shown in any case"


def test_doctor_looks_for_space_where_results_go(tmp_path: Path) -> None:
    """Its parts are handed over, so that it expects results in the folder `results` of where it is started."""
    run_step(shell_step("Examine the machine"), tmp_path, does='Path("examined").touch()')
    assert {path.name for path in (tmp_path / "bench").iterdir()} >= {"examined", "results"}


@pytest.mark.parametrize("code", [0, 1, 2])
def test_without_a_verdict_nothing_is_measured_even_when_forced(tmp_path: Path, code: int) -> None:
    ended = run_step(shell_step("Examine the machine"), tmp_path, inputs={"force": "true"}, code=code, says="")
    assert ended.code == 1
    assert f"ended with {code} and no verdict" in ended.output
