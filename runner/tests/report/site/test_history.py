"""Series of runs on one host, and where their level changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.report.blocks.kinds import Chart, Charts, Items, Pre, Prose, WebPage
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.site import history_page
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history import histories
from jdkmatrix.report.site.history_page import INDEX, history_pages
from jdkmatrix.stats.change_points import LEAST, change_points
from jdkmatrix.stats.ratios import least_error
from tests.support.judged_pages import page_of
from tests.support.pages import charts_of, figure_in, found, plain, section_of, table_of, tiles_of
from tests.support.served_runs import QUICK, made_up, turned_run
from tests.support.sites import digest_of, later

STEP = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01]


def test_steps_are_found_where_they_are_and_a_single_spike_is_none() -> None:
    up, down = [value + 0.2 for value in STEP], [value - 0.1 for value in STEP]
    assert change_points([*STEP, *up]) == (len(STEP),)
    assert change_points([*STEP, *up, *down]) == (len(STEP), 2 * len(STEP))
    assert change_points([*STEP, 0.3, *STEP]) == ()
    read_in_whole_seconds = [math.log(one) for one in (*[20 / 5] * 3, *[21 / 5] * 3)]
    assert change_points(read_in_whole_seconds) == (3,), "without scatter, and without a word about how they were read"
    assert change_points(read_in_whole_seconds, least_error(1 / 20, 1 / 5)) == ()


@given(st.lists(st.tuples(st.floats(-10, 10), st.integers(1, 8)), max_size=5))
def test_segments_are_never_shorter_than_the_least_and_swapping_the_sign_changes_nothing(
    levels: list[tuple[float, int]],
) -> None:
    values = [level for level, runs in levels for _ in range(runs)]
    found = change_points(values)
    ends = [0, *found, len(values)]
    assert not found or min(np.diff(ends)) >= LEAST
    assert change_points([-value for value in values]) == found


@given(st.integers(0, 40), st.floats(-5, 5))
def test_a_constant_series_has_no_change(length: int, value: float) -> None:
    assert change_points([value] * length) == ()


@pytest.mark.parametrize(
    ("noise", "length", "share"),
    [
        ("normal", 6, 0.001), ("normal", 10, 0.004), ("normal", 20, 0.007), ("normal", 40, 0.014),
        ("heavy", 6, 0.002), ("heavy", 10, 0.003), ("heavy", 20, 0.009), ("heavy", 40, 0.021),
    ],
)  # fmt: skip
def test_false_alarms_are_rare(noise: str, length: int, share: float) -> None:
    """The shares are those of the module's table; 300 series exceed such a share in at most one of 1,000 tries."""
    drawn = np.random.default_rng(7)
    series = drawn.normal(size=(300, length)) if noise == "normal" else drawn.standard_t(3, size=(300, length))
    assert sum(bool(change_points(one.tolist())) for one in series) <= binom.ppf(0.999, len(series), share)


@pytest.mark.parametrize(
    ("runs", "first_after", "step", "found"),
    [(6, 3, 0.05, 0.04), (16, 8, 0.05, 0.83), (16, 13, 0.05, 0.48), (6, 3, 0.1, 0.26), (10, 5, 0.1, 0.97)],
)
def test_a_small_step_is_missed_in_few_runs_or_if_recent(
    runs: int, first_after: int, step: float, found: float
) -> None:
    """The shares are those of the module's table, from fewer series: "no change" on the page must not pass for none."""
    series = np.random.default_rng(runs + first_after).normal(0, 0.02, (400, runs))
    series[:, first_after:] += step
    assert np.mean([bool(change_points(one.tolist())) for one in series]) == pytest.approx(found, abs=0.06)


def test_runs_that_hang_together_raise_false_alarms() -> None:
    series = np.random.default_rng(5).normal(0, 0.02, (400, 16))
    for at in range(1, 16):
        series[:, at] = 0.5 * series[:, at - 1] + np.sqrt(0.75) * series[:, at]
    assert np.mean([bool(change_points(one.tolist())) for one in series]) == pytest.approx(0.15, abs=0.05)


def digests(ratios: list[float], hosts: list[str] | None = None) -> list[RunDigest]:
    """Return the digests of as many runs, newest first, with these ratios of their throughputs."""
    loaded = made_up(replace(QUICK, jdks=("temurin-25",), blocks=2, windows=1))
    found = []
    for day, ratio in enumerate(ratios, start=1):
        one = digest_of(later(loaded, f"run-{day:02}", f"2025-01-{day:02}", hosts[day - 1] if hosts else None))
        conditions = tuple(
            replace(c, advice=tuple(replace(a, ratio=ratio, value=f"{ratio:.2f}") for a in c.advice if a.ratio))
            for c in one.conditions
        )
        found.append(replace(one, conditions=conditions))
    return found[::-1]


