"""What a run needs is got only where something of it can be measured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.host.topology import read_topology
from jdkmatrix.provision.project import Project
from jdkmatrix.records.provenance import Provenance
from jdkmatrix.records.run import Calibration, HostFacts
from jdkmatrix.run import prepare as preparing
from jdkmatrix.run.plan import select_cells
from jdkmatrix.subjects.parts import Parts
from tests.support.machines import VM
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


KNOWN, COUNTED = (
    Calibration(jdk="temurin-25", rounds_per_us=rounds, repeats=20, spread=0.001, cpu=1) for rounds in (700.0, 350.0)
)


@pytest.mark.parametrize(("known", "taken", "counts"), [(KNOWN, KNOWN, 0), (None, COUNTED, 1)])
def test_work_is_calibrated_only_where_no_calibration_is_known(
    monkeypatch: pytest.MonkeyPatch, known: Calibration | None, taken: Calibration, counts: int
) -> None:
    """As it is of a run that goes on, and for the later stages of one."""
    asked: list[HostFacts] = []
    counted: list[Calibration] = []
    used: list[Calibration | None] = []

    def known_calibration(host: HostFacts) -> Calibration | None:
        asked.append(host)
        return known

    def calibration(*_: object) -> Calibration:
        counted.append(COUNTED)
        return COUNTED

    def assemble(*given: Any) -> Iterator[Any]:
        used.append(given[4])
        return iter(())

    parts = Parts(workloads=cast(Any, None), servers={}, jdks={}, loads={}, drivers={})
    monkeypatch.setattr(preparing, "read_topology", lambda: VM)
    monkeypatch.setattr(preparing, "irq_time_accounting", lambda cpu: None)
    monkeypatch.setattr(preparing, "set_up_parts", lambda *_, **__: parts)
    monkeypatch.setattr(preparing, "_missing", lambda *_: None)
    monkeypatch.setattr(preparing, "_refused", lambda *_: None)
    monkeypatch.setattr(preparing, "_calibration", calibration)
    monkeypatch.setattr(preparing, "assemble", assemble)
    monkeypatch.setattr(preparing, "origins", lambda *_: Provenance(inputs=(), parts=()))
    cells = [cell.model_copy(update={"burn_us": 100}) for cell in select_cells(MATRIX, "quick")]
    prepared = preparing.prepare(
        Project(ROOT, ROOT), MATRIX, MATRIX.profiles["quick"], cells, seed=1, known_calibration=known_calibration,
        capacities_rps={}, confiner=Confiner(None, "made up"), say=pytest.fail,
    )  # fmt: skip
    assert (prepared.calibration, used, len(counted)) == (taken, [taken], counts)
    assert asked == [prepared.host]
