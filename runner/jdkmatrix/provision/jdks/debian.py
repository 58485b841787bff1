"""The newest OpenJDK of a rolling Debian suite, unpacked beside the libc it was built for.

Only downloads are left to apt, with a state, cache and source list of its own, so that neither the host's packages
nor its configuration change; its proxies, mirror and keys are used as they are. Nothing is installed and no package
script runs: `dpkg-deb -x` unpacks the files, and `elf.relocate` points them at each other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import cache_dir, locked
from jdkmatrix.provision.jdks import elf
from jdkmatrix.provision.jdks.apt_sources import AptSource, debian_archive, for_suite, read_sources
from jdkmatrix.provision.jdks.cache import Cached, Delivery, Progress, install
from jdkmatrix.provision.jdks.catalogue import DebianSource, JdkEntry

_APT_LIMIT_S = 900
_PROBE_LIMIT_S = 5
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_NEEDS = ("apt-get", "apt-cache", "dpkg-deb")

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
APT::Update::Error-Mode "any";
APT::Sandbox::User "{user}";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


def fetch(entry: JdkEntry, source: DebianSource, progress: Progress) -> Cached:
    """Get the newest; an equal one in the cache is returned as it is.

    Raises:
        MatrixError: in one line why not; nothing is left behind then.
    """
    archive = _archive()
    elf.patchelf()
    with _apt(archive, source.suite) as conf:
        progress(f"{entry.id}: asking Debian {source.suite} for the newest")
        _run("apt-get", "-qq", "-c", conf, "update")
        packages = [*source.packages, *_libraries(conf, source.packages[0])]
        newest = _build(_run("apt-get", "-q", "-c", conf, "download", "--print-uris", source.packages[0]))

        def make(staging: Path, final: Path) -> Delivery:
            progress(f"{entry.id}: Debian {source.suite}, {source.packages[0]} {newest}")
            return _make(conf, source, packages, staging, final)

        return install(entry, newest, make)


def absent() -> str | None:
    """Why this host cannot use a Debian archive at all; None if it can."""
    try:
        _archive()
    except MatrixError as error:
        return str(error)
    return None


def unreachable(source: DebianSource) -> str | None:
    """None if the host's mirror serves the suite, as apt itself reaches it; else the reason. 5 s at most."""
    archive = _archive()
    name = f"dists/{source.suite}/InRelease"
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(_APT_HELPER), "-o", "Acquire::http::Timeout=3", "-o", "Acquire::https::Timeout=3", "-o",
            "Acquire::Retries=0", "download-file", f"{archive.uris[0].rstrip('/')}/{name}", f"{folder}/InRelease",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return f"the host's Debian mirror does not answer within {_PROBE_LIMIT_S} s"
    return None if done.returncode == 0 else _complaint(done.stderr)


def _archive() -> AptSource:
    release = _os_release()
    if release.get("ID") != "debian":
        raise MatrixError(f"this host is {release.get('ID', 'not known')}, not Debian")
    missing = [tool for tool in _NEEDS if shutil.which(tool) is None]
    if missing:
        raise MatrixError(f"{', '.join(missing)} missing")
    found = debian_archive(read_sources(), release.get("VERSION_CODENAME"))
    if found is None:
        raise MatrixError("this host's apt sources name no Debian archive")
    return found


def _os_release(path: Path = Path("/etc/os-release")) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in lines)}


@contextmanager
def _apt(archive: AptSource, suite: str) -> Iterator[str]:
    """An apt of our own; yields its configuration file. One process at a time: apt's lists are one state."""
    folder = cache_dir() / "apt" / suite
    with locked(folder):
        try:
            for part in ("state/lists/partial", "cache/archives/partial", "none"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / "state" / "status").touch()
            (folder / "suite.sources").write_text(for_suite(archive, suite), encoding="utf-8")
            user = "root" if os.geteuid() == 0 else ""  # apt's own user may not enter the cache folder
            conf = folder / "apt.conf"
            conf.write_text(_APT_CONF.format(folder=folder, user=user), encoding="utf-8")
        except OSError as error:
            raise MatrixError(f"cache folder {folder} cannot be written: {error.strerror}") from None
        yield str(conf)


def _libraries(conf: str, jre: str) -> list[str]:
    """The shared libraries that the JRE depends on directly, libc among them; their names change with time."""
    text = _run(
        "apt-cache", "-c", conf, "depends", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
        "--no-replaces", "--no-enhances", jre,
    )  # fmt: skip
    names = re.findall(r"^ +Depends: ([a-z0-9][a-z0-9+.-]*)$", text, re.MULTILINE)
    return [name for name in names if name.startswith("lib") or name == "zlib1g"]


def _build(uris: str) -> str:
    """The version in the file name that `apt-get download --print-uris` says for one package."""
    name = re.search(r"^'[^']*/([^/']+)\.deb' ", uris, re.MULTILINE)
    if name is None:
        raise MatrixError(f"apt: no file name in {uris.strip()[:120]!r}")
    return urllib.parse.unquote(name.group(1)).split("_")[1]


def _make(conf: str, source: DebianSource, packages: list[str], staging: Path, final: Path) -> Delivery:
    debs = staging / ".debs"
    debs.mkdir()
    _run("apt-get", "-qq", "-c", conf, "download", *packages, cwd=debs)
    versions: dict[str, str] = {}
    for deb in sorted(debs.iterdir()):
        _run("dpkg-deb", "-x", str(deb), str(staging))
        package, version = _run("dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(deb)).split()
        versions[package] = version
    if "libc6" not in versions:
        raise MatrixError(f"{source.packages[0]} does not depend on libc6; its libc is not known")
    shutil.rmtree(debs)
    homes = [p for p in sorted((staging / "usr" / "lib" / "jvm").iterdir()) if not p.is_symlink()]
    homes = [home for home in homes if (home / "bin" / "java").is_file()]
    if len(homes) != 1:
        raise MatrixError(f"{source.packages[0]} holds {len(homes)} times usr/lib/jvm/*/bin/java; expected one")
    for part in ("usr/share/doc", "usr/share/man", "usr/share/lintian"):
        shutil.rmtree(staging / part, ignore_errors=True)
    shutil.rmtree(homes[0] / "jmods", ignore_errors=True)  # jlink's input, a fifth of the whole
    _point_inside(staging)
    elf.relocate(homes[0], staging, final)
    origin = {"kind": "debian", "suite": source.suite, "package": source.packages[0]}
    return Delivery(
        "registry",
        str(homes[0].relative_to(staging)),
        origin,
        versions,
        libc=f"glibc {versions['libc6']}",
    )


def _point_inside(root: Path) -> None:
    """Absolute links mean the installed system: they get to mean this folder, or go where nothing is there.

    (A JRE's trust store is such: only a package script would make it.)
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
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_APT_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{command[0]} did not finish within {_APT_LIMIT_S} s") from None
    if done.returncode != 0:
        raise MatrixError(_complaint(done.stderr))
    return done.stdout


def _complaint(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("E:").strip() for line in lines if line.startswith("E:")]
    return "apt: " + (errors or lines or ["it failed without a word"])[0]
