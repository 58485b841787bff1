"""The pages that name the newest build of an entry, by vendor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.jdks.identify import VendorName
from jdkmatrix.jdks.upstream import adoptium, oracle, semeru
from jdkmatrix.jdks.upstream.offers import Found


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
