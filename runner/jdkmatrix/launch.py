"""Start a program on chosen CPUs so that it cannot outlive the runner.

Run as a script (`python -I launch.py CPUS CGROUP PARENT_PID COMMAND…`) it asks the kernel to kill it when its parent
dies (PR_SET_PDEATHSIG, prctl(2)), moves into its cgroup if it is given one, takes its CPU affinity, and becomes the
command: the pid is the command's own. A small program of its own rather than a `preexec_fn`, because Python code
between fork and exec is not safe in a process with threads. The kernel watches the parent *thread*: call `spawn` from a
thread that lives as long as the program should, in practice the main thread.
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
    cgroup: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` on `cpus`, in a cgroup if its folder is given; it dies by SIGKILL when the calling thread ends.

    What cannot be put there ends with one message on stderr before it is the command. It gets its own session, so that
    a Ctrl-C on the terminal reaches only the runner, which then stops it in order.
    """
    cpu_list = ",".join(map(str, cpus))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, cpu_list, str(cgroup or ""), str(os.getpid()), *command],
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


def _become(cpu_list: str, cgroup: str, parent_pid: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"launch: prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent_pid:
        sys.exit("launch: the parent has already ended")
    if cgroup:
        _join(Path(cgroup, "cgroup.procs"))
    # After the cgroup: moving into a cpuset, Linux before 6.2 forgets the affinity that was asked for.
    if cpu_list:
        _take(cpu_list)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"launch: cannot start {command[0]}: {error.strerror}")


def _join(procs: Path) -> None:
    try:
        file = os.open(procs, os.O_WRONLY)  # never makes one
        os.write(file, str(os.getpid()).encode())
        os.close(file)
    except OSError as error:
        sys.exit(f"launch: cannot join the cgroup {procs.parent}: {error.strerror}")


def _take(cpu_list: str) -> None:
    try:
        os.sched_setaffinity(0, [int(cpu) for cpu in cpu_list.split(",")])
    except OSError as error:
        sys.exit(f"launch: cannot run on CPUs {cpu_list}: {error.strerror}")


if __name__ == "__main__":
    _become(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
