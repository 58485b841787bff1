"""Where the memory of a JVM with many threads is; for a server's, see real/test_banking_forks.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from jdkmatrix.host import launch
from jdkmatrix.probes.memory import read_memory
from jdkmatrix.probes.native_memory import Origin
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading

pytestmark = pytest.mark.real
CPUS = tuple(sorted(os.sched_getaffinity(0)))
NMT = "-XX:NativeMemoryTracking=summary"

SLEEPERS = """
public class Sleepers {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); i++)
            Thread.ofPlatform().start(() -> {
                try { Thread.sleep(1_000_000); } catch (InterruptedException ended) { }
            });
        System.out.println("started");
    }
}
"""


def test_the_stacks_of_many_threads_are_found(java: Path, tmp_path: Path) -> None:
    source = tmp_path / "Sleepers.java"
    source.write_text(SLEEPERS)

    def reading_with(threads: int) -> MemoryReading:
        command = [str(java), NMT, "-Xmx64m", str(source), str(threads)]
        process = launch.spawn(command, cpus=CPUS, cwd=tmp_path, stdout=subprocess.PIPE)
        try:
            assert process.stdout.readline() == b"started\n"
            return read_memory(process.pid, java, "hotspot", None, started_ns=0)
        finally:
            process.kill()
            process.communicate()
            with pytest.raises(SutGoneError):
                read_memory(process.pid, java, "hotspot", None, started_ns=0)

    few, many = reading_with(1), reading_with(301)
    for reading in (few, many):
        assert_accounted_for(reading)
        assert any("/gauges gave no answer" in said for said in reading.missing)
    assert 290 < many.stacks - few.stacks < 310
    # A stack that has been used is at least two pages.
    assert many.resident[Origin.THREAD_STACKS] - few.resident[Origin.THREAD_STACKS] > 300 * 8192


def assert_accounted_for(reading: MemoryReading) -> None:
    assert reading.native is not None and reading.why_no_native is None
    assert sum(reading.resident.values()) == reading.rss_bytes
    assert reading.resident.get(UNATTRIBUTED, 0) < 0.1 * reading.rss_bytes
    assert reading.private_dirty_bytes <= reading.pss_bytes <= reading.rss_bytes < reading.virt_bytes
