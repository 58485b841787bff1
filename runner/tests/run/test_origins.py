"""Which commit a run says that it was made from."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from jdkmatrix.run.origins import source_revision


def git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what this is about")
def test_only_a_repository_that_has_the_source_tells_its_commit(tmp_path: Path) -> None:
    """An archive without .git may be unpacked below a folder that is in Git for something else."""
    inside = tmp_path / "tools" / "unpacked"
    inside.mkdir(parents=True)
    (inside / "matrix.toml").write_text("")
    (tmp_path / "notes").write_text("")
    assert source_revision(inside, None) == (None, None)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "notes")
    git(tmp_path, "commit", "--quiet", "--message", "notes")
    assert source_revision(inside, None) == (None, None)
    git(tmp_path, "add", "tools")
    git(tmp_path, "commit", "--quiet", "--message", "tools")
    (tmp_path / "notes").write_text("changed")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (inside / "matrix.toml").write_text("changed")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), True)
