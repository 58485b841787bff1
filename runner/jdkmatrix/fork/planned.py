"""A fork as a plan has it."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.records.loads import CellKey


@dataclass(frozen=True)
class PlannedFork:
    key: CellKey
    fork: int  # 1.., the number of its block
    position: int  # 1.. inside its block
    sequence: int  # 1.. in the whole run
    attempt: int = 1  # 1.., of this fork

    @property
    def label(self) -> str:
        return self.key.fork_label(self.fork, self.attempt)
