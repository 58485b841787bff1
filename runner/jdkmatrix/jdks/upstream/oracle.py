"""Oracle's early access of OpenJDK: the page https://jdk.java.net/NN/, and a `.sha256` file beside each archive."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import date

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.identify import build_order
from jdkmatrix.jdks.identify import feature_version as feature_of
from jdkmatrix.jdks.upstream.offers import MACHINES, Found, Offer, Over, newest

VENDOR = "Oracle OpenJDK"

_ARCHIVE = re.compile(
    r"https://download\.java\.net/java/(?P<kind>early_access|GA)/[^\s\"'<>]*/"
    r"openjdk-(?P<version>[0-9a-z.+-]+)_linux-(?P<machine>x64|aarch64)_bin\.tar\.gz(?![\w.])"
)
_EARLY_ACCESS = re.compile(r"\d+-ea\+\d+")
_BUILD = re.compile(r"\bBuild\s+(?P<build>\d+)\s*\((?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})\)")


def addresses(feature_version: int) -> tuple[str, ...]:
    """Return the page of the feature version."""
    return (f"https://jdk.java.net/{feature_version}/",)


def read(texts: Sequence[str], feature_version: int) -> Found:
    """Read the newest early-access build for each system, or that the page has releases only.

    Raises:
        MatrixError: the page names no build of this feature version, so that it is not as expected.
    """
    page = html.unescape("\n".join(texts))
    links = [link for link in _ARCHIVE.finditer(page) if feature_of(link["version"]) == feature_version]
    offers = newest(
        (MACHINES[link["machine"]], Offer(link["version"], _date(page, link), link[0], None, f"{link[0]}.sha256"))
        for link in links
        if link["kind"] == "early_access" and _EARLY_ACCESS.fullmatch(link["version"])
    )
    if offers:
        return offers
    released = [link["version"] for link in links if link["kind"] == "GA"]
    if released:
        return Over(max(released, key=build_order))
    raise MatrixError(f"the page {addresses(feature_version)[0]} names no build of JDK {feature_version} for Linux")


def _date(page: str, link: re.Match[str]) -> str | None:
    """Return the date that the page gives for the link's build; None where it gives none."""
    for said in _BUILD.finditer(page):
        if link["version"].endswith(f"+{said['build']}"):
            try:
                return date(int(said["year"]), int(said["month"]), int(said["day"])).isoformat()
            except ValueError:
                return None
    return None
