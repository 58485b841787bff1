"""However the set-up of .venv was stopped, the next `make` finishes it."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ROOT
from tests.support.waiting import HANGS_S, wait_until

pytestmark = pytest.mark.real  # it asks for what a host needs to measure

NEEDED = (
    "bootstrap.py",
    "jdkmatrix/__init__.py",
    "jdkmatrix/provision/__init__.py",
    "jdkmatrix/provision/hosttools.py",
)
# A package that builds by itself: nothing is fetched.
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """
from zipfile import ZipFile

def build_editable(folder, config_settings=None, metadata_directory=None):
    with ZipFile(f"{folder}/tiny-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return "tiny-1-py3-none-any.whl"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    runner = tmp_path / "runner"
    for name in NEEDED:
        (runner / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "runner" / name, runner / name)
    (runner / "pyproject.toml").write_text(PROJECT)
    (runner / "backend.py").write_text(BACKEND)
    (runner / "requirements.txt").write_text("")
    return tmp_path


BROKEN = "def build_editable(*_, **__): raise OSError('no room for it')\n"


def _bootstrap(checkout: Path, purpose: str = "run", **how: Any) -> subprocess.Popen[str]:
    command = [sys.executable, str(checkout / "runner" / "bootstrap.py"), purpose]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **how
    )


def _finishes(checkout: Path) -> None:
    """Check that it finishes even if whoever started it, under nohup, logs out meanwhile."""
    process = _bootstrap(checkout, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert process.stdout is not None and process.stdout.readline().startswith("setting up .venv")
    os.killpg(process.pid, signal.SIGHUP)
    output, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, output
    pip = [str(checkout / ".venv" / "bin" / "python"), "-m", "pip", "show", "--quiet", "tiny"]
    assert subprocess.run(pip, check=False).returncode == 0


def test_a_set_up_that_was_stopped_is_finished_by_the_next_one(checkout: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = _bootstrap(checkout)
        assert process.stdout is not None and process.stdout.readline().startswith("setting up .venv")
        while not (checkout / ".venv" / "bin" / "python").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, number)  # as a terminal does
        output, _ = process.communicate(timeout=HANGS_S)
        assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
        assert "Traceback" not in output
    half = checkout / ".venv" / "half-installed"
    half.touch()
    _finishes(checkout)
    assert not half.exists()
    # What the tests need besides is added to it, under programs that already use it: nothing else is installed again.
    (checkout / "runner" / "backend.py").write_text(BROKEN)
    (checkout / "runner" / "requirements-dev.txt").write_text("")
    process = _bootstrap(checkout, "test")
    output, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, output
    assert {path.name for path in (checkout / ".venv").glob(".ready-*")} == {".ready-run", ".ready-test"}


def test_what_the_host_lacks_is_told_in_one_line(checkout: Path) -> None:
    """Debian has the module `venv` without the one that fills an environment."""
    lacking = "import sys; sys.modules['ensurepip'] = None; import bootstrap; print(bootstrap.host_problems('run'))"
    done = subprocess.run(
        [sys.executable, "-c", lacking], cwd=checkout / "runner", capture_output=True, text=True, check=True
    )
    assert done.stdout.count("-venv") == 1, done.stdout


def test_why_the_project_cannot_be_installed_is_told(checkout: Path) -> None:
    (checkout / "runner" / "backend.py").write_text(BROKEN)
    output, _ = _bootstrap(checkout).communicate(timeout=HANGS_S)
    assert "set-up failed: " in output and "no room for it" in output


def test_a_checkout_that_cannot_be_written_is_told_in_one_line(checkout: Path) -> None:
    (checkout / ".build").write_text("")  # stands in for another user's folder, which does not stop root
    output, _ = _bootstrap(checkout).communicate(timeout=HANGS_S)
    assert output == f"set-up failed: {checkout}/.build: File exists\n"


def test_what_was_built_is_gone_after_make_clean(checkout: Path) -> None:
    shutil.copy(ROOT / "Makefile", checkout)
    built = [checkout / "workloads" / place / "target" for place in ("loadgen", "servers/jetty", "libraries/agroal")]
    for folder in built:
        (folder / "classes").mkdir(parents=True)
    subprocess.run(["make", "--silent", "clean"], cwd=checkout, check=True)
    assert not any(folder.exists() for folder in built) and all(folder.parent.exists() for folder in built)


@pytest.mark.parametrize(
    ("place", "interpreter"), [("/another/place", sys.executable), (None, "/collected")], ids=["moved", "collected"]
)
def test_an_environment_that_cannot_be_used_is_made_anew(checkout: Path, place: str | None, interpreter: str) -> None:
    """It was made elsewhere, or its interpreter is gone. It is emptied; the tests above cover what comes then."""
    venv = checkout / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(interpreter)
    locked = hashlib.sha256((checkout / "runner" / "pyproject.toml").read_bytes()).hexdigest()
    (venv / ".ready-run").write_text(f"{' '.join(sys.version.split())} in {place or checkout}\n{locked}")
    process = _bootstrap(checkout)
    try:
        wait_until(lambda: (venv / "pyvenv.cfg").exists() and not (venv / ".ready-run").exists())
    finally:
        process.terminate()
        process.communicate()
