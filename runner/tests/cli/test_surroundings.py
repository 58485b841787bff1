"""The surroundings of a command: closed streams, and arguments and folders that no one could use."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from jdkmatrix.cli.examining import this_host
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import find_project
from tests.support.project import called, matrix_command


def test_nobody_reads_what_is_printed(home: Path) -> None:
    """`| head -0` does not read it, for example."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(matrix_command("--version"), stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_word_that_no_record_could_hold_is_refused(home: Path) -> None:
    done = called(home, "plan", "--profile", "short", "--run", os.fsdecode(b"caf\xe9"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "matrix: caf\\udce9: is not UTF-8, as the records of a run are\n"


def test_a_site_at_a_link_to_itself_is_refused_at_once(home: Path, tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    done = called(home, "run", "--profile", "short", "--site", str(tmp_path / "round"))
    assert (done.returncode, done.stderr) == (1, f"matrix: {tmp_path}/round: is a link that leads back to itself\n")


def test_a_removed_working_directory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.delenv("MATRIX_HOME", raising=False)
    monkeypatch.delenv("MATRIX_PARTS", raising=False)
    told = r"^the working directory cannot be determined: No such file or directory$"
    with pytest.raises(MatrixError, match=told):
        find_project()
    with pytest.raises(MatrixError, match=told):
        this_host()


def test_a_folder_that_may_not_be_entered_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIX_HOME", str(tmp_path))
    monkeypatch.setattr(Path, "is_file", mock.Mock(side_effect=PermissionError(errno.EACCES, "Permission denied")))
    with pytest.raises(MatrixError, match=f"^{tmp_path} cannot be looked into: Permission denied$"):
        find_project()
