"""Read the threads of a JVM from its thread dumps: which virtual threads there are, and which threads carry one.

HotSpot prints at a safepoint, so a dump under load catches carriers at work: a thread "Carrying virtual thread" is one.
Where requests are short or wait, none may be caught: but the heap has an object of one class for each carrier, and the
JDK names them all after one pool. Virtual threads themselves are in the other dump, which goes through them one by one.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.probes.jcmd import ask
from jdkmatrix.reading import text_if_readable

_THREAD = re.compile(r'"(?P<name>.*)" #[0-9]+ \[(?P<tid>[0-9]+)\]')
_CARRYING = re.compile(r"\s+Carrying virtual thread #[0-9]+")
_IN_HEAP = re.compile(r"^ *[0-9]+: +(?P<count>[0-9]+) +[0-9]+ +jdk\.internal\.misc\.CarrierThread\b", re.MULTILINE)
_OF_POOL = re.compile(r"(ForkJoinPool-[0-9]+)-worker-[0-9]+")
_RUN_OF_VIRTUAL = re.compile(r"(java\.base/)?java\.lang\.VirtualThread\.run\(")


@dataclass(frozen=True)
class JavaThreads:
    """`platform`: names by the kernel's id; `carriers`: ids of those that carried a virtual thread; `virtual`: names by
    the JVM's id. `fault`: why nothing is known, in words."""

    platform: Mapping[int, str]
    carriers: frozenset[int] = frozenset()
    virtual: Mapping[int, str] | None = None
    fault: str | None = None


def look_at_threads(pid: int, java: Path, scratch: Path) -> JavaThreads:
    """Ask the JVM for its threads, which stops it for some milliseconds. `scratch`: a folder that it may write to."""
    dump = scratch / "threads.json"
    answer = ask(pid, java, ["Thread.print", f'Thread.dump_to_file -overwrite -format=json "{dump}"'])
    if answer.fault is not None:
        return JavaThreads({}, fault=answer.fault)
    platform, carriers = parse_threads(answer.text)
    virtual = parse_virtual(text_if_readable(dump) or "")
    fault = None if platform and virtual is not None else "its thread dumps cannot be read"
    return JavaThreads(platform, carriers, virtual, fault)


def find_carriers(pid: int, java: Path, names: Mapping[int, str]) -> frozenset[int] | str:
    """Find the carriers among the threads with these names by what is in the heap; a text says why nobody can tell."""
    answer = ask(pid, java, ["GC.class_histogram -all"])
    if answer.fault is not None:
        return answer.fault
    found = _IN_HEAP.search(answer.text)
    return carriers_among(names, int(found["count"])) if found else frozenset()


def carriers_among(names: Mapping[int, str], count: int) -> frozenset[int] | str:
    """Return the threads of the only pool that the JDK named or, of several, the only one of `count` threads. Pure."""
    pools: defaultdict[str, set[int]] = defaultdict(set)
    for tid, name in names.items():
        if found := _OF_POOL.fullmatch(name):
            pools[found[1]].add(tid)
    fit = [tids for tids in pools.values() if len(tids) == count] if len(pools) > 1 else list(pools.values())
    if len(fit) != 1:
        return f"it has {count} carriers of virtual threads, which may belong to {', '.join(pools) or 'no pool'}"
    return frozenset(fit[0])


def with_their_pools(carriers: frozenset[int], names: Mapping[int, str]) -> frozenset[int]:
    """Return all threads of these carriers' pools that the JDK named: dumps catch only some of them at work. Pure."""
    pools = {found[1] for tid in carriers if (found := _OF_POOL.fullmatch(names[tid]))}
    return carriers | {tid for tid, name in names.items() if (found := _OF_POOL.fullmatch(name)) and found[1] in pools}


def parse_threads(text: str) -> tuple[dict[int, str], frozenset[int]]:
    """Parse the Java threads of Thread.print, and which of them carried a virtual one. Pure."""
    names: dict[int, str] = {}
    carriers: set[int] = set()
    last: int | None = None
    for line in text.splitlines():
        if found := _THREAD.match(line):
            last = int(found["tid"])
            names[last] = found["name"]
        elif last is not None and _CARRYING.match(line):
            carriers.add(last)
    return names, frozenset(carriers)


def parse_virtual(text: str) -> dict[int, str] | None:
    """Parse the virtual threads of Thread.dump_to_file -format=json; None if it is no such dump. JDK 21 does not say
    which threads are virtual, but those that run show it. Pure."""
    try:
        containers = json.loads(text)["threadDump"]["threadContainers"]
        threads = [thread for container in containers for thread in container["threads"]]
        return {int(thread["tid"]): str(thread["name"]) for thread in threads if _is_virtual(thread)}
    except (ValueError, KeyError, TypeError):
        return None


def _is_virtual(thread: Mapping[str, object]) -> bool:
    stack = thread.get("stack")
    runs = isinstance(stack, list) and bool(stack) and _RUN_OF_VIRTUAL.match(str(stack[-1])) is not None
    return thread.get("virtual") is True or runs
