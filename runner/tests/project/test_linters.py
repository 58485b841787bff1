"""actionlint and zizmor check the workflows, shellcheck checks them and every shell script; each finds faults."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import ROOT
from tests.support.waiting import HANGS_S
from tests.support.workflow_steps import WORKFLOWS

NOT_OURS = {".git", ".venv", ".build", "results", "site", "target"}
FAULTY = """
name: faulty
on: pull_request_target
permissions: {}
jobs:
  faulty:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v6
      - uses: someone/something@v1
      - run: cat $HOME/${{ github.event.pull_request.title }}
      - run: echo "${{ nowhere.none }}"
"""


pytestmark = pytest.mark.real


def linter(name: str) -> str:
    """Return the program that runner/requirements-dev.txt installs into the environment that runs the tests."""
    program = Path(sys.executable).parent / name
    assert program.is_file(), f"{program} is not there: `make test` installs it from runner/requirements-dev.txt"
    return str(program)


def lint(*command: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANGS_S, check=False
    )
    return done.returncode, done.stdout


def actionlint(*files: Path) -> tuple[int, str]:
    config = ROOT / ".github" / "actionlint.yaml"
    options = ("-no-color", "-shellcheck", linter("shellcheck"), "-config-file", config)
    return lint(linter("actionlint"), *options, *files)


def zizmor(*files: Path) -> tuple[int, str]:
    return lint(linter("zizmor"), "--offline", "--no-progress", "--color", "never", *files)


def shell_scripts() -> Iterator[Path]:
    """Yield the shell scripts, recognised by their first line or their name."""
    for folder, below, names in os.walk(ROOT):
        below[:] = sorted(set(below) - NOT_OURS)
        for path in (Path(folder, name) for name in names):
            if path.is_file():
                with path.open("rb") as file:
                    first = file.readline(100)
                if path.suffix == ".sh" or re.match(rb"#!\S*[/ ](ba|da)?sh\b", first):
                    yield path


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.yml"
    path.write_text(FAULTY)
    return path


def test_actionlint_finds_nothing_in_the_workflows() -> None:
    assert actionlint(*WORKFLOWS) == (0, "")


def test_actionlint_sees_faults_and_so_does_its_shellcheck(faulty: Path) -> None:
    code, output = actionlint(faulty)
    assert code == 1
    for fault in ("SC2086", "potentially untrusted", 'undefined variable "nowhere"'):
        assert fault in output


def test_zizmor_finds_nothing_in_the_workflows() -> None:
    code, output = zizmor(*WORKFLOWS, ROOT / ".github" / "dependabot.yml")
    assert code == 0, output


def test_zizmor_sees_faults(faulty: Path) -> None:
    code, output = zizmor(faulty)
    assert code > 10, "11 to 14: by the severity of what was found; less: it did not work"
    for audit in ("template-injection", "unpinned-uses", "artipacked", "dangerous-triggers"):
        assert f"[{audit}]" in output


def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    scripts = list(shell_scripts())
    assert {ROOT / ".ci" / "run", ROOT / ".github" / "bench.sh", ROOT / ".github" / "releases.sh"} <= set(scripts)
    code, output = lint(linter("shellcheck"), *scripts)
    assert code == 0, output


def test_shellcheck_sees_faults(tmp_path: Path) -> None:
    script = tmp_path / "faulty.sh"
    script.write_text("#!/bin/sh\nrm $1\n")
    code, output = lint(linter("shellcheck"), script)
    assert code == 1
    assert "SC2086" in output
