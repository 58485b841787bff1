"""Find the entries that follow their vendor's newest build, and the entries that can stand in for one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry
from jdkmatrix.jdks.identify import is_early_access
from jdkmatrix.jdks.lookup import SOURCES

PREVIOUS_SUFFIX = "-prev"
_ALTERNATIVES_MAX = 3
_EXACT_BUILD = re.compile(r"-\d+\.\d")


def why_fixed(entry: JdkEntry) -> str | None:
    """Say why an update leaves `entry` alone; None: it follows the newest build of its feature version."""
    return next(_reasons(entry), None)


def _reasons(entry: JdkEntry) -> Iterator[str]:
    source = SOURCES.get(entry.vendor)
    if entry.rolling:
        yield "rolling: the source has only its newest build"
    if entry.id.endswith(PREVIOUS_SUFFIX):
        yield "keeps the build that its neighbour had before"
    if _EXACT_BUILD.search(entry.id):
        yield "the id names one exact build"
    if not entry.archives:
        yield "no archives"
    if source is None:
        yield f"there is nowhere to look up builds of {entry.vendor}"
    elif source.early_access_only and not is_early_access(entry.version):
        yield f"only early access of {entry.vendor} is looked up"


def alternatives(entry: JdkEntry, catalogue: Catalogue) -> list[str]:
    """List ids of other entries of the same feature version, closest first: the same VM, no known bugs, a release."""
    others = [other for other in catalogue.entries if other.feature_version == entry.feature_version]
    ranked = sorted(
        (other for other in others if other.id != entry.id),
        key=lambda other: (
            other.vm != entry.vm,
            bool(other.known_bugs),
            is_early_access(other.last_seen or other.version),
            other.id.endswith(PREVIOUS_SUFFIX),
        ),
    )
    return [other.id for other in ranked]


def instead_of(entry: JdkEntry, catalogue: Catalogue) -> str:
    """Put `alternatives` into words, at most three."""
    found = alternatives(entry, catalogue)[:_ALTERNATIVES_MAX]
    if not found:
        return f"the catalogue has no other JDK {entry.feature_version}"
    return f"of JDK {entry.feature_version} the catalogue also has {', '.join(found)}"
