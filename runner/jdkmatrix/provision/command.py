"""Run a tool that sets something up; its output is shown only when it fails."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from jdkmatrix.errors import MatrixError

_SHOWN_LINES = 20


def run_logged(
    command: Sequence[str], *, what: str, cwd: Path, env: Mapping[str, str] | None = None, timeout_s: float = 1800
) -> None:
    """Run `command` in `cwd` to its end.

    Raises:
        MatrixError: it could not be started, failed, or took longer than `timeout_s`; with the end of its output.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except OSError as error:
        raise MatrixError(f"{what}: cannot start {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{what}: {command[0]} did not end within {timeout_s:g} s") from None
    if done.returncode != 0:
        tail = "\n".join(done.stdout.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:])
        raise MatrixError(f"{what}: {command[0]} ended with status {done.returncode}:\n{tail}")
