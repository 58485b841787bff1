"""The site at a port of loopback, which follows the results."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli import serving
from jdkmatrix.errors import MatrixError
from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored


def result(folder: Path, run_id: str) -> RunStore:
    loaded = synthetic_run(folder / "made-up", replace(QUICK, blocks=1, windows=1, run_id=run_id))
    return stored(folder / "results" / run_id, loaded)


@contextmanager
def serving_in(work: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real command on a project of its own, and its address."""
    for name in ("matrix.toml", "claims.toml", "report-templates", "jdks.json"):
        (work / name).symlink_to(ROOT / name)
    # A shell's background job ignores Ctrl-C, and so does all that it starts: these tests may be one.
    as_in_a_terminal = ["env", "--default-signal=INT"]
    command = [*as_in_a_terminal, sys.executable, "-m", "jdkmatrix.cli.main", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_it_shows_the_site_on_loopback_only_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    result(tmp_path, "one")
    with serving_in(tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert b"Thread pool or virtual threads?" in answer.read()
            assert answer.headers["Cache-Control"] == "no-store"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}../matrix.toml")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")


def test_a_site_is_written_again_when_results_change_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = result(tmp_path, "one")
    looks = 0
    written: list[tuple[Path, ...]] = []

    class Ended(threading.Event):
        """Comes after four looks; before the third one a run has been added, before the fourth one it is broken."""

        def wait(self, timeout: float | None = None) -> bool:
            nonlocal looks
            looks += 1
            if looks == 3:
                result(tmp_path, "two")
            if looks == 4:
                (tmp_path / "results" / "two" / "run.json").write_text("{")
            return looks > 4

    def write(runs: Sequence[Path]) -> None:
        written.append(tuple(runs))
        if len(written) == 2:
            raise MatrixError("cannot be written now")

    monkeypatch.setattr(serving, "is_measuring", lambda: False)

    def folders() -> list[Path]:
        return sorted((tmp_path / "results").iterdir())

    serving.watch(folders, write, Ended(), serving.stamps(folders()))
    both = (first.directory, tmp_path / "results" / "two")
    assert written == [both, both]
    assert "cannot be written now" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_message(tmp_path: Path) -> None:
    result(tmp_path, "one")
    with serving_in(tmp_path) as (_, address):
        port = address.rstrip("/").rpartition(":")[2]
        command = [sys.executable, "-m", "jdkmatrix.cli.main", "serve", "--port", port]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"matrix: --port {port}: Address already in use; --port 0 takes any that is free\n"
