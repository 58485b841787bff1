"""Two real Nixes: each builds and checks a flake in a store of its own, and leaves the host alone."""

from __future__ import annotations

import base64
import hashlib
import multiprocessing
import os
import secrets
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import this_system
from jdkmatrix.provision.cache import cache_dir
from jdkmatrix.provision.debian import elf
from tests.nix import install
from tests.nix.install import Nix, newest_nix, nix_of_host_release
from tests.support.programs import loaded
from tests.support.waiting import HANGS_S

real = pytest.mark.real
NOBODY = 65534

FLAKE = """\
{ outputs = { self }: { checks.SYSTEM.seed = self.packages.SYSTEM.default; packages.SYSTEM.default =
  derivation { name = "seed"; system = "SYSTEM"; builder = "/bin/sh"; args = [ "-c" "/bin/cp ${./seed} $out" ];
    outputHashMode = "flat"; outputHashAlgo = "sha256"; outputHash = "HASH"; }; }; }
"""


def outside() -> dict[str, int]:
    """Return what is at and directly below the places where Nix usually writes, and when it last changed."""
    home = Path.home()
    own = [home / folder / "nix" for folder in (".cache", ".config", ".local/share", ".local/state")]
    roots = [Path("/nix"), Path("/etc/nix"), *home.glob(".nix-*"), *own]
    return {str(p): p.lstat().st_mtime_ns for root in roots if root.exists() for p in (root, *root.glob("*"))}


BEFORE = outside()


def new_flake(folder: Path) -> tuple[str, str]:
    """Write a flake whose package no store holds yet; return its reference and what the package will hold."""
    text = secrets.token_hex(16)
    folder.mkdir(exist_ok=True)
    (folder / "seed").write_text(text)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    (folder / "flake.nix").write_text(FLAKE.replace("SYSTEM", this_system()).replace("HASH", f"sha256-{digest}"))
    return f"path:{folder}", text


def build(nix: Nix, folder: Path) -> None:
    flake, text = new_flake(folder / "flake")
    nix.run(["build", "--out-link", folder / "result", flake], folder)
    built = (folder / "result").resolve()
    assert built.parent == nix.store
    assert built.read_text() == text


@pytest.fixture(scope="module", params=[nix_of_host_release, newest_nix], ids=["host-release", "newest"])
def nix(request: pytest.FixtureRequest) -> Nix:
    get: Callable[[], Nix] = request.param
    return get()


@real
def test_it_runs_from_the_cache_on_its_own_libraries(nix: Nix) -> None:
    cache = cache_dir().resolve()
    assert nix.program.is_relative_to(cache)
    assert nix.folder.is_relative_to(cache)
    libraries = loaded(nix.program)
    assert any(path.name.startswith("libc.so") for path in libraries)
    assert [path for path in libraries if not path.resolve().is_relative_to(cache)] == []
    assert f"nix (Nix) {nix.version}" in nix.run(["--version"], nix.folder).stdout


@real
def test_it_builds_and_checks_and_writes_nothing_outside_the_cache(nix: Nix, tmp_path: Path) -> None:
    """Nothing was written since this module was imported, which includes installing Nix if that was needed."""
    build(nix, tmp_path)
    flake, text = new_flake(tmp_path / "checked")
    nix.run(["flake", "check", flake], tmp_path)
    assert [p for p in nix.store.glob("*-seed") if p.is_file() and p.read_text() == text]
    assert outside() == BEFORE


@real
def test_the_newest_is_one_that_can_read_nixpkgs() -> None:
    """Nixpkgs wants at least 2.18 (its lib/minver.nix)."""
    old, new = (tuple(map(int, get().version.split("."))) for get in (nix_of_host_release, newest_nix))
    assert new >= old
    assert new >= (2, 18)


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that NOBODY may use: root's temporary folders are closed to others."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="jdk-matrix-") as name:
        shutil.chown(name, NOBODY, NOBODY)
        yield Path(name)


def as_ordinary_user(folder: Path, told: Path) -> None:
    """Build in a process of its own that has everything imported: NOBODY may be unable to read this interpreter."""
    try:
        os.chdir(folder)
        os.environ |= {
            "MATRIX_CACHE": str(folder / "cache"),
            "HOME": str(folder),
            "PATH": f"{folder}:{os.environ['PATH']}",
        }
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        build(nix_of_host_release(), folder)
        told.write_text("built")
    except BaseException:
        told.write_text(traceback.format_exc())


@real
def test_an_ordinary_user_gets_it_and_builds(open_folder: Path) -> None:
    shutil.copy2(elf.patchelf(), open_folder / "patchelf")
    told = open_folder / "told"
    told.touch()
    told.chmod(0o666)
    process = multiprocessing.get_context("fork").Process(target=as_ordinary_user, args=(open_folder, told))
    process.start()
    process.join(HANGS_S)
    assert told.read_text() == "built"
    assert process.exitcode == 0
    store = next((open_folder / "cache/nix/var").iterdir()) / "store"
    assert {path.lstat().st_uid for path in store.iterdir()} == {os.geteuid() or NOBODY}


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], Path]]:
    """A made-up suite whose Nix was last looked for some seconds ago, and a Debian that does not answer."""
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path))

    def no_answer(*_: object) -> install.Installed:
        raise MatrixError("the mirror does not answer")

    def make(age_s: float) -> Path:
        known = install.Installed(
            suite="somewhere", package_version="2.0+x-1", version="2.0", packages={}, looked_at_s=time.time() - age_s
        )
        for path in (
            tmp_path / "nix" / known.name / "usr/bin/nix",
            tmp_path / "nix/var" / known.name / "state/db/db.sqlite",
        ):
            path.parent.mkdir(parents=True)
            path.touch()
        (tmp_path / "nix" / "somewhere.json").write_text(known.model_dump_json())
        return tmp_path / "nix" / known.name

    monkeypatch.setattr(install, "_get", no_answer)
    monkeypatch.setattr(install, "NEWEST_SUITE", "somewhere")
    yield make


def test_for_a_day_debian_is_not_asked_again(looked: Callable[[float], Path]) -> None:
    folder = looked(install.LOOK_AGAIN_AFTER_S - 60)
    nix = newest_nix()
    assert (nix.version, nix.program) == ("2.0", folder / "usr/bin/nix")


@pytest.mark.parametrize("age_s", [install.LOOK_AGAIN_AFTER_S + 1, -3600.0], ids=["old", "of the future"])
def test_without_debian_the_known_one_stays_and_that_is_said(looked: Callable[[float], Path], age_s: float) -> None:
    looked(age_s)
    with pytest.warns(UserWarning, match=r"Nix 2\.0 of Debian somewhere may not be its newest: the mirror does not"):
        assert newest_nix().version == "2.0"


def test_without_debian_and_without_a_known_one(looked: Callable[[float], Path]) -> None:
    program = looked(0) / "usr/bin/nix"
    program.unlink()
    with pytest.raises(MatrixError, match=r"^Nix of Debian somewhere cannot be had: the mirror does not answer$"):
        newest_nix()


def test_no_debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path))
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "fedora"})
    with pytest.raises(MatrixError, match=r"cannot be had: this host is fedora, not Debian$"):
        nix_of_host_release()
