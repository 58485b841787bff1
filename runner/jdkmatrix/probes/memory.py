"""Read where a JVM's memory is, once or at a steady pace.

Unlike a reading of `sampler`, this one costs the server something: HotSpot answers jcmd in a thread of its own, and
looks through all threads for each mapping. On a virtual machine with two CPUs it took 15 to 40 ms of the server's CPU
time for Open Liberty with 50 threads, 50 ms with 300 threads, 230 ms with 2,000, 850 ms with 6,000; two to four times
that the first time. A reading takes 0.2 to 0.5 s, most of it (0.2 s of CPU time) for jcmd, itself a JVM on the CPUs of
its caller; with 6,000 threads 1.8 s.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.probes import jcmd
from jdkmatrix.probes.attribution import JvmAccount, attribute
from jdkmatrix.probes.memory_map import MappedRange, MemoryMap, Range, Regions, cut, parse_smaps, pieces_of
from jdkmatrix.probes.native_memory import QUESTIONS, combine, parse_bounds, parse_native_memory, parse_system_map
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.probes.sampler import GAUGES_TIMEOUT_S, GaugedPace
from jdkmatrix.records.memory import MemoryReading
from jdkmatrix.records.windows import Gauges

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ENTRY_BYTES = 8
_PRESENT = np.uint64(1 << 63)  # proc_pid_pagemap(5)

NO_NMT_IN_OPENJ9 = "OpenJ9 has no native memory tracking"
NMT_IS_OFF = "native memory tracking is off; -XX:NativeMemoryTracking=summary turns it on"


def read_memory(pid: int, java: Path, vm: Vm, gauges: Gauges | None, *, started_ns: int) -> MemoryReading:
    """Ask the JVM, then the kernel.

    Raises:
        SutGoneError: no such process.
        MatrixError: the kernel does not show its mappings.
    """
    answer = jcmd.ask(pid, java, QUESTIONS) if vm == "hotspot" else jcmd.JcmdAnswer("", None)
    jvm, why_no_native = account(vm, answer)
    memory = _cut_at_borders(pid, _read_smaps(pid), jvm.regions)
    read_ns = time.monotonic_ns()
    found = attribute(memory, jvm, gauges)
    missing = found.missing
    if gauges is None:
        missing = (*missing, "/gauges gave no answer: direct buffers cannot be told from other malloc memory")
    return MemoryReading(
        t_s=(read_ns - started_ns) / 1e9,
        rss_bytes=memory.rss_bytes,
        pss_bytes=memory.pss_bytes,
        private_dirty_bytes=memory.private_dirty_bytes,
        virt_bytes=memory.virt_bytes,
        swap_bytes=memory.swap_bytes,
        heap_used_bytes=gauges.heap_used_bytes if gauges else None,
        heap_committed_bytes=gauges.heap_committed_bytes if gauges else None,
        direct_buffer_bytes=gauges.direct_buffer_bytes if gauges else None,
        mapped_buffer_bytes=gauges.mapped_buffer_bytes if gauges else None,
        stacks=jvm.native.threads if jvm.native else None,
        native=jvm.native.categories if jvm.native else None,
        why_no_native=why_no_native,
        resident=found.resident,
        missing=missing,
    )


class MemorySampler(GaugedPace):
    """Between enter and exit, `readings` grows by one every `every_s`; stops by itself when the SUT ends."""

    def __init__(self, pid: int, base_url: str, java: Path, vm: Vm, *, started_ns: int, every_s: float) -> None:
        look_at_most_s = GAUGES_TIMEOUT_S + jcmd.TIMEOUT_S
        super().__init__("memory sampler", self._read, base_url, every_s=every_s, look_at_most_s=look_at_most_s)
        self._pid = pid
        self._java = java
        self._vm = vm
        self._started_ns = started_ns
        self.readings: list[MemoryReading] = []

    def _read(self) -> None:
        gauges = self.gauges()
        self.readings.append(read_memory(self._pid, self._java, self._vm, gauges, started_ns=self._started_ns))


def account(vm: Vm, answer: jcmd.JcmdAnswer) -> tuple[JvmAccount, str | None]:
    """Parse the JVM's answer; also return why there is nothing about native memory, if so. Pure."""
    if vm == "openj9":
        return JvmAccount(Regions(()), has_system_map=False, native=None, missing=(NO_NMT_IN_OPENJ9,)), NO_NMT_IN_OPENJ9
    native = parse_native_memory(answer.text)
    lines = parse_system_map(answer.text)
    regions = combine(parse_bounds(answer.text), lines or ())
    missing = []
    why_no_native = None
    if native is None:
        why_no_native = NMT_IS_OFF if answer.fault is None else f"the JVM gave no answer: {answer.fault}"
        missing.append(f"{why_no_native}: stacks, metaspace, the collector's memory and malloc cannot be told apart")
    return JvmAccount(Regions(regions), lines is not None, native, tuple(missing)), why_no_native


def _read_smaps(pid: int) -> MemoryMap:
    try:
        memory = parse_smaps(Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, ProcessLookupError):
        raise SutGoneError(f"process {pid} has ended") from None
    except OSError as error:
        raise MatrixError(f"/proc/{pid}/smaps: {error.strerror}") from None
    if not memory.mappings:
        raise SutGoneError(f"process {pid} has ended")
    return memory


def _cut_at_borders(pid: int, memory: MemoryMap, regions: Regions) -> MemoryMap:
    """Cut mappings at regions' borders: the kernel merges neighbours of equal rights, such as heap and class space."""
    pieces: list[MappedRange] = []
    for mapping in memory.mappings:
        borders = regions.borders_in(mapping)
        parts = pieces_of(mapping, borders)
        pieces.extend(cut(mapping, parts, [_resident_bytes(pid, part) for part in parts]) if borders else [mapping])
    return replace(memory, mappings=tuple(pieces))


def _resident_bytes(pid: int, piece: Range) -> int:
    """Return the resident bytes of a piece; 0 if the kernel does not tell."""
    try:
        entries = np.fromfile(
            f"/proc/{pid}/pagemap",
            dtype=np.uint64,
            count=piece.size_bytes // _PAGE_BYTES,
            offset=piece.start // _PAGE_BYTES * _ENTRY_BYTES,
        )
    except OSError:
        return 0
    return int(np.count_nonzero(entries & _PRESENT)) * _PAGE_BYTES
