"""The server's memory by use, at one moment."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from jdkmatrix.domain.record import Record

UNATTRIBUTED = "not attributed"


class NativeCategory(Record):
    """One category of HotSpot's native memory tracking; `malloc_bytes` is the part of `committed_bytes` that came from
    malloc and not from mmap."""

    reserved_bytes: int
    committed_bytes: int
    malloc_bytes: int


class MemoryReading(Record):
    """One process at one moment. `resident` says by origin where `rss_bytes` are, and sums to it; memory of unknown
    origin is under "not attributed". `missing`: what could not be determined, in words.

    None: /gauges gave no answer in time, or the JVM does not tell (then `why_no_native` says so for `native`)."""

    t_s: float
    rss_bytes: int
    pss_bytes: int  # a page shared by n processes counts 1/n
    private_dirty_bytes: int
    virt_bytes: int
    swap_bytes: int
    heap_used_bytes: int | None
    heap_committed_bytes: int | None
    direct_buffer_bytes: int | None
    mapped_buffer_bytes: int | None
    stacks: int | None  # of threads that the JVM knows
    native: dict[str, NativeCategory] | None
    why_no_native: str | None
    resident: dict[str, int]
    missing: tuple[str, ...]

    @model_validator(mode="after")
    def _origins_sum_to_rss(self) -> Self:
        if sum(self.resident.values()) != self.rss_bytes or min(self.resident.values(), default=0) < 0:
            raise ValueError("the origins do not sum to rss_bytes")
        return self
