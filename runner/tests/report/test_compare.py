"""Changes for the better or worse between two runs, or two arms of one."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from jdkmatrix.cli.comparing import EXIT_CANNOT_TELL, EXIT_WITH_REGRESSIONS, compare
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.compare.changes import Compared, compare_sides
from jdkmatrix.report.compare.page import headings
from jdkmatrix.report.compare.sides import ComparedSide
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.stats.unpaired import unpaired_ratio
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.outcome_runs import all_of, hung, missed, spoilt, windows_of, with_outcomes
from tests.support.project import ROOT, matrix_command
from tests.support.records import with_forks, with_forks_of, with_load
from tests.support.served_runs import QUICK, Shape, made_up
from tests.support.sites import later, stored
from tests.support.waiting import HANGS_S

SHAPE = Shape(blocks=5, windows=1)
DAY = "2025-01-02"
VALUES = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=9)


@given(VALUES, VALUES)
def test_the_interval_is_welchs_and_swapping_the_arms_inverts_it(above: list[float], below: list[float]) -> None:
    ratio, swapped = unpaired_ratio(above, below), unpaired_ratio(below, above)
    assert ratio is not None and ratio.ci_low is not None
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
    rounded = unpaired_ratio([0.1 + 0.2] * 3, [0.3] * 3)
    assert rounded is not None and rounded.p_value == 1.0, "a difference of 2e-16 is none"


def side(loaded: LoadedRun) -> ComparedSide:
    return ComparedSide(loaded.run, Cells(loaded.run, loaded.cells))


def slower(loaded: LoadedRun, share: float, executor: str) -> LoadedRun:
    """Return the run under another id, with this share of the throughput of one executor."""

    def slowed(window: Window) -> Window:
        done, rps = window.load.completed, window.load.throughput_rps
        return with_load(window, {"completed": round(done * share), "throughput_rps": rps * share})

    return with_forks_of(later(loaded, "slower", DAY), executor, lambda fork: windows_of(fork, slowed))


@pytest.fixture
def loaded() -> LoadedRun:
    return made_up(SHAPE)


def regressed(found: Compared) -> set[tuple[str, str, str | None]]:
    return {(change.key.executor, change.figure, change.over) for change in found.regressions}


def test_a_run_beside_itself_has_no_change(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(later(loaded, "again", DAY)), threshold=0.05)
    assert found.changes and not found.regressions
    assert all(change.ratio is None or change.ratio.value == pytest.approx(1) for change in found.changes)
    assert found.else_changed == () and found.why_not is None


def test_what_got_worse_is_found_with_and_without_the_pool_beside_it(loaded: LoadedRun) -> None:
    sides = side(loaded), side(slower(loaded, 0.7, "virtual"))
    assert compare_sides(*sides, threshold=0.5).regressions == (), "within the threshold"
    found = compare_sides(*sides, threshold=0.05)
    assert ("virtual", "throughput", None) in regressed(found)
    behind = [change for change in found.changes if change.over and change.word.startswith("worse: 30 % less")]
    assert {(change.key.executor, change.figure) for change in behind} == {("virtual", "throughput")}
    assert not any(change.regression for change in behind), "the figure itself is compared, too"
    assert not {one for one in regressed(found) if one[0] == "liberty"}
    back = compare_sides(*sides[::-1], threshold=0.05)
    assert "throughput" not in {metric for _, metric, _ in regressed(back)}
    assert any(change.word.startswith("better") for change in back.changes)


def test_on_another_host_only_what_is_paired_inside_a_run_is_compared(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(later(loaded, "elsewhere", DAY, host="another")), threshold=0.05)
    assert {change.over for change in found.changes if change.ratio} == {"liberty"}
    assert found.why_not == "they were measured on two hosts"


def test_on_another_host_an_aa_check_is_no_executor_that_got_worse() -> None:
    checked = made_up(replace(SHAPE, executors=("liberty", "liberty-aa")))
    after = later(slower(checked, 0.9, "liberty-aa"), "elsewhere", DAY, host="another")
    found = compare_sides(side(checked), side(after), threshold=0.05)
    words = {change.word for change in found.changes if change.figure == "throughput"}
    assert words and all(word.startswith("worse: 10") for word in words)
    assert not found.regressions and not found.open


def test_a_slower_host_that_misses_the_rate_is_no_regression() -> None:
    at_rate = made_up(replace(SHAPE, loads=("rate-2000",)))
    slow = with_outcomes(at_rate, {"virtual": all_of(missed)})
    told = {
        host: {change.over for change in compare_sides(side(at_rate), side(after), threshold=0.05).changes}
        for host, after in (("same", later(slow, "slow", DAY)), ("another", later(slow, "slow", DAY, host="another")))
    }
    assert None in told["same"] and None not in told["another"]


def test_what_a_longer_run_lost_in_later_blocks_counts(loaded: LoadedRun) -> None:
    hangs = with_outcomes(made_up(replace(SHAPE, blocks=9)), {"virtual": dict.fromkeys((6, 7, 8, 9), hung)})
    found = compare_sides(side(loaded), side(later(hangs, "longer", DAY)), threshold=0.05)
    words = {change.word for change in found.changes if change.key.executor == "virtual"}
    assert any(
        word.startswith("not judged: there is no figure to compare in 4 of 9 forks of after and 0 of 5 of before")
        for word in words
    )


def test_as_many_of_fewer_forks_are_more_of_them() -> None:
    """What is left of five forks after three is no sample to set beside six of nine."""
    thrice = {"virtual": dict.fromkeys((1, 2, 3), hung)}
    few, many = (with_outcomes(made_up(replace(SHAPE, blocks=blocks)), thrice) for blocks in (5, 9))
    found = compare_sides(side(few), side(later(many, "many", DAY)), threshold=0.05)
    words = {change.word for change in found.changes if change.key.executor == "virtual" and change.over is None}
    told = "not judged: there is no figure to compare in 3 of 9 forks of after and 3 of 5 of before"
    assert told in words and not any("more" in word or "less" in word for word in words)


def test_equal_shares_that_were_lost_for_the_same_reason_hide_no_regression() -> None:
    short = with_outcomes(made_up(replace(SHAPE, blocks=5)), {"virtual": {1: hung}})
    long = with_outcomes(made_up(replace(SHAPE, blocks=10)), {"virtual": {1: hung, 2: hung}})
    found = compare_sides(side(long), side(later(slower(short, 0.7, "virtual"), "short", DAY)), threshold=0.05)
    assert any(change.figure == "throughput" and change.key.executor == "virtual" for change in found.regressions)


def test_two_jdks_of_a_run_are_paired_in_blocks(loaded: LoadedRun) -> None:
    before, after = (replace(side(loaded), axis="jdk", value=jdk) for jdk in SHAPE.jdks)
    found = compare_sides(before, after, threshold=0.05)
    assert {change.ratio.blocks for change in found.changes if change.ratio} == {SHAPE.blocks}
    assert {change.key.jdk for change in found.changes} == {SHAPE.jdks[1]}
    assert (found.before, found.after) == tuple(f"{jdk} in {loaded.run.run_id}" for jdk in SHAPE.jdks)
    old, new = found.names
    assert (old, new) == SHAPE.jdks and found.title == f"{new} over {old} in {loaded.run.run_id}"
    assert headings(found)[1:3] == (f"{old} → {new}", f"{new} / {old}")


def test_a_pool_that_got_faster_is_no_regression_of_virtual_threads(loaded: LoadedRun) -> None:
    slow, elsewhere = side(slower(loaded, 0.7, "liberty")), side(later(loaded, "elsewhere", DAY, host="another"))
    assert compare_sides(slow, side(loaded), threshold=0.05).regressions == ()
    assert {change.over for change in compare_sides(slow, elsewhere, threshold=0.05).regressions} == {"liberty"}


def test_the_threshold_is_a_share_of_what_was_before_whatever_is_better(loaded: LoadedRun) -> None:
    found = compare_sides(side(slower(loaded, 0.7, "virtual")), side(loaded), threshold=0.4)
    throughput = next(c for c in found.changes if (c.key.executor, c.figure, c.over) == ("virtual", "throughput", None))
    assert throughput.word.startswith("better: 43 % more")
    old, new = (float(text.replace(",", "")) for text in throughput.values.removesuffix(" req/s").split(" → "))
    assert new / old == pytest.approx(1 / 0.7, rel=0.01)
    for threshold in (0.2, 0.4):
        found = compare_sides(side(loaded), side(slower(loaded, 0.7, "virtual")), threshold=threshold)
        lost = next(c for c in found.changes if (c.key.executor, c.figure, c.over) == ("virtual", "throughput", None))
        assert lost.word.startswith("worse: 30 % less") and lost.regression == (threshold < 0.3)


def failing(loaded: LoadedRun, forks: int) -> LoadedRun:
    """Let this many forks of virtual threads fail by the server's own doing."""
    return with_outcomes(later(loaded, "failing", DAY), {"virtual": all_of(hung, forks)})


