"""A server's process from its start to its first answer, and the line of its log that says why it does not serve."""

from __future__ import annotations

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from jdkmatrix.config.model import Server
from jdkmatrix.host import ending
from jdkmatrix.host.ending import KilledError
from jdkmatrix.host.ports import server_port
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.process import (
    LateStartError,
    PortTakenError,
    ServerError,
    ServerOutOfMemoryError,
    ServerProcess,
    cause,
)
from tests.support.loopback import answering
from tests.support.waiting import has_ended, wait_until


class Ok(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


def test_who_has_taken_the_port_is_not_taken_for_the_server(tmp_path: Path) -> None:
    logs = (tmp_path / "messages.log", tmp_path / "console.log")
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    with answering(ThreadingHTTPServer(("127.0.0.1", 0), Ok)) as other:
        what = Launch(sleeps, dict(os.environ), f"http://127.0.0.1:{other.server_port}", "/ping", *logs)
        with (
            pytest.raises(PortTakenError, match="belongs to another process, which answers in place of the server"),
            ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server,
        ):
            server.wait_ready()


def test_a_java_with_capabilities_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They let it listen on port 80, say; the kernel then shows only root what it has open."""
    logs = (tmp_path / "messages.log", tmp_path / "console.log")
    what = Launch(["sleep", "60"], dict(os.environ), "http://127.0.0.1:9", "/ping", *logs)
    with ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server:

        def denied(*_: object) -> None:
            raise psutil.AccessDenied(server.pid)

        def hidden(_: Path) -> Path:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(psutil.Process, "net_connections", denied)
        monkeypatch.setattr(Path, "readlink", hidden)
        for check in (server.check_only_on_loopback, lambda: server.check_runs(Path("java"))):
            with pytest.raises(ServerError, match=r"does not show .*; only root can measure a java"):
                check()
        server.kill()
        wait_until(lambda: not server.is_alive)
        with pytest.raises(ServerError, match="was killed by signal 9"):  # one that has ended shows nothing, either
            server.check_only_on_loopback()


ANSWERS = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Answers(BaseHTTPRequestHandler):
    statuses = [int(status) for status in sys.argv[2:]]
    def do_GET(self):
        self.send_response(self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])
        self.end_headers()
        self.wfile.write(b"nothing\\nhere")
HTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""


@pytest.mark.parametrize(
    ("statuses", "ready_words", "told"),
    [
        ("404", None,
         r"GET /shop/ping has been answered with status 404 \(nothing here\) for \d+ s, but 2xx is needed; ask"),
        ("302", "HTTP", "status 302"),
        ("503", None,
         r"the server did not start within 6 s \(server\.first_response_timeout_s\): no answer with status 2xx to "
         "GET /shop/ping; the last answer was status 503"),
        ("404", "never said", "within 6 s .*; the last answer was status 404"),
        ("503 404 503 200", None, None),
    ],
)  # fmt: skip
def test_a_server_that_answers_otherwise_is_not_awaited_for_long(
    tmp_path: Path, statuses: str, ready_words: str | None, told: str | None
) -> None:
    """A 503 says that it may still come, and so does a server that has not said that it is ready."""
    port, console = server_port(), tmp_path / "console.log"
    what = Launch(
        [sys.executable, "-c", ANSWERS, str(port), *statuses.split()], dict(os.environ),
        f"http://127.0.0.1:{port}/shop", "/ping", console, console, ready_words=ready_words, hint="ask for another",
    )  # fmt: skip
    rules = Server(first_response_timeout_s=60 if told is None or "within" not in told else 6, wrong_answer_s=1)
    with ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=rules) as server:
        if told is None:
            assert server.wait_ready() > 0
            return
        with pytest.raises(LateStartError if "within" in told else ServerError, match=told):
            server.wait_ready()


HEAP = "java.lang.OutOfMemoryError: Java heap space"
TRACE = f"12:00 E a request failed: {HEAP}"


def ends_so(folder: Path, says: str, ends: str) -> ServerProcess:
    """Return a server that prints `says` and ends by the shell command `ends`."""
    (folder / "said").write_text(f"{says}\n")
    command = ["sh", "-c", f"cat {folder}/said; {ends}"]
    logs = (folder / "messages.log", folder / "console.log")
    what = Launch(command, dict(os.environ), "http://127.0.0.1:9", "/ping", *logs)
    return ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server())


@pytest.mark.parametrize(
    ("says", "ends", "told"),
    [
        (f'#\n# {HEAP}\n# -XX:OnOutOfMemoryError="kill -9 %p"', "kill -9 $$", f"was killed by signal 9; .*: {HEAP}"),
        (f'#\n# {HEAP}\n# -XX:OnOutOfMemoryError="kill %p"', "exit 143", f"ended with status 143; .*: {HEAP}"),
        (f"Terminating due to {HEAP}", "exit 3", f"ended with status 3; its log says: Terminating due to {HEAP}"),
        (f"Aborting due to {HEAP}", "kill -ABRT $$", f"was killed by signal 6; its log says: Aborting due to {HEAP}"),
        ('JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError" at 12:00 - please wait.',
         "kill -9 $$", "was killed by signal 9; its log says: JVMDUMP039I .*OutOfMemoryError"),
        (TRACE, "kill -9 $$", f"was killed by signal 9; its log says: {HEAP}"),
    ],
)  # fmt: skip
def test_a_server_that_ran_out_of_memory_was_not_killed_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, ends: str, told: str
) -> None:
    monkeypatch.setattr(ending, "oom_kills", lambda: 7)
    monkeypatch.setattr("jdkmatrix.servers.process.oom_kills", lambda: 7)
    with ends_so(tmp_path, says, ends) as server:
        server.check_not_killed(within_s=10)
        with pytest.raises(ServerOutOfMemoryError, match=f"^the server ran out of memory, and {told}"):
            server.check_alive()


@pytest.mark.parametrize(("says", "kernel_kills"), [(TRACE, 1), ("ready", 0)])
def test_a_server_that_the_kernel_killed_or_nobody_knows_who_did_not_end_out_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, kernel_kills: int
) -> None:
    """This holds whatever it had caught long before."""
    monkeypatch.setattr("jdkmatrix.servers.process.oom_kills", lambda: 7)
    monkeypatch.setattr(ending, "oom_kills", lambda: 7 + kernel_kills)
    with ends_so(tmp_path, says, "kill -9 $$") as server:
        with pytest.raises(KilledError, match="signal 9, which did not come from this tool"):
            server.check_not_killed(within_s=10)
        with pytest.raises(ServerError, match=r"^the server was killed by signal 9"):
            server.check_alive()


def test_a_server_that_we_ended_did_not_end_out_of_memory(tmp_path: Path) -> None:
    with ends_so(tmp_path, TRACE, "sleep 60") as server:
        wait_until(lambda: HEAP in server.what.console_log.read_text(), "it says nothing")
        server.kill()
        server.check_not_killed(within_s=10)
        with pytest.raises(ServerError, match=r"^the server was killed by signal 9"):
            server.check_alive()


@pytest.mark.parametrize("end", ["lives", "is killed", "crashes"])
def test_what_a_server_has_started_does_not_outlive_it(tmp_path: Path, end: str) -> None:
    """A user's command may start programs, and end before they do. A program with much memory takes time to end."""
    grows = "import os, time; much = b'x' * 2**27; print(os.getpid(), flush=True); time.sleep(600)"
    starts = "import sys, time; from subprocess import PIPE, Popen"
    child = "child = Popen([sys.executable, '-c', sys.argv[1]], stdout=PIPE)"
    says = "print(int(child.stdout.readline()), flush=True)"
    lives = "1 / 0" if end == "crashes" else "time.sleep(600)"
    command = [sys.executable, "-c", f"{starts}; {child}; {says}; {lives}", grows]
    console = tmp_path / "console.log"
    what = Launch(command, dict(os.environ), "http://127.0.0.1:9", "/ping", tmp_path / "messages.log", console)
    with ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server:
        wait_until(lambda: "\n" in console.read_text(), "it did not start")
        started = int(console.read_text().splitlines()[0])
        if end == "is killed":
            server.kill()
        if end != "lives":
            wait_until(lambda: not server.is_alive, "it did not end")
        assert not has_ended(started)
    assert has_ended(started), "it outlives its server"


def test_nothing_outlives_a_server_where_we_are_stopped_while_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grows = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    starts = "import sys, time; from subprocess import PIPE, Popen"
    child = "child = Popen([sys.executable, '-c', sys.argv[1]], stdout=PIPE)"
    says = "print(int(child.stdout.readline()), flush=True)"
    command = [sys.executable, "-c", f"{deaf}; {starts}; {child}; {says}; time.sleep(600)", grows]
    console = tmp_path / "console.log"
    what = Launch(command, dict(os.environ), "http://127.0.0.1:9", "/ping", tmp_path / "messages.log", console)
    waits, stopped = subprocess.Popen.wait, [True]

    def wait(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if timeout is not None and stopped.pop():
            raise KeyboardInterrupt
        return waits(process, timeout)

    with (
        pytest.raises(KeyboardInterrupt),
        ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server,
    ):
        wait_until(lambda: "\n" in console.read_text(), "it did not start")
        started = int(console.read_text().splitlines()[0])
        monkeypatch.setattr(subprocess.Popen, "wait", wait)
    assert has_ended(started) and has_ended(server.pid)


AT = "[11/26/26, 0:54:15:427 UTC] 00000023 "
NO_JVM = "Error: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred.\n"
READY = f"{AT}FeatureManager A CWWKF0011I: The matrix server is ready to run a smarter planet.\n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", None),
        (READY, None),
        (f"{AT}SystemErr R java.lang.OutOfMemoryError: Java heap space\n{READY}",
         "java.lang.OutOfMemoryError: Java heap space"),
        (f"{AT}x E CWWKO0221E: TCP/IP port in use\n{AT}R java.lang.OutOfMemoryError: Metaspace",
         "java.lang.OutOfMemoryError: Metaspace"),
        ("Error occurred during initialization of VM\nToo small maximum heap\n", "Too small maximum heap"),
        (f"Unrecognized VM option 'UseFoo'\n{NO_JVM}", "Unrecognized VM option 'UseFoo'"),
        (f"Unrecognized option: -Xfoo\n{NO_JVM}", "Unrecognized option: -Xfoo"),
        (f"JVMJ9VM007E Command-line option unrecognised: -Xfoo\n{NO_JVM}",
         "JVMJ9VM007E Command-line option unrecognised: -Xfoo"),
        ("Error: LinkageError occurred while loading main class B\n\tjava.lang.UnsupportedClassVersionError: B has\n",
         "java.lang.UnsupportedClassVersionError: B has"),
        (f"{READY}{AT}kernel E CWWKE0702E: Could not resolve module", "CWWKE0702E: Could not resolve module"),
        ('JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"',
         'JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"'),
        ("java.lang.OutOfMemoryError: unable to create native thread\n",
         "java.lang.OutOfMemoryError: unable to create native thread"),
        (f"Picked up JAVA_TOOL_OPTIONS: -XX:+ExitOnOutOfMemoryError\n{READY}", None),
        (f"java.lang.OutOfMemoryError: {'x' * 1000}", f"java.lang.OutOfMemoryError: {'x' * 172}"),
    ],
)  # fmt: skip
def test_the_line_that_says_why(log: str, said: str | None) -> None:
    assert cause(log) == said
