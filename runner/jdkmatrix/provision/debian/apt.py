"""Packages of a Debian suite, unpacked into a folder.

apt only downloads, with a state, cache and source list of its own, so that neither the host's packages nor its
configuration change; its proxies, mirror and keys are used as they are. Nothing is installed and no package script
runs: `dpkg-deb -x` unpacks the files, and `elf.relocate` points them at each other.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused, why_refused
from jdkmatrix.host import launch
from jdkmatrix.provision.cache import cache_dir, locked
from jdkmatrix.provision.debian.elf import patchelf
from jdkmatrix.provision.debian.sources import AptSource, debian_archive, for_suite, read_sources

_APT_LIMIT_S = 900
_PROBE_LIMIT_S = 5
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_NEEDS = ("apt-get", "apt-cache", "dpkg-deb")
_DEPENDENCY = re.compile(r"^ +(?P<alternative>\|?)(?:Pre)?Depends: (?P<name>\S+)$")
_LIBRARY = re.compile(r"lib[a-z0-9][a-z0-9+.-]*(?<!-perl)|zlib1g")  # a Perl module is not one

# Read after the host's configuration. Hooks are cleared because the host's may delete from *its* package cache.
_APT_CONF = """
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Etc::SourceList "{folder}/suite.sources";
Dir::Etc::SourceParts "{folder}/none";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "{folder}/none";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled "false";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::Retries "2";
APT::Default-Release "";
APT::Update::Error-Mode "any";
APT::Sandbox::User "{user}";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


