"""Prove from outside on which threads an application serves that says nothing of itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event

from jdkmatrix.probes.java_threads import JavaThreads, find_carriers, look_at_threads
from jdkmatrix.probes.process import Reading, cpu_share_of, glance, read_threads
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.servers.outside import busiest_groups, check_carriers, groups_words, unnumbered
from jdkmatrix.servers.proof import ProofError

LOOK_S = 3.0  # of load, in which as many dumps are taken as there is time for
COUNT_S = 2.0  # of load that nothing disturbs
_SHOWN_NAMES = 5

LoadFor = Callable[[str, float], int]  # puts load on the application, by a label and for so many seconds: its answers


@dataclass
class _Seen:
    dumps: int = 0
    names: dict[int, str] = field(default_factory=dict)
    carriers: set[int] = field(default_factory=set)
    virtual: dict[int, str] = field(default_factory=dict)

    def add(self, found: JavaThreads) -> None:
        """Raises: ProofError: the JVM does not say."""
        if found.fault is not None:
            raise ProofError(f"on which threads it serves cannot be seen from outside: {found.fault}")
        self.dumps += 1
        self.names.update(found.platform)
        self.carriers |= found.carriers
        self.virtual.update(found.virtual or {})


def prove_from_outside(
    pid: int, executor: str, path: str, load: LoadFor, *, java: Path, scratch: Path
) -> tuple[OutsideProof, frozenset[str]]:
    """Thread dumps under `load`, a closed loop of GET `path`, then the CPU time of threads under the same; and what the
    kernel calls the carriers of virtual threads.

    Raises:
        ProofError: requests run on other threads than the executor's name promises, or nobody can tell.
        MatrixError: as `load`.
    """
    seen = _Seen()
    _look(pid, seen, partial(load, "proof-dumps", LOOK_S), java, scratch)
    if not seen.carriers:
        found = find_carriers(pid, java, seen.names)
        if isinstance(found, str):
            raise ProofError(f"on which threads it serves cannot be seen from outside: {found}")
        seen.carriers |= found
    before = Reading(glance(pid), read_threads(pid))
    answers = load("proof-count", COUNT_S)
    after = Reading(glance(pid), read_threads(pid))
    carriers = frozenset(after.threads[tid].name for tid in seen.carriers if tid in after.threads)
    share = cpu_share_of(carriers, before, after)
    busiest = busiest_groups(before.threads, after.threads, seen.names)
    check_carriers(share, executor, f"most was used by {groups_words(busiest)}")
    proof = OutsideProof(
        path=path,
        dumps=seen.dumps,
        virtual_threads=len(seen.virtual),
        virtual_names=tuple(dict.fromkeys(map(unnumbered, seen.virtual.values())))[:_SHOWN_NAMES],
        carriers=tuple(sorted(seen.names[tid] for tid in seen.carriers)),
        carriers_cpu_share=share,
        answers=answers,
        busiest=busiest,
    )
    return proof, carriers


def _look(pid: int, seen: _Seen, load: Callable[[], object], java: Path, scratch: Path) -> None:
    over = Event()

    def look() -> None:
        while not over.is_set():
            seen.add(look_at_threads(pid, java, scratch))

    with ThreadPoolExecutor(1) as looker:
        looks = looker.submit(look)
        try:
            load()
        finally:
            over.set()
        looks.result()
