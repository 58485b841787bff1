"""A tool that sets something up ends with us, however we end."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.command import run_logged
from tests.support.waiting import HANGS_S, has_ended, wait_until

# Works like a command that can be stopped cleanly; the tool has a child of its own.
PROGRAM = """
import sys
from pathlib import Path
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.provision.command import run_logged
with stoppable():
    run_logged(["sh", "-c", sys.argv[1]], what="waiting", cwd=Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("number", "script"),
    [
        (signal.SIGKILL, "echo $$ > pid; exec sleep 60"),
        (signal.SIGTERM, "echo $$ > pid; exec sleep 60"),
        (signal.SIGTERM, "sleep 60 & echo $! > pid; wait"),
    ],
    ids=["killed", "stopped", "stopped, with a child"],
)
def test_it_does_not_outlive_us(tmp_path: Path, number: signal.Signals, script: str) -> None:
    ours = subprocess.Popen([sys.executable, "-c", PROGRAM, script, str(tmp_path)])
    told = tmp_path / "pid"
    wait_until(lambda: told.exists() and told.read_text().strip())
    ours.send_signal(number)
    assert ours.wait(HANGS_S) == (-9 if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: has_ended(int(told.read_text())))


def test_its_output_is_shown_when_it_fails(tmp_path: Path) -> None:
    run_logged(["sh", "-c", "echo fine"], what="trying", cwd=tmp_path)
    with pytest.raises(MatrixError, match=r"trying: sh ended with status 3:\nwrong$"):
        run_logged(["sh", "-c", "echo wrong >&2; exit 3"], what="trying", cwd=tmp_path)
    with pytest.raises(MatrixError, match=r"trying: sh did not end within 0\.1 s"):
        run_logged(["sh", "-c", "sleep 60"], what="trying", cwd=tmp_path, timeout_s=0.1)
