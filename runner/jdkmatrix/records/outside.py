"""Where requests ran, seen from outside an application that says nothing about itself."""

from __future__ import annotations

from jdkmatrix.domain.record import Record


class ThreadGroup(Record):
    """Threads whose names differ only in numbers, each of which is a "#". `cpu_share`: as in `OutsideProof`."""

    name: str
    threads: int
    cpu_share: float


class OutsideProof(Record):
    """Before the warm-up, under a closed loop: what `dumps` thread dumps showed, and then threads' CPU time over
    `answers` more requests, as a share of what all threads of the process took except its JIT compiler.

    `carriers_cpu_share`: of the carriers of virtual threads; `virtual_threads`: how many different ones were seen;
    `busiest`: those with the most CPU time first."""

    path: str
    dumps: int
    virtual_threads: int
    virtual_names: tuple[str, ...]  # a few of them, with "#" for numbers
    carriers: tuple[str, ...]  # names
    carriers_cpu_share: float
    answers: int
    busiest: tuple[ThreadGroup, ...]
