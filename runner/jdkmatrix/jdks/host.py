"""JDKs that this host already has. Read from their `release` files; nothing is started here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from jdkmatrix.jdks.identify import VersionOutput, describe_release, parse_release


def candidates() -> Iterator[Path]:
    """Java homes in the usual places, each once, links followed; not all of them need be one."""
    seen: set[Path] = set()
    for place in _places():
        home = place.resolve()
        if home not in seen and _is_there(home / "bin" / "java"):
            seen.add(home)
            yield home


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except PermissionError:  # below the home of another user
        return False


def read_release(home: Path) -> tuple[dict[str, str], VersionOutput | None]:
    """The `release` file of `home`, empty where it cannot be read, and the build that it names; None where it does not
    say exactly."""
    try:
        release = parse_release((home / "release").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}, None
    return release, describe_release(release)


def _places() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    for folder in ("/usr/lib/jvm", "~/.sdkman/candidates/java", "~/.jdks"):
        path = Path(folder).expanduser()
        if path.is_dir():
            yield from sorted(path.iterdir())
