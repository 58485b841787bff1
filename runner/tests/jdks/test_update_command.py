"""`matrix jdks update`: what it shows and writes, and its messages when it cannot."""

from __future__ import annotations

import difflib
import os
import socket
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import CliRunner

from jdkmatrix.cli.main import app
from jdkmatrix.jdks import net
from jdkmatrix.jdks.catalogue import dump_catalogue, load_catalogue
from tests.support.jdks_doubles import FileServer
from tests.support.upstream_doubles import REAL_GET_TEXT, X64, present, through, upstream

__all__ = ["upstream"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: FileServer) -> Path:
    """A project whose vendors are all on loopback."""
    (tmp_path / "matrix.toml").touch()
    (tmp_path / "jdks.json").write_text(dump_catalogue(present()))
    monkeypatch.setenv("MATRIX_HOME", str(tmp_path))
    monkeypatch.setattr(net, "get_text", through(upstream))
    return tmp_path


def command(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["jdks", "update", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_the_command_shows_and_writes_nothing(project: Path, upstream: FileServer) -> None:
    before = (project / "jdks.json").read_bytes()
    status, out, _ = command()
    assert (status, max(upstream.asked.values())) == (0, 1)
    assert (project / "jdks.json").read_bytes() == before
    lines = out.splitlines()
    assert "not looked up, the id names one exact build: temurin-25.0.3" in lines
    assert "temurin-25: 25.0.4.1+1 is the newest" in lines
    assert any(line.startswith("temurin-22: stays at 22.0.1+8: http://127.0.0.1") for line in lines)
    assert any(line.startswith("openjdk-22-ea: stays at 22-ea+34: early access of JDK 22 has ended") for line in lines)
    assert any(line.startswith("semeru-21: 21.0.12.0 -> 21.0.12.10 of 2026-08-25; 21.0.12.0 is kept") for line in lines)
    assert "--- a/jdks.json" in lines
    assert lines[-1] == "3 entries would change, each with its -prev; nothing was written (--write writes it)"


def test_the_command_writes_the_diff_that_it_shows_and_has_nothing_to_do_then(project: Path) -> None:
    old = (project / "jdks.json").read_text().splitlines(keepends=True)
    status, out, _ = command("--write")
    assert status == 0
    new = (project / "jdks.json").read_text().splitlines(keepends=True)
    assert f"\n{''.join(difflib.unified_diff(old, new, 'a/jdks.json', 'b/jdks.json'))}\n" in out
    assert f"3 entries changed in {project}/jdks.json, each with its -prev: `matrix jdks fetch temurin-21`" in out
    written = load_catalogue(project / "jdks.json")
    assert [(entry.id, entry.version, entry.previous) for entry in written.entries] == [
        ("temurin-21", "21.0.12+8", "21.0.11+10"),
        ("temurin-21-prev", "21.0.11+10", None),
        ("temurin-22", "22.0.1+8", None),
        ("temurin-25", "25.0.4.1+1", None),
        ("temurin-25.0.3", "25.0.3+9", None),
        ("semeru-21", "21.0.12.10", "21.0.12.0"),
        ("semeru-21-prev", "21.0.12.0", "21.0.10+7_openj9-0.57.0"),
        ("openjdk-22-ea", "22-ea+34", None),
        ("openjdk-28-ea", "28-ea+17", "28-ea+16"),
        ("openjdk-28-ea-prev", "28-ea+16", None),
        ("nightly", "rolling", None),
    ]
    assert written.entry("temurin-21").date == "2026-07-24"
    assert written.entry("temurin-21-prev").notes == written.entry("temurin-21").notes == ("Pins its carrier.",)
    assert written.entry("openjdk-28-ea").archives[X64].sha256.startswith("59f29554ce7e6bdf")
    assert written.entry("openjdk-28-ea-prev").archives == present().entry("openjdk-28-ea").archives
    after = (project / "jdks.json").read_bytes()
    status, out, _ = command("--write")
    assert (status, out.splitlines()[-1]) == (0, "0 entries would change")
    assert (project / "jdks.json").read_bytes() == after


def test_only_the_entries_that_are_named(project: Path, upstream: FileServer) -> None:
    status, out, _ = command("--write", "openjdk-28-ea", "nightly", "openjdk-28-ea")
    assert status == 0
    assert "not looked up, rolling: the source has only its newest build: nightly" in out
    assert f"1 entry changed in {project}/jdks.json" in out
    assert not [path for path in upstream.asked if "adoptium" in path]
    assert load_catalogue(project / "jdks.json").entry("temurin-21").version == "21.0.11+10"
    upstream.asked.clear()
    status, out, _ = command("nightly")
    assert (status, out.splitlines()[-1], upstream.asked.total()) == (0, "0 entries would change", 0)


def test_an_unknown_entry(project: Path) -> None:
    status, out, problem = command("temurin-25", "temurin-52")
    assert (status, out) == (1, "")
    assert 'JDK "temurin-52" is not known; did you mean "temurin-' in problem


def test_nobody_answers(project: Path, upstream: FileServer) -> None:
    upstream.files.clear()
    before = (project / "jdks.json").read_bytes()
    status, out, problem = command("--write", "openjdk-28-ea", "semeru-21")
    assert status == 1
    assert "would change" not in out
    assert problem.startswith("matrix: could not look up newer JDKs: ")
    assert problem.count("answers 404") == 2
    assert (project / "jdks.json").read_bytes() == before


def test_a_catalogue_that_cannot_be_written_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=OSError(28, os.strerror(28))))
    before = (project / "jdks.json").read_bytes()
    status, _, problem = command("--write")
    assert status == 1
    assert "jdks.json cannot be written: No space left on device" in problem
    assert (project / "jdks.json").read_bytes() == before
    assert [path.name for path in project.iterdir() if ".jdks" in path.name] == []


def test_without_network_it_is_one_message(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests go through a proxy that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, nobody)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(net, "get_text", REAL_GET_TEXT)
    status, _, problem = command()
    assert (status, len(problem.splitlines())) == (1, 1)
    assert problem.startswith("matrix: could not look up newer JDKs: ")
    for host in ("api.adoptium.net", "api.github.com", "jdk.java.net"):
        assert problem.count(f"{host} does not answer from here (connection refused)") == 1