def pages_of(runs: list[RunDigest]) -> tuple[WebPage, WebPage]:
    """Return the page of all histories, and that of the only one."""
    pages = history_pages(runs)
    (own,) = (page for path, page in pages.items() if path != INDEX)
    return pages[INDEX], own


def chart_of(page: WebPage, figure: str = "Throughput") -> Chart:
    (chart,) = charts_of(section_of(page, "ratios").blocks, figure)
    return chart


def points_of(chart: Chart) -> Sequence[Row]:
    return chart.drawing.datasets["points"]


def test_a_load_that_is_derived_from_a_capacity_is_the_same_load_in_every_run() -> None:
    def derived(run: RunDigest, rate_rps: int, table: str) -> RunDigest:
        words = f"half of {2 * rate_rps} requests/s"
        same = (replace(one, load_words=words, load_table=table) for one in run.conditions)
        return replace(run, conditions=tuple(same))

    runs = [derived(run, 1200 + day, "a") for day, run in enumerate(digests([0.8, 0.8, 0.8]))]
    ((history,), _) = histories(runs)
    assert [one.new for one in history.runs] == [(), (), ()] and "2404" in str(history.runs[0].under)
    ((history,), _) = histories([derived(runs[0], 1300, "b"), *runs[1:]])
    assert [len(one.new) for one in history.runs] == [0, 0, 1], "half of another capacity, or another share"


def test_a_change_names_no_derived_load_as_new() -> None:
    def at(run: RunDigest, rate_rps: int) -> RunDigest:
        words = (replace(one, load_words=f"half of {rate_rps} requests/s", load_table="a") for one in run.conditions)
        return replace(run, conditions=tuple(words))

    runs = [at(run, 2400 + day) for day, run in enumerate(digests([0.80, 0.81, 0.80, 0.70, 0.60, 0.61, 0.60]))]
    runs = [without_verdicts(run) if run.run_id == "run-04" else run for run in runs]
    ((history,), _) = histories(runs)
    (told,) = {change for figure in history.figures for change in figure.changes.values()}
    assert told.endswith("lower from here on")


def without_verdicts(run: RunDigest) -> RunDigest:
    """Return the run without verdicts, as after a single block."""
    advice = ((one, tuple(replace(told, judged=False) for told in one.advice)) for one in run.conditions)
    return replace(run, conditions=tuple(replace(one, advice=told) for one, told in advice))


def with_settings(run: RunDigest, digest: str) -> RunDigest:
    """Return the run as if both executors had other options or parameters."""
    return replace(run, conditions=tuple(replace(one, settings=(digest, digest)) for one in run.conditions))


def test_a_change_behind_a_run_that_tells_nothing_names_all_that_is_new_since_the_one_before_it() -> None:
    """Otherwise the row of the change would name the kernel alone, and the JDK would stand where no ratio counts."""
    runs = digests([0.80, 0.81, 0.80, 0.70, 0.60, 0.61, 0.60])
    runs = [replace(run, jdks=(("temurin-25", "25.0.9"),)) if run.run_id >= "run-04" else run for run in runs]
    runs = [replace(run, kernel="7.0") if run.run_id >= "run-05" else run for run in runs]
    (told, *_), _ = histories([without_verdicts(run) if run.run_id == "run-04" else run for run in runs])
    new = "new since the run of 2025-01-03 00:00 UTC: JDK 25.0.9, kernel 7.0"
    assert told.figures[0].changes == {4: f"25 % lower from here on; {new}"}


