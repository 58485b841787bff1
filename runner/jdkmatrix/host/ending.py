"""Did a process end by its own doing, or did somebody end or stop it?"""

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

# What a process brings upon itself (signal(7)). Whoever sends one of these to another is not found out.
_OWN = {
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS, signal.SIGABRT),
    *(signal.SIGPIPE, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ),
}
# On these a JVM ends in order, with 128 and the number as its status.
_ORDERLY = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# As HotSpot tells that it ends for it (share/utilities/debug.cpp) or runs -XX:OnOutOfMemoryError (vmError.cpp), or as
# whatever logs the error; and as OpenJ9 tells that it runs -Xdump. Not the options, whose names are alike, nor that a
# limit of threads is reached.
_OUT_OF_MEMORY = re.compile(
    r"((Terminating|Aborting) due to )?\bjava\.lang\.OutOfMemoryError\b"
    r"(?!: (unable to create (new )?native thread|Failed to create a thread)).*"
    r'|JVMDUMP\w+ Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"'
    r'(?!,? (exception )?"Failed to create a thread).*'
)


class KilledError(MatrixError):
    """A process was ended or stopped by a signal that neither it nor this tool has sent."""


class LaunchError(MatrixError):
    """What was asked for of a process could not be done on this host, and its command was never run."""


class OutOfMemoryError(MatrixError):
    """A JVM has ended that had no memory left, as its log says: by an option, it may have killed itself."""


def signal_of_another(status: int) -> int | None:
    """The signal that somebody must have sent to a process that ended with this exit status: somebody else, or itself
    by a command. Pure."""
    if status < 0:
        return None if -status in _OWN else -status
    return next((int(number) for number in _ORDERLY if status == 128 + number), None)


def oom_kills(proc: Path = Path("/proc")) -> int:
    """How many processes of this host the kernel has killed for want of memory; 0 where it does not say (before Linux
    4.13)."""
    return counted(text_if_readable(proc / "vmstat") or "", "oom_kill") or 0


def out_of_memory(log: str) -> str | None:
    """The last line of a JVM's log that says so, without what stands before it; None: none does."""
    lines = [found.group().strip() for found in _OUT_OF_MEMORY.finditer(log)]
    return lines[-1] if lines else None


def ran_out_of_memory(log: str, status: int, *, oom_kills_before: int) -> str | None:
    """The line that says why a process ended which this tool has not ended; None: none does, or the kernel has killed
    meanwhile, and what the log says may be older."""
    by_the_kernel = signal_of_another(status) is not None and oom_kills() > oom_kills_before
    return None if by_the_kernel else out_of_memory(log)


def check_launched(status: int, written: str) -> None:
    """Raises: LaunchError: it was the launcher that ended with this status, as what it has `written` says."""
    said = written.lstrip().partition("\n")[0]
    if status == 1 and said.startswith(SAYS):
        raise LaunchError(said)


def check_not_killed(who: str, status: int, *, log: str, oom_kills_before: int) -> None:
    """`status` is that of a process that this tool has not ended.

    Raises:
        KilledError: somebody else has.
    """
    number = signal_of_another(status)
    if number is None or ran_out_of_memory(log, status, oom_kills_before=oom_kills_before):
        return
    killed = oom_kills() - oom_kills_before
    by = f"; the kernel killed {killed:,} for want of memory meanwhile" if killed > 0 else ""
    raise KilledError(f"{who} was ended by signal {number}, which did not come from this tool{by}")


def check_not_stopped(who: str, pid: int) -> None:
    """Raises: KilledError: this process stands still because somebody has stopped it, and is not to blame for that."""
    with suppress(psutil.Error):
        if psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
            raise KilledError(f"{who} was stopped by somebody else, or by a debugger")
