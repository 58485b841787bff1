"""The cells that this host cannot measure, whatever parts it has or gets, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jdkmatrix.config.cell_loads import basis_cells
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.doctor.base import Host
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.kernel import cannot_set
from jdkmatrix.host.cpusets import CpuSets, TooFewCpusError, assign, beside
from jdkmatrix.host.limits import why_no_limit
from jdkmatrix.host.topology import Topology
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry
from jdkmatrix.jdks.jvm import unknown_properties
from jdkmatrix.subjects.kinds import kind_of
from jdkmatrix.subjects.parts import tuning_for, workload_of


class NoneHereError(MatrixError):
    """None of the given cells can be measured on this host. `reasons`: why not, by cell."""

    def __init__(self, message: str, reasons: Mapping[CellKey, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


def too_few_cpus(matrix: Matrix, cells: Iterable[CellKey], topology: Topology) -> dict[CellKey, str]:
    """Return the cells for which this host has too few CPUs, and what they need."""
    impossible: dict[CellKey, str] = {}
    for cell in cells:
        try:
            cpu_sets_of(matrix, cell, topology)
        except TooFewCpusError as error:
            impossible[cell] = str(error)
    return impossible


def impossible_here(
    matrix: Matrix, profile: Profile, cells: Iterable[CellKey], topology: Topology, catalogue: Catalogue
) -> dict[CellKey, str]:
    """Return the cells that cannot be measured on this host, whatever parts it has or gets, and why."""
    cells = tuple(cells)
    impossible = too_few_cpus(matrix, cells, topology)
    for cell in cells:
        if cell not in impossible and (reason := _why_never(matrix, profile, cell, catalogue.entry(cell.jdk))):
            impossible[cell] = reason
    return impossible


def _why_never(matrix: Matrix, profile: Profile, cell: CellKey, jdk: JdkEntry) -> str | None:
    tuning = tuning_for(matrix, cell)
    if unknown := unknown_properties(tuning.properties, jdk.vm, jdk.feature_version):
        return f"{cell.executor} on {cell.jdk}: {'; '.join(unknown)}"
    if refused := cannot_set(Host(root=Path("/"), results=Path("/")), tuning.kernel):
        return f"{cell.executor}: {refused}"
    if why := kind_of(matrix, cell).why_never(matrix, profile, cell):
        return why
    limits = workload_of(matrix, cell).limits
    quota_cpus = limits and limits.cpu_quota_cpus
    return f"{cell.workload}: {why}" if quota_cpus and (why := why_no_limit(quota_cpus, cell.cpus)) else None


def check_some(
    matrix: Matrix, asked: Iterable[tuple[Profile, Sequence[CellKey]]], topology: Topology, catalogue: Catalogue
) -> dict[CellKey, str]:
    """Return what impossible_here does, of the cells of all profiles together. Raises: NoneHereError."""
    cells: list[CellKey] = []
    impossible: dict[CellKey, str] = {}
    for profile, of_profile in asked:
        cells += of_profile
        impossible |= impossible_here(matrix, profile, of_profile, topology, catalogue)
    if len(impossible) == len(cells):
        raise none_here(cells, impossible)
    return impossible


def possible_bases(
    matrix: Matrix, profile: Profile, cells: Iterable[CellKey], topology: Topology, catalogue: Catalogue
) -> tuple[CellKey, ...]:
    """Return the cells from which loads of these are derived, as far as they can be measured here."""
    bases = basis_cells(matrix, cells)
    impossible = impossible_here(matrix, profile, bases, topology, catalogue)
    return tuple(cell for cell in bases if cell not in impossible)


def none_here(cells: Sequence[CellKey], impossible: Mapping[CellKey, str]) -> NoneHereError:
    reasons = "\n  ".join(dict.fromkeys(impossible.values()))
    return NoneHereError(f"none of the {plural(len(cells), 'cell')} can be measured here:\n  {reasons}", impossible)


def cpu_sets_of(matrix: Matrix, cell: CellKey, topology: Topology) -> CpuSets:
    """Assign CPUs to the cell. Raises: TooFewCpusError: this host has not got them."""
    driver_cpus, remote_cpus = cpus_of_others(matrix, cell, topology)
    return assign(
        topology,
        sut_cpus=cell.cpus,
        driver_cpus=driver_cpus,
        remote_cpus=remote_cpus,
        share_remote=matrix.remote.share_driver_cpus,
        overlap=matrix.driver.overlap,
        smt=matrix.server.smt,
        axis=matrix.axes.cpus,
    )


def cpus_of_others(matrix: Matrix, cell: CellKey, topology: Topology) -> tuple[int, int]:
    """Return how many CPUs the driver, and the remote system or the database, have beside the cell's server."""
    kind = kind_of(matrix, cell)
    has_remote = kind.remote(matrix, cell) or kind.database(matrix, cell)
    return beside(
        topology,
        sut_cpus=cell.cpus,
        driver_cpus=kind.driver_cpus(matrix),
        remote_cpus=matrix.remote.cpus if has_remote else 0,
        smt=matrix.server.smt,
    )
