"""Ask the vendors for their newest builds, and get the sha256 of each archive.

The sums come from the vendor itself, over HTTPS, and are trusted on first use: whoever controls the vendor's site when
a build is looked up controls what is pinned. From then on the pin holds: `matrix jdks fetch` accepts no file with
another sum, and runs the JDK to check that it is the build that the entry names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import Archive, JdkEntry
from jdkmatrix.jdks.identify import VendorName
from jdkmatrix.jdks.net import answers_in_time, is_secure
from jdkmatrix.jdks.upstream import adoptium, oracle, semeru
from jdkmatrix.jdks.upstream.offers import Answer, Found, Offer, Over, Pin, Unanswered, read_sha256

LOOKUP_LIMIT_S = 60.0

Question = tuple[VendorName, int]  # vendor and feature version
GetText = Callable[[str], str]


@dataclass(frozen=True)
class VendorSource:
    """`read` takes the texts at `addresses`, in the same order, and the feature version."""

    addresses: Callable[[int], tuple[str, ...]]
    read: Callable[[Sequence[str], int], Found]
    early_access_only: bool = False


SOURCES: Mapping[VendorName, VendorSource] = {
    "Eclipse Adoptium": VendorSource(adoptium.addresses, adoptium.read),
    "IBM Semeru": VendorSource(semeru.addresses, semeru.read),
    "Oracle OpenJDK": VendorSource(oracle.addresses, oracle.read, early_access_only=True),
}


def question(entry: JdkEntry) -> Question:
    return entry.vendor, entry.feature_version


def look_up(entries: Iterable[JdkEntry], get_text: GetText, limit_s: float = LOOKUP_LIMIT_S) -> dict[Question, Answer]:
    """Return one answer for each vendor and feature version among `entries`, whose vendors are all in `SOURCES`.

    All are asked in parallel. One that fails, or takes longer than `limit_s`, is `Unanswered`, without effect on the
    others.
    """
    jobs = {asked: partial(_ask, asked, get_text) for asked in map(question, entries)}
    return answers_in_time(jobs, limit_s, Unanswered(f"no answer within {limit_s:g} s"))


def _ask(asked: Question, get_text: GetText) -> Answer:
    vendor, feature_version = asked
    source = SOURCES[vendor]
    try:
        found = source.read([get_text(address) for address in source.addresses(feature_version)], feature_version)
        if isinstance(found, Over):
            return found
        return {system: _pin(offer, get_text) for system, offer in found.items()}
    except MatrixError as error:
        return Unanswered(str(error))
    except (ValueError, OverflowError) as error:  # an address or a date that nobody can read
        return Unanswered(f"its answer cannot be used: {str(error).splitlines()[0]}")


def _pin(offer: Offer, get_text: GetText) -> Pin:
    if not is_secure(offer.url):
        raise MatrixError(f"{offer.url} is refused: it must start with https://")
    sha256 = offer.sha256
    if sha256 is None:
        if offer.sha256_url is None:
            raise MatrixError(f"{offer.url} has no checksum upstream")
        sha256 = read_sha256(get_text(offer.sha256_url), offer.url)
    return Pin(offer.version, offer.date, Archive(url=offer.url, sha256=sha256, second_source=None))
