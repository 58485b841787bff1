"""A run with everything that is derived from it as a whole, each computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.figures.paired import step_share
from jdkmatrix.figures.refusals import one_sided_among
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.cells.block_checks import BlockChecks, block_checks
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.cells.judgements import Judgements, Refusals, arm_pairs, judge_run, page_refusals
from jdkmatrix.report.claims.estimates import Results, compared_cells
from jdkmatrix.report.claims.evidence import ClaimEvidence, evidence
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedClaim, judge
from jdkmatrix.stats.modes import Modes, modes_of_family
from jdkmatrix.store.loaded import LoadedRun


class JudgedRun:
    """The one source that pages, exports and the terminal read, so that they agree.

    `registry`: today's claims, by which the run is judged; a claim missing from it is judged as the run recorded it."""

    def __init__(self, loaded: LoadedRun, registry: Sequence[ClaimRecord] = ()) -> None:
        self.loaded = loaded
        self.run = loaded.run
        self.cells = Cells(loaded.run, loaded.served)
        self.experiments = Cells(loaded.run, loaded.experiments, served=False)
        self._registry = registry

    def cell(self, key: CellKey) -> CellStats:
        """Return the cell, with a server or without. Raises: ValueError: it has no record."""
        (cell,) = (*self.cells.some((key,)), *self.experiments.some((key,)))
        return cell

    @cached_property
    def judgements(self) -> Judgements:
        return judge_run(self.cells, self.refusals)

    @cached_property
    def refusals(self) -> Refusals:
        """Pairs of which the gates refused one arm more often."""
        return page_refusals(self.cells, self.experiments)

    @cached_property
    def blocks(self) -> BlockChecks:
        return block_checks(self.judgements)

    @cached_property
    def modes(self) -> Mapping[CellKey, tuple[Modes, float]]:
        """The modes in the leading figure of every cell with enough forks; all of them are one family of tests."""
        served = ((cell, self.cells.leading(cell.key)) for cell in self.cells)
        others = ((cell, cell.metrics[0]) for cell in self.experiments if cell.metrics)
        told = [(cell, leading, cell.by_block(leading).values()) for cell, leading in (*served, *others)]
        steps = {cell.key: step_share(leading, cell.load, figures) for cell, leading, figures in told}
        return modes_of_family({cell.key: figures for cell, _, figures in told}, steps)

    @cached_property
    def beside(self) -> Mapping[CellKey, Sequence[Comparison]]:
        """Every figure of each experiment's cell over that of the other arms under the same condition, each pair once:
        virtual threads over others, else the later arm over the earlier one; and over that of the workload or load that
        a claim compares it with."""
        arms = (
            tuple(sorted((one.key, other.key), key=lambda key: not is_virtual(key.executor)))
            for one, other in arm_pairs(self.experiments)
        )
        claims = self.claims if self.experiments.keys else ()
        cells = ((check.check, cell.key) for claim in claims for check in claim.checks for cell in check.cells)
        claimed = (compared_cells(check, key) for check, key in cells)
        pairs = (*arms, *(pair for pair in claimed if len({key.executor for key in pair}) < len({*pair}) == 2))
        return grouped(
            (key, one)
            for key, base in dict.fromkeys(pairs)
            for cell in self.experiments.some((key,))
            for metric in cell.metrics
            if (one := self.experiments.over(metric, key, base)) is not None
        )

    def may_compare(self, compared: Comparison) -> bool:
        """Return whether two cells of an experiment may be compared: not if they lost different numbers of forks, or
        the gates refused one of them more often."""
        cell, base = compared.cell, compared.base
        pair, refusals = (cell.key, base.key), self.refusals
        if cell.key.group != base.key.group:
            refusals = one_sided_among([(pair, cell.record, base.record)])
        return not (compared.losses.differ or pair in refusals or pair[::-1] in refusals)

    @cached_property
    def _results(self) -> Results:
        return Results(self.run, self.cells, self.experiments, self.refusals)

    @cached_property
    def _claims(self) -> tuple[tuple[ClaimEvidence, JudgedClaim], ...]:
        """Evidence and verdict on the claims of the repeated scenario, and on any other that the cells can judge."""
        asked = {claim.id: claim for claim in self._recorded}
        wanted = {**asked, **{claim.id: claim for claim in self._registry}}
        told = ((found := evidence(claim, self._results), judge(claim, found)) for claim in wanted.values())
        return tuple((found, one) for found, one in told if one.claim.id in asked or one.decided)

    @property
    def _recorded(self) -> tuple[ClaimRecord, ...]:
        return self.run.scenario.claims if self.run.scenario else ()

    @property
    def evidence(self) -> tuple[ClaimEvidence, ...]:
        """The evidence on every claim that the run can say something about."""
        return tuple(found for found, _ in self._claims)

    @property
    def claims(self) -> tuple[JudgedClaim, ...]:
        """The claims as judged by this run alone."""
        return tuple(one for _, one in self._claims)

    @cached_property
    def earlier_verdicts(self) -> dict[str, ClaimVerdict]:
        """Verdicts, by claim, from the checks that the run recorded, where they differ from those of today's checks."""
        now = {one.claim.id: one for one in self.claims}
        return {
            claim.id: then
            for claim in self._recorded
            if now[claim.id].claim.checks != claim.checks
            and (then := judge(claim, evidence(claim, self._results)).verdict) is not now[claim.id].verdict
        }
