"""Start a program on chosen CPUs so that it cannot outlive the runner.

Run as a script (`python -I launch.py CPUS CGROUPS OPEN_FILES_MAX SLICE_US USER DIES_BY PARENT_PID COMMAND…`) it asks
the kernel for a signal when its parent dies (PR_SET_PDEATHSIG, prctl(2)), joins the given cgroups, one in each
hierarchy, sets its CPU affinity, its limit of open files, its time slice and its user, and becomes the command: the pid
is the command's own. It is a small program of its own rather than a `preexec_fn`, because Python code between fork and
exec is not safe in a process with threads. The kernel watches the parent *thread*: call `spawn` from a thread that
lives as long as the program should, in practice the main thread.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

PR_SET_PDEATHSIG = 1  # linux/prctl.h
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # asm/unistd_64.h, asm-generic/unistd.h
_ATTRIBUTES_BYTES = 48  # SCHED_ATTR_SIZE_VER0, linux/sched/types.h
_TAIL_LINES = 12
SAYS = "launch: "  # begins the message of a command that was never run
# They make java print "Picked up …" lines, load agents, or take options that nobody asked for; or they give it another
# malloc or another number of malloc arenas (mallopt(3)), which shows in its memory.
_MEDDLING = (
    *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS", "IBM_JAVA_OPTIONS"),
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX"),
)


class User(NamedTuple):
    uid: int
    gid: int


def spawn(
    command: Sequence[str],
    *,
    cpus: Sequence[int],
    cgroups: Sequence[Path] = (),
    open_files_max: int | None = None,
    slice_us: int | None = None,
    user: User | None = None,
    dies_by: signal.Signals = signal.SIGKILL,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` on `cpus`, in the cgroups whose folders are given; it gets the signal `dies_by` when the calling
    thread ends.

    `open_files_max` becomes both its soft and its hard limit (RLIMIT_NOFILE, getrlimit(2)). `slice_us` is how long each
    of its threads asks to run at a time: Linux from 6.12 on lets one that wakes up with a short slice run before one
    with a longer slice (sched_setattr(2); I. Stoica, H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995).
    An older kernel ignores it. `user`: the user it runs as, with no other group; None: the runner's.

    If any of that fails, it ends with one message on stderr before it becomes the command. It gets its own session, so
    that a Ctrl-C on the terminal reaches only the runner, which then stops it in order.
    """
    cpu_list = ",".join(map(str, cpus))
    cgroup_list = "\n".join(map(str, cgroups))
    numbers = ["" if number is None else str(number) for number in (open_files_max, slice_us)]
    rights = [f"{user.uid}:{user.gid}" if user else "", str(int(dies_by))]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, cpu_list, cgroup_list, *numbers, *rights, str(os.getpid()), *command],
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def clean_environment() -> dict[str, str]:
    """Return our environment without what would change a JVM, and with the locale of servers: in another one, system
    errors have other words ("Zu viele offene Dateien"), numbers other digits, or a path with an umlaut is not found."""
    left_out = (*_MEDDLING, "LANGUAGE")  # glibc before 2.39 follows it in C.UTF-8, too
    kept = {key: value for key, value in os.environ.items() if key not in left_out and not key.startswith("LC_")}
    return {**kept, "LANG": "C.UTF-8"}


def ask(
    command: Sequence[str | Path],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run a program without input until it ends and return what it said, whatever its status.

    Raises:
        OSError: it does not start.
        subprocess.TimeoutExpired: it took longer; it was killed.
    """
    return subprocess.run(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        errors="replace",
        timeout=timeout_s,
        check=False,
    )


def terminate(process: subprocess.Popen[bytes], *, grace_s: float) -> int:
    """Send SIGTERM, wait up to `grace_s`, then send SIGKILL; return the exit status. Safe when it has already ended. If
    the caller is stopped meanwhile, it is ended, too."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process.wait()


def how_ended(status: int) -> str:
    """Put an exit status, as `terminate` gives it, into words."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"


def stderr_tail(log: Path) -> str:
    """Return the last lines that a program printed, to append to a message; empty where it printed nothing."""
    lines = log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
    return f"; the end of {log}:\n" + "\n".join(lines) if lines else ""


def _become(cpu_list: str, cgroup_list: str, open_files_max: str, slice_us: str, user: str, *rest: str) -> None:
    dies_by, parent_pid, *command = rest
    libc = ctypes.CDLL(None, use_errno=True)
    _die_with(int(parent_pid), int(dies_by), libc)
    for cgroup in filter(None, cgroup_list.split("\n")):
        with _or_end(f"join the cgroup {cgroup}"):
            file = os.open(f"{cgroup}/cgroup.procs", os.O_WRONLY)  # never makes one
            os.write(file, str(os.getpid()).encode())
            os.close(file)
    # After the cgroups: on a move into a cpuset, Linux before 6.2 forgets the affinity that was asked for.
    if cpu_list:
        with _or_end(f"run on CPUs {cpu_list}"):
            os.sched_setaffinity(0, [int(cpu) for cpu in cpu_list.split(",")])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would count as a flood of logs, and fill the disk
    if open_files_max:
        _limit_files(int(open_files_max))
    if slice_us:
        _ask_for_slice(libc, int(slice_us))
    if user:
        uid, gid = map(int, user.split(":"))
        with _or_end(f"run as user {uid}"):
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        _die_with(int(parent_pid), int(dies_by), libc)  # again: a change of user clears it
    with _or_end(f"start {command[0]}"):
        os.execvp(command[0], command)


@contextmanager
def _or_end(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        sys.exit(f"{SAYS}cannot {what}: {error.strerror}")


def _die_with(parent_pid: int, dies_by: int, libc: ctypes.CDLL) -> None:
    if libc.prctl(PR_SET_PDEATHSIG, dies_by, 0, 0, 0) != 0:
        sys.exit(f"{SAYS}prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent_pid:
        sys.exit(f"{SAYS}the parent has already ended")


def _limit_files(open_files_max: int) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files_max, open_files_max))
    except (OSError, ValueError) as error:
        sys.exit(f"{SAYS}cannot limit open files to {open_files_max}: {error}")


def _ask_for_slice(libc: ctypes.CDLL, slice_us: int) -> None:
    """Ask for the time slice, which its threads inherit. Where the kernel refuses, it runs as it would have."""
    call = _SCHED_SETATTR.get(platform.machine())
    if call is not None:
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        attributes = struct.pack("=IIQiIQQQ", _ATTRIBUTES_BYTES, os.SCHED_OTHER, 0, nice, 0, slice_us * 1000, 0, 0)
        libc.syscall(call, 0, attributes, 0)


if __name__ == "__main__":
    _become(*sys.argv[1:])
