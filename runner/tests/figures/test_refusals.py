"""Gates that refuse one arm more often than the other."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.figures.refusals import gated_figures, one_sided_among, refused_by_arm, refused_of
from jdkmatrix.records.reasons import BURN_OFF, Reason, Status
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.store.cells import CellRecord
from tests.support.experiment_runs import experiments_run
from tests.support.outcome_runs import STEAL, windows_of
from tests.support.project import RECORDED
from tests.support.records import altered
from tests.support.served_runs import Shape, synthetic_run

FIVE = Shape(jdks=("temurin-25",), blocks=5, windows=6)


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[CellRecord, CellRecord]:
    """30 windows each, none refused: virtual and the pool."""
    base, cell = synthetic_run(tmp_path_factory.mktemp("arms"), FIVE).cells
    return cell, base


def with_reasons(cell: CellRecord, reasons: Sequence[Reason], windows: Sequence[int]) -> CellRecord:
    """In these windows of each fork."""
    forks = (
        windows_of(fork, lambda one: one.model_copy(update={"reasons": reasons}) if one.index in windows else one)
        for fork in cell.forks
    )
    return cell.model_copy(update={"forks": tuple(forks)})


def test_windows_are_counted_by_arm_and_gate_over_all_attempts(arms: tuple[CellRecord, CellRecord]) -> None:
    cell, base = arms
    stolen = with_reasons(cell, (STEAL,), (1, 2))
    told = refused_by_arm(stolen, base)
    assert (told.numerator.refused, told.numerator.of, told.denominator.refused) == (10, 30, 0)
    assert told.numerator.by_gate == {"steal": 10} and told.p_value < 0.001
    earlier = base.model_copy(update={"attempts": with_reasons(base, (STEAL,), (1, 2)).forks})
    assert (refused_of(earlier).refused, refused_of(earlier).of) == (10, 60)


@pytest.mark.parametrize(("windows", "refused"), [((), 1), ((1,), 2), ((1, 2, 3, 4, 5, 6), 6)])
def test_a_gate_that_refuses_a_whole_fork_counts_once(
    arms: tuple[CellRecord, CellRecord], windows: tuple[int, ...], refused: int
) -> None:
    """And all of its windows stand among what was refused."""
    cell = arms[0]
    first = altered(cell.forks[0], {"status": Status.INVALID, "reasons": (Reason(code=BURN_OFF, message="off"),)})
    stolen = with_reasons(cell.model_copy(update={"forks": (first,)}), (STEAL,), windows).forks
    off = cell.model_copy(update={"forks": (*stolen, *cell.forks[1:])})
    told, figures = refused_of(off), gated_figures(off)
    assert (told.refused, told.of, told.by_gate[BURN_OFF], told.by_gate["steal"]) == (refused, 30, 1, len(windows))
    assert figures is not None and list(map(len, figures[1:])) == [6, 24]


def test_a_pair_that_no_test_could_tell_apart_is_no_member_of_a_family(arms: tuple[CellRecord, CellRecord]) -> None:
    assert refused_by_arm(*arms) is None, "nothing was refused"
    fewer = arms[0].model_copy(update={"forks": with_reasons(arms[0], (STEAL,), (1,)).forks[:1]})
    assert refused_by_arm(fewer, arms[1].model_copy(update={"forks": arms[1].forks[:1]})) is None


def test_only_what_stands_out_among_all_pairs_counts(arms: tuple[CellRecord, CellRecord]) -> None:
    more = with_reasons(arms[0], (STEAL,), (1, 2))
    pair, alike = (more, arms[1]), (more, with_reasons(arms[1], (STEAL,), (3,)))
    stolen, weak = refused_by_arm(*pair), refused_by_arm(*alike)
    assert stolen is not None and weak is not None and weak.p_value > 0.05
    found = one_sided_among([*((f"alike {n}", *alike) for n in range(10)), ("stolen", *pair)])
    assert found.keys() == {"stolen"}
    assert found["stolen"].p_value == pytest.approx(11 * stolen.p_value)


def test_figures_that_were_refused_stand_beside_those_that_passed(arms: tuple[CellRecord, CellRecord]) -> None:
    found = gated_figures(with_reasons(arms[0], (STEAL,), (1, 2)))
    assert found is not None and (found[0].unit, *map(len, found[1:])) == ("requests/s", 10, 20)


def test_a_failed_attempt_of_an_experiment_was_not_refused(tmp_path: Path) -> None:
    cell = experiments_run(tmp_path, ("spawn",)).experiments[0]
    failed = altered(cell.forks[0], {"status": Status.FAILED, "reasons": (STEAL,)})
    refused = altered(cell.forks[1], {"status": Status.INVALID, "reasons": (STEAL,)})
    told = refused_of(cell.model_copy(update={"forks": (failed, refused)}))
    assert (told.of, told.refused) == (1, 1)


def test_a_gate_that_refused_the_treatment_is_found(tmp_path: Path) -> None:
    """`foreign-cpu` took every attempt in which ten thousand platform threads ended, as it did once."""
    texts = [gzip.decompress(path.read_bytes()) for path in sorted((RECORDED / "refusals").glob("*.json.gz"))]
    cells = tuple(map(CellRecord.model_validate_json, texts))
    made_up = experiments_run(tmp_path, ("spawn",))
    planned = made_up.run.model_copy(update={"cells": tuple(cell.key for cell in cells), "order": ()})
    run = JudgedRun(replace(made_up, run=planned, cells=cells))
    told = list(run.refusals.values())
    arms = [(one.numerator, one.denominator) for one in told]
    assert [sum(arm.refused for arm in one) for one in zip(*arms, strict=True)] in ([30, 3], [3, 30])
    (cold_25,) = (
        notice.text
        for notice in run_notices(run)
        if notice.title == "Gates refused one arm more often" and "print-cold · temurin-25 ·" in notice.text
    )
    assert "1 of 6 windows of virtual and 15 of 15 of platform (foreign-cpu 1 and 15)" in cold_25
    assert "0.945 (0.898–1.16) s in the 15 windows that they refused" in cold_25
