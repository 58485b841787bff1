"""A fork as it is planned."""

from __future__ import annotations

from typing import NamedTuple

from jdkmatrix.domain.cell_key import CellKey


class PlannedFork(NamedTuple):
    key: CellKey
    fork: int  # 1.., the number of its block
    position: int  # 1.. inside its block
    sequence: int  # 1.. in the whole run
    attempt: int = 1  # 1.., of this fork

    @property
    def label(self) -> str:
        return self.key.fork_label(self.fork, self.attempt)
