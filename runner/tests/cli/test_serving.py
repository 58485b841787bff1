"""The site on a port of loopback, which follows the results."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from jdkmatrix.cli import serving
from jdkmatrix.cli.loopback_server import LoopbackServer
from jdkmatrix.errors import MatrixError
from jdkmatrix.store.runs import RunStore
from tests.support.loopback import answering
from tests.support.project import called, make_project, matrix_command
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored
from tests.support.waiting import HANGS_S


def result(folder: Path, run_id: str) -> RunStore:
    loaded = synthetic_run(folder / "made-up", replace(QUICK, blocks=1, windows=1, run_id=run_id))
    return stored(folder / "results" / run_id, loaded)


def test_it_shows_the_site_on_loopback_only_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    home = make_project(tmp_path / "project")
    result(home, "one")
    # A shell's background job ignores Ctrl-C, and so does everything that it starts: these tests may be one.
    command = ["env", "--default-signal=INT", *matrix_command("serve", "--port", "0")]
    told = {**os.environ, "MATRIX_HOME": str(home)}
    with subprocess.Popen(command, env=told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address) as answer:
                assert b"Thread pool or virtual threads?" in answer.read()
                assert answer.headers["Cache-Control"] == "no-store"
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'sha256-")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{address}../matrix.toml")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=HANGS_S)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Make a folder of pages, and of files beside them that must not be served."""
    folder = tmp_path / "site"
    (folder / "runs").mkdir(parents=True)
    (folder / ".git").mkdir()
    meta = """<meta http-equiv="Content-Security-Policy" content="script-src &#39;sha256-a=&#39;">"""
    for name in ("index.html", ".made-with", "results.csv", ".git/config", "runs/bare.html"):
        (folder / name).write_text(meta if name == "index.html" else name)
    return folder


@contextmanager
def served(site: Path, **limits: float) -> Iterator[int]:
    """Serve the site, and yield the port."""
    with answering(LoopbackServer(0, site, **limits)) as server:  # type: ignore[arg-type]
        yield server.server_address[1]


