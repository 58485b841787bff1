"""Capacities of servers, measured before the next stage is planned, for loads that are shares of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.fork_figures import throughput_rps
from jdkmatrix.records.run import BasisCapacity
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.subjects.kinds import kind_of

FOLDER = "capacity"  # of a run: its cells and logs are a run of their own, in which every cell has one fork


def profile_of_bases(profile: Profile) -> Profile:
    """Return the profile for measuring bases: one block; windows and promises are those of the run."""
    one_block = {"protocol": "separate", "blocks": 1, "max_blocks": None, "include": (), "exclude": ()}
    return profile.model_copy(update=one_block)


def bases_s(matrix: Matrix, profile: Profile, bases: Iterable[CellKey]) -> float:
    """Return the seconds that measuring the bases is expected to take, before anything of a profile is measured."""
    once = profile_of_bases(profile)
    return sum(kind_of(matrix, cell).expected_s(matrix, once, cell) for cell in bases)


def capacity_of(key: CellKey, cell: CellRecord | None, impossible: str | None) -> BasisCapacity:
    """Return the capacity by the first usable fork of `cell`; `impossible`: why it was not measured."""
    forks = cell.forks if cell else ()
    found = next((fork for fork in forks if fork.usable), next(iter(forks), None))
    if cell and found and found.usable and (figure := throughput_rps(found, cell.load)) and figure.value > 0:
        return BasisCapacity(key=key, throughput_rps=figure.value)
    reasons = dict.fromkeys(one.message for one in (*found.reasons, *found.window_reasons)) if found else {}
    return BasisCapacity(key=key, throughput_rps=None, why_not=impossible or "; ".join(reasons) or "no figure")
