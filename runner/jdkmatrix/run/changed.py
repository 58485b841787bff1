"""Find what has changed since the cells were set up, so that forks may be of either state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.provision.own import find_own
from jdkmatrix.provision.seal import files_sha256, sha256_of
from jdkmatrix.run.code_version import PACKAGE, digest_of, measuring_code
from jdkmatrix.run.try_own import own_cells
from jdkmatrix.subjects.served.measurement import ServedCell


def changed_code() -> list[str]:
    """Return this package's name if the code that measures is no longer what this process has loaded."""
    return [] if digest_of(PACKAGE) == measuring_code() else [PACKAGE.name]


def changed_own(setups: Mapping[CellKey, CellSetup], folder: Path) -> list[str]:
    """Return the user's workloads whose files have changed or are being built. `folder`: the base of relative names."""
    found = {key.workload: cell for key, cell in own_cells(setups).items()}
    return [workload for workload, cell in found.items() if _digests(cell, folder) != cell.inputs["own_files"]]


def _digests(cell: ServedCell, folder: Path) -> Mapping[str, str] | None:
    """Return the digests of its files now; None if a file is not there, or is not an archive yet."""
    try:
        return dict(find_own(cell.workload.own, folder).sha256) if cell.workload.own else {}
    except MatrixError:
        return None


def changed_jdks(setups: Mapping[CellKey, CellSetup]) -> list[str]:
    """Return the folders of the user's or the host's JDKs that were rebuilt or reinstalled, or are being so."""
    recorded = {pair for cell in setups.values() for pair in cell.unpinned_jdks.items()}
    return sorted(str(home) for home, sha256 in recorded if _files_sha256(home) != sha256)


def _files_sha256(home: Path) -> str | None:
    try:
        return files_sha256(home)
    except MatrixError:
        return None


def changed_options(setups: Mapping[CellKey, CellSetup]) -> list[str]:
    """Return the changed ones of the files that options of these cells' JVMs name, such as an arm's agent."""
    recorded = {pair for cell in setups.values() for pair in cell.inputs.get("option_files", {}).items()}
    return sorted({file for file, sha256 in recorded if not _has_digest(Path(file), sha256)})


def _has_digest(file: Path, sha256: str) -> bool:
    """Return whether the file has this digest; False if it cannot be read."""
    try:
        return sha256_of(file) == sha256
    except OSError:
        return False


def changed_servers(setups: Mapping[CellKey, CellSetup]) -> list[str]:
    """Return the changed ones of the servers' configuration files, below workloads/servers, that these cells are laid
    out from."""
    served = (cell for cell in setups.values() if isinstance(cell, ServedCell))
    return sorted({name for cell in served for name in cell.instance.workloads.changed(cell.inputs["artefacts"])})