def test_a_history_says_where_it_changed_by_how_much_and_what_was_new() -> None:
    runs = digests([0.80, 0.81, 0.80, 0.60, 0.61, 0.60, 0.60])
    runs = [replace(run, kernel="7.0") if run.run_id >= "run-04" else run for run in runs]
    runs = [replace(run, commit="abc") if run.run_id >= "run-03" else run for run in runs]
    newer = (("open-liberty", "Open Liberty 26"),)
    runs = [replace(run, servers=newer) if run.run_id == "run-07" else run for run in runs]
    runs = [with_settings(run, "ab" * 32) if run.run_id == "run-07" else run for run in runs]
    index, page = pages_of(runs)
    assert str(index.summary).endswith("2 of the 2 series that are long enough to show a change of level did change.")
    assert str(page.summary).endswith("1 change of level in 7 runs.")
    assert [one.text for one in found(page.blocks, Pre)] == [".venv/bin/matrix compare run-06 run-07"]
    rows = table_of(page.blocks, "Runs: ")
    assert [plain(row["Run"]) for row in rows] == [f"run-{day:02}" for day in range(1, 8)]
    newest = "2: server Open Liberty 26, settings abababab"
    assert [row["New"] for row in rows] == [*["–"] * 3, "1: kernel 7.0", "–", "–", newest]
    assert {row["JDK build"] for row in rows} == {dict(runs[0].jdks)["temurin-25"]}
    assert [row["Commit"] for row in rows[2:]] == ["abc"] * 5
    levels = [plain(figure_in(row, "Throughput 95 % interval").under) for row in rows]
    assert [under.endswith("25 % lower from here on") for under in levels] == [False] * 3 + [True] + [False] * 3
    chart = chart_of(page)
    assert "2025-01-04 00:00 UTC: 25 % lower from here on." in chart.note
    points = points_of(chart)
    assert [point["value"] for point in points] == [0.80, 0.81, 0.80, 0.60, 0.61, 0.60, 0.60]
    assert points[0]["line"] == points[5]["line"] != points[6]["line"] == "Open Liberty 26, separate"
    marks = chart.drawing.datasets["marks"]
    assert [(mark["t"] - points[0]["t"]) // 86_400_000 for mark in marks] == [1, 2, 5]
    assert [(mark["number"], mark["tool"], mark["level"]) for mark in marks] == [
        ("", True, False), ("1", False, True), ("2", False, False),
    ]  # fmt: skip
    (first,) = (chart for group in found(index.blocks, Charts) for chart in group.charts)
    assert (points_of(first), first.note) == (points, chart.note)
    (overview,) = table_of(index.blocks, "Table of conditions")
    assert "0.80" in str(overview["Run by run"]) and overview["Level"] == "1 change of level in 7 runs"


@pytest.mark.parametrize(
    ("moved", "changes"),
    [
        (lambda run: run, 1),
        (lambda run: replace(run, servers=(("open-liberty", "Open Liberty 26"),)), 0),
        (lambda run: replace(run, conditions=(replace(run.conditions[0], protocol="interleaved"),)), 0),
    ],
)
def test_no_line_and_no_change_of_level_goes_beyond_a_release_or_a_protocol(
    moved: Callable[[RunDigest], RunDigest], changes: int
) -> None:
    runs = digests([0.80, 0.81, 0.80, 0.80, 0.60, 0.61, 0.60, 0.60])
    ((one,), _) = histories([*map(moved, runs[:4]), *runs[4:]])
    assert len({run.line for run in one.runs}) == 2 - changes and len(one.figures[0].changes) == changes
    assert (one.figures[0].finding == "8 runs, too few alike to show a change of level") is not one.changed


KINDS = {
    "both kinds in a run": (
        [(99.0, 101.0, 92.2, 100.0), (100.5, 92.0, 99.5, 91.8), (100.2, 99.8, 92.1, 100.1)],
        "12 forks of 3 runs fall into two groups, 4 and 8 forks, 8.7 % apart (adjusted p < 0.001); 3 runs have forks "
        "of both, so that a start seems to end up in one of two modes, and a run of few forks can miss one of them",
    ),
    "each run of one kind": (
        [(100.0, 101.0, 99.0, 100.5), (92.0, 92.2, 91.8, 92.1), (100.2, 99.8, 100.1, 99.5)],
        "12 forks of 3 runs fall into two groups, 4 and 8 forks, 8.7 % apart (adjusted p < 0.001); no run has forks of "
        "both, so that whole runs differed rather than starts",
    ),
    "one kind": (
        [(100.0, 101.0, 99.0, 100.5), (98.0, 102.2, 99.7, 101.3), (100.2, 98.6, 101.7, 99.5)],
        "12 forks of 3 runs do not fall into two groups",
    ),
    "too few": ([(100.0,), (92.0, 92.1), (100.2, 99.8)], None),
}


@pytest.mark.parametrize(("figures", "told"), KINDS.values(), ids=KINDS)
def test_two_kinds_of_starts_are_looked_for_over_all_runs(figures: list[tuple[float, ...]], told: str | None) -> None:
    """One executor has these figures, the other has none."""
    runs = [
        replace(run, conditions=(replace(run.conditions[0], forks=(("liberty", of_run), ("virtual", ()))),))
        for run, of_run in zip(digests([0.8] * len(figures)), figures, strict=True)
    ]
    (_, page) = pages_of(runs)
    said = [str(one) for items in found(section_of(page, "executors").blocks, Items) for one in items.items]
    assert said == ([f"liberty: {told}."] if told else [])
    (_, page) = pages_of([replace(runs[0], jdks=(("temurin-25", "25.0.9"),)), *runs[1:]])
    rest = [str(one) for items in found(section_of(page, "executors").blocks, Items) for one in items.items]
    assert len(rest) == bool(told) and all("8 forks of 2 runs" in one for one in rest), (
        "no two builds of the JDK are looked at together"
    )


def test_the_forks_of_both_are_kept_for_that() -> None:
    run, *_ = digests([0.8, 0.8])
    (condition,) = run.conditions
    assert [(executor, len(figures)) for executor, figures in condition.forks] == [("liberty", 2), ("virtual", 2)]
    (of_pool, *_) = (arm for arm in condition.arms if arm.executor == "liberty" and arm.figure == THROUGHPUT.id)
    assert np.exp(np.mean(np.log(condition.forks[0][1]))) == pytest.approx(of_pool.value, rel=1e-4)


def test_hosts_are_never_mixed_and_a_single_run_is_no_history() -> None:
    runs = digests([0.8, 0.6, 0.8], ["a", "b", "a"])
    told, alone = histories(runs)
    assert [len(one.runs) for one in told] == [2] and alone == 1 and not told[0].changed
    said = [plain(one.text) for one in found(pages_of(runs)[0].blocks, Prose)]
    assert said == ["1 more condition has a ratio in one run only: a history needs two."]
    for some in (runs[:2], runs[:1], []):
        (lone,) = history_pages(some).values()
        assert not found(lone.blocks, Charts) and len(found(lone.blocks, Prose)) == 1


def test_where_there_is_no_history_the_page_says_what_is_lacking() -> None:
    """A condition may be measured twice, and have a ratio once or never."""

    def without_ratios(run: RunDigest) -> RunDigest:
        (one,) = run.conditions
        return replace(run, conditions=(replace(one, advice=tuple(replace(told, ratio=None) for told in one.advice)),))

    newest, first = digests([0.8, 0.8])
    for runs, lacking in (
        ([without_ratios(newest), first], "No condition has a ratio in two runs of one host by one load driver yet."),
        ([*map(without_ratios, (newest, first))], "No run here has a ratio of virtual threads to a server’s own pool."),
    ):
        (page,) = history_pages(runs).values()
        assert [plain(one.text) for one in found(page.blocks, Prose)] == [lacking]


def test_a_run_that_is_not_to_be_trusted_is_hollow_and_its_row_says_why() -> None:
    first, second, *others = digests([0.8] * 4)
    (condition,) = first.conditions
    first = replace(first, conditions=(replace(condition, warnings=("A/A check failed", "Not steady")),))
    unjudged = tuple(replace(one, judged=False, under="not judged") for one in condition.advice)
    second = replace(second, conditions=(replace(condition, advice=unjudged),))
    index, page = pages_of([first, second, *others])
    points = points_of(chart_of(page))
    why = ["–", "–", "not judged", "A/A check failed, Not steady"]
    assert [point["care"] for point in points] == why
    assert [point["hollow"] for point in points] == [one != "–" for one in why]
    rows = table_of(page.blocks, "Runs: ")
    assert [figure_in(row, "Throughput 95 % interval").amber for row in rows] == [False, False, True, True]
    assert rows[-1]["Read with care"] == why[-1]
    assert str(table_of(index.blocks, "Table")[0]["Run by run"]).count('class="hollow"') == 2


def test_the_words_of_a_trend_are_of_the_runs_that_it_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_page, "_SPARK_MAX", 3)
    index, _ = pages_of(digests([0.5, 0.6, 0.7, 0.8]))  # newest last
    picture = str(table_of(index.blocks, "Table")[0]["Run by run"])
    assert "0.50" not in picture and "0.60" in picture and "0.80" in picture


