"""JDKs that this host already has. Read from their `release` files; nothing is started here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.jdks.catalogue import JdkEntry
from jdkmatrix.jdks.identify import VersionOutput, describe_release, feature_version, is_build, parse_release, signed_by


@dataclass(frozen=True)
class HostJdk:
    """`build` is None where the `release` file does not say exactly which build it is."""

    home: Path
    release: dict[str, str]
    build: VersionOutput | None


def candidates() -> Iterator[Path]:
    """Java homes in the usual places, each once, links followed; not all of them need be one."""
    seen: set[Path] = set()
    for place in _places():
        home = place.resolve()
        if home not in seen and (home / "bin" / "java").is_file():
            seen.add(home)
            yield home


def read_jdk(home: Path) -> HostJdk | None:
    """None if `home` has no readable `release` file."""
    try:
        release = parse_release((home / "release").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return HostJdk(home, release, describe_release(release))


def matches(jdk: HostJdk, entry: JdkEntry) -> bool:
    """The same build of the same vendor; of a rolling entry, any build of its feature version."""
    if jdk.build is None or jdk.build.vm != entry.vm or not signed_by(jdk.build, entry.vendor):
        return False
    if entry.rolling:
        return feature_version(jdk.build.version) == entry.feature_version
    return is_build(jdk.build, entry.version)


def _places() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    java = shutil.which("java")
    if java:
        yield Path(java).resolve().parent.parent
    for folder in ("/usr/lib/jvm", "~/.sdkman/candidates/java", "~/.jdks"):
        path = Path(folder).expanduser()
        if path.is_dir():
            yield from sorted(path.iterdir())
