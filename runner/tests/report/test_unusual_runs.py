"""The words of pages where a run has what few have: one arm, a server without a pool, one fork, one answer, none, or
an end before its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.records.forks import Audit, Fork, Proof
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.remote import RemoteFaults
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts, Disclosure, HeatMap, HowToRead, Prose, Tiles
from jdkmatrix.report.blocks.tables import Sorted
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_note
from jdkmatrix.report.cell_page.forks import remote_facts, under_load_words
from jdkmatrix.report.cells.advice import held_back
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import few_beyond
from jdkmatrix.report.cells.slices import Pair
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import crossover_sentence
from jdkmatrix.report.run_page.cells_table import cells_section
from jdkmatrix.report.run_page.facts import numbered
from jdkmatrix.report.run_page.notices import aa_notices, attempt_notices, run_notices
from jdkmatrix.report.run_page.over_time import became
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.run_page.sessions import differences
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.store.cells import Identity
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cell, fork_with, key, reasons, remote_stats, sut_usage, window
from tests.support.experiment_runs import experiments_run, sections_of
from tests.support.judged_pages import (
    PageOfRun,
    answer_of,
    facts_of,
    found,
    judged,
    page_of,
    plain,
    row_of,
    section_of,
    table_of,
    window_figures,
)
from tests.support.outcome_runs import all_of, hung, missed, run_of, scaled, spoilt, windows_of, with_outcomes
from tests.support.ramped_runs import LEVEL, RISING, ramped
from tests.support.records import altered, altered_run, run_record, with_forks, with_load
from tests.support.run_facts import host_facts
from tests.support.served_runs import FIVE, QUICK, synthetic_run
from tests.support.served_windows import latency
from tests.support.sites import site_of
from tests.support.stepped_runs import searched

BETTER, SAME = PairFinding.BETTER, PairFinding.NO_DIFFERENCE_SEEN
ALONE = replace(QUICK, executors=("liberty",), jdks=("temurin-25",))


def test_who_of_a_pair_was_not_measured_is_named() -> None:
    pair = Pair("virtual", "liberty")
    assert pair.absent(iter(("virtual", "liberty"))) is None
    assert pair.absent(["liberty"]) == "virtual has no cell here"
    assert pair.absent(()) == "virtual and liberty have no cell here"


def test_a_server_without_a_pool_has_nothing_to_compare() -> None:
    answer = answer_of(run_of([cell(key("helidon", server="helidon"), (fork_with(window()),))]))
    assert answer.lead == "temurin-25: no answer"
    assert answer.sentences == (("", "There is no ratio virtual / helidon: virtual has no cell here."),)


def test_the_page_of_one_arm_compares_nothing(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", ALONE)
    page = PageOfRun(loaded)
    assert page.answers[0].sentences == (("", "There is no ratio virtual / liberty: virtual has no cell here."),)
    texts = [one.text for one in found(page.page.blocks, Prose)]
    assert "No heat map: it compares virtual with liberty, and virtual has no cell here." in texts
    assert page.rows[0].versus == missing("nothing is compared with it")
    assert [one.pairs for one in found(page.page.blocks, HowToRead)] == [""]
    text = " ".join((site_of([loaded], tmp_path / "site") / "index.html").read_text("utf-8").split())
    assert "each counted once: every executor over liberty in the leading figure of its load, and how many" in text


def test_a_command_of_the_user_is_no_server_with_a_name() -> None:
    loaded = run_of([cell(key("pool", workload="mine", server="command"), (fork_with(window()),))])
    assert plain(cells_section(JudgedRun(loaded)).words).endswith(
        "In every cell: mine, temurin-25, pool, 1 CPU, no added work, saturate-50, driven by made-up."
    )


def test_an_arm_whose_reference_was_not_measured_says_so(tmp_path: Path) -> None:
    row = row_of(synthetic_run(tmp_path, replace(ALONE, executors=("virtual",))), "virtual")
    assert row.versus == missing("it would be compared with liberty, which has no cell here")


def test_tunings_of_the_pool_alone_are_told_of_all_conditions(tmp_path: Path) -> None:
    tuned = "liberty+slice-10ms"
    answer = answer_of(synthetic_run(tmp_path, replace(ALONE, executors=("liberty", tuned), cpus=(1, 2))))
    assert answer.lead == "temurin-25", "it has an answer"
    assert " 2 conditions" in dict(answer.sentences)[tuned]


def test_an_executor_measured_again_is_one(closed_loop: LoadedRun) -> None:
    assert " 3 executors on 1 JDK: 4 of 4 cells " in str(PageOfRun(closed_loop).page.summary)


def test_usable_forks_without_the_figure_are_not_called_unusable(tmp_path: Path) -> None:
    """Each of them missed its rate: its CPU per request is that of another load."""
    shape = replace(FIVE, loads=("rate-2000",), executors=("liberty", "liberty-aa"))
    changes = {"liberty": all_of(missed), "liberty-aa": all_of(missed)}
    loaded = with_outcomes(synthetic_run(tmp_path, shape), changes)
    (text,) = (notice.text for notice in run_notices(JudgedRun(loaded)) if notice.title == "No A/A check")
    assert text.endswith("rate-2000, no ratio of CPU per request: no block has this figure for both.")
    assert (row_of(loaded, "liberty-aa").versus.title or "").startswith("no block has this figure for both; the arms")


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ({0: None, 2000: PairFinding.NOT_JUDGED}, "no verdict at any delay that was measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: None},
         "virtual is not shown to be ahead at any delay that was judged; nothing is shown at 0 ms; no verdict at 2 ms. "
         "Measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: BETTER, 20_000: None},
         "virtual is ahead at 2 ms; nothing is shown at 0 ms; no verdict at 20 ms. Measured: 0 ms, 2 ms and 20 ms."),
    ],
)  # fmt: skip
def test_a_delay_without_a_verdict_is_none_at_which_nobody_is_ahead(
    findings: dict[int, PairFinding | None], said: str
) -> None:
    assert crossover_sentence(findings, "virtual", "liberty") == said


def test_no_difference_is_called_the_largest(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, loads=("rate-2000",), cpus=(1, 2)))
    both = with_outcomes(loaded, {"virtual": all_of(missed), "liberty": all_of(missed)})
    assert dict(answer_of(both).sentences)["Held the rate"] == (
        "no difference seen in all 2 conditions. For example: 0 of 5 forks with virtual, 0 of 5 with liberty, "
        "with 1 CPU, no added work."
    )


def test_numbers_of_lost_forks_have_one_noun(under_rate: LoadedRun) -> None:
    loaded = with_outcomes(under_rate, {"virtual": {1: missed}, "liberty": {2: spoilt}})
    assert "0 and 1 more forks were lost" in dict(answer_of(loaded).sentences)["Held the rate"]


def test_one_block_of_several_that_has_both_is_not_all_that_was_measured(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, blocks=3))
    answer = answer_of(with_outcomes(loaded, {"virtual": {1: spoilt}, "liberty": {2: spoilt}}))
    assert answer.lead == "temurin-25: one block has both, a hint only"


def test_ratios_of_one_block_are_not_said_to_have_an_interval(tmp_path: Path, quick: LoadedRun) -> None:
    for loaded, within in ((quick, " and shown with its 95 % interval"), (one_block(tmp_path), "")):
        texts = [one.text for one in found(PageOfRun(loaded).page.blocks, Prose)]
        assert f"Every ratio is paired within blocks{within}." in texts


def one_block(folder: Path, *loads: str) -> LoadedRun:
    return synthetic_run(folder, replace(FIVE, blocks=1, loads=loads or FIVE.loads))


def test_a_run_that_has_not_ended_says_so_of_cells_jdks_and_order(quick: LoadedRun) -> None:
    page = PageOfRun(replace(quick, run=altered_run(quick.run, {"status": "running"}), cells=())).page
    shown = str(section_of(page, "troubles"))
    assert "this cell has had no turn: the run has not ended, or was killed" in shown
    states = [plain(row["State"]) for row in table_of([section_of(page, "jdks")], "Table of JDKs")]
    assert states == ["selected, no fork of it has run"] * 2 + ["not available here"]
    assert "Planned order of execution (8 forks)" in {one.summary for one in found(page.blocks, Disclosure)}


def test_an_attempt_that_was_repeated_is_no_further_fork(quick: LoadedRun) -> None:
    order = (*quick.run.order, f"{quick.run.order[0]}.2")
    page = PageOfRun(replace(quick, run=altered_run(quick.run, {"order": order}))).page
    assert "Order of execution (8 forks)" in {one.summary for one in found(page.blocks, Disclosure)}


@pytest.mark.parametrize(("blocks", "ended_by"), [(2, "not complete"), (3, "fixed number")])
def test_what_a_run_that_was_cut_off_did_not_come_to_has_not_ended(tmp_path: Path, blocks: int, ended_by: str) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, blocks=3))
    cells = tuple(one.model_copy(update={"forks": one.forks[:blocks]}) for one in loaded.cells)
    cut = replace(loaded, run=altered_run(loaded.run, {"status": "interrupted"}), cells=cells)
    (row,) = table_of(precision_section(JudgedRun(cut)), "Precision of ratios")
    assert row["Ended by"] == ended_by


def test_a_block_that_was_cut_off_while_it_was_measured_again_made_no_later_attempt(quick: LoadedRun) -> None:
    first, *others = quick.cells
    cut = first.model_copy(update={"attempts": first.forks[:1]})
    (notice,) = attempt_notices(replace(quick, cells=(cut, *others)))
    assert notice.text.startswith("A block was cut off while it was measured again. What the server itself did")
    assert notice.text.endswith("show 1 earlier attempt.")


@pytest.mark.parametrize(
    ("host", "cpu", "words"),
    [
        ({"memory_bytes": 34_000_000_000}, {}, "of bytes of memory differs (33,000,000,000, then 34,000,000,000)"),
        ({"limits": {"nofile": "9"}}, {}, "the list of limits differs (nofile 1048576, then nofile 9)"),
        ({}, {"allowed": (0, 1)}, "the list of CPUs allowed differs (0-7, then 0-1)"),
        ({}, {"smt": False}, "SMT differs (on, then off)"),
        ({}, {"driver": "acpi"}, "the driver of the CPU’s frequency differs (intel_pstate, then acpi)"),
    ],
)
def test_what_differs_between_sessions_is_told_in_words(
    host: Mapping[str, Any], cpu: Mapping[str, Any], words: str
) -> None:
    first, facts = run_record("two", cells=(), order=()).first_session, host_facts()
    changed = facts.model_copy(update={**host, "cpu": facts.cpu.model_copy(update=cpu)})
    (told,) = differences((first, first.model_copy(update={"number": 2, "host": changed})))
    assert told.endswith(words)


def test_too_few_answers_for_a_percentile(tmp_path: Path) -> None:
    assert few_beyond(1) == missing("1 request: too few to say")
    assert few_beyond(10) == missing("fewer than 10 of 10 requests were slower: too few to say")

    def few(one: Window) -> Window:
        return with_load(one, {"uncorrected": latency(5000.0, 1.0, 500)})

    page = PageOfRun(with_forks(one_block(tmp_path), lambda _, fork: windows_of(fork, few)))
    assert [chart.note for chart in page.charts("Latency by percentile")] == [""], "none has a p99"


def test_what_stands_beneath_a_percentile_is_told_where_it_does(tmp_path: Path, quick: LoadedRun) -> None:
    beneath = "beneath it is the 95 % interval"
    for loaded, told in ((quick, True), (one_block(tmp_path), False)):
        (note,) = (str(one.text) for one in page_of(loaded).lede if isinstance(one, Prose))
        assert note.startswith("Latency is service time") and (beneath in note) is told


def test_one_fork_is_a_fork(tmp_path: Path) -> None:
    loaded = with_outcomes(one_block(tmp_path, "rate-2000"), {"virtual": {1: missed}})
    tiles = (one for group in found(page_of(loaded).lede, Tiles) for one in group.tiles)
    assert [(one.figure.text, one.unit) for one in tiles if one.name == "Held the rate"] == [("0 of 1", "fork")]


def test_one_cpu_is_a_cpu(quick: LoadedRun) -> None:
    assert [numbered("CPU", cpus) for cpus in ((1,), (0, 1))] == ["CPU 1", "CPUs 0-1"]

    def beside(fork: Fork) -> Fork:
        warmup = fork.warmup.model_copy(update={"jit_cpus": (0,)}) if fork.warmup else None
        shared = fork.confinement.model_copy(update={"remote_cpus": fork.confinement.driver_cpus})
        return altered(fork, {"confinement": shared, "warmup": warmup})

    loaded = with_forks(quick, lambda _, fork: beside(fork))
    facts = facts_of([section_of(page_of(loaded), "fork-1")])
    assert facts["Remote system"].startswith("on CPU 1 (the driver's), called by")
    assert "Meanwhile the JIT ran on CPU 0." in warmup_note(loaded.cells[0].forks[0])


def test_one_transfer_was_answered(quick: LoadedRun) -> None:
    books = Audit(
        accounts=10, transfers_done=1, balance_sum_minor=0, expected_sum_minor=0, contradictions=0, contradicting=(),
        conserved=True, transfers_answered=1, open_transactions=0,
    )  # fmt: skip
    loaded = with_forks(quick, lambda _, fork: altered(fork, {"audit": books}))
    assert facts_of([section_of(page_of(loaded), "fork-1")])["Bank audit"] == (
        "1 transfer between 10 accounts: money was conserved; 1 was answered, 0 transactions left open in the database"
    )
    once = remote_stats(late_us=1.0, cpu_share=0.1).model_copy(
        update={"faults": RemoteFaults(status_500=1, close=0, never=0)}
    )
    assert str(remote_facts(once)[0].value).endswith("0 refused, 1 fault that was ordered")


def test_a_server_that_answers_with_errors_alone_has_answered(quick: LoadedRun) -> None:
    one = quick.cells[0].forks[0].windows[0]
    refusing = with_load(one, {"non_2xx": one.load.completed})
    assert window_figures(refusing)["CPU per request µs"][0] == missing("no answer had status 2xx")


def under_load(began: int, proof: Proof | None = None) -> str:
    """Of a server that makes its threads itself."""
    served = Served(
        servers=began, plugged_virtual=0, plugged_platform=0, elsewhere=0, begun_min=0, begun_max=began, left_over=0,
        threads_started=None,
    )  # fmt: skip
    return under_load_words(altered(fork_with(window(served=served)), {"proof": proof}))


def test_where_no_request_began_none_is_said_to_have_run_anywhere() -> None:
    assert under_load(0) == "no request began in 1 window; the driver sent 1,000"


def test_virtual_threads_that_a_server_makes_itself_are_no_pool() -> None:
    def proof(executor: str) -> Proof:
        virtual = executor != "tomcat"
        return Proof(requests=200, executor=executor, virtual=virtual, distinct_threads=9, thread_names=())

    assert " ran on threads of the server’s own pool; " in under_load(1000, proof("tomcat"))
    for executor in ("tomcat-virtual", "helidon"):
        assert " ran on virtual threads that the server makes itself; " in under_load(1000, proof(executor))
    assert "own pool" in under_load(7, proof("virtual")), "those were to run elsewhere"


def test_a_program_that_this_jdk_cannot_run_came_to_its_end(tmp_path: Path) -> None:
    """As the first line of the page counts it."""

    def refused(fork: Fork) -> Fork:
        nothing = {"outcome": "not-on-this-jdk", "seen": None, "expected": None}
        return altered(fork, {"result": fork.result.model_copy(update=nothing) if fork.result else None})

    loaded = experiments_run(tmp_path, ("spawn",))
    first, *others = loaded.cells
    cells = (first.model_copy(update={"forks": tuple(map(refused, first.forks))}), *others)
    row = table_of([sections_of(replace(loaded, cells=cells))["spawn"]], "Table of ")[0]
    forks = row["Forks usable/ran"]
    assert isinstance(forks, Sorted) and forks.key == "ok 2/2"
    assert "no fork came to a figure" in {one.title for one in row.values() if isinstance(one, Figure)}


def test_a_cell_of_which_gates_refused_every_fork_is_not_called_complete(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("pinning",))
    refused = with_forks(loaded, lambda _, fork: altered(fork, {"status": Status.INVALID, "reasons": reasons("steal")}))
    heat = [one for group in found([sections_of(refused)["pinning"]], HeatMap) for _, row in group.rows for one in row]
    told = {(one.value, one.interval, one.title) for one in heat if one.href}
    assert told == {("–", "invalid", "its page says why")}


def test_the_figures_between_windows_are_drawn_and_said_to_be(quick: LoadedRun) -> None:
    (group,) = (one for one in found(section_of(page_of(quick), "fork-1").blocks, Charts) if "Second" in one.title)
    assert str(group.words).endswith(
        "measured windows are shaded. Throughput and p99 are of these alone, and no line crosses a time in which "
        "nothing was read."
    )
    fork = quick.cells[0].forks[0]
    drawn = {chart.title: chart.drawing.datasets["rows"] for chart in fork_charts(fork)[0]}
    begin_s = fork.windows[0].t_s
    assert any(row["t"] < begin_s for row in drawn["RSS in MiB"])
    assert all(row["t"] >= begin_s for row in drawn["Throughput in requests/s"])


@pytest.mark.parametrize(
    ("jdk", "version", "pins"),
    [
        ("own-default-java", "25.0.1+8", False),
        ("own-openj9-25", "25.0.1", False),
        ("own-default-java", "21.0.8+9-LTS", True),
        ("own-default-java", None, False),
        ("temurin-21.0.8", None, True),
    ],
)
def test_what_pins_is_told_by_the_version_of_the_jdk_and_not_by_its_name(
    jdk: str, version: str | None, pins: bool
) -> None:
    idle = fork_with(window(sut=sut_usage(cpu_share=0.05)))
    inputs = {"jdk": {"version": version}} if version else {}
    record = cell(key(jdk=jdk), (idle,)).model_copy(update={"identity": Identity(digest="d", inputs=inputs)})
    said = held_back(CellStats(record), far_behind=True) or ""
    assert said.startswith("held up with 5 % of its CPUs in use")
    assert ("probably pinned carriers" in said) is pins and ("something else bounds it" in said) is not pins


def test_a_check_that_can_tell_little_differences_says_how_little() -> None:
    forks = tuple(fork_with(window(), number=number) for number in (1, 2, 3))
    one, other = (cell(key(arm), forks) for arm in ("liberty", "liberty-aa"))
    loaded = run_of([scaled(one, (1.0, 1.0, 1.0)), scaled(other, (0.999, 1.0, 1.001))])
    (notice,) = aa_notices(judged(loaded)[1])
    assert notice.title == "A/A check" and "can tell differences above 0.2 %" in notice.text


def test_an_arm_without_a_usable_fork_is_not_said_to_have_missed_peak_knee_or_rate(tmp_path: Path) -> None:
    for loaded, title in (
        (ramped(tmp_path / "level", LEVEL), "Throughput second by second"),
        (ramped(tmp_path / "rising", RISING), "p99 second by second"),
        (searched(synthetic_run(tmp_path / "searched", replace(FIVE, blocks=2))), "Latency over rate"),
    ):
        failed = with_outcomes(loaded, {"virtual": all_of(hung, 2)})
        (note,) = (chart.note for chart in PageOfRun(failed).charts(title))
        assert "virtual: no usable fork" in note.split("; "), title


def test_a_backlog_that_is_left_at_the_end_was_not_worked_off(tmp_path: Path) -> None:
    """The server stands still for 15 s, and then answers more than it is asked for until the ramp ends."""

    def late(one: Window) -> Window:
        intervals = (
            second.model_copy(update={"completed": 0 if second.t_s <= 15 else 1200}) for second in one.load.intervals
        )
        return with_load(one, {"intervals": tuple(intervals)})

    loaded = with_forks(ramped(tmp_path, LEVEL), lambda _, fork: windows_of(fork, late))
    (said,) = became(CellStats(loaded.cells[0]))
    assert said.startswith("did not reach 1,000 requests/s; its median response took")
