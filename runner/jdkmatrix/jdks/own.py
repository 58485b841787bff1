"""A JDK in a folder of the user, which no catalogue has and no hash pins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from jdkmatrix.domain.cell_key import OWN_JDK
from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, load_catalogue
from jdkmatrix.jdks.host import read_release
from jdkmatrix.jdks.identify import feature_version
from jdkmatrix.jdks.jvm import java_version

_FIRST_WITH_VIRTUAL_THREADS = 21


class OwnJdk(JdkEntry):
    """A JDK of the user. `vendor`: as its `release` file says; `home`: where it is."""

    vendor: str  # type: ignore[assignment]
    home: Path


def own_ids(homes: Iterable[Path]) -> dict[str, str]:
    """Return each folder by id: OWN_JDK, which marks it wherever it is shown, and its name in the letters that an id
    may have. A name that occurs again gets a number."""
    found: dict[str, str] = {}
    for home in dict.fromkeys(homes):
        name = f"{OWN_JDK}{re.sub(r'[^a-z0-9]+', '-', home.name.lower()).strip('-') or 'jdk'}"
        again = sum(other == name or other.startswith(f"{name}.") for other in found)
        found[f"{name}.{again + 1}" if again else name] = str(home)
    return found


def load_with_own(path: Path, homes: Mapping[str, str]) -> Catalogue:
    """Load the catalogue in jdks.json with an entry for each of these folders, by their ids and relative to the file;
    starts each JDK once.

    Raises:
        MatrixError: as load_catalogue; one has the id of another, there is no JDK, or one that is too old.
    """
    catalogue = load_catalogue(path)
    if taken := sorted(homes.keys() & {entry.id for entry in catalogue.entries}):
        raise MatrixError(f"jdk_homes: {taken[0]} is a JDK of {path.name}; call yours something else")
    own = tuple(_entry(jdk_id, path.parent / home) for jdk_id, home in homes.items())
    return catalogue.model_copy(update={"entries": (*catalogue.entries, *own)}) if own else catalogue


def _entry(jdk_id: str, home: Path) -> OwnJdk:
    if not (home / "bin" / "java").is_file():
        raise MatrixError(f"{jdk_id}: {home} is not a JDK: there is no bin/java in it")
    _, build = java_version(home)
    feature = feature_version(build.version)
    if feature is None or feature < _FIRST_WITH_VIRTUAL_THREADS:
        raise MatrixError(f"{jdk_id}: {home} is Java {build.version}; virtual threads need 21 or later")
    release, _ = read_release(home)
    return OwnJdk.model_construct(
        id=jdk_id,
        vendor=release.get("IMPLEMENTOR") or "not known",
        vm=build.vm,
        feature_version=feature,
        version=build.version,
        home=home,
    )
