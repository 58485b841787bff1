"""What became better or worse between two runs, or two arms of one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from jdkmatrix.cli.comparing import EXIT_WITH_REGRESSIONS, compare
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.report.cellstats import Cells
from jdkmatrix.report.compare import Compared, Side, compare_sides
from jdkmatrix.stats.unpaired import unpaired_ratio
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.records import altered
from tests.support.served_runs import QUICK, Shape, synthetic_run

SHAPE = Shape(blocks=5, windows=1)
VALUES = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=9)


@given(VALUES, VALUES)
def test_the_interval_is_welchs_and_swapping_the_arms_inverts_it(above: list[float], below: list[float]) -> None:
    ratio, swapped = unpaired_ratio(above, below), unpaired_ratio(below, above)
    assert ratio is not None and swapped is not None
    assert ratio.ci_low is not None and ratio.ci_high is not None and ratio.p_value is not None
    assert swapped.ci_low is not None
    assert ratio.value == pytest.approx(1 / swapped.value) and ratio.ci_high == pytest.approx(1 / swapped.ci_low)
    logs = [[math.log(one) for one in arm] for arm in (above, below)]
    if max(max(arm) - min(arm) for arm in logs) < 1e-6:
        return
    theirs = ttest_ind(*logs, equal_var=False)
    assert ratio.p_value == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert math.log(ratio.ci_low) == pytest.approx(theirs.confidence_interval(0.95).low, rel=1e-6, abs=1e-9)


def test_a_single_fork_has_no_interval_and_none_no_ratio() -> None:
    one = unpaired_ratio([2.0], [1.0, 1.1])
    assert one is not None and (one.ci_low, one.p_value, one.blocks) == (None, None, 1)
    assert unpaired_ratio([], [1.0]) is None


def side(loaded: LoadedRun) -> Side:
    return Side(loaded.run, Cells(loaded.run, loaded.cells))


def slowed(load: LoadResult, share: float) -> LoadResult:
    changed = {"completed": round(load.completed * share), "throughput_rps": load.throughput_rps * share}
    return load.model_copy(update=changed)


def slower(loaded: LoadedRun, share: float, executor: str) -> LoadedRun:
    """With so much less throughput of one executor, under another id."""

    def changed(cell):  # type: ignore[no-untyped-def]
        if cell.key.executor != executor:
            return cell
        forks = []
        for fork in cell.forks:
            windows = tuple(
                window.model_copy(update={"load": slowed(window.load, share)}) for window in fork.served.windows
            )
            forks.append(altered(fork, {"windows": windows}))
        return cell.model_copy(update={"forks": tuple(forks)})

    run = loaded.run.model_copy(update={"run_id": f"{loaded.run.run_id}-later"})
    return replace(loaded, run=run, cells=tuple(map(changed, loaded.cells)))


def on_another_host(loaded: LoadedRun) -> LoadedRun:
    sessions = tuple(
        session.model_copy(
            update={"host": session.host.model_copy(update={"hostname_hash": "another", "kernel": "9.9"})}
        )
        for session in loaded.run.sessions
    )
    return replace(loaded, run=loaded.run.model_copy(update={"sessions": sessions, "run_id": "elsewhere"}))


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    return synthetic_run(tmp_path / "made-up", SHAPE)


def regressed(found: Compared) -> set[tuple[str, str, bool]]:
    return {(change.key.executor, change.metric.id, change.relative) for change in found.regressions}


def test_a_run_beside_itself_has_no_change(loaded: LoadedRun) -> None:
    again = replace(loaded, run=loaded.run.model_copy(update={"run_id": "again"}))
    found = compare_sides(side(loaded), side(again), threshold=0.05)
    assert found.changes and not found.regressions
    assert all(change.judged.ratio.value == pytest.approx(1) for change in found.changes)
    assert found.else_changed == () and found.why_not is None


def test_what_got_worse_is_found_with_and_without_the_pool_beside_it(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(slower(loaded, 0.7, "virtual")), threshold=0.05)
    assert {("virtual", "throughput", False), ("virtual", "throughput", True)} <= regressed(found)
    assert not {one for one in regressed(found) if one[0] == "liberty"}
    back = compare_sides(side(slower(loaded, 0.7, "virtual")), side(loaded), threshold=0.05)
    assert "throughput" not in {metric for _, metric, _ in regressed(back)}
    assert any(change.better for change in back.changes)


def test_a_change_within_the_threshold_is_no_regression(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(slower(loaded, 0.7, "virtual")), threshold=0.5)
    assert found.regressions == () and any(change.worse for change in found.changes)


def test_on_another_host_only_what_is_paired_inside_a_run_is_compared(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(on_another_host(loaded)), threshold=0.05)
    assert {change.relative for change in found.changes} == {True}
    assert found.why_not == "they were measured on two hosts"
    assert any(text.startswith("kernel: ") for text in found.else_changed)


def test_two_jdks_of_a_run_are_paired_in_blocks(loaded: LoadedRun) -> None:
    before, after = (replace(side(loaded), axis="jdk", value=jdk) for jdk in SHAPE.jdks)
    found = compare_sides(before, after, threshold=0.05)
    assert {change.judged.ratio.blocks for change in found.changes} == {SHAPE.blocks}
    assert {change.key.jdk for change in found.changes} == {SHAPE.jdks[1]}
    assert (found.before, found.after) == SHAPE.jdks


@pytest.fixture
def folders(tmp_path: Path, loaded: LoadedRun) -> tuple[str, str]:
    made = []
    for number, one in enumerate((loaded, slower(loaded, 0.7, "virtual"))):
        store = RunStore.create(tmp_path / f"run-{number}")
        store.save_run(one.run)
        for cell in one.cells:
            store.save_cell(cell)
        made.append(str(store.directory))
    return made[0], made[1]


def test_the_command_says_it_in_three_ways(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(folders, {}, 0.05, as_json=True, as_markdown=False) == EXIT_WITH_REGRESSIONS
    told = json.loads(capsys.readouterr().out)
    assert told["regressions"] == len([one for one in told["changes"] if one["regression"]]) > 0
    assert compare(folders, {}, 0.05, as_json=False, as_markdown=True) == EXIT_WITH_REGRESSIONS
    assert "| Figure | Cell |" in capsys.readouterr().out
    assert compare(folders, {}, 0.05, as_json=False, as_markdown=False) == EXIT_WITH_REGRESSIONS
    assert "got worse by more than 5.0 %" in capsys.readouterr().out
    assert compare((folders[0], folders[0]), {}, 0.05, as_json=False, as_markdown=False) == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "name a second one"),
        ({"jdk": ["temurin-25"]}, "give it twice"),
        ({"jdk": ["temurin-25", "temurin-99"]}, "has no temurin-99; it has temurin-21.0.8, temurin-25"),
        ({"jdk": ["a", "b"], "executor": ["a", "b"]}, "only one axis"),
    ],
)
def test_bad_input_is_one_message(folders: tuple[str, str], values: dict[str, list[str]], words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        compare(folders[:1], values, 0.05, as_json=False, as_markdown=False)
    with pytest.raises(MatrixError, match="neither the folder of a run nor the id of one"):
        compare(["nowhere"], {}, 0.05, as_json=False, as_markdown=False)


def test_runs_without_a_common_cell_are_told(tmp_path: Path, folders: tuple[str, str]) -> None:
    other = synthetic_run(tmp_path / "other", replace(QUICK, cpus=(8,), blocks=1, windows=1))
    store = RunStore.create(tmp_path / "run-other")
    store.save_run(other.run)
    for cell in other.cells:
        store.save_cell(cell)
    with pytest.raises(MatrixError, match="no figure in common"):
        compare((folders[0], str(store.directory)), {}, 0.05, as_json=False, as_markdown=False)
