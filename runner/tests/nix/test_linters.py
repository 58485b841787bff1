"""The linters can be built, and find the faults that they are for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.nix.install import nix_of_host_release
from tests.nix.linters import linter
from tests.support.project import ROOT
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real
UNUSED = "let\n  used = 1;\n  idle = 2;\nin\nused\n"
CLEAN = "let\n  used = 1;\nin\nused\n"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)], env={"NO_COLOR": "1"}, capture_output=True, text=True, timeout=HANGS_S, check=False
    )


def test_deadnix_finds_what_is_not_used(tmp_path: Path) -> None:
    deadnix, path = linter("deadnix"), tmp_path / "a.nix"
    path.write_text(UNUSED)
    found = run(deadnix, "--fail", path)
    assert found.returncode == 1
    assert "Unused let binding: idle" in found.stdout + found.stderr
    path.write_text(CLEAN)
    assert run(deadnix, "--fail", path).returncode == 0
    built = deadnix.stat()
    again = linter("deadnix").stat()
    assert (again.st_ino, again.st_mtime_ns) == (built.st_ino, built.st_mtime_ns), "it is built once"


def test_nixfmt_finds_and_mends_what_is_not_in_style(tmp_path: Path) -> None:
    nixfmt, path = linter("nixfmt"), tmp_path / "a.nix"
    path.write_text("let used=1;in used")
    assert run(nixfmt, "--check", path).returncode == 1
    assert path.read_text() == "let used=1;in used"
    assert run(nixfmt, path).returncode == 0
    assert path.read_text() == CLEAN
    assert run(nixfmt, "--check", path).returncode == 0


def test_every_nix_file_is_in_style_has_nothing_unused_and_can_be_read_by_the_oldest_nix() -> None:
    files = [ROOT / "flake.nix", *sorted((ROOT / "nix").glob("*.nix")), *sorted(Path(__file__).parent.glob("*/*.nix"))]
    assert len(files) > 15
    for program, option in ((linter("deadnix"), "--fail"), (linter("nixfmt"), "--check")):
        done = run(program, option, *files)
        assert done.returncode == 0, done.stdout + done.stderr
    nix_of_host_release().run(["--parse", *files], ROOT, tool="nix-instantiate")
