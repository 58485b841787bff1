"""smaps is summed as the kernel sums it; addresses and resident bytes are shared out without losing any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.probes.memory_map import MappedRange, Range, Region, Regions, cut, parse_smaps, pieces_of, share_out
from tests.support.project import RECORDED

SAMPLES = RECORDED / "memory"
SMAPS = """\
55e0c0000000-55e0c0003000 r-xp 00000000 fe:00 12     /opt/a folder/lib x.so (deleted)
Size:                 12 kB
Rss:                   8 kB
Pss:                   4 kB
Pss_Dirty:             4 kB
Private_Dirty:         0 kB
Swap:                  0 kB
SwapPss:               0 kB
VmFlags: rd ex mr mw me
7f0000000000-7f0000200000 rw-p 00000000 00:00 0
Rss:                1024 kB
Pss:                1024 kB
Private_Dirty:      1020 kB
Private_Hugetlb:    2048 kB
Swap:                 16 kB
"""


def test_a_mapping_has_addresses_a_name_and_resident_bytes() -> None:
    memory = parse_smaps(SMAPS)
    assert memory.mappings == (
        MappedRange(0x55E0C0000000, 0x55E0C0003000, "/opt/a folder/lib x.so (deleted)", 8192),
        MappedRange(0x7F0000000000, 0x7F0000200000, "", 1 << 20),
    )
    assert (memory.rss_bytes, memory.pss_bytes, memory.private_dirty_bytes) == (1032 << 10, 1028 << 10, 1020 << 10)
    assert (memory.virt_bytes, memory.swap_bytes, memory.hugetlb_bytes) == (2060 << 10, 16 << 10, 2 << 20)
    assert parse_smaps("").mappings == ()


@pytest.mark.parametrize("jdk", ["21", "25"])
def test_the_sums_are_those_of_smaps_rollup(jdk: str) -> None:
    memory = parse_smaps((SAMPLES / f"{jdk}.smaps.txt").read_text())
    rollup = parse_smaps((SAMPLES / f"{jdk}.smaps_rollup.txt").read_text())
    assert (memory.rss_bytes, memory.private_dirty_bytes) == (rollup.rss_bytes, rollup.private_dirty_bytes)
    assert memory.swap_bytes == rollup.swap_bytes
    # The kernel rounds each mapping's share down to KiB.
    assert 0 <= rollup.pss_bytes - memory.pss_bytes < 1024 * len(memory.mappings)


@given(st.integers(0, 10**15), st.dictionaries(st.text(max_size=3), st.integers(0, 10**12), min_size=1))
def test_what_is_shared_out_is_all_there_was(total: int, weights: dict[str, int]) -> None:
    if not sum(weights.values()):
        return
    shares = share_out(total, weights)
    assert sum(shares.values()) == total
    for name, weight in weights.items():
        assert abs(shares[name] - total * weight / sum(weights.values())) <= 1 + total * 1e-12
        assert weight or not shares[name]


ADDRESSES = st.lists(st.integers(0, 60), min_size=2, max_size=12, unique=True).map(sorted)


@given(ADDRESSES, st.integers(0, 60), st.integers(1, 20), st.data())
def test_pieces_cover_it_and_each_has_one_origin(edges: list[int], start: int, size: int, data: st.DataObject) -> None:
    regions = Regions(
        Region(low, high, data.draw(st.sampled_from(["heap", "stack"])))
        for low, high in zip(edges[::2], edges[1::2], strict=False)
    )
    mapping = MappedRange(start, start + size, "", 4096 * size)
    pieces = pieces_of(mapping, regions.borders_in(mapping))
    assert [address for piece in pieces for address in range(piece.start, piece.end)] == [*range(start, start + size)]
    for piece in pieces:
        assert len({regions.origin_at(address) for address in range(piece.start, piece.end)}) == 1
    counts = [data.draw(st.integers(0, 10)) for _ in pieces]
    parts = cut(mapping, pieces, counts)
    assert sum(part.rss_bytes for part in parts) == mapping.rss_bytes
    assert [(part.start, part.end) for part in parts] == [(piece.start, piece.end) for piece in pieces]


def test_without_counts_the_longest_piece_has_all() -> None:
    parts = cut(MappedRange(0, 10, "", 4096), [Range(0, 3), Range(3, 10)], [0, 0])
    assert [part.rss_bytes for part in parts] == [0, 4096]
