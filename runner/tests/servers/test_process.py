"""A server's process from its start to its first answer."""

from __future__ import annotations

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from jdkmatrix.config.model import Server
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.process import ServerError, ServerProcess
from tests.support.waiting import wait_until


class Ok(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


def test_who_has_taken_the_port_is_not_taken_for_the_server(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Ok) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        logs = (tmp_path / "messages.log", tmp_path / "console.log")
        sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
        what = Launch(sleeps, dict(os.environ), f"http://127.0.0.1:{other.server_address[1]}", "/ping", *logs)
        try:
            with (
                pytest.raises(ServerError, match="is another process's, which answers in the place of the server"),
                ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server,
            ):
                server.wait_ready()
        finally:
            other.shutdown()
            thread.join()


@pytest.mark.parametrize("end", ["lives", "is killed", "crashes"])
def test_what_a_server_has_started_does_not_outlive_it(tmp_path: Path, end: str) -> None:
    """A command of the user may start programs, and end before they do."""
    starts = "import subprocess, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"
    command = [sys.executable, "-c", f"{starts}; {'1 / 0' if end == 'crashes' else 'time.sleep(600)'}"]
    console = tmp_path / "console.log"
    what = Launch(command, dict(os.environ), "http://127.0.0.1:9", "/ping", tmp_path / "messages.log", console)
    with ServerProcess(what, cpus=sorted(os.sched_getaffinity(0)), rules=Server()) as server:
        wait_until(lambda: "\n" in console.read_text(), "it did not start")
        child = psutil.Process(int(console.read_text().splitlines()[0]))
        if end == "is killed":
            server.kill()
        if end != "lives":
            wait_until(lambda: not server.is_alive, "it did not end")
        assert child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, "it outlives its server")
