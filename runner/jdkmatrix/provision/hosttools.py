"""Find the tools that the host must have before anything can be set up, without starting a JVM.

Standard library only, and nothing outside annotations that an older Python would stumble over: the bootstrap imports
this before there is a virtual environment, and an unsuitable Python must get far enough to say so.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MIN_PYTHON = (3, 11)
MAX_PYTHON = (3, 14)  # for a newer one, the pinned packages have no wheels, and pip would compile for a long time
MIN_JDK = 21
MIN_MAVEN = (3, 8)
# Modules of the standard library, and what Debian calls the headers without which a self-built Python lacks them.
_EXTENSIONS = {"_ctypes": "libffi-dev", "_lzma": "liblzma-dev", "_ssl": "libssl-dev"}
_SYSTEM_JVM_FOLDERS = (Path("/usr/lib/jvm"), Path("/usr/lib64/jvm"), Path("/usr/java"), Path("/opt/java"))


@dataclass(frozen=True)
class Jdk:
    """A JDK with a compiler; `version` is as in its `release` file, "25.0.3"."""

    home: Path
    version: str


@dataclass(frozen=True)
class Maven:
    """`program` is mvn; `version` is (3, 8, 7) or as much of it as it reports."""

    program: Path
    version: tuple[int, ...]

    @property
    def settings(self) -> Path:
        """The settings for all users of the host, if there are any."""
        return self.program.resolve().parent.parent / "conf" / "settings.xml"


def find_jdk(env: Mapping[str, str] = os.environ, folders: tuple[Path, ...] = _SYSTEM_JVM_FOLDERS) -> Jdk | None:
    """Return the JDK of `$JAVA_HOME` if it is suitable, else the newest suitable one that is found.

    Suitable: at least `MIN_JDK`, with javac. Versions come from the `release` files.
    """
    chosen = env.get("JAVA_HOME")
    jdk = _suitable(Path(chosen)) if chosen else None
    if jdk is not None:
        return jdk
    found = [jdk for jdk in map(_suitable, java_homes("javac", env, folders)) if jdk is not None]
    return max(found, key=lambda jdk: _numbers(jdk.version), default=None)


def find_maven(env: Mapping[str, str] = os.environ) -> Maven | None:
    """Return mvn on `$PATH`, whatever its version, or None."""
    program = shutil.which("mvn", path=env.get("PATH", ""))
    if program is None:
        return None
    version = _version_from_jar(Path(program)) or _version_from_output(program, env)
    return Maven(Path(program), version)


def maven_env(env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for the host's mvn: unchanged, with a JDK of ours only if it would find no java at all, as
    with a JAVA_HOME that is gone."""
    result = dict(env)
    chosen = env.get("JAVA_HOME")
    java = shutil.which(str(Path(chosen, "bin", "java")) if chosen else "java", path=env.get("PATH", ""))
    if java is None:
        jdk = find_jdk(env)
        if jdk is not None:
            result["JAVA_HOME"] = str(jdk.home)
    return result


def problems(env: Mapping[str, str] = os.environ, folders: tuple[Path, ...] = _SYSTEM_JVM_FOLDERS) -> list[str]:
    """Describe each missing thing in one line: what it is, and how to get it. Empty: everything is there."""
    found = []
    if not sys.platform.startswith("linux"):
        found.append(f"this runs only on Linux, and this host is {sys.platform}")
    if not MIN_PYTHON <= sys.version_info[:2] <= MAX_PYTHON:
        running, least, most = (".".join(map(str, one)) for one in (sys.version_info[:3], MIN_PYTHON, MAX_PYTHON))
        found.append(
            f"Python {least} to {most} is needed, this is {running}: install one, then make PYTHON=python{least}"
        )
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python{'.'.join(map(str, sys.version_info[:2]))}-venv"  # python3-venv is for the default Python
        found.append(f"Python's venv is incomplete: apt-get install {package}, or your system's equivalent")
    if lacking := [name for name in _EXTENSIONS if importlib.util.find_spec(name) is None]:
        headers = " ".join(_EXTENSIONS[name] for name in lacking)
        found.append(
            f"Python was built without {', '.join(lacking)}: apt-get install {headers}, or your system's equivalent, "
            "and build it again; or make PYTHON=/usr/bin/python3"
        )
    c_header = Path(sysconfig.get_path("include"), "Python.h")
    if platform.machine() == "aarch64" and not (shutil.which("cc", path=env.get("PATH", "")) and c_header.is_file()):
        found.append(
            "on aarch64 one of the Python packages, hdrhistogram, is compiled: apt-get install gcc python3-dev, or "
            "your system's equivalent"
        )
    if find_jdk(env, folders) is None:
        found.append(
            f"a JDK {MIN_JDK} or newer with javac is needed, none was found by JAVA_HOME, on PATH or in "
            f"{', '.join(map(str, folders))}: apt-get install openjdk-{MIN_JDK}-jdk-headless (Debian 12 has none), "
            "your system's equivalent, or set JAVA_HOME to one that you have"
        )
    maven = find_maven(env)
    if maven is None:
        found.append("Maven 3.8 or newer is needed, no mvn on PATH: apt-get install maven, or your system's equivalent")
    elif maven.version < MIN_MAVEN:
        version = ".".join(map(str, maven.version)) or "unknown"
        found.append(f"Maven 3.8 or newer is needed, {maven.program} is {version}: install a newer one")
    return found


def java_homes(program: str, env: Mapping[str, str], folders: tuple[Path, ...] = _SYSTEM_JVM_FOLDERS) -> Iterator[Path]:
    """Yield the places where JDKs usually are: that of `program` on `$PATH`, all in `folders`, those of SDKMAN,
    IntelliJ and Nix profiles. Not all of them need be JDKs."""
    found = shutil.which(program, path=env.get("PATH", ""))
    if found is not None:
        yield Path(found).resolve().parent.parent
    home = env.get("HOME")
    own = [Path(home, name) for name in (".sdkman/candidates/java", ".jdks")] if home else []
    for folder in [*folders, *own]:
        with suppress(OSError):  # not there, or below the home of another user
            yield from sorted(folder.iterdir())
    for profile in env.get("NIX_PROFILES", "").split():
        yield Path(profile, "lib/openjdk")


def _suitable(home: Path) -> Jdk | None:
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="?([0-9][^"\s]*)"?', release, re.MULTILINE)
    if version is None or not os.access(home / "bin" / "javac", os.X_OK):
        return None
    return Jdk(home, version.group(1)) if _numbers(version.group(1)) >= (MIN_JDK,) else None


def _version_from_jar(program: Path) -> tuple[int, ...]:
    """Read the version inside the jar: distributions rename it, and starting Maven to ask takes half a second."""
    for jar in (program.resolve().parent.parent / "lib").glob("maven-core*.jar"):
        try:
            with zipfile.ZipFile(jar) as file:
                properties = file.read("META-INF/maven/org.apache.maven/maven-core/pom.properties").decode()
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        match = re.search(r"^version=([0-9.]+)", properties, re.MULTILINE)
        if match is not None:
            return _numbers(match.group(1))
    return ()


def _version_from_output(program: str, env: Mapping[str, str]) -> tuple[int, ...]:
    try:
        done = subprocess.run(
            [program, "--version"], env=maven_env(env), capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"Apache Maven ([0-9.]+)", done.stdout)
    return _numbers(match.group(1)) if match is not None else ()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
