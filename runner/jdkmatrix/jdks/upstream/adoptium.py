"""Eclipse Adoptium: version 3 of its API (api.adoptium.net), which gives the newest release of a feature version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC

from pydantic import AwareDatetime, BaseModel, TypeAdapter

from jdkmatrix.jdks.catalogue import Sha256, System
from jdkmatrix.jdks.identify import feature_version as feature_of
from jdkmatrix.jdks.upstream.offers import MACHINES, Offer, newest_of, parse_as

VENDOR = "Eclipse Adoptium"

# The API's `semver` writes 25.0.4.1+1 as 25.0.4+101.0.LTS; the name of the release is what `java -version` prints.
_RELEASE_NAME = re.compile(r"jdk-(\d+(?:\.\d+)*\+\d+(?:\.\d+)?)")


class _Package(BaseModel):
    link: str
    checksum: Sha256 | None = None
    checksum_link: str | None = None


class _Binary(BaseModel):
    architecture: str
    os: str
    image_type: str
    jvm_impl: str
    updated_at: AwareDatetime | None = None
    package: _Package


class _LatestAsset(BaseModel):
    binary: _Binary
    release_name: str
    vendor: str


_ASSETS = TypeAdapter(list[_LatestAsset])


def addresses(feature_version: int) -> tuple[str, ...]:
    """Return one address for each system."""
    return tuple(
        f"https://api.adoptium.net/v3/assets/latest/{feature_version}/hotspot"
        f"?architecture={machine}&image_type=jdk&os=linux&vendor=eclipse"
        for machine in MACHINES
    )


def _offers(text: str, feature_version: int) -> Iterator[tuple[System, Offer]]:
    for asset in parse_as(_ASSETS, text, VENDOR):
        binary, name = asset.binary, _RELEASE_NAME.fullmatch(asset.release_name)
        system = MACHINES.get(binary.architecture)
        what = (asset.vendor, binary.os, binary.image_type, binary.jvm_impl)
        if name is None or system is None or what != ("eclipse", "linux", "jdk", "hotspot"):
            continue
        if feature_of(name[1]) == feature_version:
            date = binary.updated_at.astimezone(UTC).date().isoformat() if binary.updated_at else None
            package = binary.package
            yield system, Offer(name[1], date, package.link, package.checksum, package.checksum_link)


# Reads the answers of `addresses`.
read = newest_of(_offers)
