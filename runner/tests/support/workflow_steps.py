"""The workflows of .github as data, and a place to run their shell steps as GitHub does, with stand-ins on PATH."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.support.programs import program
from tests.support.project import ROOT, matrix_command
from tests.support.waiting import HANGS_S

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = tuple(sorted(FOLDER.glob("*.y*ml")))

# A program that records how it was called, and then runs the Python of `does`. Unless that ends it, it either does what
# the flake's app of that name does, or says `says` and ends with `code`, or with 1 if `fails` is among its arguments.
_STAND_IN = """#!{python} -IS
import json, os, shutil, signal, sys
from pathlib import Path
program, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
with open({calls!r}, "a") as file:
    print(json.dumps([program, *arguments]), file=file)
{does}
if {real!r}:
    word, app, *rest = arguments
    assert word == "run" and rest[:1] in ([], ["--"]), sys.argv
    command = [*{apps!r}[app.partition("#")[2]], *rest[1:]]
    os.execv(command[0], command)  # as `nix run` does, so that signals reach it
print({says!r}, end="")
sys.exit(1 if {fails!r} in sys.argv else {code})
"""


class Step(NamedTuple):
    """One step of a job; `raw` has every value as a string, as written."""

    workflow: str
    job: str
    name: str
    raw: Mapping[str, Any]

    @property
    def label(self) -> str:
        return f"{self.workflow}: {self.job}: {self.name}"


class Ended(NamedTuple):
    """The end of a step. `calls`: to stand-ins, in order, each with the program's name before its arguments. `outputs`:
    the step's own."""

    code: int
    output: str
    summary: str
    calls: tuple[tuple[str, ...], ...]
    outputs: Mapping[str, str]


@cache
def load(path: Path) -> dict[str, Any]:
    """Load every scalar as a string: YAML 1.1 would read the key `on` as true."""
    text = path.read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, yaml.CBaseLoader)  # makes strings, lists and dicts only
    return loaded


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every job of every workflow, with a label."""
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            yield f"{path.name}: {name}", job


def runners(job: Mapping[str, Any]) -> set[str]:
    """Return the labels that a job asks for, in whichever of its combinations."""
    asked = [job["runs-on"]] if isinstance(job["runs-on"], str) else job["runs-on"]
    if asked == ["${{ matrix.runner }}"]:
        return {one["runner"] for one in job["strategy"]["matrix"]["include"]}
    return set(asked)


def steps() -> tuple[Step, ...]:
    return tuple(
        Step(path.name, job, step.get("name", ""), step)
        for path in WORKFLOWS
        for job, content in load(path)["jobs"].items()
        for step in content["steps"]
    )


def shell_steps() -> tuple[Step, ...]:
    return tuple(step for step in steps() if "run" in step.raw)


def shell_step(name: str) -> Step:
    (found,) = (step for step in shell_steps() if step.name == name)
    return found


def run_step(
    step: Step,
    folder: Path,
    *,
    inputs: Mapping[str, str] | None = None,
    code: int = 0,
    says: str = "said\n",
    fails: str = "",
    schedule: str | None = None,
    home: Path | None = None,
    does: str = "",
    env: Mapping[str, str] | None = None,
) -> Ended:
    """Run the script of a step in `folder` with GitHub's command line for `shell: bash`, and with -u on top.

    `inputs` that are not given are empty, as they are when the schedule starts the workflow, at `schedule`. What the
    step starts by `nix run` is this checkout's `matrix` on the project in `home`; without one, it only says `says` and
    ends with `code`, or with 1 if `fails` is among its arguments. Before that it runs the Python of `does`, which knows
    the `program` and its `arguments`. `env` comes on top of the step's own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    calls, summary, outputs, script = (folder / name for name in ("calls", "summary.md", "outputs", "step.sh"))
    for file in (calls, summary, outputs):
        file.write_text("")
    if not (folder / ".github").exists():
        (folder / ".github").symlink_to(ROOT / ".github")
    script.write_text(step.raw["run"])
    apps = {"everything": matrix_command(), "without-parts": matrix_command()}
    apps |= {name: matrix_command(name) for name in ("doctor", "report")}
    stand_in = _STAND_IN.format(
        python=sys.executable, calls=str(calls), does=does, real=home is not None, apps=apps, says=says, fails=fails,
        code=code,
    )  # fmt: skip
    for name in ("nix", "make", "apt-get", "gh"):
        program(folder / "bin" / name, stand_in)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-euo", "pipefail", str(script)],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_SHA": "c0ffee",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "someone/something",
            "MATRIX_BENCH": str(folder / "bench"),
            **({"MATRIX_HOME": str(home)} if home else {}),
            **environment(step, inputs or {}, schedule),
            **(env or {}),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    written = tuple(tuple(json.loads(line)) for line in calls.read_text().splitlines())
    said = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return Ended(done.returncode, done.stdout, summary.read_text(), written, said)


def environment(step: Step, inputs: Mapping[str, str], schedule: str | None) -> dict[str, str]:
    """Return the step's own environment: each value must be one input of the workflow, which the schedule may replace,
    the job's token, or a plain word."""
    workflow = load(FOLDER / step.workflow)["on"]
    known = workflow.get("workflow_dispatch", {}).get("inputs", {})
    assert inputs.keys() <= known.keys(), f"{step.workflow} has no input {set(inputs) - set(known)}"
    values = {}
    for name, text in step.raw.get("env", {}).items():
        if "${{" not in text or text == "${{ github.token }}":
            values[name] = text
            continue
        match = re.fullmatch(
            r"\$\{\{ (?:github\.event\.schedule == '([^']+)' && '([^']+)' \|\| )?inputs\.(\w+) \}\}", text
        )
        assert match, f"{step.label}: {name}: {text!r} is not the value of one input: teach this function what it means"
        planned, instead, asked = match.groups()
        assert asked in known, f"{step.label}: {name}: the workflow has no input {asked}"
        assert planned is None or planned in [entry["cron"] for entry in workflow["schedule"]], step.label
        values[name] = instead if planned and planned == schedule else inputs.get(asked, "")
    return values
