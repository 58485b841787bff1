"""Parse a process's mappings, from /proc/PID/smaps (proc_pid_smaps(5)), and split those of several origins. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

_LINE = re.compile(
    r"^(?:(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) \S+ \S+ \S+ \d+ *(?P<name>.*)"
    r"|(?P<key>Rss|Pss|Private_Dirty|Swap|Private_Hugetlb|Shared_Hugetlb): +(?P<kib>\d+) kB)$",
    re.MULTILINE,
)

Name = TypeVar("Name")


@dataclass(frozen=True)
class Range:
    """Addresses from `start` up to but not including `end`."""

    start: int
    end: int

    @property
    def size_bytes(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class MappedRange(Range):
    """One mapping. `name`: the file, a name given by the kernel such as "[heap]", or empty for anonymous memory."""

    name: str
    rss_bytes: int


@dataclass(frozen=True)
class MemoryMap:
    """All mappings by address, and sums over them: what smaps_rollup would say at the same moment, except that the
    kernel rounds each mapping's share in pss down to KiB. Huge pages of hugetlbfs are in no other sum."""

    mappings: tuple[MappedRange, ...]
    rss_bytes: int
    pss_bytes: int
    private_dirty_bytes: int
    virt_bytes: int
    swap_bytes: int
    hugetlb_bytes: int


@dataclass(frozen=True)
class Region(Range):
    """Addresses that the JVM says it uses for one purpose."""

    origin: str


def parse_smaps(text: str) -> MemoryMap:
    """Parse the text of smaps. A process that has ended, or a kernel thread, has no mappings."""
    mappings: list[MappedRange] = []
    sums = dict.fromkeys(("Rss", "Pss", "Private_Dirty", "Swap", "Private_Hugetlb", "Shared_Hugetlb"), 0)
    for match in _LINE.finditer(text):
        key = match["key"]
        if key is None:
            mappings.append(MappedRange(int(match["start"], 16), int(match["end"], 16), match["name"], 0))
            continue
        size_bytes = int(match["kib"]) * 1024
        sums[key] += size_bytes
        if key == "Rss":
            mappings[-1] = replace(mappings[-1], rss_bytes=size_bytes)
    return MemoryMap(
        mappings=tuple(mappings),
        rss_bytes=sums["Rss"],
        pss_bytes=sums["Pss"],
        private_dirty_bytes=sums["Private_Dirty"],
        virt_bytes=sum(mapping.size_bytes for mapping in mappings),
        swap_bytes=sums["Swap"],
        hugetlb_bytes=sums["Private_Hugetlb"] + sums["Shared_Hugetlb"],
    )


class Regions:
    """Regions that do not overlap, for looking up addresses."""

    def __init__(self, regions: Iterable[Region]) -> None:
        joined: list[Region] = []
        for region in sorted(regions, key=lambda region: region.start):
            last = joined[-1] if joined else None
            if last is not None and last.end == region.start and last.origin == region.origin:
                joined[-1] = replace(last, end=region.end)
            else:
                joined.append(region)
        self._regions = joined
        self._starts = [region.start for region in joined]

    def origin_at(self, address: int) -> str | None:
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._regions[index].end:
            return None
        return self._regions[index].origin

    def borders_in(self, piece: Range) -> tuple[int, ...]:
        """Return the addresses inside `piece` at which a region begins or ends; most mappings have none."""
        first = max(0, bisect_right(self._starts, piece.start) - 1)
        near = self._regions[first : bisect_left(self._starts, piece.end)]
        borders = {address for region in near for address in (region.start, region.end)}
        return tuple(sorted(address for address in borders if piece.start < address < piece.end))


def pieces_of(mapping: Range, borders: Sequence[int]) -> tuple[Range, ...]:
    edges = (mapping.start, *borders, mapping.end)
    return tuple(Range(start, end) for start, end in pairwise(edges))


def cut(mapping: MappedRange, pieces: Sequence[Range], resident_bytes: Sequence[int]) -> tuple[MappedRange, ...]:
    """Cut the mapping into pieces, with its resident bytes in proportion to what was counted in each: the counts come
    from another file at another moment, so their sum may be a little off. If nothing was counted, the longest piece
    gets all."""
    weights = dict(enumerate(resident_bytes))
    if not any(resident_bytes):
        weights[max(weights, key=lambda index: pieces[index].size_bytes)] = 1
    shares = share_out(mapping.rss_bytes, weights)
    return tuple(MappedRange(one.start, one.end, mapping.name, shares[index]) for index, one in enumerate(pieces))


def share_out(total: int, weights: Mapping[Name, int]) -> dict[Name, int]:
    """Divide `total` in proportion to weights that are not all 0, into whole numbers that sum to it."""
    whole = sum(weights.values())
    shares: dict[Name, int] = {}
    given = so_far = 0
    for name, weight in weights.items():
        so_far += weight
        up_to = int(Fraction(total * so_far, whole))
        shares[name] = up_to - given
        given = up_to
    return shares
