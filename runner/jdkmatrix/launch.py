"""Start a program on chosen CPUs so that it cannot outlive the runner.

Run as a script (`python -I launch.py CPUS PARENT_PID COMMAND…`) it asks the kernel to kill it when its parent dies
(PR_SET_PDEATHSIG, prctl(2)), takes its CPU affinity, and becomes the command: the pid is the command's own. A small
program of its own rather than a `preexec_fn`, because Python code between fork and exec is not safe in a process
with threads. The kernel watches the parent *thread*: call `spawn` from a thread that lives as long as the program
should, in practice the main thread.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def spawn(
    command: Sequence[str],
    *,
    cpus: Sequence[int],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` on `cpus`; it dies by SIGKILL when the calling thread ends.

    It gets its own session, so that a Ctrl-C on the terminal reaches only the runner, which then stops it in order.
    """
    cpu_list = ",".join(map(str, cpus))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, cpu_list, str(os.getpid()), *command],
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def terminate(process: subprocess.Popen[bytes], *, grace_s: float) -> int:
    """SIGTERM, wait up to `grace_s`, then SIGKILL; returns the exit status. Safe when it has already ended."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


def _become(cpu_list: str, parent_pid: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"launch: prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent_pid:
        sys.exit("launch: the parent has already ended")
    if cpu_list:
        os.sched_setaffinity(0, [int(cpu) for cpu in cpu_list.split(",")])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"launch: cannot start {command[0]}: {error.strerror}")


if __name__ == "__main__":
    _become(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
