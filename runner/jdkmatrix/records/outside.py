"""Where requests ran, seen from outside of an application that says nothing of itself."""

from __future__ import annotations

from jdkmatrix.domain.record import Record


class ThreadGroup(Record):
    """Threads whose names differ in numbers alone, each of which is a "#". `cpu_share`: as `OutsideProof`."""

    name: str
    threads: int
    cpu_share: float


class OutsideProof(Record):
    """Before the warm-up, under a closed loop: what `dumps` thread dumps have shown, and then the CPU time of threads
    over `answers` more requests, as a share of what all threads of the process took less its JIT compiler.

    `carriers_cpu_share`: of the threads that carry virtual ones; `virtual_threads`: how many different ones were seen;
    `busiest`: those with the most CPU time first."""

    path: str
    dumps: int
    virtual_threads: int
    virtual_names: tuple[str, ...]  # a few of them, with "#" for numbers
    carriers: tuple[str, ...]  # names
    carriers_cpu_share: float
    answers: int
    busiest: tuple[ThreadGroup, ...]
