"""The checks of every claim look at cells that a scenario measures."""

from __future__ import annotations

import pytest

from jdkmatrix.cli.scenarios import SCALES, as_profile
from jdkmatrix.figures.metrics import BY_ID, CPU
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.report.claims.estimates import compared_cells
from jdkmatrix.report.claims.evidence import asks_for
from jdkmatrix.report.claims.verdicts import factor
from jdkmatrix.run.plan import select_cells
from tests.support.shipped import MATRIX, REGISTRY


@pytest.mark.parametrize("claim_id", [claim_id for claim_id, one in REGISTRY.claims.items() if one.checks])
def test_every_check_looks_at_a_cell_that_could_exist(claim_id: str) -> None:
    """Of a scenario that names the claim; so does what it is compared with."""
    cells = {
        cell
        for name in REGISTRY.claims[claim_id].scenarios
        for scale in SCALES
        for cell in select_cells(*as_profile(MATRIX, name, scale))
    }
    for check in REGISTRY.claims[claim_id].checks:
        asked = [cell for cell in cells if asks_for(check, cell)]
        assert asked, check.says
        for cell in asked:
            assert cells.issuperset(compared_cells(check, cell)), cell.cell_id
        for needed in check.requires:
            assert all(cell.model_copy(update={"executor": needed.arm or cell.executor}) in cells for cell in asked)
        if check.metric == CPU.id:
            of_all = [kind_of(MATRIX.loads[cell.load]).cpu_label is None for cell in asked]
            assert all(of_all), f"{check.says}: that of one step is another figure"
        if all(cell.has_server for cell in asked):
            metric = BY_ID[check.metric]
            if check.figure and not (check.versus or check.versus_load):
                published = REGISTRY.claims[claim_id].figures[check.figure - 1].unit
                assert factor(published, metric.unit) is not None, check.says
