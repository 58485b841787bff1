"""What a run needs is got only where something of it can be measured."""

from __future__ import annotations

import os
from typing import cast

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.host.topology import read_topology
from jdkmatrix.provision.project import Project
from jdkmatrix.run import prepare as preparing
from jdkmatrix.run.plan import select_cells
from tests.support.project import ROOT
from tests.support.shipped import MATRIX


def test_nothing_is_downloaded_for_cells_that_need_more_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    one_cpu = read_topology(affinity=[min(os.sched_getaffinity(0))])
    monkeypatch.setattr(preparing, "read_topology", lambda: one_cpu)
    monkeypatch.setattr(preparing, "set_up_parts", lambda *_, **__: pytest.fail("something was set up"))
    with pytest.raises(MatrixError) as error:
        preparing.prepare(
            Project(ROOT, ROOT), MATRIX, MATRIX.profiles["quick"], select_cells(MATRIX, "quick"), seed=1,
            known_calibration=lambda host: None, capacities_rps={}, confiner=cast("Confiner", None), say=pytest.fail,
        )  # fmt: skip
    first, *reasons = str(error.value).splitlines()
    assert first == "none of the 3 cells can be measured here:"
    assert all("needs 1 + 1 for the driver" in reason for reason in reasons) and reasons