@dataclass(frozen=True)
class Suite:
    """A suite of the host's Debian mirror. `conf`: the configuration file of an apt that knows nothing else."""

    name: str
    conf: str

    def newest(self, package: str) -> str:
        """Return the newest version of a package, as in the name of the file that would be downloaded.

        Raises:
            MatrixError: the suite has no such package.
        """
        uris = _run("apt-get", "-q", "-c", self.conf, "download", "--print-uris", package)
        name = re.search(r"^'[^']*/([^/']+)\.deb' ", uris, re.MULTILINE)
        if name is None:
            raise MatrixError(f"apt: no file name in {uris.strip()[:120]!r}")
        return urllib.parse.unquote(name.group(1)).split("_")[1]

    def libraries(self, package: str, *, deep: bool) -> list[str]:
        """Return the shared library packages that `package` depends on; `deep`: and those that these depend on in turn.

        Raises:
            MatrixError: the suite has no such package.
        """
        text = _run(
            "apt-cache", "-c", self.conf, "depends", *(["--recurse"] if deep else []), "--no-recommends",
            "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", package,
        )  # fmt: skip
        return library_closure(dependencies(text), package)

    def unpack(self, packages: Sequence[str], folder: Path) -> dict[str, str]:
        """Download `packages` and unpack them into `folder`, without documentation. Return the version of each.

        Raises:
            MatrixError: one cannot be had or unpacked; libc6 is not among them.
        """
        debs = folder / ".debs"
        debs.mkdir()
        _run("apt-get", "-qq", "-c", self.conf, "download", *packages, cwd=debs)
        versions: dict[str, str] = {}
        for deb in sorted(debs.iterdir()):
            _run("dpkg-deb", "-x", str(deb), str(folder))
            package, version = _run("dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(deb)).split()
            versions[package] = version
        if "libc6" not in versions:
            raise MatrixError(f"{packages[0]} does not depend on libc6; its libc is not known")
        shutil.rmtree(debs)
        for part in ("usr/share/doc", "usr/share/man", "usr/share/lintian"):
            shutil.rmtree(folder / part, ignore_errors=True)
        _point_inside(folder)
        return versions


@contextmanager
def suite(name: str) -> Iterator[Suite]:
    """Yield the suite as the host's mirror has it now. One process at a time: apt's lists are one shared state.

    Raises:
        MatrixError: this is no Debian, the mirror does not answer or lacks the suite, the cache cannot be written.
    """
    archive = _archive()
    folder = cache_dir() / "apt" / name
    with locked(folder):
        with refused(f"cache folder {folder} cannot be written"):
            for part in ("state/lists/partial", "cache/archives/partial", "none"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / "state" / "status").touch()
            (folder / "suite.sources").write_text(for_suite(archive, name), encoding="utf-8")
            user = "root" if os.geteuid() == 0 else ""  # apt's own user may not enter the cache folder
            conf = folder / "apt.conf"
            conf.write_text(_APT_CONF.format(folder=folder, user=user), encoding="utf-8")
        _run("apt-get", "-qq", "-c", str(conf), "update")
        yield Suite(name, str(conf))


def absent() -> str | None:
    """Return why this host cannot use a Debian archive at all; None if it can."""
    return why_refused(_archive) or why_refused(patchelf)


def unreachable(name: str) -> str | None:
    """Return why the host's mirror does not serve the suite, trying it as apt does; None if it does. 5 s at most."""
    archive = _archive()
    release = f"dists/{name}/InRelease"
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                str(_APT_HELPER), "-o", "Acquire::http::Timeout=3", "-o", "Acquire::https::Timeout=3", "-o",
                "Acquire::Retries=0", "download-file", f"{archive.uris[0].rstrip('/')}/{release}",
                f"{folder}/InRelease",
            ]  # fmt: skip
            done = launch.ask(command, timeout_s=_PROBE_LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"the host's Debian mirror does not answer within {_PROBE_LIMIT_S} s"
    except OSError as error:
        return f"apt cannot be asked: {error.strerror}"
    return None if done.returncode == 0 else _complaint(done.stderr)


def dependencies(text: str) -> dict[str, list[str]]:
    """Parse the output of `apt-cache depends`, package by package; of alternatives, the first that is a package counts.

    A virtual package is in angle brackets; those that provide it are indented further, without a word before them.
    """
    found: dict[str, list[str]] = {}
    current: list[str] = []
    chosen = False  # of the alternatives that this line belongs to
    more = False
    for line in text.splitlines():
        if line and not line[0].isspace():
            current = found.setdefault(line, [])
            chosen = more = False
        elif match := _DEPENDENCY.match(line):
            chosen = chosen if more else False
            more = match["alternative"] == "|"
            if not chosen and not match["name"].startswith("<"):
                current.append(match["name"])
                chosen = True
    return found


def library_closure(depends_on: Mapping[str, Sequence[str]], package: str) -> list[str]:
    """Return the shared library packages that are reached from `package` only through such packages; sorted."""
    reached: set[str] = set()
    waiting = [package]
    while waiting:
        names = {name for name in depends_on.get(waiting.pop(), ()) if _LIBRARY.fullmatch(name)} - reached - {package}
        reached |= names
        waiting += names
    return sorted(reached)


def _archive() -> AptSource:
    release: dict[str, str] = {}
    with suppress(OSError):
        release = platform.freedesktop_os_release()
    if release.get("ID") != "debian":
        raise MatrixError(f"this host is {release.get('ID', 'not known')}, not Debian")
    missing = [tool for tool in _NEEDS if shutil.which(tool) is None]
    if missing:
        raise MatrixError(f"{', '.join(missing)} missing")
    found = debian_archive(read_sources(), release.get("VERSION_CODENAME"))
    if found is None:
        raise MatrixError("this host's apt sources name no Debian archive")
    return found


def _point_inside(root: Path) -> None:
    """Point absolute links, which mean the installed system, into this folder; remove those whose target is missing.

    (A JRE's trust store is such a link: only a package script would make its target.)
    """
    for link in [p for p in root.rglob("*") if p.is_symlink()]:
        target = link.readlink()
        if target.is_absolute():
            inside = root / target.relative_to("/")
            link.unlink()
            link.symlink_to(os.path.relpath(inside, link.parent))
    for link in [p for p in root.rglob("*") if p.is_symlink() and not p.exists()]:
        link.unlink()


def _run(*command: str, cwd: Path | None = None) -> str:
    try:
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        done = launch.ask(command, timeout_s=_APT_LIMIT_S, env=environment, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{command[0]} did not finish within {_APT_LIMIT_S} s") from None
    if done.returncode != 0:
        raise MatrixError(_complaint(done.stderr))
    return done.stdout


def _complaint(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("E:").strip() for line in lines if line.startswith("E:")]
    return "apt: " + (errors or lines or ["it failed without a message"])[0]
