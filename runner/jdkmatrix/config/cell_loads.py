"""Determine the load of each cell: as matrix.toml says, or derived from a throughput that is measured first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CellLoad
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.loads.kinds.relative import RelativeLoad


def basis_of(matrix: Matrix, cell: CellKey) -> CellKey | None:
    """Return the cell that must be measured before this one's load is known; None where matrix.toml says all of it."""
    load = matrix.loads[cell.load]
    if not isinstance(load, RelativeLoad):
        return None
    waits = matrix.workloads[cell.workload].remote is not None
    return cell.model_copy(
        update={
            "executor": load.of.executor or own_pool(cell.server),
            "load": load.of.load,
            "wait_us": load.of.wait_us if waits else 0,
        }
    )


def basis_cells(matrix: Matrix, cells: Iterable[CellKey]) -> tuple[CellKey, ...]:
    """Return the cells that must be measured before the loads of all these are known, without duplicates."""
    return tuple(dict.fromkeys(basis for cell in cells if (basis := basis_of(matrix, cell))))


def cell_loads(
    matrix: Matrix, cells: Iterable[CellKey], capacities_rps: Mapping[CellKey, float]
) -> dict[CellKey, CellLoad]:
    """Return the load of every cell with a server whose basis is among `capacities_rps`, or that needs none."""
    found: dict[CellKey, CellLoad] = {}
    for cell in cells:
        load = matrix.loads[cell.load]
        if isinstance(load, CellLoad):
            found[cell] = load.carried(cell.wait_us)
        elif (basis := basis_of(matrix, cell)) in capacities_rps and basis and isinstance(load, RelativeLoad):
            found[cell] = load.resolved(capacities_rps[basis], cell.wait_us)
    return found
