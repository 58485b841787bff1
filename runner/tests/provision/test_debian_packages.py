"""Which packages hold a program's libraries, and how a program finds the libraries beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.debian import apt, elf
from jdkmatrix.provision.debian.apt import dependencies, library_closure
from tests.support.programs import loaded

CHAIN = ("librt.so.1", "libpthread.so.0")
DEPENDS = """\
tool
  PreDepends: libc6
 |Depends: libnew1t64
  Depends: libold1
  Depends: adduser
  Depends: libtool-perl
  Depends: <libvirtual-abi-3>
    libprovider1
 |Depends: <libgone>
  Depends: libsecond2
  Depends: zlib1g
libc6
  Depends: libgcc-s1
libgcc-s1
  Depends: gcc-15-base
  Depends: libc6
<libvirtual-abi-3>
libnew1t64
  Depends: libdeep0.9-1
libdeep0.9-1
adduser
  Depends: libnever1
zlib1g
  Depends: libc6
"""


def test_of_alternatives_the_first_that_is_a_package() -> None:
    assert dependencies(DEPENDS)["tool"] == ["libc6", "libnew1t64", "adduser", "libtool-perl", "libsecond2", "zlib1g"]


def test_libraries_of_libraries_and_nothing_else() -> None:
    found = dependencies(DEPENDS)
    deep = ["libc6", "libdeep0.9-1", "libgcc-s1", "libnew1t64", "libsecond2", "zlib1g"]
    assert library_closure(found, "tool") == deep
    assert library_closure({"tool": found["tool"]}, "tool") == ["libc6", "libnew1t64", "libsecond2", "zlib1g"]


def test_without_patchelf_a_debian_archive_is_of_no_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "_archive", lambda: None)
    assert apt.absent() is None
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert apt.absent() == "patchelf is missing (on Debian: apt-get install patchelf)"


def host_program() -> Path:
    """Return a program under its own name, which `ls` need not be: coreutils may be one program for all its names."""
    found = shutil.which("bash")
    assert found is not None
    return Path(found).resolve()


def lay_out(root: Path, core: str) -> tuple[Path, list[Path]]:
    """Lay out a program and all that it loads as packages would: interpreter and libc in the folder `core`, the rest
    in usr/lib/multi-arch. A host may have no program with a library that needs another, so libraries of any libc are
    made to be that."""
    needed = loaded(host_program())
    libc = next(library for library in needed if library.name.startswith("libc.so"))
    for library in (*needed, *(libc.with_name(name) for name in CHAIN)):
        basic = library.name.startswith(("ld-linux", "libc.so"))
        copy_writable(library, root / (core if basic else "usr/lib/multi-arch") / library.name)
    program = root / "usr" / "bin" / host_program().name
    copy_writable(host_program(), program)
    chain = [root / "usr/lib/multi-arch" / name for name in CHAIN]
    for needing, other in pairwise((program, *chain)):
        patchelf("--add-needed", other.name, needing)
    return program, chain


def copy_writable(source: Path, target: Path) -> None:
    """Copy without a search path, as in packages: Nix binds every program to its store, where all is read-only."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    target.chmod(0o755)
    patchelf("--remove-rpath", target)


def patchelf(*arguments: str | Path) -> str:
    return subprocess.check_output([elf.patchelf(), *arguments], text=True).strip()


@pytest.mark.parametrize("core", ["lib/multi-arch", "usr/lib/multi-arch"])
def test_a_program_loads_nothing_of_the_host(tmp_path: Path, core: str) -> None:
    root, final = tmp_path / "staging", tmp_path / "final"
    program, (library, _) = lay_out(root, core)
    patchelf("--set-rpath", "/usr/lib/private:/somewhere", library)
    private = root / "usr/lib/private" / library.name
    private.parent.mkdir()
    library.rename(private)
    library.symlink_to(f"../private/{library.name}")

    elf.relocate([program, private], root, final)
    root.rename(final)
    here = final / "usr/bin" / program.name
    assert {path.name for path in loaded(here)} == {path.name for path in loaded(host_program())} | set(CHAIN)
    assert all(path.resolve().is_relative_to(final.resolve()) for path in loaded(here))
    assert subprocess.check_output([here, "-c", "echo $0", "ran"], text=True) == "ran\n"
    search = patchelf("--print-rpath", final / private.relative_to(root)).split(":")
    assert search[:3] == ["$ORIGIN/.", "/somewhere", f"$ORIGIN/{os.path.relpath(root / core, private.parent)}"]


def test_without_a_program_or_its_interpreter(tmp_path: Path) -> None:
    program, (library, _) = lay_out(tmp_path, "lib/multi-arch")
    with pytest.raises(MatrixError, match="the packages hold programs for no interpreter; expected one"):
        elf.relocate([library], tmp_path, tmp_path)
    shutil.rmtree(tmp_path / "lib")
    with pytest.raises(MatrixError, match="the packages hold no ld-linux"):
        elf.relocate([program], tmp_path, tmp_path)
