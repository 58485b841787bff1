"""The A/A check: one executor as two arms, from the command line to the sentence on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import aa_arm, base_of, check_executor, is_aa_arm, is_virtual, reference
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import detectable_share, run_notices
from jdkmatrix.run.plan import order_forks, select_cells
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.store.cells import CellRecord
from tests.support.project import ROOT
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import MATRIX

FILES = read_files(ROOT / "matrix.toml")
OPTIONS = Options("quick", {}, blocks=None, windows=None, window_s=None, seed=None)


@pytest.mark.parametrize("name", ["liberty", "virtual", "fixed-7"])
def test_the_second_arm_is_the_same_executor_under_another_name(name: str) -> None:
    second = aa_arm(name)
    assert second != name
    assert check_executor(second) == second
    assert (is_aa_arm(name), is_aa_arm(second)) == (False, True)
    assert base_of(second) == base_of(name) == name
    assert is_virtual(second) == is_virtual(name)
    assert reference(second, "open-liberty") == name
    assert reference(name, "open-liberty") == "liberty"


def test_a_second_arm_of_no_executor_is_refused() -> None:
    with pytest.raises(ValueError, match='did you mean "virtual-aa"'):
        check_executor("virtal-aa")


def with_aa(arm: str, **values: tuple[str, ...]) -> Options:
    return Options("quick", values, blocks=3, windows=None, window_s=None, seed=None, aa=arm)


def asked(options: Options) -> Matrix:
    return options.apply(parse_files(FILES, options.asked))


def test_aa_runs_one_executor_as_both_arms_of_every_block() -> None:
    matrix = asked(with_aa("virtual"))
    cells = select_cells(matrix, "quick")
    assert {cell.executor for cell in cells} == {"virtual", "virtual-aa"}
    assert {cell.jdk for cell in cells} == set(MATRIX.profiles["quick"].select.jdk or ())
    forks = order_forks(dict.fromkeys(cells, 3), seed=1)
    for first, second in zip(forks[::2], forks[1::2], strict=True):
        assert first.key.group == second.key.group
        assert {first.key.executor, second.key.executor} == {"virtual", "virtual-aa"}
    older = select_cells(asked(with_aa("liberty", jdk=("temurin-21",))), "quick")
    assert {(cell.jdk, cell.executor) for cell in older} == {("temurin-21", "liberty"), ("temurin-21", "liberty-aa")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (with_aa("liberty", executor=("virtual",)), "--executor"),
        (with_aa("jetty"), "--executor jetty --executor jetty-aa: Open Liberty has no executor jetty"),
    ],
)
def test_what_cannot_be_checked_is_said(options: Options, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        asked(options)


def test_detectable_share_worked_by_hand() -> None:
    assert detectable_share(Ratio(1.0, 0.8, 1.25, 2)) == pytest.approx(0.25)
    assert detectable_share(Ratio(1.0, None, None, 1)) is None


@given(st.lists(st.floats(0.5, 2), min_size=2, max_size=12), st.floats(1.01, 3))
def test_a_ratio_that_is_farther_from_one_than_detectable_leaves_one_out(ratios: list[float], beyond: float) -> None:
    """The same scatter around a larger effect: moved by more than the half-width, the interval leaves 1 out."""
    plain = paired_ratio(dict(enumerate(ratios)), dict.fromkeys(range(len(ratios)), 1.0))
    assert plain is not None
    share = detectable_share(plain)
    assert share is not None
    factor = (1 + share) * beyond / plain.value
    moved = paired_ratio({i: ratio * factor for i, ratio in enumerate(ratios)}, dict.fromkeys(range(len(ratios)), 1.0))
    assert moved is not None and moved.ci_low is not None
    assert moved.ci_low > 1


def page_of(tmp_path: Path, factor: float) -> dict[str, Notice]:
    """A run whose arm "virtual" is taken for the second arm of "liberty", at `factor` of its throughput."""
    loaded = synthetic_run(tmp_path, QUICK)

    def rename(key: CellKey) -> CellKey:
        return key.model_copy(update={"executor": key.executor.replace("virtual", "liberty-aa")})

    base = {cell.key: cell for cell in loaded.cells}

    def slowed(cell: CellRecord) -> CellRecord:
        if cell.key.executor != "virtual":
            return cell
        twin = base[cell.key.model_copy(update={"executor": "liberty"})]
        forks = tuple(
            altered(fork, {"windows": tuple(scaled(window, factor) for window in fork.windows)}) for fork in twin.forks
        )
        return cell.model_copy(update={"key": rename(cell.key), "forks": forks})

    def scaled(window: Window, factor: float) -> Window:
        load = window.load.model_copy(update={"throughput_rps": window.load.throughput_rps * factor})
        return window.model_copy(update={"load": load})

    run = loaded.run.model_copy(update={"cells": tuple(map(rename, loaded.run.cells))})
    renamed = replace(loaded, run=run, cells=tuple(map(slowed, loaded.cells)))
    return {notice.title: notice for notice in run_notices(JudgedRun(renamed))}


def test_the_page_says_what_this_host_can_tell(tmp_path: Path) -> None:
    notice = page_of(tmp_path, 1.0)["A/A check"]
    assert notice.weight == "info"
    assert "liberty against itself on" in notice.text
    assert "throughput ratio 1.000" in notice.text
    assert "a single comparison on this host can tell differences above 0 %" in notice.text


def test_the_page_warns_where_there_is_a_difference_and_should_be_none(tmp_path: Path) -> None:
    notice = page_of(tmp_path, 0.8)["A/A check failed"]
    assert notice.weight == "warn"
    assert "a difference where there is none" in notice.text
