"""The parts that measure a real fork: a real server, driver and JDKs, on a project with short windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jdkmatrix.config.cell_loads import cell_loads
from jdkmatrix.config.load import load_matrix
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.host.cpusets import CpuSets, assign
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.provision.project import Project
from jdkmatrix.run.prepare import set_up_parts
from jdkmatrix.servers.instance import Instance
from jdkmatrix.subjects.parts import Parts
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support import builders
from tests.support.fork_setups import draft_of, usual
from tests.support.project import C1_ALONE

ROUNDS_PER_US = 500.0
# temurin-25.0.3 is there only if the host has it; semeru and the archives cannot be had on every network.
JDKS = ("temurin-21.0.8", "temurin-25", "temurin-25.0.2", "openjdk-28-nightly")
SERVERS = tuple(name for name, kind in server_kinds().items() if not kind.is_command)

ForkOf = Callable[..., ForkDraft]

_matrix_of = cache(load_matrix)  # every fork asks for it


class Silent:
    def step(self, text: str) -> None: ...


class Once:
    """An action taken once, at the first step that begins with `at`: by default, after the first warm-up window."""

    def __init__(self, act: Callable[[], object], at: str = "warming") -> None:
        self._act: Callable[[], object] | None = act
        self._at = at

    def step(self, text: str) -> None:
        if self._act is not None and text.startswith(self._at):
            act, self._act = self._act, None
            act()


def parts_of(project: Project) -> Parts:
    """Set up every JDK and every server with which forks are measured here."""
    cells = [key(jdk, own_pool(server), server=server) for jdk in JDKS for server in SERVERS]
    matrix = _matrix_of(project.matrix)
    return set_up_parts(project, matrix, cells, profile=matrix.profiles["quick"], capacities_rps={}, say=print)


def key(jdk: str, executor: str, **changes: object) -> CellKey:
    return builders.key(executor, **{"jdk": jdk, "load": "saturate-10", **changes})


def setup_of(
    project: Project, parts: Parts, cell: CellKey, folder: Path, *, feature_set: str = "restfulWS-3.1"
) -> ForkDraft:
    matrix = _matrix_of(project.matrix)
    jdk = parts.jdks[cell.jdk]
    assert isinstance(jdk, Available), jdk
    served = usual(
        matrix=matrix,
        load=cell_loads(matrix, [cell], {})[cell],
        driver=driver_of(parts),
        instance=Instance(
            server=parts.servers[cell.server], workloads=parts.workloads, application="mp-ping",
            java=jdk.home / "bin" / "java", vm=jdk.entry.vm, feature_set=feature_set, executor=cell.executor,
            jvm_options=("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", C1_ALONE), rounds_per_us=ROUNDS_PER_US,
            properties={},
        ),
        workload=matrix.workloads["mp-ping"], mix=None, cpu_sets=cpu_sets(),
        burn_rounds=round(cell.burn_us * ROUNDS_PER_US),
    )  # fmt: skip
    return draft_of(ServedCell(**served), folder, cell)


def driver_of(parts: Parts) -> LoadgenDriver:
    driver = next(iter(parts.drivers.values()))
    assert isinstance(driver, LoadgenDriver), driver
    return driver


def cpu_sets() -> CpuSets:
    """Assign all CPUs to the server and one of them to the driver: what is tested here does not depend on it, and a
    server starts faster on two."""
    topology = read_topology()
    return assign(topology, sut_cpus=len(topology.cpus), driver_cpus=1, overlap=True)


def subject_of(draft: ForkDraft) -> ServedCell:
    assert isinstance(draft.cell, ServedCell)
    return draft.cell


def with_subject(draft: ForkDraft, **changes: Any) -> ForkDraft:
    """Return the same fork of a cell that is served or loaded differently."""
    return replace(draft, cell=replace(draft.cell, **changes))


def with_rules(draft: ForkDraft, table: str = "server", **changes: float) -> ForkDraft:
    """Return the same fork with other values in this table of matrix.toml."""
    matrix = subject_of(draft).matrix
    rules = getattr(matrix, table).model_copy(update=changes)
    return with_subject(draft, matrix=matrix.model_copy(update={table: rules}))
