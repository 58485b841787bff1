"""Offers of vendors as values, and what the readers of their answers share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import Archive, System
from jdkmatrix.jdks.identify import build_order

T = TypeVar("T")

# The names that all three vendors use in their file names.
MACHINES: Mapping[str, System] = {"x64": "x86_64-linux", "aarch64": "aarch64-linux"}

_SHA256_LINE = re.compile(r"([0-9a-fA-F]{64})(?:\s+\*?(\S+))?")


@dataclass(frozen=True)
class Offer:
    """One archive of one build. `date`: when it was released (ISO), where that is said.

    `sha256` None: it is in the file at `sha256_url`.
    """

    version: str
    date: str | None
    url: str
    sha256: str | None
    sha256_url: str | None


@dataclass(frozen=True)
class Over:
    """The end of early access: the feature version was released, and `released` is its newest release."""

    released: str


@dataclass(frozen=True)
class Pin:
    """An offer with its sha256, as an entry of the catalogue holds it."""

    version: str
    date: str | None
    archive: Archive


@dataclass(frozen=True)
class Unanswered:
    """The vendor could not be asked, or did not answer what was asked."""

    reason: str


Found = Mapping[System, Offer] | Over
Answer = Mapping[System, Pin] | Over | Unanswered


def newest(offers: Iterable[tuple[System, Offer]]) -> dict[System, Offer]:
    """Return the newest offer for each system; a system without any is left out."""
    best: dict[System, Offer] = {}
    for system, offer in offers:
        if system not in best or build_order(offer.version) > build_order(best[system].version):
            best[system] = offer
    return best


def newest_of(
    offers: Callable[[str, int], Iterable[tuple[System, Offer]]],
) -> Callable[[Sequence[str], int], dict[System, Offer]]:
    """Build a reader of the newest JDK for each system from all answers of a vendor, of which `offers` reads one.

    Raises:
        MatrixError: an answer is not as expected.
    """
    return lambda texts, feature_version: newest(offer for text in texts for offer in offers(text, feature_version))


def parse_as(adapter: TypeAdapter[T], text: str, vendor: str) -> T:
    """Parse the JSON in `text` as what `adapter` describes; what is not described is ignored.

    Raises:
        MatrixError: says what was found where something else was expected.
    """
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        where = f" at {place}" if place else ""
        raise MatrixError(f"the answer of {vendor} is not as expected{where}: {first['msg']}") from None


def read_sha256(text: str, url: str) -> str:
    """Read the sha256 that a checksum file gives for the archive at `url`: alone, or followed by the archive's name.

    Raises:
        MatrixError: it is no such file, or one for another archive.
    """
    name = unquote(url.rsplit("/", 1)[1])
    match = _SHA256_LINE.fullmatch(text.strip())
    if match is None:
        raise MatrixError(f"the checksum file of {name} is not as expected: found {text.strip()[:60]!r}")
    if match[2] is not None and match[2].rsplit("/", 1)[-1] != name:
        raise MatrixError(f"the checksum file of {name} is for {match[2]}")
    return match[1].lower()