def test_forks_that_fail_are_told_and_what_is_left_of_them_is_not_judged(loaded: LoadedRun) -> None:
    found = compare_sides(side(loaded), side(failing(loaded, 4)), threshold=0.05)
    words = {(c.figure, c.over): c.word for c in found.changes if c.key.executor == "virtual"}
    told = "not judged: there is no figure to compare in 4 of 5 forks of after and 0 of 5 of before"
    assert words["throughput", None].startswith(told)
    assert words["throughput", "liberty"].startswith("not judged")
    outcome = next(c for c in found.changes if c.figure == "outcome")
    assert outcome.shown.endswith("in 1 of 5 forks against 5 of 5 before")
    assert outcome.values == "5 of 5 → 1 of 5 forks"
    assert headings(found)[1:3] == ("Before → after", "After / before")
    assert found.title == f"failing (after) over {loaded.run.run_id} (before)"
    one = side(failing(loaded, 4))
    within = (replace(one, axis="executor", value=executor) for executor in ("liberty", "virtual"))
    alone = {c.figure: c for c in compare_sides(*within, threshold=0.05).changes}
    assert alone["throughput"].word.startswith(
        "not judged: there is no figure to compare in 4 of 5 forks of virtual and 0 of 5 of liberty"
    )
    assert alone["outcome"].shown.endswith("in 1 of 5 forks against 5 of 5 with liberty")
    gone = compare_sides(side(loaded), side(failing(loaded, 5)), threshold=0.05)
    assert [text for text in gone.left_out if "virtual" in text and "no usable fork after" in text]
    assert {(c.key.executor, c.figure) for c in gone.regressions} == {("virtual", "outcome")}


