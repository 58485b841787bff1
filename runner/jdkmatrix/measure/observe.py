"""Put one phase of load on the server and look at it from all sides."""

from __future__ import annotations

import time
from dataclasses import dataclass

from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.probes.host import pressure, read_host
from jdkmatrix.probes.process import read_process
from jdkmatrix.probes.sampler import Sampler, read_gauges
from jdkmatrix.probes.usage import usage
from jdkmatrix.records import Load, LoadResult, Pressure, SutUsage
from jdkmatrix.sut.affinity import astray
from jdkmatrix.sut.http import Connection
from jdkmatrix.sut.server import ServerProcess


@dataclass(frozen=True)
class Observed:
    """`t_s`: when the load began, since the server's start."""

    t_s: float
    load: LoadResult
    sut: SutUsage
    host: Pressure


@dataclass(frozen=True)
class Bench:
    """A server, what loads it, and what watches it."""

    server: ServerProcess
    session: DriverSession
    sampler: Sampler
    connection: Connection
    cpu_sets: CpuSets

    def observe(self, load: Load, duration_s: float, *, label: str) -> Observed:
        """Run one phase, with readings around it.

        Warm-up and measured windows go through this same code, so that the server meets the same requests in both. One
        request of a kind that it has not met since its code was compiled (the first with a query, say) is enough for
        the JVM to throw the compiled code of the whole path away, and the window then measures the interpreter.
        """
        self.connection.get("/gauges?reset=peak")
        gauges_before = read_gauges(self.connection)
        own_before_s = time.process_time()
        host_before = read_host()
        before = read_process(self.server.pid)
        result = self.session.run(load, duration_s, label=label)
        after = read_process(self.server.pid)
        host_after = read_host()
        own_cpu_s = time.process_time() - own_before_s
        gauges_after = read_gauges(self.connection)
        t_s = (result.started_monotonic_ns - self.server.started_ns) / 1e9
        sut = usage(
            before,
            after,
            gauges_before=gauges_before,
            gauges_after=gauges_after,
            samples=self.sampler.since(t_s),
            completed=result.completed,
            cpus=len(self.cpu_sets.sut),
            astray_threads=len(astray(self.server.pid, self.cpu_sets.sut)),
        )
        cpus = (*self.cpu_sets.sut, *self.cpu_sets.driver)
        host = pressure(host_before, host_after, cpus=cpus, own_cpu_s=own_cpu_s + sut.cpu_s + result.driver_cpu_s)
        return Observed(t_s=t_s, load=result, sut=sut, host=host)
