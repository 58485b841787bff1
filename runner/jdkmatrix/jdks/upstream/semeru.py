"""IBM Semeru (open edition): the GitHub releases of ibmruntimes/semeruNN-binaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC

from pydantic import AwareDatetime, BaseModel, TypeAdapter

from jdkmatrix.jdks.catalogue import System
from jdkmatrix.jdks.identify import feature_version as feature_of
from jdkmatrix.jdks.upstream.offers import MACHINES, Offer, newest_of, parse_as

VENDOR = "IBM Semeru"

_ARCHIVE = re.compile(r"ibm-semeru-open-jdk_(?P<machine>x64|aarch64)_linux_(?P<version>[\w.-]+)\.tar\.gz")
# The version is in the file name: a tag was "jdk-21.0.10+7.1_openj9-0.57.0" over a file for 21.0.10.1.
_PRODUCT = re.compile(r"\d+(?:\.\d+)+")
_JAVA_AND_OPENJ9 = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)_(?P<build>\d+)_openj9-(?P<openj9>\d+(?:\.\d+)*)")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class _ReleaseAsset(BaseModel):
    name: str
    browser_download_url: str
    digest: str | None = None  # GitHub's own; files from before June 2025 have none


class _Release(BaseModel):
    draft: bool = False
    prerelease: bool = False
    published_at: AwareDatetime | None = None
    assets: list[_ReleaseAsset]


_RELEASES = TypeAdapter(list[_Release])


def addresses(feature_version: int) -> tuple[str, ...]:
    """Return the address of the newest ten releases."""
    return (f"https://api.github.com/repos/ibmruntimes/semeru{feature_version}-binaries/releases?per_page=10",)


def _offers(text: str, feature_version: int) -> Iterator[tuple[System, Offer]]:
    """Yield the offers of an answer; drafts and previews do not count."""
    for release in parse_as(_RELEASES, text, VENDOR):
        if release.draft or release.prerelease:
            continue
        urls = {asset.name: asset.browser_download_url for asset in release.assets}
        date = release.published_at.astimezone(UTC).date().isoformat() if release.published_at else None
        for asset in release.assets:
            name = _ARCHIVE.fullmatch(asset.name)
            version = _version(name["version"]) if name else None
            if name is None or version is None or feature_of(version) != feature_version:
                continue
            digest = _DIGEST.fullmatch(asset.digest or "")
            sums = urls.get(f"{asset.name}.sha256.txt")
            yield (
                MACHINES[name["machine"]],
                Offer(version, date, asset.browser_download_url, digest[1] if digest else None, sums),
            )


def _version(text: str) -> str | None:
    """Return the version in the catalogue's spelling, "21.0.12.10" or "21.0.10+7_openj9-0.57.0"; None for previews
    ("…-0.40.0-m1")."""
    if _PRODUCT.fullmatch(text):
        return text
    match = _JAVA_AND_OPENJ9.fullmatch(text)
    return f"{match['numbers']}+{match['build']}_openj9-{match['openj9']}" if match else None


# Reads the answers of `addresses`.
read = newest_of(_offers)