def test_a_p99_that_is_a_bound_in_one_fork_is_told_as_one() -> None:
    rated = made_up(replace(SHAPE, loads=("rate-2000",)))
    before = with_outcomes(rated, {"virtual": {1: missed}})
    after = with_outcomes(later(rated, "after", DAY), {"virtual": {2: missed}})
    found = compare_sides(side(before), side(after), threshold=0.05)
    values = {one.key.executor: one.values for one in found.changes if one.figure == "p99" and one.over is None}
    old, _, new = values["virtual"].partition(" → ")
    assert old.startswith("≥ ") and new.startswith("≥ ") and "≥" not in values["liberty"]


def test_a_check_of_this_tool_takes_nothing_from_what_it_looks_for() -> None:
    """A/A arms, and figures over the pool beside the figures themselves, are families of their own."""
    with_check = made_up(replace(SHAPE, executors=("liberty", "liberty-aa", "virtual")))
    without = replace(with_check, cells=tuple(cell for cell in with_check.cells if cell.key.executor != "liberty-aa"))

    def p_values(run: LoadedRun) -> dict[tuple[str, str, str | None], float | None]:
        found = compare_sides(side(run), side(slower(run, 0.97, "virtual")), threshold=0.05)
        return {(one.key.cell_id, one.figure, one.over): one.p_adjusted for one in found.changes}

    checked, alone = p_values(with_check), p_values(without)
    assert {name: checked[name] for name in alone} == alone and len(checked) > len(alone)


def half_refused(window: Window) -> Window:
    foreign = (Reason(code="foreign-cpu", message="others used the CPUs"),)
    return window.model_copy(update={"reasons": foreign}) if window.index % 2 else window


def test_a_side_whose_windows_the_gates_refused_more_often_is_not_judged() -> None:
    loaded = made_up(replace(SHAPE, windows=4))
    refused = with_forks_of(later(loaded, "refused", DAY), "virtual", lambda fork: windows_of(fork, half_refused))
    found = compare_sides(side(slower(loaded, 0.7, "virtual")), side(refused), threshold=0.05)
    told = [change for change in found.changes if change.key.executor == "virtual" and change.ratio]
    assert told and not any(change.regression for change in told)
    names = {None: ("after", "before"), "liberty": ("virtual", "liberty")}
    for change in told:
        one, other = names[change.over]
        words = f"not judged: gates refused 10 of 20 windows of {one} and 0 of 20 of {other} (foreign-cpu 10 and 0)"
        assert (change.word, change.open) == (words, change.over is None)
    assert not [change for change in found.changes if change.key.executor != "virtual" and "not judged" in change.word]


