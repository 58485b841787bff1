"""Run a tool that sets something up; its output is shown only when it fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch

_SHOWN_LINES = 20


def run_logged(
    command: Sequence[str], *, what: str, cwd: Path, env: Mapping[str, str] | None = None, timeout_s: float = 1800
) -> None:
    """Run `command` in `cwd` to its end, or to that of this process, however that ends: what comes next may use the
    same folders. Call it from the main thread: see `launch`.

    Raises:
        MatrixError: it could not be started, failed, or took longer than `timeout_s`; with the end of its output.
    """
    if shutil.which(command[0]) is None:
        raise MatrixError(f"{what}: cannot start {command[0]}: there is no such program")
    process = launch.spawn(command, cpus=(), cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise MatrixError(f"{what}: {command[0]} did not end within {timeout_s:g} s") from None
        raise
    if process.returncode != 0:
        tail = "\n".join(output.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:])
        raise MatrixError(f"{what}: {command[0]} ended with status {process.returncode}:\n{tail}")