def asked(port: int, path: str, *headers: str) -> tuple[int, str]:
    """Return the status and the whole answer, whose headers must tell a browser what it may do."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANGS_S) as connection:
        connection.sendall("\r\n".join([f"GET {path} HTTP/1.0", *headers, "", ""]).encode())
        with connection.makefile("rb") as file:
            answer = file.read().decode()
    assert "Content-Security-Policy: " in answer and "X-Content-Type-Options: nosniff" in answer
    return int(answer.split()[1]), answer


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (("localhost",), 200), (("LocalHost:8000",), 200), (("127.0.0.1:1",), 200), (("[::1]:8000",), 200),
        ((), 421), (("",), 421), (("attacker.example",), 421), (("localhost.attacker.example:8000",), 421),
        (("127.0.0.1.attacker.example",), 421), (("localhost", "attacker.example"), 421), (("0.0.0.0",), 421),
    ],
)  # fmt: skip
def test_only_a_loopback_name_is_answered(site: Path, hosts: tuple[str, ...], status: int) -> None:
    """Any other name may be that of a page whose author has pointed it at this host (DNS rebinding)."""
    with served(site) as port:
        assert asked(port, "/", *(f"Host: {host}" for host in hosts))[0] == status


@pytest.mark.parametrize(
    "path",
    [
        "/%00", "/index.html%00", "/runs/", "/.made-with", "/.git/config", "/runs/../.made-with", "/%2emade-with",
        f"/{'a' * 3000}", "/index.html/", "/../secret", "/%ff",
    ],
)  # fmt: skip
def test_what_is_no_page_is_not_found(site: Path, capfd: pytest.CaptureFixture[str], path: str) -> None:
    (site.parent / "secret").write_text("secret")
    with served(site) as port:
        assert asked(port, path, "Host: localhost")[0] == 404
    assert capfd.readouterr() == ("", "")


def test_a_page_may_do_what_it_says_itself_and_other_files_nothing(site: Path) -> None:
    policies = dict.fromkeys(("/", "/index.html"), "script-src 'sha256-a='")
    policies |= dict.fromkeys(("/runs/bare.html", "/results.csv", "/runs", "/nowhere"), "default-src 'none'")
    with served(site) as port:
        for path, policy in policies.items():
            _, answer = asked(port, path, "Host: localhost")
            assert f"\r\nContent-Security-Policy: {policy}; frame-ancestors 'none'\r\n" in answer


def test_a_connection_too_many_is_closed_and_one_that_is_silent_or_slow_makes_room(site: Path) -> None:
    with ExitStack() as stack:
        port = stack.enter_context(served(site, connections_max=3, request_s_max=1))
        new = (stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=HANGS_S)) for _ in range(4))
        silent, half, slow, too_many = new
        half.sendall(b"GET / HT")
        assert too_many.recv(1) == b"", "there is no room for it"
        for _ in range(500):
            if select.select([slow], [], [], 0.02)[0]:
                break
            slow.sendall(b"a")
        else:
            pytest.fail("it sends a byte now and then, and keeps its room")
        assert silent.recv(1) == half.recv(1) == b"", "their requests did not come in time"
        assert asked(port, "/", "Host: localhost")[0] == 200


def test_ctrl_c_while_a_connection_gets_its_thread_still_ends_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def served_and_stopped(thread: threading.Thread) -> None:
        start(thread)
        thread.join()
        raise KeyboardInterrupt

    with LoopbackServer(0, site) as server, ExitStack() as stack:
        browser = stack.enter_context(socket.create_connection(("127.0.0.1", server.server_port), timeout=HANGS_S))
        browser.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        monkeypatch.setattr(threading.Thread, "start", served_and_stopped)
        with pytest.raises(KeyboardInterrupt):
            server.handle_request()


@pytest.mark.parametrize("trouble", [MatrixError("not now"), OSError("not now"), TypeError("not now")], ids=repr)
def test_a_site_is_written_again_when_results_change_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trouble: Exception
) -> None:
    first = result(tmp_path, "one")

    def is_over() -> Iterator[bool]:
        """End after four looks; a run is added before the third one and broken before the fourth."""
        yield from (False, False)
        result(tmp_path, "two")
        yield False
        (tmp_path / "results" / "two" / "run.json").write_text("{")
        yield from (False, True)

    def folders() -> list[Path]:
        return sorted((tmp_path / "results").iterdir())

    write = mock.Mock(side_effect=[None, trouble])
    monkeypatch.setattr(serving, "is_measuring", lambda: False)
    serving.watch(folders, write, mock.Mock(wait=mock.Mock(side_effect=is_over())), serving.stamps(folders()))
    both = (first.directory, tmp_path / "results" / "two")
    assert write.mock_calls == [mock.call(both), mock.call(both)]
    told = capsys.readouterr().err
    assert told.startswith("matrix: ") and told.endswith("not now\n")


def test_trouble_that_lasts_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The third look finds everything well again."""
    looks = (MatrixError("gone"), MatrixError("gone"), (), MatrixError("gone"), ValueError("odd"))
    ended = mock.Mock(wait=mock.Mock(side_effect=[*[False] * len(looks), True]))
    monkeypatch.setattr(serving, "is_measuring", lambda: False)
    serving.watch(mock.Mock(side_effect=looks), lambda _: None, ended, {})
    *gone, odd = capsys.readouterr().err.splitlines()
    assert gone == ["matrix: the site was not rewritten: gone"] * 2
    assert odd.startswith("matrix: the site was not rewritten: ValueError in cli/serving.py:")


def test_a_site_is_shown_as_it_is_while_a_run_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, run = make_project(tmp_path / "project"), result(tmp_path, "one").directory
    written: list[object] = []
    monkeypatch.setattr(serving, "is_measuring", lambda: True)
    monkeypatch.setattr(serving, "write_site", lambda *asked, **_: written.append(asked))
    with socket.create_server(("127.0.0.1", 0)) as taken:  # serving ends there
        for count in (1, 1):
            port = taken.getsockname()[1]
            done = called(home, "serve", str(run), "--port", str(port))
            assert done.returncode == 1 and len(written) == count
            assert done.stderr == f"matrix: --port {port}: Address already in use; --port 0 takes any free one\n"
            (home / "site").mkdir(exist_ok=True)
            (home / "site" / "index.html").touch()
