"""The flake as a fresh clone has it, and a stand-in for nixpkgs made of what this host has.

Where the host lets Nix create a sandbox, builds run in one, as on every host with a real nixpkgs: of the host they see
Python and the individual programs and libraries that the stand-in is made of, but no JDK and neither /sys nor /usr/bin,
and they are not root; only what the stand-in fetches is copied outside the sandbox ("relaxed"). Where the host does not
(a container without rights), Nix builds without a sandbox, and test_stand_in.py warns.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jdkmatrix.jdks import resolve
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.provision import artefacts, hosttools, maven, seal
from jdkmatrix.provision.cache import cache_dir, locked
from jdkmatrix.provision.debian import elf
from jdkmatrix.provision.seal import files_sha256
from tests.nix.install import Nix
from tests.nix.linters import linter
from tests.nix.older_packages import STAND_IN, older_packages
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

SERVERS = ("open-liberty",)
# Debian's packages with what nixpkgs' stdenv has on PATH, and with what Debian uses instead of gawk.
_STDENV = (
    *("bash", "bzip2", "coreutils", "diffutils", "file", "findutils", "gawk", "mawk", "grep", "gzip", "make", "patch"),
    *("sed", "tar", "xz-utils"),
)
_ONLY_LINKED = ("cargo", "chromium", "git", "mvn", "nixfmt")  # for `nix develop` and `nix fmt`; no build uses them
_SANDBOX_SHELL = "/bin/sh"
# Parts of the compiling JDK that are only for those who read or link it.
_NOT_PACKED = ("demo", "docs", "jmods", "man", "src.zip")


@dataclass(frozen=True)
class Seeds:
    """`folder` holds files that the flake fetches, named by their sha256. `jdk`: the sha256 of the host's JDK, packed;
    `jdks`: those of the JDKs that stand in for a vendor's archive, by their ids in the catalogue."""

    folder: Path
    jdk: str
    jdks: Mapping[str, str]


