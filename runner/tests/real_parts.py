"""What a real fork is measured with: a real server, driver and JDKs, on a project with short windows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jdkmatrix.cell_loads import cell_loads
from jdkmatrix.config.load import load_matrix
from jdkmatrix.host.cpusets import CpuSets, assign
from jdkmatrix.host.topology import read_topology
from jdkmatrix.measure.assemble import Parts
from jdkmatrix.measure.draft import ForkSetup
from jdkmatrix.measure.pinning import AffinityPinner
from jdkmatrix.measure.prepare import set_up_parts
from jdkmatrix.plan import PlannedFork
from jdkmatrix.project import Project
from jdkmatrix.provision.jdks.resolve import Available
from jdkmatrix.records import CellKey
from jdkmatrix.sut.instance import Instance

ROUNDS_PER_US = 500.0


class Silent:
    def step(self, text: str) -> None:
        pass


def parts_of(project: Project, jdks: Iterable[str]) -> Parts:
    cells = [key(jdk, "liberty") for jdk in jdks]
    return set_up_parts(project, load_matrix(project.matrix), cells, window_s=3, capacities_rps={}, say=print)


def key(jdk: str, executor: str, **changes: object) -> CellKey:
    values = {"workload": "mp-ping", "jdk": jdk, "executor": executor, "cpus": 1, "burn_us": 0, "load": "saturate-10"}
    return CellKey.model_validate({**values, **changes})


def setup_of(
    project: Project, parts: Parts, cell: CellKey, folder: Path, *, feature_set: str = "restfulWS-3.1"
) -> ForkSetup:
    matrix = load_matrix(project.matrix)
    jdk = parts.jdks[cell.jdk]
    assert isinstance(jdk, Available), jdk
    driver = next(iter(parts.drivers.values()))
    assert not isinstance(driver, str), driver
    log_dir = folder / "logs"
    log_dir.mkdir(parents=True)
    return ForkSetup(
        planned=PlannedFork(cell, fork=1, position=1, sequence=1),
        load=cell_loads(matrix, [cell], {})[cell],
        matrix=matrix,
        windows=1,
        window_s=1.0,
        precision=0.05,
        irq_time_accounting=None,
        burn_rounds=round(cell.burn_us * ROUNDS_PER_US),
        cpu_sets=cpu_sets(),
        pinner=AffinityPinner("not tried in this test"),
        driver=driver,
        instance=Instance(
            liberty=parts.servers[cell.server],
            workloads=parts.workloads,
            application="mp-ping",
            java=jdk.home / "bin" / "java",
            vm=jdk.entry.vm,
            feature_set=feature_set,
            executor=cell.executor,
            jvm_options=("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC"),
            rounds_per_us=ROUNDS_PER_US,
            properties={},
        ),
        kernel={},
        workload=matrix.workloads["mp-ping"],
        remote=None,
        mix=None,
        scratch=folder / "scratch",
        log_dir=log_dir,
        log_prefix="../logs",
    )


def cpu_sets() -> CpuSets:
    """All CPUs for the server and one of them for the driver: what is tested here does not depend on it, and a server
    starts faster on two."""
    topology = read_topology()
    return assign(topology, sut_cpus=len(topology.cpus), driver_cpus=1, overlap=True)
