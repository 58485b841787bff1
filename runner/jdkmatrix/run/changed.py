"""What has changed since the cells were set up, so that forks may be of either state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.provision.own import find_own
from jdkmatrix.run.try_own import own_cells
from jdkmatrix.subjects.served.measurement import ServedCell


def changed_own(setups: Mapping[CellKey, CellSetup], folder: Path) -> list[str]:
    """The workloads of the user whose files are others now. `folder`: from which relative names are seen.

    Raises:
        MatrixError: as find_own.
    """
    found = {key.workload: cell for key, cell in own_cells(setups).items()}
    return [
        workload
        for workload, cell in found.items()
        if cell.workload.own and dict(find_own(cell.workload.own, folder).sha256) != cell.inputs["own_files"]
    ]


def changed_servers(setups: Mapping[CellKey, CellSetup]) -> list[str]:
    """The files of the servers' configuration, below workloads/servers, that are others now: each fork is laid out from
    them."""
    served = (cell.instance.workloads for cell in setups.values() if isinstance(cell, ServedCell))
    return sorted({name for workloads in {id(one): one for one in served}.values() for name in workloads.changed()})
