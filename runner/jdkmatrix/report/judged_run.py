"""A run with what is worked out from all of it, once."""

from __future__ import annotations

from functools import cached_property

from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.experiment_cells import Experiments
from jdkmatrix.report.cells.judgements import Judgements, judge_run
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.claims.verdicts import JudgedClaim, judge_claims
from jdkmatrix.store.loaded import LoadedRun


class JudgedRun:
    """Pages, exports and the terminal read the same one, so that they say the same."""

    def __init__(self, loaded: LoadedRun) -> None:
        self.loaded = loaded
        self.run = loaded.run
        self.cells = Cells(loaded.run, loaded.served)
        self.experiments = Experiments(loaded.run, loaded.experiments)

    @property
    def order(self) -> tuple[str, ...]:
        """Of executors, with and without a server."""
        return executor_order(key.executor for key in (*self.cells.keys, *self.experiments.keys))

    @cached_property
    def judgements(self) -> Judgements:
        return judge_run(self.cells)

    @cached_property
    def claims(self) -> tuple[JudgedClaim, ...]:
        """Those of the scenario that the run repeats, as it recorded them."""
        recorded = self.run.scenario.claims if self.run.scenario else ()
        return judge_claims(recorded, self.run, self.cells, self.experiments)
