"""Where the memory of real JVMs is: Open Liberty after some requests, and a program with many threads."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jdkmatrix.host import launch
from jdkmatrix.host.http import Connection
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.resolve import fetch
from jdkmatrix.probes.memory import MemorySampler, read_memory
from jdkmatrix.probes.native_memory import Origin
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading
from jdkmatrix.servers.process import ServerProcess
from tests.support.servers import RULES, on_liberty
from tests.support.waiting import wait_until

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


def test_nearly_all_memory_of_a_server_has_an_origin(workloads: Workloads, tmp_path: Path) -> None:
    """On the oldest JDK; on a newer one, that of the bank has (test_banking_forks.py)."""
    java = fetch(load_catalogue(find_project().root / "jdks.json").entry("temurin-21.0.8")).home / "bin" / "java"
    (tmp_path / "logs").mkdir()
    options = ("-Xms512m", "-Xmx512m", "-XX:+UseG1GC", NMT)
    instance = on_liberty(workloads, java, executor="liberty", jvm_options=options)
    what = instance.lay_out(tmp_path / "server", tmp_path / "logs")

    def ask(requests: int) -> None:
        with Connection(what.base_url, timeout_s=30) as connection:
            for _ in range(requests):
                assert connection.get("/ping")[0] == 200

    with ServerProcess(what, cpus=CPUS, rules=RULES) as server:
        server.wait_ready()
        sampler = MemorySampler(server.pid, what.base_url, java, "hotspot", started_ns=server.started_ns, every_s=1.0)
        with sampler, ThreadPoolExecutor(4) as clients:
            list(clients.map(ask, [100] * 4))
            wait_until(lambda: len(sampler.readings) >= 2)
        pid = server.pid
    assert not list((tmp_path / "logs").glob(".attach_pid*"))
    assert [reading.t_s for reading in sampler.readings] == sorted(reading.t_s for reading in sampler.readings)
    for reading in sampler.readings:
        assert_accounted_for(reading)
        assert reading.heap_used_bytes is not None and reading.heap_committed_bytes is not None
        assert 0.5 * reading.heap_used_bytes < reading.resident[Origin.JAVA_HEAP] <= 512 << 20
        assert reading.stacks is not None and reading.stacks > 20
    with pytest.raises(SutGoneError):
        read_memory(pid, java, "hotspot", None, started_ns=0)


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
