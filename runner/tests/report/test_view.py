"""From records to what pages show, without a template: run and cell views, site safety of text and data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.domain.executors import references
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Charts, Fact, FactList, Section
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import window_tables
from jdkmatrix.report.cell_page.forks import under_load_words
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import Pair, slices
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.answers import cpu_scope
from jdkmatrix.report.run_page.facts import jdk_row
from jdkmatrix.report.words.sentences import State
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, facts_of, figure_in, found, page_of, section_of, table_of
from tests.support.records import altered, altered_run, with_load
from tests.support.served_runs import QUICK, synthetic_run, turned_run


def first_fork(loaded: LoadedRun) -> Section:
    return section_of(page_of(loaded, "liberty"), "fork-1")


def with_run(loaded: LoadedRun, **update: Any) -> LoadedRun:
    return replace(loaded, run=altered_run(loaded.run, update))


def with_forks(loaded: LoadedRun, **update: Any) -> LoadedRun:
    """Every fork of the first cell changed."""
    first, *others = loaded.cells
    forks = tuple(altered(fork, update) for fork in first.forks)
    return replace(loaded, cells=(first.model_copy(update={"forks": forks}), *others))


def test_a_single_condition_makes_a_scorecard(quick: LoadedRun) -> None:
    (single,) = PageOfRun(quick).maps
    assert single.corner == "JDK" and [head for head, _ in single.rows] == list(QUICK.jdks)


def test_without_one_of_the_pair_the_page_says_so(tmp_path: Path) -> None:
    page = PageOfRun(synthetic_run(tmp_path, replace(QUICK, executors=("virtual", "liberty-virtual"))))
    assert not page.maps and "No heat map: it compares virtual with liberty" in str(page.sections[0].blocks)
    assert page.answers[0].lead == "temurin-21.0.8: no answer"
    assert page.charts("Throughput") and page.charts("Latency by percentile")


def test_a_run_of_another_pair_answers_for_that_pair(tmp_path: Path) -> None:
    """As the scenario pinning-http: virtual threads on few carriers, and a pool of its own."""
    pair = ("fixed-60", "virtual+carriers-max-4")
    page = PageOfRun(synthetic_run(tmp_path, replace(QUICK, executors=pair, blocks=5)))
    (piece,) = slices(page.judged.cells)
    assert piece.pair == Pair("virtual+carriers-max-4", "fixed-60") and page.judged.cells.references == "fixed-60"
    for answer in page.answers:
        assert "no answer" not in answer.lead
        assert [term for term, _ in answer.sentences] == ["Throughput", "CPU per request"]
        assert all("(ratio " in text for _, text in answer.sentences)
    assert page.maps
    assert [row.versus.text for row in page.rows if row.key.executor == "fixed-60"] == ["1", "1"]


@pytest.mark.parametrize(
    ("names", "compared"),
    [
        (("fixed-60", "virtual+carriers-max-4"), {"virtual+carriers-max-4": "fixed-60"}),
        (("platform", "virtual", "virtual+slice-10ms"), {"virtual": "platform", "virtual+slice-10ms": "virtual"}),
        (("fixed-60", "fixed-60-aa", "virtual"), {"fixed-60-aa": "fixed-60", "virtual": "fixed-60"}),
        (("liberty", "platform", "virtual"), {"platform": "liberty", "virtual": "liberty"}),
        (("liberty", "virtual+slice-10ms"), {"virtual+slice-10ms": "liberty"}),
        (("fixed-60", "fixed-8", "virtual"), {}),
        (("fixed-60",), {}),
        (("virtual", "liberty-virtual"), {}),
    ],
)
def test_an_arm_is_compared_with_its_reference_or_else_with_the_only_pool(
    names: tuple[str, ...], compared: dict[str, str]
) -> None:
    found = references(names, "open-liberty")
    assert {name: base for name, base in found.items() if base in names and base != name} == compared


def test_a_rate_load_is_answered_by_cpu_first(tmp_path: Path) -> None:
    for shape, leading, kind in (
        (replace(QUICK, loads=("rate-2000",), blocks=3), "CPU per request", "intended send time"),
        (replace(QUICK, blocks=3), "Throughput", "Service time in a closed loop"),
    ):
        page = PageOfRun(synthetic_run(tmp_path, shape))
        assert next(term for term, _ in page.answers[0].sentences) == leading
        (words,) = (group.words for group in found(page.page.blocks, Charts) if group.title == "Latency by percentile")
        assert kind in str(words)


def test_one_block_has_no_interval_and_the_page_warns(tmp_path: Path) -> None:
    page = PageOfRun(synthetic_run(tmp_path, replace(QUICK, blocks=1)))
    assert "One block only" in [notice.title for notice in page.notices if notice.weight == "warn"]
    assert all(cell.interval is None and cell.basis == "n 1" for _, cells in page.maps[0].rows for cell in cells)
    assert all("hint" in text for answer in page.answers for _, text in answer.sentences)
    assert all(row.throughput.under is None and row.throughput.title for row in page.rows)
    assert {row.versus.under for row in page.rows if row.key.executor == "virtual"} == {"one block"}


def test_notices_say_what_changes_the_reading(quick: LoadedRun) -> None:
    confinement = quick.cells[0].forks[0].confinement.model_copy(update={"overlapped": True})
    loaded = with_run(quick, status="interrupted", ended_at=None, git_dirty=True)
    told = PageOfRun(with_forks(loaded, confinement=confinement)).notices
    notices = {notice.title: notice for notice in told}
    assert notices["Server and driver share CPUs"].weight == "warn"
    assert notices["Server and driver share CPUs"].text.startswith("In 1 of 4 cells")
    assert {"Not complete", "Not bare metal", "Uncommitted changes", "JDKs not available here"} <= set(notices)
    weights = [notice.weight for notice in told]
    assert weights == sorted(weights, reverse=True)


def test_how_threads_were_pinned_is_said(quick: LoadedRun) -> None:
    assert fork_facts(quick)["CPU confinement"] == "by cgroup cpusets, which no thread can leave"
    assert "Kept on their CPUs by affinity alone" not in [notice.title for notice in PageOfRun(quick).notices]
    loose = {"method": "sched_setaffinity", "why_not_cgroup": "<it> is not permitted"}
    loaded = with_forks(quick, confinement=quick.cells[0].forks[0].confinement.model_copy(update=loose))
    told = next(one for one in found([first_fork(loaded)], FactList)).facts
    by_affinity = "by CPU affinity, which a thread can change for itself; each window is checked for that"
    assert Fact("CPU confinement", f"{by_affinity} (no cgroup cpusets: <it> is not permitted)") in told
    (notice,) = (one for one in PageOfRun(loaded).notices if one.title == "Kept on their CPUs by affinity alone")
    assert notice.text.startswith("In 2 of 8 forks ")
    assert notice.text.endswith("were not used: <it> is not permitted.")


def test_how_a_fork_was_measured_beside_the_others_is_said(tmp_path: Path, quick: LoadedRun) -> None:
    turned = fork_facts(turned_run(tmp_path))
    assert turned["Protocol"] == "interleaved: 10 rounds in turns with 1 other server, 1 of them lost to gates"
    assert fork_facts(quick)["Protocol"] == "separate: by itself"
    told = with_forks(quick, why_alone="its memory is read while it runs")
    assert fork_facts(told)["Protocol"] == "by itself: its memory is read while it runs"


def fork_facts(loaded: LoadedRun) -> dict[str, str]:
    return facts_of([first_fork(loaded)])


def test_a_fork_says_on_whose_threads_its_windows_ran(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(QUICK, executors=("liberty", "virtual", "fixed-50"), jdks=("temurin-25",)))
    by_executor = {cell.key.executor: cell.forks[0] for cell in loaded.cells}
    for executor, words in (
        ("liberty", "in 2 windows ran on threads of the server’s own pool; the driver sent "),
        ("virtual", "in 2 windows ran on virtual threads, each on a new one; the driver sent "),
        ("fixed-50", "in 2 windows ran on platform threads of the plugged executor; the driver sent "),
    ):
        fork = by_executor[executor]
        sent, text = sum(window.load.sent or 0 for window in fork.windows), under_load_words(fork)
        assert text.startswith(f"{sent:,} of {sent:,} requests ")
        assert words in text and text.endswith(f" {sent:,}")


def test_what_was_not_counted_is_said_not_to_be(quick: LoadedRun) -> None:
    told, other = quick.cells[0].forks[0].windows
    untold = other.model_copy(update={"served": None})
    elsewhere = told.model_copy(update={"served": told.served.model_copy(update={"elsewhere": 7, "servers": 1000})})
    silent = with_load(told, {"sent": None, "completed": 1234})
    for windows, words in (
        ((untold,), "not counted"),
        ((), "not counted: no window was measured"),
        ((told, untold), "in 1 more the server could not be asked"),
        ((elsewhere,), "7 of 1,007 requests in 1 window ran on threads of unknown origin"),
        ((silent,), "the driver had 1,234 answers"),
    ):
        assert words in fork_facts(with_forks(quick, windows=windows))["Proof under load"]


def test_what_our_own_readings_took_is_said_where_memory_was_read(quick: LoadedRun) -> None:
    assert scope_of(quick) is None
    assert len(window_tables(quick.cells[0].forks[0].windows, 1)) == 4
    windows = tuple(
        window.model_copy(update={"sut": window.sut.model_copy(update={"probe_cpu_s": window.load.answers * 4e-6})})
        for window in quick.cells[0].forks[0].windows
    )
    loaded = with_forks(quick, windows=windows)
    assert scope_of(loaded) == "Without what our own readings of its memory took: 4.0 µs per request, fork by fork."
    rows = table_of([first_fork(loaded)], "Reading the server’s memory")
    assert [figure_in(row, "Left out of CPU per request µs").text for row in rows] == ["4.00", "4.00"]


def scope_of(loaded: LoadedRun) -> str | None:
    return cpu_scope(slices(Cells(loaded.run, loaded.cells))[0])


def test_an_empty_run_still_has_a_page(quick: LoadedRun) -> None:
    page = PageOfRun(with_run(replace(quick, cells=()), status="interrupted"))
    assert {row.state for row in page.rows} == {State.NOT_MEASURED}
    assert not page.page.charts
    assert all("had its turn" in one.reasons[0] for one in page.troubles if one.status == "not measured")
    assert "No block has both" in page.answers[0].sentences[0][1]


def test_a_block_without_its_partner_is_in_no_ratio_and_a_planned_fork_without_a_record_is_lost(tmp_path: Path) -> None:
    """Whatever the order of the forks in the file."""
    loaded = synthetic_run(tmp_path, replace(QUICK, blocks=3, jdks=("temurin-25",)))
    pool, virtual = loaded.cells
    turned = virtual.model_copy(update={"forks": virtual.forks[:0:-1]})
    compared = Cells(loaded.run, [pool, turned]).over(THROUGHPUT, virtual.key)
    assert (compared.ratio.blocks, set(compared.pairs)) == (2, {2, 3})
    assert (compared.losses.numerator, compared.losses.denominator) == (1, 0)


def _rows(fork: Fork, id_prefix: str) -> Sequence[Row]:
    chart = next(chart for chart in fork_charts(fork)[0] if chart.id == f"fork-{fork.fork}-{id_prefix}")
    return chart.drawing.datasets["rows"]


def test_series_are_rates_of_counters_and_break_where_the_server_gave_no_answer(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    cpu = _rows(fork, "cpu")
    first, second = fork.samples[:2]
    assert cpu[0]["t"] == pytest.approx(second.t_s, abs=1e-3)
    assert cpu[0]["v"] == pytest.approx((second.cpu_s - first.cpu_s) / (second.t_s - first.t_s))
    silent = [sample.t_s for sample in fork.samples if sample.gauges is None]
    assert silent
    assert [row["t"] for row in _rows(fork, "heap") if row["v"] is None] == pytest.approx(silent, abs=1e-3)
    throughput = _rows(fork, "throughput")
    window = fork.windows[0]
    assert throughput[0] == {"t": window.t_s + 1, "v": pytest.approx(window.load.intervals[0].completed)}


def test_a_line_breaks_where_nothing_was_read_for_long(quick: LoadedRun) -> None:
    """Another server of the block had its turn; one missed reading is no break."""
    fork = quick.cells[0].forks[0]

    def breaks_s(left_out: int) -> list[float]:
        samples = (*fork.samples[:10], *fork.samples[10 + left_out :])
        return [row["t"] for row in _rows(altered(fork, {"samples": samples}), "rss") if row["v"] is None]

    assert breaks_s(1) == [] and breaks_s(4) == pytest.approx([fork.samples[9].t_s], abs=1e-3)


def test_the_warm_up_shows_where_the_measured_load_began(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    last_moderate = max(w.t_s for w in fork.warmup.windows if w.stage == "moderate")
    bands = warmup_charts(fork)[0].drawing.datasets["bands"]
    assert bands == [{"start": last_moderate, "end": fork.warmup.windows[-1].t_s}]
    assert "6 windows at a moderate rate, then 6 under the load" in warmup_note(fork)
    unsteady = altered(fork, {"warmup": fork.warmup.model_copy(update={"steady": False})})
    assert "not steady when the cap was reached" in warmup_note(unsteady)


def test_reproduce_repeats_what_was_asked_and_fixes_the_seed(quick: LoadedRun) -> None:
    run = quick.run

    def last_line(**update: Any) -> str:
        return facts.reproduce(altered_run(run, update)).splitlines()[-1]

    assert facts.reproduce(run).splitlines() == [
        f"git checkout {run.first_session.git_commit}",
        "make setup",
        ".venv/bin/matrix run --profile synthetic --seed 7",
    ]
    typed = ("/x/matrix", "run", "--profile", "quick", "--blocks", "3", "--site", "a b", "--run=c", "--seed", "9")
    assert last_line(command=typed) == ".venv/bin/matrix run --profile quick --blocks 3 --seed 9"
    resumed = last_line(command=("matrix", "run", "--resume"), selection={"cpus": (1, 2), "burn_us": (0,)})
    assert resumed == ".venv/bin/matrix run --profile synthetic --cpus=1 --cpus=2 --burn-us=0 --seed 7"


def test_only_web_addresses_become_links(quick: LoadedRun) -> None:
    jdk = quick.run.jdks[1]
    bug = jdk.known_bugs[0]

    def shown(url: str) -> str:
        changed = jdk.model_copy(update={"known_bugs": (bug.model_copy(update={"url": url}),)})
        return str(jdk_row(changed, ran=True)[-1])

    assert '<a href="https://bugs.example/JDK-1" rel="noopener noreferrer">' in shown("https://bugs.example/JDK-1")
    assert "<a" not in shown("javascript:alert(1)") + shown("data:text/html,x")
