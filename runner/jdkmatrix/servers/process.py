"""One server process: from its start to its first answer, and to its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import psutil

from jdkmatrix.config.model import Server
from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.host.ending import (
    OutOfMemoryError,
    check_launched,
    check_not_killed,
    oom_kills,
    out_of_memory,
    ran_out_of_memory,
)
from jdkmatrix.host.http import Connection, HttpError, RefusedError, excerpt
from jdkmatrix.reading import text_if_readable
from jdkmatrix.servers.base import Launch

_POLL_S = 0.05
_TRY_TIMEOUT_S = 5.0
_TAIL_LINES = 12
_CAUSE_SHOWN = 200
# The likeliest first: a JVM that gets no threads or is too old, one that does not start, an Open Liberty error.
_CAUSES = (
    re.compile(r"(?<!\S)(?P<said>(?!\S*-X)\S*(?:OutOfMemoryError\b|UnsupportedClassVersionError: ).*)"),
    re.compile(r"Error occurred during initialization of VM\s*\n(?P<said>.+)"),
    re.compile(r"^(?P<said>(?:Unrecognized (?:VM )?option\b|JVMJ9\w+E ).+)", re.MULTILINE),
    re.compile(r"(?P<said>\b[A-Z]{4,5}[0-9]{4}E: .+)"),
    re.compile(r"(?P<said>Web server failed to start\. .+)"),
    re.compile(r"^(?P<said>(?:Error: |Exception in thread |Caused by: ).+)", re.MULTILINE),
)


class ServerError(MatrixError):
    """The server did not start, or died; the message ends with the tail of its log."""


class ServerOutOfMemoryError(OutOfMemoryError, ServerError):
    """The server ran out of memory and ended."""


class PortTakenError(ServerError):
    """Another process listens on the port that was meant for the server."""


class LateStartError(ServerError):
    """The process is alive, but gave no answer with status 2xx in the time allowed for its start."""


class HungError(ServerError):
    """The process is alive but no longer answers."""


class _Answer(NamedTuple):
    """An answer. `status`: None if it was not HTTP; then `body` is the error."""

    status: int | None
    body: bytes

    @property
    def is_good(self) -> bool:
        return self.status is not None and self.status // 100 == 2

    @property
    def is_final(self) -> bool:
        """True if it will not change when repeated; 503 says that it may (RFC 9110, section 15.6.4)."""
        return self.status not in (None, 503)

    @property
    def words(self) -> str:
        if self.status is None:
            return f"no HTTP ({excerpt(self.body)})"
        is_page = self.body.lstrip().startswith(b"<")
        return f"status {self.status}{f' ({excerpt(self.body)})' if self.body and not is_page else ''}"


@dataclass(eq=False)
class ServerProcess:
    """A process that is started on enter, and ended on exit whatever happened in between."""

    what: Launch
    _: KW_ONLY
    cpus: Sequence[int]
    cgroups: Sequence[Path] = ()
    open_files_max: int | None = None
    rules: Server
    started_ns: int = field(default=0, init=False)
    _ended_here: bool = field(default=False, init=False)
    _oom_kills_before: int = field(default=0, init=False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def base_url(self) -> str:
        return self.what.base_url

    def __enter__(self) -> Self:
        self._oom_kills_before = oom_kills()
        with self.what.console_log.open("wb") as console:
            self._process = launch.spawn(
                self.what.command,
                cpus=self.cpus,
                cgroups=self.cgroups,
                open_files_max=self.open_files_max,
                env=self.what.env,
                cwd=self.what.cwd or self.what.console_log.parent,  # where a JVM that crashes leaves its report
                stdout=console,
                stderr=subprocess.STDOUT,
            )
        self.started_ns = time.monotonic_ns()
        return self

    def __exit__(self, *stopped: object) -> None:
        started = self._children()
        try:
            launch.terminate(self._process, grace_s=self.rules.stop_timeout_s)
        finally:
            self._end_also(started)

    def _end_also(self, started: list[psutil.Process]) -> None:
        # The children of a server that ended earlier. If its pid exists, it is somebody else's, and so is the group.
        if not psutil.pid_exists(self.pid):
            started.extend(_members(self.pid))
            with suppress(OSError):  # usually there is none
                os.killpg(self.pid, signal.SIGKILL)
        for child in started:
            with suppress(psutil.Error):
                child.kill()
        # A killed JVM keeps its port and its CPU until the kernel has reclaimed its memory.
        deadline_s = time.monotonic() + self.rules.stop_timeout_s
        while any(map(_is_there, started)) and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)

    def wait_ready(self, while_starting: Callable[[int], None] = lambda _: None) -> float:
        """Return the seconds from the start to the first answer with status 2xx; keep calling `while_starting` with the
        pid until then.

        Raises:
            LateStartError: it did not answer with 2xx in time.
            ServerError: it ended; or says it is ready and opens no port, which is what Liberty does when a required
                service (a plugged executor, say) is missing; or answered with one and the same other status for
                `wrong_answer_s`.
        """
        limit_ns = self.started_ns + int(self.rules.first_response_timeout_s * 1e9)
        ready_ns: int | None = None
        wrong: _Answer | None = None
        wrong_since_ns = 0
        ready_words = self.what.ready_words
        with Connection(self.what.base_url, timeout_s=_TRY_TIMEOUT_S) as connection:
            while True:
                self.check_alive()
                while_starting(self.pid)
                answer = self._try(connection)
                now_ns = time.monotonic_ns()
                if answer is not None and answer.is_good:
                    self._check_is_ours()
                    return (now_ns - self.started_ns) / 1e9
                if ready_ns is None and ready_words and ready_words in self._messages():
                    ready_ns = now_ns
                if answer is None or wrong is None or answer.status != wrong.status or (ready_words and not ready_ns):
                    wrong, wrong_since_ns = answer, now_ns
                wrong_s = (now_ns - wrong_since_ns) / 1e9
                if wrong and wrong.is_final and wrong_s > self.rules.wrong_answer_s:
                    self._check_is_ours()
                    told = f"GET {self._ready_path} has been answered with {wrong.words} for {wrong_s:.0f} s"
                    raise self.error("; ".join(filter(None, (f"{told}, but 2xx is needed", self.what.hint))))
                refused_s = (now_ns - ready_ns) / 1e9 if ready_ns else 0.0
                if answer is None and refused_s > self.rules.ready_without_port_s:
                    raise self.error(
                        f"the server says that it is ready ({ready_words}) but has opened no port for "
                        f"{refused_s:.0f} s",
                        perhaps="a service that its HTTP channel needs may be missing, such as the plugged executor",
                    )
                if now_ns > limit_ns:
                    within = f"{self.rules.first_response_timeout_s:g} s (server.first_response_timeout_s)"
                    last = f"the last answer was {answer.words}" if answer else "the port is closed"
                    told = f"the server did not start within {within}: no answer with status 2xx to GET"
                    raise LateStartError(self._told(f"{told} {self._ready_path}; {last}"))
                time.sleep(_POLL_S)

    def _check_is_ours(self) -> None:
        """Raises: PortTakenError: what answers is another process, which took the port before the server could;
        ServerError: or one that it has started."""
        port = urlsplit(self.what.base_url).port
        if any(own == port for _, own in self._listening()):
            return
        told = f"port {port} belongs to another process, which answers in place of the server"
        started = ", ".join(child.name() for child in self._children())
        if started:
            raise self.error(told, perhaps=f"it has started {started}; a command must become the server (exec)")
        raise PortTakenError(self._told(told))

    def check_only_on_loopback(self) -> None:
        """Raises: ServerError: other hosts can reach it."""
        if wide := sorted(f"{ip}:{port}" for ip, port in self._listening() if _is_wide(ip)):
            raise self.error(
                f"it listens on {', '.join(wide)}, where other hosts can reach it, and is not measured like that: "
                "tell it to listen on {address}, which is 127.0.0.1"
            )

    def _listening(self) -> set[tuple[str, int]]:
        """Return the addresses and ports on which it accepts connections. Raises: ServerError: it has ended."""
        try:
            opened = psutil.Process(self.pid).net_connections("tcp")
        except psutil.AccessDenied:
            raise self._hidden() from None
        except psutil.Error:
            self.check_alive()
            raise
        return {(one.laddr.ip, one.laddr.port) for one in opened if one.status == psutil.CONN_LISTEN}

    def check_runs(self, java: Path) -> None:
        """Raises: ServerError: the process is another program than this JVM."""
        try:
            found = Path(f"/proc/{self.pid}/exe").readlink()
        except PermissionError:
            raise self._hidden() from None
        except OSError:
            self.check_alive()
            raise
        if found != java.resolve():
            raise self.error(f"its process runs {found}, not the cell's JVM {java.resolve()}")

    def _hidden(self) -> ServerError:
        """Return the error for a process that /proc hides, as the kernel does even from its own user if the program has
        file capabilities (PR_SET_DUMPABLE, prctl(2)). Raises: ServerError: it has ended, and is hidden for that."""
        self.check_alive()
        return self.error(
            "the kernel does not show which program it is and on which ports it listens",
            perhaps="only root can measure a java to which setcap gave capabilities",
        )

    def _children(self) -> list[psutil.Process]:
        """Return its descendants; a server has none, but a user's command may."""
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.Error:
            return []

    def kill(self) -> None:
        """Kill the process at once; from any thread."""
        self._ended_here = True
        self._process.kill()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def check_alive(self) -> None:
        """Raises: ServerError, of memory where its log says so, when the process has ended; LaunchError where it never
        was the server."""
        status = self._process.poll()
        if status is None:
            return
        check_launched(status, self._logs()[1])
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        log, before = "\n".join(self._logs()), self._oom_kills_before
        if not self._ended_here and ran_out_of_memory(log, status, oom_kills_before=before):
            raise ServerOutOfMemoryError(self._told(f"the server ran out of memory, and {how}"))
        raise self.error(f"the server {how}")

    def check_not_killed(self, within_s: float = 0.0) -> None:
        """Raises: KilledError when it has ended, or ends `within_s` from now, by a signal that neither we nor, out of
        memory, itself has sent."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        status = self._process.poll()
        if status is not None and not self._ended_here:
            log = "\n".join(self._logs())
            check_not_killed("the server", status, log=log, oom_kills_before=self._oom_kills_before)

    @property
    def _ready_path(self) -> str:
        return f"{urlsplit(self.what.base_url).path}{self.what.ready_path}"

    def _try(self, connection: Connection) -> _Answer | None:
        """Send one GET and return its answer, or None if nothing listens."""
        try:
            return _Answer(*connection.get(self.what.ready_path))
        except RefusedError:
            return None
        except HttpError as error:
            return _Answer(None, str(error).encode())

    def _messages(self) -> str:
        return text_if_readable(self.what.messages_log) or ""

    def _logs(self) -> tuple[str, str]:
        """Return its messages, then its console, to which the JVM itself writes."""
        return self._messages(), text_if_readable(self.what.console_log) or ""

    def error(self, message: str, perhaps: str = "") -> ServerError:
        """Return an error whose message ends with the tail of the log."""
        return ServerError(self._told(message, perhaps))

    def _told(self, message: str, perhaps: str = "") -> str:
        """Append the line of its log that says why, or `perhaps` if none does, and the tail of the log."""
        messages, console = self._logs()
        found = cause(f"{messages}\n{console}")
        told = "; ".join(filter(None, (message, f"its log says: {found}" if found else perhaps)))
        tail = "\n".join((messages or console).splitlines()[-_TAIL_LINES:])
        return f"{told}\n{tail}".rstrip()


def _is_wide(ip: str) -> bool:
    address = ip_address(ip)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return not (mapped or address).is_loopback


def cause(log: str) -> str | None:
    """Return the line of a server's log that says why it does not serve, without what precedes it; None: none does."""
    others = (found["said"] for found in (pattern.search(log) for pattern in _CAUSES) if found)
    said = out_of_memory(log) or next(others, None)
    return said and said.strip()[:_CAUSE_SHOWN]


def _members(group: int) -> list[psutil.Process]:
    found = []
    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group:
                found.append(psutil.Process(pid))
    return found


def _is_there(process: psutil.Process) -> bool:
    """Return whether the process still exists; one whose parent has yet to collect its status does not count."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
