"""Attribute the resident memory of a JVM to its uses. Pure.

Three sources, the exact ones first, and a rest:

1. smaps gives the resident bytes of each mapping exactly. Its file or the JVM says what a mapping is for: heap, stacks,
   code cache, metaspace, the collector's bitmaps and card table.
2. Anonymous memory for which the JVM names no purpose is mostly malloc's. Native memory tracking counts what the JVM
   has allocated there, by category, but does not say which pages, so this is taken to be resident as far as there are
   resident pages.
3. Whatever else glibc's malloc holds is free, fragmented, or allocated by libraries outside the JVM. Its heaps are
   recognised by their addresses: "[heap]", and multiples of HEAP_MAX_SIZE (glibc's malloc/arena.c) for the other
   arenas. The JVM aligns its own mappings too, so this needs a System.map that names all of them.
4. The rest is shown as "not attributed": library data that is in no file, stacks of ended threads that libc keeps for
   new ones, large blocks that libraries have allocated.

Committed is not resident. Where the JVM reports only what is committed, that is shown up to what is resident, and
`missing` says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.probes.memory_map import MemoryMap, Regions, share_out
from jdkmatrix.probes.native_memory import Native, Origin
from jdkmatrix.records.memory import UNATTRIBUTED
from jdkmatrix.records.windows import Gauges

DIRECT_BUFFERS = "direct buffers"
MALLOC_SURPLUS = "malloc: free or not counted"
_MALLOC_HEAP_BYTES = 64 << 20  # of glibc on 64-bit machines
# Categories with mappings of their own, which only System.map tells apart. Bounds identify heap and code.
_MAPPED_CATEGORIES = {
    "Class": Origin.CLASS_SPACE,
    "Metaspace": Origin.METASPACE,
    "GC": Origin.GARBAGE_COLLECTOR,
    "GCCardSet": Origin.GARBAGE_COLLECTOR,
    "Card Table": Origin.GARBAGE_COLLECTOR,
}
_NAMES = (
    (re.compile(r"/libjvm\.so\b"), "libjvm.so"),
    (re.compile(r"\.so(\.[\d.]+)?( \(deleted\))?$|^\[v(dso|var|var_vclock|syscall)\]$"), "other libraries"),
    (re.compile(r"\.jsa$|/javasharedresources/"), Origin.CLASS_ARCHIVE.value),
    (re.compile(r"^/memfd:java_heap"), Origin.JAVA_HEAP.value),
    (re.compile(r"^\[stack\]$"), Origin.THREAD_STACKS.value),
    (re.compile(r"^/"), "other files"),
)


@dataclass(frozen=True)
class JvmAccount:
    """The JVM's own account of its memory; `missing` says in words what is not in it."""

    regions: Regions
    has_system_map: bool
    native: Native | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribution:
    """`resident`: positive numbers of bytes by origin; their sum is that of the mappings."""

    resident: dict[str, int]
    missing: tuple[str, ...]


def attribute(memory: MemoryMap, jvm: JvmAccount, gauges: Gauges | None) -> Attribution:
    """Attribute the resident memory to origins. `memory`: without mappings in which regions of several origins meet."""
    found: defaultdict[str, int] = defaultdict(int)
    unnamed_bytes = malloc_bytes = 0
    for mapping in memory.mappings:
        origin = jvm.regions.origin_at(mapping.start) or _by_name(mapping.name)
        if origin is None:
            unnamed_bytes += mapping.rss_bytes
            if mapping.name == "[heap]" or mapping.start % _MALLOC_HEAP_BYTES == 0:
                malloc_bytes += mapping.rss_bytes
        else:
            found[origin] += mapping.rss_bytes
    missing = list(jvm.missing)
    written, allocated = _claims(jvm, gauges)
    if Origin.JAVA_HEAP not in found:
        written[Origin.JAVA_HEAP] = gauges.heap_used_bytes if gauges else 0
        missing.append("the JVM does not say where its heap is: only the used part of the heap is counted")
    if jvm.native and not jvm.has_system_map:
        missing.append("this JVM has no System.map: metaspace and the collector's memory count as committed")
    excess_bytes = sum(written.values()) + sum(allocated.values()) - unnamed_bytes
    if excess_bytes > 0:
        missing.append(
            f"{excess_bytes / 1e6:.1f} MB that the JVM counts are not resident, and it does not say which: "
            "what malloc gave it is shown in proportion"
        )
    for claims in (written, allocated):
        unnamed_bytes -= _take(unnamed_bytes, claims, found)
    if jvm.native and jvm.has_system_map:
        counted_bytes = sum(category.malloc_bytes for category in jvm.native.categories.values())
        unnamed_bytes -= _take(unnamed_bytes, {MALLOC_SURPLUS: max(0, malloc_bytes - counted_bytes)}, found)
    if memory.hugetlb_bytes:
        missing.append(
            f"{memory.hugetlb_bytes / 1e6:.1f} MB of huge pages, which the kernel does not count as resident"
        )
    found[UNATTRIBUTED] += unnamed_bytes
    return Attribution({str(origin): size for origin, size in found.items() if size}, tuple(missing))


def _by_name(name: str) -> str | None:
    return next((origin for pattern, origin in _NAMES if pattern.search(name)), None)


def _claims(jvm: JvmAccount, gauges: Gauges | None) -> tuple[dict[str, int], dict[str, int]]:
    """Return the sizes to look for in unnamed anonymous memory: what is written to, and what is only allocated.

    Direct buffers are written with zeros when they are made; they are in the category "Other", with other uses of
    Unsafe. Metaspace is committed as it is filled.
    """
    written: defaultdict[str, int] = defaultdict(int)
    allocated: defaultdict[str, int] = defaultdict(int)
    direct_bytes = gauges.direct_buffer_bytes if gauges else 0
    if jvm.native is None:
        return {DIRECT_BUFFERS: direct_bytes}, {}
    for name, category in jvm.native.categories.items():
        malloc_bytes = category.malloc_bytes
        if name == "Other":
            written[DIRECT_BUFFERS] = min(direct_bytes, malloc_bytes)
            malloc_bytes -= written[DIRECT_BUFFERS]
        origin = _MAPPED_CATEGORIES.get(name)
        of_collector = origin is Origin.GARBAGE_COLLECTOR
        allocated[Origin.GARBAGE_COLLECTOR if of_collector else f"malloc: {name}"] += malloc_bytes
        if origin and not jvm.has_system_map:
            claims = allocated if of_collector else written
            claims[origin] += category.committed_bytes - category.malloc_bytes
    if not jvm.has_system_map:
        written[Origin.THREAD_STACKS] = jvm.native.stacks_resident_bytes
    return written, allocated


def _take(available_bytes: int, wanted: Mapping[str, int], into: defaultdict[str, int]) -> int:
    """Give all what they want, or shares in proportion where that is too much; return how much that was in total."""
    taken = dict(wanted)
    if sum(wanted.values()) > available_bytes:
        taken = share_out(available_bytes, wanted)
    for origin, size in taken.items():
        into[origin] += size
    return sum(taken.values())
