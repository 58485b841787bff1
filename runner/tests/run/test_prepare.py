"""The parts of a run are fetched only if something of it can be measured, and one calibration serves all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.host import launch
from jdkmatrix.host.topology import Topology, read_topology
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.probes import clock_speed
from jdkmatrix.provision.project import Project
from jdkmatrix.records.provenance import Provenance
from jdkmatrix.records.run import Calibration
from jdkmatrix.report.run_page.sessions import calibration_notices
from jdkmatrix.run import prepare as preparing
from jdkmatrix.run.calibrate import calibrate, count_rounds
from jdkmatrix.run.impossible import cpu_sets_of
from jdkmatrix.run.plan import select_cells
from jdkmatrix.subjects.parts import Parts
from tests.support.builders import key
from tests.support.machines import VM, machine
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

RULES = MATRIX.measure


def counted(spread: float, rounds_per_us: float = 700.0) -> Calibration:
    return Calibration(jdk="temurin-25", rounds_per_us=rounds_per_us, repeats=20, spread=spread, cpu=1)


def told(one: Calibration) -> Calibration:
    return one.model_copy(update={"spread_wanted": 0.01})


def test_the_first_count_with_a_steady_clock_is_taken() -> None:
    counts = iter([counted(0.031), counted(0.009, 718.5), counted(0.001)])
    assert calibrate(lambda: next(counts), RULES) == told(counted(0.009, 718.5))
    assert next(counts).spread == 0.001, "nothing was counted once more"


def test_where_the_clock_never_stands_still_the_steadiest_count_is_taken_and_the_page_says_so() -> None:
    counts = iter([counted(0.0501), counted(0.0312, 718.5), counted(0.05)])
    made = calibrate(lambda: next(counts), RULES)
    assert made == told(counted(0.0312, 718.5)) and not list(counts)
    (notice,) = calibration_notices([made, told(counted(0.01)), counted(0.03)])
    assert notice.weight == "info" and "varied by 3.1 % while" in notice.text


def test_a_clock_that_moves_by_more_than_work_may_be_off_is_refused_with_its_figures() -> None:
    assert RULES.calibration_spread_max == MATRIX.thresholds.burn_off_max
    counts = iter([counted(0.131), counted(0.0501), counted(0.06)])
    with pytest.raises(MatrixError) as refused:
        calibrate(lambda: next(counts), RULES)
    text = str(refused.value)
    assert "the speed of CPU 1 varied by 13.10% and then 5.01% and then 6.00% within 4 s" in text
    assert "measure.calibration_spread_max allows 5.00%" in text
    assert "\n" not in text


def test_one_jdk_counts_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute later, the host's clock is another one, and "100 µs" on the next JDK were up to 5 % more work."""
    count = mock.Mock(return_value=counted(0.001))
    monkeypatch.setattr(preparing, "count_rounds", count)
    monkeypatch.setattr(preparing, "cpu_sets_of", lambda *_: SimpleNamespace(sut=(2, 3)))
    host = cast(Topology, None)
    nothing: dict[str, Any] = dict.fromkeys(("version", "version_output", "files_sha256"), "")
    jdk = Available(entry=cast(Any, None), home=Path("/jdk"), source="made up", release={}, **nothing)
    workloads = cast(Any, SimpleNamespace(file=Path))
    parts = Parts(workloads, servers={}, jdks={"temurin-25": jdk, "temurin-21.0.8": jdk}, loads={}, drivers={})
    cells = [key(jdk=name, burn_us=100) for name in ("temurin-21.0.8", "temurin-25")]
    assert preparing._calibration(MATRIX, parts, cells, host, print) == told(counted(0.001))
    assert preparing._calibration(MATRIX, parts, [key()], host, print) is None, "nothing burns"
    assert [(call.args[0], call.kwargs["cpu"]) for call in count.mock_calls] == [(MATRIX.driver.jdk, 3)]


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


KNOWN, COUNTED = counted(0.001), counted(0.001, 350.0)


def test_the_clock_of_a_calibration_is_the_fastest_of_many_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that a neighbour made slower would make the work of every fork seem too slow."""
    cpu = max(os.sched_getaffinity(0))
    speeds = chain([160.0] * 5, [170.0] * 5, [160.0] * 5, repeat(200.0))
    answer = 'print(\'{"rounds_per_us": 700.5, "repeats": 20, "spread": 0.001}\')'

    def spawn(*_: Any, **__: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", answer], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    monkeypatch.setattr(launch, "spawn", spawn)
    monkeypatch.setattr(clock_speed, "_speed", lambda: next(speeds))
    monkeypatch.setattr(clock_speed, "_PAUSE_S", 0.0)
    found = count_rounds("temurin-25", Path("java"), Path("burn.jar"), cpu=cpu)
    assert (found.rounds_per_us, found.clock_speed, found.cpu) == (700.5, 200.0, cpu)


@pytest.mark.parametrize(("known", "taken", "counts"), [(KNOWN, KNOWN, 0), (None, COUNTED, 1)])
def test_work_is_calibrated_only_where_no_calibration_is_known(
    monkeypatch: pytest.MonkeyPatch, known: Calibration | None, taken: Calibration, counts: int
) -> None:
    """A calibration is known for a run that is resumed, and for the later stages of a run."""
    known_calibration, count = mock.Mock(return_value=known), mock.Mock(return_value=COUNTED)
    assemble = mock.Mock(return_value=())
    parts = Parts(workloads=cast(Any, None), servers={}, jdks={}, loads={}, drivers={})
    monkeypatch.setattr(preparing, "read_topology", lambda: VM)
    monkeypatch.setattr(preparing, "irq_time_accounting", lambda cpu: None)
    monkeypatch.setattr(preparing, "set_up_parts", lambda *_, **__: parts)
    monkeypatch.setattr(preparing, "_missing", lambda *_: None)
    monkeypatch.setattr(preparing, "_refused", lambda *_: None)
    monkeypatch.setattr(preparing, "_calibration", count)
    monkeypatch.setattr(preparing, "assemble", assemble)
    monkeypatch.setattr(preparing, "origins", lambda *_: Provenance(inputs=(), parts=()))
    cells = [cell.model_copy(update={"burn_us": 100}) for cell in select_cells(MATRIX, "quick")]
    prepared = preparing.prepare(
        Project(ROOT, ROOT), MATRIX, MATRIX.profiles["quick"], cells, seed=1, known_calibration=known_calibration,
        capacities_rps={}, confiner=Confiner(None, "made up"), say=pytest.fail,
    )  # fmt: skip
    assert (prepared.calibration, count.call_count) == (taken, counts)
    assert [call.args[4] for call in assemble.mock_calls] == [taken]
    known_calibration.assert_called_once_with(prepared.host)


TWO_SOCKETS = machine(64, threads_per_core=2, cores_per_l3=8, cores_per_node=32, cores_per_package=32)


@pytest.mark.parametrize(
    ("host", "beside", "given_up"),
    [(machine(8, threads_per_core=2), 4, ["shares-cores"]), (TWO_SOCKETS, 8, []), (machine(128), 8, [])],
)
def test_a_large_server_gets_a_driver_and_a_remote_to_fill_it(host: Topology, beside: int, given_up: list[str]) -> None:
    """The remote answers without a delay to a server that only forwards: a published size."""
    cell = key("helidon", workload="forward-socket", server="helidon", cpus=8, load="saturate-200")
    sets = cpu_sets_of(MATRIX, cell, host)
    assert (len(sets.sut), len(sets.driver), len(sets.remote)) == (8, beside, beside)
    assert [compromise.code for compromise in sets.compromises] == given_up
