"""Find out whether a process ended by its own doing, or whether somebody else ended or stopped it."""

from __future__ import annotations

import re
import signal
from contextlib import suppress
from pathlib import Path

import psutil

from jdkmatrix.errors import MatrixError
from jdkmatrix.host.cgroup_limits import counted
from jdkmatrix.host.launch import SAYS
from jdkmatrix.reading import text_if_readable

# What a process brings upon itself (signal(7)). One of these that somebody else sends goes unnoticed.
_OWN = {
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS, signal.SIGABRT),
    *(signal.SIGPIPE, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ),
}
# On these a JVM ends in order, with 128 plus the number as its status.
_ORDERLY = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# What HotSpot prints when it ends for this (share/utilities/debug.cpp) or runs -XX:OnOutOfMemoryError (vmError.cpp), or
# whatever logs the error prints; and what OpenJ9 prints when it runs -Xdump. Not the options, whose names are similar,
# nor a limit of threads that is reached.
_OUT_OF_MEMORY = re.compile(
    r"((Terminating|Aborting) due to )?\bjava\.lang\.OutOfMemoryError\b"
    r"(?!: (unable to create (new )?native thread|Failed to create a thread)).*"
    r'|JVMDUMP\w+ Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"'
    r'(?!,? (exception )?"Failed to create a thread).*'
)


class KilledError(MatrixError):
    """A process was ended or stopped by a signal that came neither from itself nor from this tool."""


class LaunchError(MatrixError):
    """A process could not be set up as asked on this host, and its command was never run."""


class OutOfMemoryError(MatrixError):
    """A JVM that had no memory left has ended, as its log says; an option may have made it kill itself."""


def signal_of_another(status: int) -> int | None:
    """Return the signal that must have been sent to a process that ended with this exit status: by somebody else, or by
    the process itself through a command. Pure."""
    if status < 0:
        return None if -status in _OWN else -status
    return next((int(number) for number in _ORDERLY if status == 128 + number), None)


def oom_kills(proc: Path = Path("/proc")) -> int:
    """Return how many processes of this host the kernel has killed for lack of memory; 0 where it does not say (before
    Linux 4.13)."""
    return counted(text_if_readable(proc / "vmstat") or "", "oom_kill") or 0


def out_of_memory(log: str) -> str | None:
    """Return the last message of a JVM's log that says so, without what precedes it in its line; None: none does."""
    lines = [found.group().strip() for found in _OUT_OF_MEMORY.finditer(log)]
    return lines[-1] if lines else None


def ran_out_of_memory(log: str, status: int, *, oom_kills_before: int) -> str | None:
    """Return the line that says why a process ended that this tool did not end; None: none does, or the kernel has
    killed one meanwhile, and what the log says may be older."""
    by_the_kernel = signal_of_another(status) is not None and oom_kills() > oom_kills_before
    return None if by_the_kernel else out_of_memory(log)


def check_launched(status: int, written: str) -> None:
    """Raises: LaunchError: it was the launcher that ended with this status, as what it has `written` says."""
    said = written.lstrip().partition("\n")[0]
    if status == 1 and said.startswith(SAYS):
        raise LaunchError(said)


def check_not_killed(who: str, status: int, *, log: str, oom_kills_before: int) -> None:
    """Check that nobody else ended a process; `status` is its exit status, and this tool has not ended it.

    Raises:
        KilledError: somebody else has.
    """
    number = signal_of_another(status)
    if number is None or ran_out_of_memory(log, status, oom_kills_before=oom_kills_before):
        return
    killed = oom_kills() - oom_kills_before
    by = f"; meanwhile the kernel killed {killed:,} for lack of memory" if killed > 0 else ""
    raise KilledError(f"{who} was ended by signal {number}, which did not come from this tool{by}")


def check_not_stopped(who: str, pid: int) -> None:
    """Raises: KilledError: this process stands still because somebody has stopped it, and is not to blame for that."""
    with suppress(psutil.Error):
        if psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
            raise KilledError(f"{who} was stopped by somebody else, or by a debugger")