def test_refusals_in_a_run_count_for_its_own_side_alone() -> None:
    """Refusals on a JDK that is not compared do not count either: the run before has both."""
    loaded, (old, new) = made_up(replace(SHAPE, windows=4)), SHAPE.jdks

    def words(*sides: ComparedSide) -> list[str]:
        changes = compare_sides(*sides, threshold=0.05).changes
        found = [change.word for change in changes if change.key.executor == "virtual" and change.over]
        assert found
        return found

    one = ("virtual", new)
    refused = with_forks(
        later(loaded, "refused", DAY),
        lambda cell, fork: windows_of(fork, half_refused) if (cell.key.executor, cell.key.jdk) == one else fork,
    )
    sides = replace(side(refused), axis="jdk", value=old), replace(side(loaded), axis="jdk", value=new)
    assert not any("not judged" in word for word in words(*sides))
    swapped = replace(side(refused), axis="jdk", value=new), replace(side(loaded), axis="jdk", value=old)
    assert all("not judged" in word for word in words(*swapped))


def test_cells_of_one_side_are_listed_and_so_is_what_else_decides_a_result(loaded: LoadedRun) -> None:
    run = loaded.run.model_copy(update={"run_id": "fewer", "cells": loaded.run.cells[1:]})
    fewer = replace(loaded, run=run, cells=loaded.cells[1:])
    assert compare_sides(side(loaded), side(fewer), threshold=0.05).left_out == (
        f"{cell_words(loaded.cells[0].key)}: only before",
    )
    first = loaded.cells[0]
    inputs = {**first.identity.inputs, "window_s": 99}
    other = first.model_copy(update={"identity": first.identity.model_copy(update={"inputs": inputs})})
    changed = replace(later(loaded, "other", DAY), cells=(other, *loaded.cells[1:]))
    (words,) = compare_sides(side(loaded), side(changed), threshold=0.05).else_changed
    assert "the length of a window" in words


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    before, folder = made_up(SHAPE), tmp_path_factory.mktemp("runs")
    after = slower(before, 0.7, "virtual")
    return str(stored(folder / "run-0", before).directory), str(stored(folder / "run-1", after).directory)


