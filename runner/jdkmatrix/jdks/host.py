"""JDKs that this host already has, read from their `release` files; nothing is started here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from jdkmatrix.jdks.identify import VersionOutput, describe_release, parse_release
from jdkmatrix.provision.hosttools import java_homes


def candidates() -> Iterator[Path]:
    """Yield Java homes, $JAVA_HOME first and then those in the usual places, each once, links followed."""
    seen: set[Path] = set()
    chosen = os.environ.get("JAVA_HOME")
    for place in (*([Path(chosen)] if chosen else []), *java_homes("java", os.environ)):
        home = Path(os.path.realpath(place))  # before Python 3.13, `resolve` refuses a link that leads back to itself
        if home not in seen and _is_there(home / "bin" / "java"):
            seen.add(home)
            yield home


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except PermissionError:  # below the home of another user
        return False


def read_release(home: Path) -> tuple[dict[str, str], VersionOutput | None]:
    """Read the `release` file of `home`, empty where it cannot be read, and the build that it names; None where it does
    not name one exactly."""
    try:
        release = parse_release((home / "release").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}, None
    return release, describe_release(release)
