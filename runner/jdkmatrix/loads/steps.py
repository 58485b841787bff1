"""Kinds of load that go on in steps, a window each, have this in common."""

from __future__ import annotations

from jdkmatrix.loads.base import L, LoadKind
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window


class Steps(LoadKind[L]):
    """Throughput and the use of CPUs are those of the best step."""

    one_level = False

    def cpu_share(self, fork: Fork) -> float:
        return self.best_step(fork).sut.cpu_share

    def best_step(self, fork: Fork) -> Window:
        return max(fork.valid_windows, key=lambda window: window.load.succeeded_rps)

    @property
    def throughput_of(self) -> str:
        return "In the step with the highest throughput of each fork."