def test_the_command_says_it_in_three_ways(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(folders, {}, 0.05, as_json=True, as_markdown=False) == EXIT_WITH_REGRESSIONS
    told = json.loads(capsys.readouterr().out)
    assert told["regressions"] == len([one for one in told["changes"] if one["regression"]]) > 0
    assert told["names"] == ["before", "after"] and all(" → " in one["values"] for one in told["changes"])
    assert compare(folders, {}, 0.05, as_json=False, as_markdown=True) == EXIT_WITH_REGRESSIONS
    told = capsys.readouterr().out
    assert "| Cell | Figure |" in told and told.index("**") < told.index("significantly worse") < told.index("| Cell |")
    assert compare(folders, {}, 0.05, as_json=False, as_markdown=False) == EXIT_WITH_REGRESSIONS
    assert re.search(r"\d+ regressions?, significantly worse: \d+ by more than 5\.0 %", capsys.readouterr().out)
    with pytest.raises(MatrixError, match="two copies of one run"):
        compare((folders[0], folders[0]), {}, 0.05, as_json=False, as_markdown=False)
    capsys.readouterr()
    assert compare(folders[::-1], {}, 0.05, as_json=False, as_markdown=False) == 0
    assert "no regression: for every figure, a change for the worse by more than 5.0 %" in capsys.readouterr().out


def test_a_wide_interval_is_no_proof_that_nothing_got_worse(capsys: pytest.CaptureFixture[str]) -> None:
    """For two JDKs of a reference run, the ratio of the pool’s throughput with tasks of 50 µs is 0.97 (0.88–1.07)."""
    run = str(ROOT / "results" / "reference" / "20261202T031250Z-infoq-ping.small")
    jdks = {"jdk": ["temurin-21.0.8", "temurin-25"]}
    assert compare([run], jdks, 0.05, as_json=True, as_markdown=False) == EXIT_CANNOT_TELL
    told = json.loads(capsys.readouterr().out)
    assert told["regressions"] == 0 and told["not_excluded"] == 7
    for one in told["changes"]:
        if one["ratio"] is None or one["low"] is None or one["over"] or "not judged" in one["verdict"]:
            continue
        excluded = one["low"] >= 0.95 if one["figure"] in ("throughput", "saturated") else one["high"] <= 1.05
        assert one["regression_not_excluded"] == (not excluded), one
    assert "cannot tell: −12 % and +7.1 % are possible" in {one["verdict"] for one in told["changes"]}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "add a second one"),
        ({"jdk": ["temurin-25"]}, "give it twice"),
        ({"jdk": ["temurin-25", "temurin-99"]}, "has no temurin-99; it has temurin-21.0.8, temurin-25"),
        ({"jdk": ["a", "b"], "executor": ["a", "b"]}, "only one axis"),
        ({"jdk": ["temurin-25", "temurin-25"]}, "compared with themselves"),
    ],
)
def test_bad_input_is_one_message(folders: tuple[str, str], values: dict[str, list[str]], words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        compare(folders[:1], values, 0.05, as_json=False, as_markdown=False)


def test_a_threshold_that_is_none_and_a_run_that_is_nowhere_are_told(folders: tuple[str, str]) -> None:
    with pytest.raises(MatrixError, match="--threshold: must be a share from 0 to 1, found nan"):
        compare(folders, {}, math.nan, as_json=False, as_markdown=False)
    with pytest.raises(MatrixError, match="neither the folder of a run nor the id of one"):
        compare(["nowhere"], {}, 0.05, as_json=False, as_markdown=False)


def test_runs_in_folders_of_one_name_are_two(tmp_path: Path, loaded: LoadedRun) -> None:
    again = later(slower(loaded, 0.7, "virtual"), loaded.run.run_id, "2031-01-01")
    folders = [str(stored(tmp_path / day / "run", run).directory) for day, run in (("1", loaded), ("2", again))]
    assert compare(folders, {}, 0.05, as_json=True, as_markdown=False) == EXIT_WITH_REGRESSIONS


def test_a_run_that_lost_all_of_its_forks_is_no_proof(
    tmp_path: Path, loaded: LoadedRun, folders: tuple[str, str]
) -> None:
    gone = with_forks(later(loaded, "gone", "2031-01-01"), lambda cell, fork: spoilt(fork))
    after = str(stored(tmp_path / "gone", gone).directory)
    assert compare((folders[0], after), {}, 0.05, as_json=True, as_markdown=False) == EXIT_CANNOT_TELL


def test_loads_of_two_jdks_that_differ_are_told(loaded: LoadedRun) -> None:
    """A load that is a share is one of what the pool does on the same JDK."""

    rates = dict(zip(dict.fromkeys(cell.key.jdk for cell in loaded.cells), (500, 900), strict=True))

    def told(rates: Mapping[str, int]) -> tuple[str, ...]:
        def sized(cell: CellRecord) -> CellRecord:
            return cell.model_copy(update={"load": RateLoad(rate_rps=rates[cell.key.jdk], connections=50)})

        whole = side(replace(loaded, cells=tuple(map(sized, loaded.cells))))
        arms = (replace(whole, axis="jdk", value=jdk) for jdk in rates)
        return compare_sides(*arms, threshold=0.05).else_changed

    (changed,) = told(rates)
    assert "500 requests/s" in changed and "900 requests/s" in changed
    assert told(dict.fromkeys(rates, 500)) == ()


def test_runs_without_a_common_cell_are_told(tmp_path: Path, folders: tuple[str, str]) -> None:
    other = made_up(replace(QUICK, cpus=(8,), blocks=1, windows=1, run_id="other"))
    store = stored(tmp_path / "run-other", other)
    with pytest.raises(MatrixError, match="no figure in common"):
        compare((folders[0], str(store.directory)), {}, 0.05, as_json=False, as_markdown=False)


def test_a_page_is_written_although_the_reader_of_the_table_goes_away(tmp_path: Path, folders: tuple[str, str]) -> None:
    page = tmp_path / "compared.html"
    command = matrix_command("compare", *folders, "--html", str(page))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as started:
        assert started.stdout
        started.stdout.close()
        started.wait(HANGS_S)
    written = page.read_text("utf-8")
    assert "<title>" in written and 'id="cell-1-title">mp-ping · temurin-' in written


def test_ratios_over_two_executors_are_no_change(loaded: LoadedRun) -> None:
    """Such ratios are not compared even if one of the executors is over itself."""
    executors = ("fixed-50", "virtual")
    before = made_up(replace(SHAPE, executors=executors))
    for after in (loaded, made_up(replace(SHAPE, executors=("liberty", *executors)))):
        found = compare_sides(side(before), side(later(after, "elsewhere", DAY, host="another")), threshold=0.05)
        assert not [change for change in found.changes if change.over] and not found.regressions
        assert any("virtual" in text and "over fixed-50 before, over liberty after" in text for text in found.left_out)
