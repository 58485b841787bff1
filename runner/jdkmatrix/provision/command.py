"""Run a tool that sets something up; its output is shown only when it fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.provision import hosttools

_SHOWN_LINES = 20


def building_jdk() -> hosttools.Jdk:
    """Find the host's build JDK. Raises: MatrixError: it has none; says all that is missing, and how to get it."""
    if (jdk := hosttools.find_jdk()) is None:
        raise MatrixError("; ".join(hosttools.problems()))
    return jdk


@contextmanager
def started(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, output: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start `command`, which ends with this process, however that ends: what comes next may use the same folders. Call
    it from the main thread: see `launch`. `output`: for both of its streams, as in subprocess.Popen."""
    process = launch.spawn(command, cpus=(), cwd=cwd, env=env, stdout=output, stderr=output and subprocess.STDOUT)
    try:
        yield process
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


def run_logged(
    command: Sequence[str], *, what: str, cwd: Path, env: Mapping[str, str] | None = None, timeout_s: float = 1800
) -> None:
    """Run `command` in `cwd` to its end, as `started` does.

    Raises:
        MatrixError: it could not be started, failed, or took longer than `timeout_s`; with the end of its output.
    """
    if shutil.which(command[0]) is None:
        raise MatrixError(f"{what}: cannot start {command[0]}: there is no such program")
    try:
        with started(command, cwd=cwd, env=env, output=subprocess.PIPE) as process:
            output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{what}: {command[0]} did not end within {timeout_s:g} s") from None
    if process.returncode != 0:
        tail = "\n".join(output.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:])
        raise MatrixError(f"{what}: {command[0]} ended with status {process.returncode}:\n{tail}")