def test_a_run_without_a_date_is_in_the_table_alone() -> None:
    *others, first = digests([0.8] * 3)
    _, page = pages_of([*others, replace(first, started_at="one day")])
    assert len(points_of(chart_of(page))) == 2 and len(table_of(page.blocks, "Runs: ")) == 3


def test_both_executors_stand_by_themselves_with_the_figures_of_their_pages_and_the_protocol() -> None:
    turned = turned_run()
    plain_run = made_up(replace(QUICK, jdks=("temurin-25",)))
    runs = [digest_of(later(plain_run, "b", "2025-01-02")), digest_of(later(turned, "a", "2025-01-01"))]
    assert [run.conditions[0].protocol for run in runs] == ["separate", "interleaved"]
    for run in runs:
        for arm in run.conditions[0].arms:
            assert arm.low is not None and arm.high is not None and arm.low < arm.value < arm.high
    _, page = pages_of(runs)
    groups = found(section_of(page, "executors").blocks, Charts)
    assert [chart.title for chart in groups[0].charts] == ["Throughput", "CPU per request"]
    for chart in groups[0].charts:
        shown = {(point["run"], point["series"]): point["figure"].split()[0] for point in points_of(chart)}
        for run_id, loaded in (("a", turned), ("b", plain_run)):
            for executor in ("liberty", "virtual"):
                assert shown[run_id, executor] == tiles_of(page_of(loaded, executor))[chart.title].text
    points = points_of(groups[0].charts[0])
    assert {point["series"] for point in points} == {"liberty", "virtual"} and len({p["line"] for p in points}) == 4
