"""Series of runs on one host, and where their level changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.blocks.kinds import Disclosure
from jdkmatrix.report.site.build import build_site
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history import history_page, ratio_series
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.stats.change_points import LEAST, change_points
from tests.support.judged_pages import found, plain, table_of
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import background, later

STEP = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01]


def test_a_step_is_found_where_it_is() -> None:
    assert change_points([*STEP, *(value + 0.2 for value in STEP)]) == (len(STEP),)


def test_two_steps_are_found() -> None:
    series = [*STEP, *(value + 0.2 for value in STEP), *(value - 0.1 for value in STEP)]
    assert change_points(series) == (len(STEP), 2 * len(STEP))


def test_a_single_spike_is_no_change_of_level() -> None:
    assert change_points([*STEP, 0.3, *STEP]) == ()


@given(st.lists(st.floats(-10, 10), max_size=30))
def test_segments_are_never_shorter_than_the_least_and_swapping_the_sign_changes_nothing(values: list[float]) -> None:
    found = change_points(values)
    ends = [0, *found, len(values)]
    assert not found or min(np.diff(ends)) >= LEAST
    assert change_points([-value for value in values]) == found


@given(st.integers(0, 40), st.floats(-5, 5))
def test_a_constant_series_has_no_change(length: int, value: float) -> None:
    assert change_points([value] * length) == ()


@pytest.mark.parametrize("length", [6, 10, 20, 40])
@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_false_alarms_are_rare(length: int, noise: str) -> None:
    """As the module's table says, from fewer series."""
    drawn = np.random.default_rng(7)
    series = drawn.normal(size=(300, length)) if noise == "normal" else drawn.standard_t(3, size=(300, length))
    assert sum(bool(change_points(one.tolist())) for one in series) <= 0.05 * len(series)


@pytest.mark.parametrize(
    ("runs", "first_after", "step", "found"),
    [(6, 3, 0.05, 0.04), (16, 8, 0.05, 0.83), (16, 13, 0.05, 0.48), (6, 3, 0.1, 0.26), (10, 5, 0.1, 0.97)],
)
def test_a_small_step_is_missed_where_runs_are_few_or_it_is_recent(
    runs: int, first_after: int, step: float, found: float
) -> None:
    """As the module's table says, from fewer series: the page must not let "no change" pass for none."""
    series = np.random.default_rng(runs + first_after).normal(0, 0.02, (400, runs))
    series[:, first_after:] += step
    assert np.mean([bool(change_points(one.tolist())) for one in series]) == pytest.approx(found, abs=0.06)


def test_runs_that_hang_together_raise_false_alarms() -> None:
    series = np.random.default_rng(5).normal(0, 0.02, (400, 16))
    for at in range(1, 16):
        series[:, at] = 0.5 * series[:, at - 1] + np.sqrt(0.75) * series[:, at]
    assert np.mean([bool(change_points(one.tolist())) for one in series]) == pytest.approx(0.15, abs=0.05)


def digests(tmp_path: Path, ratios: list[float], hosts: list[str] | None = None) -> list[RunDigest]:
    """Of as many runs, newest first, with these ratios of their throughputs."""
    loaded = synthetic_run(tmp_path / "run", replace(QUICK, jdks=("temurin-25",), blocks=2, windows=1))
    found = []
    for day, ratio in enumerate(ratios, start=1):
        run = later(loaded, f"run-{day:02}", f"2025-01-{day:02}", host=hosts[day - 1] if hosts else None)
        site = tmp_path / f"site-{day}"
        (one,) = build_site([SiteRun(run.run.run_id, lambda run=run: run)], site, background()).runs  # type: ignore[misc]
        conditions = tuple(
            replace(c, advice=tuple(replace(a, ratio=ratio, value=f"{ratio:.2f}") for a in c.advice if a.ratio))
            for c in one.conditions
        )
        found.append(replace(one, conditions=conditions))
    return found[::-1]


def test_a_series_says_where_it_changed_by_how_much_and_what_was_new(tmp_path: Path) -> None:
    runs = digests(tmp_path, [0.80, 0.81, 0.80, 0.60, 0.61, 0.60, 0.60])
    runs = [replace(run, kernel="7.0") if run.run_id >= "run-04" else run for run in runs]
    newer = (("open-liberty", "Open Liberty 26"),)
    runs = [replace(run, servers=newer) if run.run_id > "run-05" else run for run in runs]
    page = history_page(runs, "../")
    assert "2 of 2 series changed their level." in str(page.summary)
    one = next(details for details in found(page.blocks, Disclosure) if "<b>Throughput</b>" in details.summary)
    assert one.open and one.summary.endswith("1 change of level in 7 runs")
    rows = table_of([one], "Throughput: ")
    assert [plain(row["Run"]) for row in rows] == [f"run-{day:02}" for day in range(1, 8)]
    assert [(row["New"], plain(row["Level"])) for row in rows] == [
        *[("–", "–")] * 3, ("kernel 7.0", "25 % lower from here on"), ("–", "–"), ("server Open Liberty 26", "–"),
        ("–", "–"),
    ]  # fmt: skip


def test_hosts_are_never_mixed_and_a_single_run_is_no_series(tmp_path: Path) -> None:
    series = ratio_series(digests(tmp_path, [0.8, 0.6, 0.8], ["a", "b", "a"]))
    assert {len(one.points) for one in series} == {2} and not any(one.changes for one in series)
