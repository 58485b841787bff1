"""Find the places on this machine that hold an entry's JDK: Nix, the cache, the host. Reads files, starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jdkmatrix.jdks import cache, host
from jdkmatrix.jdks.cache import Cached
from jdkmatrix.jdks.catalogue import JdkEntry, for_this_system
from jdkmatrix.jdks.identify import is_early_access
from jdkmatrix.provision.nix_parts import EVERYTHING, handed_over


@dataclass(frozen=True)
class Here:
    """A place of an entry's JDK on this machine, found without starting it.

    `problem`: why it cannot be used although it is there. `cached` only for the cache.
    """

    source: str
    home: Path
    version: str | None
    release: dict[str, str] = field(default_factory=dict)
    cached: Cached | None = None
    problem: str | None = None


def locate(entry: JdkEntry) -> Iterator[Here]:
    """Yield places on this machine that claim to hold the entry's JDK, best first; nothing is started."""
    handed = handed_over()
    home = handed.jdks.get(entry.id) if handed else None
    if home is not None:
        yield _handed_over(entry, home)
    cached = cache.find(entry)
    if cached is not None:
        yield Here("cache", cached.home, cached.facts.version, cached.facts.release, cached)
    for found in host.candidates():
        release, build = host.read_release(found)
        if build is not None and cache.other_build(entry, build, str(found)) is None:
            yield Here("host", found, build.version, release)


def _handed_over(entry: JdkEntry, home: Path) -> Here:
    if not (home / "bin" / "java").is_file():
        return Here("nix", home, None, problem=f"{home}/bin/java is missing")
    release, build = host.read_release(home)
    if build is None:
        return Here("nix", home, None, release)
    return Here("nix", home, build.version, release, problem=cache.other_build(entry, build, str(home)))


def has_everything(entry: JdkEntry) -> bool:
    """Return whether the everything app hands over this JDK, if it is on the axis: a hash pins it, and it lasts."""
    return for_this_system(entry.archives) is not None and not is_early_access(entry.version)


def not_handed_over(entry: JdkEntry) -> str | None:
    """Say why the flake does not hand over this JDK; None: it does, or this runs from a checkout.

    Raises:
        MatrixError: MATRIX_PARTS is set, and what it names cannot be read.
    """
    handed = handed_over()
    if handed is None or entry.id in handed.jdks:
        return None
    if entry.rolling:
        return "nix: no hash can pin a rolling build, so the flake does not hand it over"
    if is_early_access(entry.version):
        return "nix: early access is handed over by `nix run .#matrix-with-early-access`, if its vendor keeps it"
    return f"nix: not handed over; `nix run {EVERYTHING}` has every JDK on the axis that lasts"


def notice(entry: JdkEntry, version: str, libc: str | None) -> str | None:
    """Say how the JDK differs from the catalogue or from the host; None: it does not."""
    found: list[str] = []
    if entry.rolling and version != entry.last_seen:
        found.append(f"this is {version}; the catalogue last saw {entry.last_seen}")
    if libc is not None:
        found.append(f"runs on its own {libc}, not on the host's libc")
    return "; ".join(found) or None


def host_only(entry: JdkEntry) -> str:
    """Say why an entry without archives and registry is not here."""
    return f"no {entry.vendor} {entry.version} on this host, and it has no other source"
