"""Attribution of a JVM's memory: the answers of real JVMs are read, and nothing is lost or counted twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.probes.attribution import JvmAccount, attribute
from jdkmatrix.probes.jcmd import JcmdAnswer
from jdkmatrix.probes.memory import NMT_IS_OFF, account
from jdkmatrix.probes.memory_map import MappedRange, MemoryMap, Region, Regions, parse_smaps, pieces_of
from jdkmatrix.probes.native_memory import (
    Labelled,
    Native,
    Origin,
    combine,
    parse_bounds,
    parse_native_memory,
    parse_system_map,
)
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading, NativeCategory
from tests.support.builders import gauges
from tests.support.project import RECORDED

SAMPLES = RECORDED / "memory"
GAUGES = gauges(heap_used_bytes=40 << 20, heap_committed_bytes=64 << 20, direct_buffer_bytes=8 << 20)
MIB = 1 << 20


def answers(jdk: str) -> str:
    return (SAMPLES / f"{jdk}.jcmd.txt").read_text()


def memory_of(jdk: str, regions: Regions) -> MemoryMap:
    """Read the map and cut mappings at borders; the class space above the heap is all resident in the sample of 21."""
    memory = parse_smaps((SAMPLES / f"{jdk}.smaps.txt").read_text())
    cut_up: list[MappedRange] = []
    for mapping in memory.mappings:
        first, *rest = pieces_of(mapping, regions.borders_in(mapping))
        rest_bytes = sum(piece.size_bytes for piece in rest)
        cut_up.append(MappedRange(first.start, first.end, mapping.name, mapping.rss_bytes - rest_bytes))
        cut_up.extend(MappedRange(piece.start, piece.end, mapping.name, piece.size_bytes) for piece in rest)
    return replace(memory, mappings=tuple(cut_up))


# ------------------------------------------------------------------------------------------------------- the answers
@pytest.mark.parametrize("jdk", ["21", "25"])
def test_native_memory_tracking_is_read_to_the_byte(jdk: str) -> None:
    text = answers(jdk)
    native = parse_native_memory(text)
    assert native is not None
    said = int(text.partition(" malloc: ")[2].split()[0])
    assert sum(category.malloc_bytes for category in native.categories.values()) == said
    assert native.categories["Java Heap"] == NativeCategory(
        reserved_bytes=128 * MIB, committed_bytes=128 * MIB, malloc_bytes=0
    )
    assert native.categories["Other"].malloc_bytes == 8 * MIB
    assert said < 20_000_000 and native.threads >= 40
    assert 0 < native.stacks_resident_bytes < native.categories["Thread"].committed_bytes


@pytest.mark.parametrize("jdk", ["21", "25"])
def test_what_the_jvm_names_makes_up_the_mappings(jdk: str) -> None:
    lines = parse_system_map(answers(jdk))
    assert {origin for line in lines for origin in line.origins} >= {
        Origin.JAVA_HEAP, Origin.THREAD_STACKS, Origin.CODE_CACHE, Origin.METASPACE, Origin.CLASS_SPACE,
        Origin.GARBAGE_COLLECTOR,
    }  # fmt: skip
    assert any(Origin.CLASS_ARCHIVE in line.origins for line in lines) == (jdk == "25")
    heap = next(region for region in parse_bounds(answers(jdk)) if region.origin == Origin.JAVA_HEAP)
    assert (heap.start, heap.end) == (0xF8000000, 0x100000000)
    assert len(parse_bounds(answers(jdk))) == 4  # and three code heaps


def test_answers_that_are_missing_are_told_from_empty_ones() -> None:
    assert parse_native_memory("4711:\nNative memory tracking is not enabled\n") is None
    assert parse_system_map("4711:\njava.lang.IllegalArgumentException: Unknown diagnostic command") is None
    assert parse_system_map("4711:\nMemory mappings:\nNMT is disabled. VM info not available.\n") == ()
    assert parse_bounds(" ZHeap           used 90M, capacity 256M, max capacity 256M\n") == ()


def test_generations_are_one_heap() -> None:
    text = (
        "DefNew     total 78656K, used 11969K [0x00000000f0000000, 0x00000000f5550000, 0x00000000f5550000)\n"
        " eden space 69952K,   5% used [0x00000000f0000000, 0x00000000f038e7f8, 0x00000000f4450000)\n"
        "Tenured    total 174784K, used 32911K [0x00000000f5550000, 0x0000000100000000, 0x0000000100000000)\n"
    )
    assert parse_bounds(text) == (Region(0xF0000000, 0x100000000, Origin.JAVA_HEAP),)


@pytest.mark.parametrize(
    ("word", "origins"),
    [
        ("STACK-4711-Thread-299", {Origin.THREAD_STACKS}),
        ("STACK:4711-Thread-299", {Origin.THREAD_STACKS}),
        ("GC,CARDTBL", {Origin.GARBAGE_COLLECTOR}),
        ("JAVAHEAP,CLASS", {Origin.JAVA_HEAP, Origin.CLASS_SPACE}),
        ("mtTracing", {Origin.JVM_INTERNAL}),
    ],
)
def test_labels_of_system_map(word: str, origins: set[Origin]) -> None:
    rest = "4096 rw-p 4096 0 4K com {} /opt/GC/CODE x"
    lines = parse_system_map(f"Memory mappings:\n0x1000-0x2000 {rest.format(word)}\n0x3000-0x4000 {rest.format('-')}\n")
    assert lines == (Labelled(0x1000, 0x2000, frozenset(origins)),)


def test_bounds_tell_apart_what_the_kernel_joined() -> None:
    heap = Region(0, 100, Origin.JAVA_HEAP)
    both = Labelled(0, 120, frozenset({Origin.JAVA_HEAP, Origin.CLASS_SPACE}))
    assert combine([heap], [both]) == (heap, Region(100, 120, Origin.CLASS_SPACE))
    assert combine([], [both]) == (Region(0, 120, "class space or java heap"),)
    assert combine([heap], [Labelled(0, 50, frozenset({Origin.JAVA_HEAP}))]) == (heap,)


# ------------------------------------------------------------------------------------------------------ attribution
@pytest.mark.parametrize("jdk", ["21", "25"])
def test_nearly_all_of_a_real_jvm_has_an_origin(jdk: str) -> None:
    jvm, why_no_native = account("hotspot", JcmdAnswer(answers(jdk), None))
    memory = memory_of(jdk, jvm.regions)
    found = attribute(memory, jvm, GAUGES)
    assert why_no_native is None
    assert sum(found.resident.values()) == memory.rss_bytes
    assert found.resident.get(UNATTRIBUTED, 0) < 0.1 * memory.rss_bytes
    assert found.resident["direct buffers"] == 8 * MIB
    # Two ways to the same figure: what the kernel says of mappings, and what HotSpot learns by mincore(2).
    assert found.resident[Origin.THREAD_STACKS] == pytest.approx(jvm.native.stacks_resident_bytes, rel=0.25)
    assert 40 * MIB < found.resident[Origin.JAVA_HEAP] < 44 * MIB
    assert found.resident["libjvm.so"] > 5 * MIB
    # So small a JVM has hardly used what its collector has allocated.
    assert len(found.missing) == 1 and "are not resident" in found.missing[0]


@pytest.mark.parametrize("jdk", ["21", "25"])
def test_without_native_memory_tracking_heap_and_code_are_still_known(jdk: str) -> None:
    text = answers(jdk).partition("Native Memory Tracking:")[0] + "Native memory tracking is not enabled\n"
    jvm, why_no_native = account("hotspot", JcmdAnswer(text + "Memory mappings:\n", None))
    memory = memory_of(jdk, jvm.regions)
    found = attribute(memory, jvm, GAUGES)
    assert why_no_native == NMT_IS_OFF
    assert len(found.missing) == 1 and found.missing[0].startswith(NMT_IS_OFF)
    assert sum(found.resident.values()) == memory.rss_bytes
    assert found.resident[Origin.JAVA_HEAP] > 40 * MIB and found.resident[Origin.CODE_CACHE] > MIB / 2


def test_without_system_map_committed_stands_for_resident() -> None:
    text = answers("21").partition("Memory mappings:")[0]
    jvm, why_no_native = account("hotspot", JcmdAnswer(text, "jcmd: Unknown diagnostic command"))
    memory = memory_of("21", jvm.regions)
    found = attribute(memory, jvm, GAUGES)
    assert why_no_native is None
    assert "no System.map" in " ".join(found.missing)
    assert sum(found.resident.values()) == memory.rss_bytes
    assert found.resident[Origin.THREAD_STACKS] >= jvm.native.stacks_resident_bytes
    assert found.resident[Origin.METASPACE] > 4 * MIB


def test_openj9_says_nothing_of_its_memory() -> None:
    jvm, why_no_native = account("openj9", JcmdAnswer("", None))
    memory = MemoryMap(
        mappings=(
            MappedRange(1 << 12, 2 << 12, "/opt/jdk/lib/default/libj9vm29.so", 4096),
            MappedRange(3 << 12, 9 << 12, "/home/user/.cache/javasharedresources/C290M4F1A64P_a_G43L00", 8192),
            MappedRange(1 << 30, 2 << 30, "", 100 * MIB),
        ),
        rss_bytes=100 * MIB + 12288, pss_bytes=0, private_dirty_bytes=0, virt_bytes=0, swap_bytes=0, hugetlb_bytes=0,
    )  # fmt: skip
    found = attribute(memory, jvm, GAUGES)
    assert why_no_native == "OpenJ9 has no native memory tracking"
    assert why_no_native in found.missing
    assert found.resident == {
        "other libraries": 4096,
        Origin.CLASS_ARCHIVE: 8192,
        "direct buffers": 8 * MIB,
        Origin.JAVA_HEAP: 40 * MIB,
        UNATTRIBUTED: 52 * MIB,
    }
    assert any("only the used part of the heap is counted" in said for said in found.missing)


def test_no_answer_is_said_with_its_reason() -> None:
    jvm, why_no_native = account("hotspot", JcmdAnswer("", "jcmd got no answer within 10 s"))
    assert why_no_native == "the JVM gave no answer: jcmd got no answer within 10 s"
    assert jvm.missing[0].startswith(why_no_native)


def test_what_malloc_holds_beyond_what_is_counted_has_a_name() -> None:
    mappings = (
        MappedRange(5 << 12, 6 << 12, "[heap]", 3 * MIB),
        MappedRange(3 << 26, (3 << 26) + 50 * MIB, "", 50 * MIB),
        MappedRange((9 << 26) + 4096, 10 << 26, "", 7 * MIB),
        MappedRange(11 << 26, 12 << 26, "", 30 * MIB),
    )
    memory = MemoryMap(mappings, 90 * MIB, 0, 0, 0, 0, 0)
    symbols = NativeCategory(reserved_bytes=20 * MIB, committed_bytes=20 * MIB, malloc_bytes=20 * MIB)
    heap = Regions([Region(11 << 26, 12 << 26, Origin.JAVA_HEAP)])
    jvm = JvmAccount(heap, has_system_map=True, native=Native({"Symbol": symbols}, 1, 0))
    assert attribute(memory, jvm, None).resident == {
        Origin.JAVA_HEAP: 30 * MIB,
        "malloc: Symbol": 20 * MIB,
        "malloc: free or not counted": 33 * MIB,
        UNATTRIBUTED: 7 * MIB,
    }


CATEGORIES = st.dictionaries(
    st.sampled_from(["Java Heap", "GC", "Other", "Symbol", "Metaspace", "Class", "Thread"]),
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(
        lambda sizes: NativeCategory(reserved_bytes=sum(sizes), committed_bytes=sum(sizes), malloc_bytes=sizes[0])
    ),
)
MAPPINGS = st.lists(st.tuples(st.sampled_from(["", "[heap]", "/lib/libjvm.so", "/a.jar"]), st.integers(0, 10**9)))


@given(MAPPINGS, CATEGORIES, st.booleans(), st.integers(0, 10**9), st.booleans())
def test_origins_sum_to_the_resident_bytes_whatever_the_jvm_says(
    sizes: list[tuple[str, int]],
    categories: dict[str, NativeCategory],
    has_system_map: bool,
    stacks_bytes: int,
    has_gauges: bool,
) -> None:
    mappings = tuple(MappedRange(i << 12, (i + 1) << 12, name, size) for i, (name, size) in enumerate(sizes))
    rss_bytes = sum(size for _, size in sizes)
    memory = MemoryMap(mappings, rss_bytes, 0, 0, 0, 0, 0)
    regions = Regions([Region(0, 1 << 12, Origin.CODE_CACHE)])
    jvm = JvmAccount(regions, has_system_map, Native(categories, 1, stacks_bytes) if categories else None)
    found = attribute(memory, jvm, GAUGES if has_gauges else None)
    assert sum(found.resident.values()) == rss_bytes
    assert all(size > 0 for size in found.resident.values())


def test_a_reading_whose_origins_do_not_sum_up_is_refused() -> None:
    with pytest.raises(ValueError, match="do not sum to rss_bytes"):
        MemoryReading(
            t_s=1, rss_bytes=10, pss_bytes=10, private_dirty_bytes=1, virt_bytes=10, swap_bytes=0, heap_used_bytes=None,
            heap_committed_bytes=None, direct_buffer_bytes=None, mapped_buffer_bytes=None, stacks=None, native=None,
            why_no_native="not asked", resident={"java heap": 9}, missing=(),
        )  # fmt: skip
