"""Parse a HotSpot JVM's account of its memory from the answers of jcmd. Pure.

The questions are GC.heap_info, Compiler.codecache, VM.native_memory summary scale=b and System.map; their answers may
come in one text, in any order. System.map is in JDKs from 22 on and in later updates of 21; it takes its terms from
native memory tracking (HotSpot's memMapPrinter.cpp), as VM.native_memory does (memReporter.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from jdkmatrix.probes.memory_map import Range, Region
from jdkmatrix.records.memory import NativeCategory

QUESTIONS = ("GC.heap_info", "Compiler.codecache", "VM.native_memory summary scale=b", "System.map")

_CATEGORY = re.compile(r"^- +(?P<name>\S.*?) \(reserved=(?P<reserved>\d+), committed=(?P<committed>\d+)", re.MULTILINE)
_MALLOC = re.compile(r"\((?:malloc|arena|tracking overhead)=(\d+)")
_STACKS = re.compile(r"\(stack: reserved=\d+, committed=(\d+)")
_THREADS = re.compile(r"\(threads #(\d+)\)")
_BOUNDS = re.compile(r"\[(0x[0-9a-f]+), (?:0x[0-9a-f]+, )?(0x[0-9a-f]+)[)\]]")
_HEAP_LINE = re.compile(r"^ ?(?:[\w-]+ )+ *total .*", re.MULTILINE)
_CODE_LINE = re.compile(r"^ bounds .*", re.MULTILINE)
_SOURCE_NAME = re.compile(r"mt[A-Z]\w*")
_MAP_LINE = re.compile(r"^(0x[0-9a-f]+)-(0x[0-9a-f]+) +(.+)$", re.MULTILINE)


class Origin(StrEnum):
    """The purpose for which the JVM uses addresses."""

    JAVA_HEAP = "java heap"
    THREAD_STACKS = "thread stacks"
    CODE_CACHE = "code cache"
    METASPACE = "metaspace"
    CLASS_SPACE = "class space"
    CLASS_ARCHIVE = "shared class archive"
    GARBAGE_COLLECTOR = "garbage collector"
    JVM_INTERNAL = "JVM internal"


_ORIGINS = {
    "JAVAHEAP": Origin.JAVA_HEAP,
    "STACK": Origin.THREAD_STACKS,
    "CODE": Origin.CODE_CACHE,
    "META": Origin.METASPACE,
    "CLASS": Origin.CLASS_SPACE,
    "CDS": Origin.CLASS_ARCHIVE,
    "GC": Origin.GARBAGE_COLLECTOR,
    "CARDTBL": Origin.GARBAGE_COLLECTOR,
    "INTERN": Origin.JVM_INTERNAL,
    "JDK": Origin.JVM_INTERNAL,
    "POLL": Origin.JVM_INTERNAL,
    "TEST": Origin.JVM_INTERNAL,
}


@dataclass(frozen=True)
class Native:
    """The summary of native memory tracking. `stacks_resident_bytes`: for thread stacks, unlike anything else, HotSpot
    reports resident memory as committed, asking the kernel by mincore(2); a fifth more than smaps says."""

    categories: dict[str, NativeCategory]
    threads: int
    stacks_resident_bytes: int


@dataclass(frozen=True)
class Labelled(Range):
    """A line of System.map; several origins where the kernel merged neighbouring mappings into one."""

    origins: frozenset[Origin]


def parse_native_memory(text: str) -> Native | None:
    """Parse the answer of VM.native_memory summary scale=b; None if there is none, as without native memory tracking.

    The malloc of a category includes its arenas, which HotSpot subtracts from the category "Arena Chunk" again."""
    starts = list(_CATEGORY.finditer(text))
    if not starts:
        return None
    ends = [*(match.start() for match in starts[1:]), len(text)]
    categories: dict[str, NativeCategory] = {}
    threads = stacks = 0
    for match, end in zip(starts, ends, strict=True):
        # A block ends at an empty line; another answer may follow the last one.
        block = re.split(r"\n\s*\n", text[match.start() : end], maxsplit=1)[0]
        categories[match["name"]] = NativeCategory(
            reserved_bytes=int(match["reserved"]),
            committed_bytes=int(match["committed"]),
            malloc_bytes=sum(map(int, _MALLOC.findall(block))),
        )
        if match["name"] == "Thread":
            threads = sum(map(int, _THREADS.findall(block)))
            stacks = sum(map(int, _STACKS.findall(block)))
    return Native(categories, threads, stacks)


def parse_bounds(text: str) -> tuple[Region, ...]:
    """Parse the heap as GC.heap_info gives it, generations together, and each code heap of Compiler.codecache.

    ZGC does not say where its heap is."""
    heap = [(int(low, 16), int(high, 16)) for line in _HEAP_LINE.findall(text) for low, high in _BOUNDS.findall(line)]
    code = [(int(low, 16), int(high, 16)) for line in _CODE_LINE.findall(text) for low, high in _BOUNDS.findall(line)]
    regions = [Region(low, high, Origin.CODE_CACHE) for low, high in code]
    if heap:
        regions.append(Region(min(low for low, _ in heap), max(high for _, high in heap), Origin.JAVA_HEAP))
    return tuple(regions)


def parse_system_map(text: str) -> tuple[Labelled, ...] | None:
    """Parse the lines of System.map that say what the JVM uses a mapping for; None if there is no such answer.

    The columns differ between JDKs, so it looks for a word like "CODE", "GC,CARDTBL" or "STACK-4711-main"."""
    if "Memory mappings:" not in text:
        return None
    found = []
    for start, end, rest in _MAP_LINE.findall(text):
        labels = next(filter(None, map(_origins_in, rest.split())), None)
        if labels:
            found.append(Labelled(int(start, 16), int(end, 16), labels))
    return tuple(found)


def _origins_in(word: str) -> frozenset[Origin]:
    """Return a label's origins; empty for other words. What has no short name goes by the source's, like mtTracing."""
    heads = [re.split(r"[:-]", part, maxsplit=1)[0] for part in word.split(",")]
    if not all(head in _ORIGINS or _SOURCE_NAME.fullmatch(head) for head in heads):
        return frozenset()
    return frozenset(_ORIGINS.get(head, Origin.JVM_INTERNAL) for head in heads)


def combine(bounds: Iterable[Region], lines: Iterable[Labelled]) -> tuple[Region, ...]:
    """Combine bounds and lines into ranges of addresses by their purpose, without overlaps.

    Bounds are exact and take precedence; a line gives the rest of its mapping to the remaining origin, or to "one or
    another" if there are several.
    """
    exact = tuple(bounds)
    regions = list(exact)
    for line in lines:
        inside = [region for region in exact if region.start < line.end and line.start < region.end]
        left = line.origins - {region.origin for region in inside} or line.origins
        rest = _without(line, inside)
        regions.extend(Region(piece.start, piece.end, " or ".join(sorted(left))) for piece in rest)
    return tuple(regions)


def _without(whole: Range, parts: Iterable[Range]) -> list[Range]:
    pieces = []
    start = whole.start
    for part in sorted(parts, key=lambda part: part.start):
        if start < part.start:
            pieces.append(Range(start, part.start))
        start = max(start, part.end)
    if start < whole.end:
        pieces.append(Range(start, whole.end))
    return pieces