@dataclass(frozen=True)
class FlakeCheckout:
    """`source` is a git repository of one commit; `nixpkgs` the stand-in."""

    source: Path
    nixpkgs: Path
    nix: Nix

    def run(self, *arguments: str, cwd: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `nix SUBCOMMAND…` on this flake; a "." among the arguments, or one before a "#", stands for the flake."""
        flake = f"git+file://{self.source}"
        placed = [
            f"{flake}{argument[1:]}" if argument == "." or argument.startswith(".#") else argument
            for argument in arguments
        ]
        over = ["--override-input", "nixpkgs", f"path:{self.nixpkgs}", "--no-write-lock-file", *self.sandbox()]
        words = placed.index("--") if "--" in placed else len(placed)
        command = [*placed[:words], *over, *placed[words:]]
        return self.nix.run(command, cwd or self.source, check=check)

    def sandbox(self) -> list[str]:
        """Return Nix's options for a sandbox showing what the stand-in is made of, as far as this host has it ("?")."""
        shell = f"{_SANDBOX_SHELL}={Path(_SANDBOX_SHELL).resolve()}"
        paths = [shell, *(f"{path}?" for path in shown())]
        return ["--option", "sandbox", "relaxed", "--option", "sandbox-paths", " ".join(paths)]

    def copy(self, folder: Path, **settings: object) -> FlakeCheckout:
        """Return a copy below `folder` that may be changed, with other `settings` in host.json."""
        source = folder / "source"
        _git(self.source, "clone", "--quiet", ".", str(source))
        return replace(self.on_another_host(folder, **settings), source=source)

    def on_another_host(self, folder: Path, **settings: object) -> FlakeCheckout:
        """Return the same source with a stand-in below `folder` that has other `settings` in host.json."""
        nixpkgs = folder / "nixpkgs"
        shutil.copytree(self.nixpkgs, nixpkgs)
        host_file = nixpkgs / "host.json"
        host_file.write_text(json.dumps({**json.loads(host_file.read_text()), **settings}))
        return replace(self, nixpkgs=nixpkgs)


def make(folder: Path, nix: Nix, seeds: Seeds) -> FlakeCheckout:
    """Copy what is tracked, or could be, into a repository of its own below `folder`."""
    source, nixpkgs = folder / "source", folder / "nixpkgs"
    listed = _git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    _git(source, "init", "--quiet")
    commit(source)
    shutil.copytree(STAND_IN, nixpkgs)
    _copy_stdenv(nixpkgs / "stdenv" / "bin")
    (nixpkgs / "host.json").write_text(json.dumps(host(seeds)))
    return FlakeCheckout(source, nixpkgs, nix)


def put_in_store(nix: Nix, seeds: Seeds) -> None:
    """Add the files of Maven's repository under the paths that fetching them would give: of 1,500 derivations that copy
    a file each, only four ended per second. Everything else is fetched."""
    named = seeds.folder / "named"
    files: list[Path] = []
    for sha256, path in _of_maven():
        file = named / sha256 / Path(path).name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another worker made it
                file.hardlink_to(seeds.folder / sha256)
        files.append(file)
    nix.run(["--add-fixed", "sha256", *files], seeds.folder, tool="nix-store")


def commit(source: Path) -> None:
    """Commit everything as it is now."""
    _git(source, "add", "--all")
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    _git(source, *author, "commit", "--quiet", "--message", "as it is")


def host(seeds: Seeds) -> dict[str, Any]:
    """Return what nixpkgs/*.nix read: where this host has what nixpkgs would bring."""
    return {
        "python": f"{sys.prefix}/bin/python3", "packages": str(older_packages()),
        "seeds": str(seeds.folder), "jdk": seeds.jdk, "jdks": dict(seeds.jdks),
        "servers": list(SERVERS), "everything": False,
        "libraries": {name: str(path) for name, path in _libraries().items()},
        "programs": {name: str(path) for name, path in _programs().items()},
    }  # fmt: skip


@cache
def shown() -> tuple[Path, ...]:
    """Return what a build sees of this host in a sandbox: Python with its packages, individual programs, and the
    libraries that they and a JDK need. No file inside a folder that is itself shown: Nix would write over it."""
    venv = Path(sys.prefix)
    folders = [venv / "lib", older_packages(), Path(os.__file__).parent]
    pythons = [link for name in ("python", "python3") for link in _links(venv / "bin" / name)]
    programs = [path for name, path in _programs().items() if name not in _ONLY_LINKED]
    jdk = _jdk()
    linked = [*pythons, *programs, *_stdenv(), *(file for one in (*folders, jdk) for file in elf.files(one))]
    libraries = (link for one in sorted({*_loaded(linked), *_libraries().values()}) for link in _links(one))
    files = [venv / "pyvenv.cfg", *pythons, *programs, *libraries]
    inside = [one.resolve() for one in (*folders, jdk)]
    outside = (file for file in files if not any(file.resolve().is_relative_to(one) for one in inside))
    return tuple(dict.fromkeys([*folders, *outside]))


def _libraries() -> dict[str, Path]:
    """Find the libraries, which Debian keeps below the name of the architecture."""
    names = ("libgcc_s.so.1", "libstdc++.so.6", "libz.so.1")
    return {name: next(Path("/usr/lib").glob(f"*-linux-gnu/{name}")) for name in names}


def _links(path: Path) -> Iterator[Path]:
    """Yield `path` and whatever it links to."""
    yield path
    if path.is_symlink():
        yield from _links(path.parent / path.readlink())


def _loaded(files: Iterable[Path]) -> set[Path]:
    """Return the interpreters and libraries that these files are linked to, transitively: as ldd(1) lists them, but
    with one process for each file (ld.so(8))."""
    loader = subprocess.check_output([elf.patchelf(), "--print-interpreter", sys.executable], text=True).strip()
    each = 'for file; do LD_TRACE_LOADED_OBJECTS=1 "$0" "$file"; done'
    listed = subprocess.run(["sh", "-c", each, loader, *files], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\t)(/\S+) \(0x", listed, re.MULTILINE)}


def _stdenv() -> Iterator[Path]:
    """Yield the programs of Debian's packages for the stdenv."""
    listed = subprocess.run(["dpkg", "-L", *_STDENV], capture_output=True, text=True, check=False).stdout
    yield from (path for path in map(Path, listed.splitlines()) if path.parent.name == "bin" and path.is_file())


def _copy_stdenv(programs: Path) -> None:
    programs.mkdir(parents=True)
    for path in _stdenv():
        shutil.copy(path, programs / path.name)
    shutil.copy(elf.patchelf(), programs / "patchelf")
    for name, program in (("sh", "bash"), ("awk", "gawk" if (programs / "gawk").exists() else "mawk")):
        shutil.copy(programs / program, programs / name)
    for copied in programs.iterdir():
        copied.chmod(0o555)


def _programs() -> Mapping[str, Path]:
    venv = Path(sys.prefix, "bin")
    of_system = ("cargo", "chromium", "git", "mvn", "unzip")
    found = {name: Path(shutil.which(name) or f"/{name}-is-missing") for name in of_system}
    return {**found, "shellcheck": venv / "shellcheck", "nixfmt": linter("nixfmt")}


def gather_seeds() -> Seeds:
    """Gather every file that the flake fetches and that can be had here in a folder of the cache."""
    folder = cache_dir() / "nix" / "seeds"
    with locked(folder):
        folder.mkdir(exist_ok=True)
        for sha256, get in _wanted():
            seed = folder / sha256
            if not seed.is_file():
                partial = seed.with_suffix(".part")
                get(partial)
                partial.rename(seed)
        driver = MATRIX.driver.jdk
        registered = resolve.fetch(load_catalogue(ROOT / "jdks.json").entry(driver)).home
        return Seeds(folder, _packed(_jdk(), folder), {driver: _packed(registered, folder)})


def _jdk() -> Path:
    found = hosttools.find_jdk()
    assert found is not None, "a JDK with javac is needed"
    return found.home


def _packed(home: Path, folder: Path) -> str:
    """Pack the JDK into `folder` once and return the archive's sha256. Links are followed; Debian's lead to /etc."""
    archive = folder / f"{files_sha256(home)}.tar.gz"
    if not archive.is_file():
        partial = archive.with_suffix(".part")
        with tarfile.open(partial, "w:gz", compresslevel=1, dereference=True) as packed:
            for path, _, names in os.walk(home, followlinks=True):
                for file in (Path(path, name) for name in names):
                    inside = file.relative_to(home)
                    if file.is_file() and not {*inside.parts} & {*_NOT_PACKED}:
                        packed.add(file, Path("jdk", inside))
        partial.rename(archive)
    sha256 = seal.sha256_of(archive)
    if not (folder / sha256).exists():
        (folder / sha256).hardlink_to(archive)
    return sha256


def _wanted() -> Iterator[tuple[str, Any]]:
    """Yield each sha256 with a function that makes its file at a path."""
    repository = artefacts.maven_repository()
    for sha256, path in _of_maven():
        yield sha256, _copying(repository / path)
    lock = artefacts.load_lock(ROOT)
    for name in ("maven", *SERVERS):
        yield lock.artefact(name).sha256, lambda target, name=name: shutil.move(artefacts.fetch(lock, name), target)
    version, sha256 = hdrhistogram()
    yield sha256, _downloading(f"hdrhistogram=={version}", f"hdrhistogram-{version}.tar.gz")


def _of_maven() -> Iterator[tuple[str, str]]:
    """Yield the sha256 of each file of Maven's repository, and its place there."""
    for line in (ROOT / "workloads" / maven.CHECKSUMS).read_text().splitlines():
        sha256, path = line.split("  ")
        yield sha256, path


def hdrhistogram() -> tuple[str, str]:
    """Return the version and the sha256 in nix/hdrhistogram.nix."""
    text = (ROOT / "nix" / "hdrhistogram.nix").read_text()
    return text.split('version = "')[1].split('"')[0], text.split('sha256 = "')[1].split('"')[0]


def _copying(source: Path) -> Any:
    return lambda target: shutil.copyfile(source, target)


def _downloading(requirement: str, filename: str) -> Any:
    def download(target: Path) -> None:
        folder = target.with_suffix(".folder")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        pip += ["--no-binary=:all:", "--no-build-isolation"]
        subprocess.run([*pip, f"--dest={folder}", requirement], check=True)
        (folder / filename).rename(target)
        shutil.rmtree(folder)

    return download


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout
