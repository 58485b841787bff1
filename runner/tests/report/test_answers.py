"""The answer first: its pair, the delay from which one is ahead, why one may be behind, and what tunings gain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.domain.executors import references
from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.records.limits import Enforcement
from jdkmatrix.report.blocks.kinds import Charts, HowToRead, Items
from jdkmatrix.report.cells.advice import OUTCOME, Side, advise
from jdkmatrix.report.cells.causes import held_back, likely_cause
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.slices import Pair, slices
from jdkmatrix.report.charts.shapes import dash_of
from jdkmatrix.report.run_page.answers import crossover_sentence
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE
from jdkmatrix.store.cells import Identity
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cell, fork_with, key, sut_usage, window
from tests.support.judged_pages import PageOfRun, answer_of, judged, key_of, page_of, printed
from tests.support.outcome_runs import run_of
from tests.support.pages import found, plain
from tests.support.served_runs import QUICK, Shape, made_up, with_stopping
from tests.support.sites import reference

BETTER, WORSE, SAME = PairFinding.BETTER, PairFinding.WORSE, PairFinding.NO_DIFFERENCE_SEEN


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ({0: WORSE, 2000: SAME, 20_000: BETTER, 1_000_000: BETTER},
         "virtual is ahead from a delay of 20 ms on; it is not shown to be at 0 ms and 2 ms; liberty is ahead at 0 ms; "
         "nothing is shown at 2 ms. Measured: 0 ms, 2 ms, 20 ms and 1 s."),
        ({0: BETTER, 2000: BETTER}, "virtual is ahead at every delay that was measured. Measured: 0 ms and 2 ms."),
        ({0: WORSE, 2000: WORSE},
         "virtual is not shown to be ahead at any delay that was measured; liberty is ahead at 0 ms and 2 ms. "
         "Measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: BETTER, 20_000: WORSE},
         "virtual is ahead at 2 ms, but not at every longer delay; liberty is ahead at 20 ms; nothing is shown at "
         "0 ms. Measured: 0 ms, 2 ms and 20 ms."),
        ({0: SAME, 2000: BETTER, 20_000: None, 200_000: BETTER},
         "virtual is ahead at 2 ms and from a delay of 200 ms on; it is not shown to be at 0 ms; nothing is shown at "
         "0 ms; no verdict at 20 ms. Measured: 0 ms, 2 ms, 20 ms and 200 ms."),
        ({0: None, 2000: PairFinding.NOT_JUDGED}, "no verdict at any delay that was measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: None},
         "virtual is not shown to be ahead at any delay that was judged; nothing is shown at 0 ms; no verdict at 2 ms. "
         "Measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: BETTER, 20_000: None},
         "virtual is ahead at 2 ms; nothing is shown at 0 ms; no verdict at 20 ms. Measured: 0 ms, 2 ms and 20 ms."),
    ],
)  # fmt: skip
def test_from_which_delay_on_one_is_ahead(findings: dict[int, PairFinding | None], expected: str) -> None:
    """A delay without a verdict does not count as one at which nobody is ahead."""
    assert crossover_sentence(findings, "virtual", "liberty") == expected


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
def test_an_arm_is_set_against_its_reference_or_the_only_pool(names: tuple[str, ...], compared: dict[str, str]) -> None:
    found = references(names, "open-liberty")
    assert {name: base for name, base in found.items() if base in names and base != name} == compared


def test_who_of_a_pair_was_not_measured_is_named() -> None:
    pair = Pair("virtual", "liberty")
    assert pair.absent(iter(("virtual", "liberty"))) is None
    assert pair.absent(["liberty"]) == "virtual has no cell here"
    assert pair.absent(()) == "virtual and liberty have no cell here"
    answer = answer_of(run_of([cell(key("helidon", server="helidon"), (fork_with(window()),))]))
    assert answer.sentences == (("", "There is no ratio virtual / helidon: virtual has no cell here."),)


def test_a_run_of_another_pair_answers_for_that_pair() -> None:
    """The pair is that of the scenario pinning-http: virtual threads on few carriers, and a pool of its own."""
    pair = ("fixed-60", "virtual+carriers-max-4")
    page = PageOfRun(made_up(replace(QUICK, executors=pair, blocks=5)))
    (piece,) = slices(page.judged.cells)
    assert piece.pair == Pair("virtual+carriers-max-4", "fixed-60") and page.judged.cells.references == "fixed-60"
    for answer in page.answers:
        assert "no answer" not in answer.lead
        assert [term for term, _ in answer.sentences] == ["Throughput", "CPU per request"]
        assert all("(ratio " in text for _, text in answer.sentences)
    assert page.maps
    assert [row.versus.text for row in page.rows if row.key.executor == "fixed-60"] == ["1", "1"]


def test_a_rate_load_is_answered_by_cpu_first() -> None:
    for shape, leading, kind in (
        (replace(QUICK, loads=("rate-2000",), blocks=3), "CPU per request", "intended send time"),
        (replace(QUICK, blocks=3), "Throughput", "Service time in a closed loop"),
    ):
        page = PageOfRun(made_up(shape))
        assert next(term for term, _ in page.answers[0].sentences) == leading
        (words,) = (group.words for group in found(page.page.blocks, Charts) if group.title == "Latency by percentile")
        assert kind in str(words)


def test_the_figures_of_a_run_that_looked_at_its_intervals_know_their_confidence() -> None:
    """Without their confidence, figures would count for less than they are when pooled with those of other runs."""
    fixed = made_up(Shape(jdks=("temurin-25",), blocks=4))
    for run, confidence in ((fixed, CONFIDENCE), (with_stopping(fixed), SEQUENTIAL_CONFIDENCE)):
        _, judgements = judged(run)
        estimate = advise(judgements, key_of(run))[0].estimate()
        assert (estimate.blocks, estimate.confidence) == (4, confidence)


def test_one_block_is_a_hint_and_no_advice() -> None:
    loaded = made_up(replace(QUICK, blocks=1))
    _, judgements = judged(loaded)
    (first, *_) = advise(judgements, key_of(loaded))
    assert first.side is Side.OPEN and first.under == "one block"
    assert first.sentence.startswith("Only a hint, from one block: with virtual threads throughput is ")


def cells_of(loaded: LoadedRun, workload: str) -> dict[str, CellStats]:
    return {cell.key.executor: cell for cell in Cells(loaded.run, loaded.cells) if cell.key.workload == workload}


def test_context_switches_are_a_likely_cause_where_the_cpu_is_what_one_is_behind_in() -> None:
    def cause(
        cells: dict[str, CellStats], virtual: str, pool: str, ahead: str | None = None, of: str = ""
    ) -> str | None:
        return likely_cause({name: cells[name] for name in (virtual, pool)}, ahead, of)

    quick = cells_of(reference("20261124T182303Z-quick"), "mp-ping")
    assert cause(quick, "virtual", "liberty", "liberty") is not None
    assert cause(quick, "virtual", "liberty", "virtual") is None, "fewer are no reason to be behind"
    assert cause(quick, "virtual", "liberty") is None, "none is behind"
    bank = cells_of(reference("20261128T125116Z-quick"), "banking")
    assert cause(bank, "virtual", "liberty", "liberty") is None, "twice as many, on CPUs that idle"
    assert cause(bank, "virtual", "liberty", "liberty", OUTCOME) is None, "as of one that misses its rate"
    assert cause(bank, "virtual", "liberty", "liberty", CPU.id) is not None
    pinned = cells_of(reference("20261124T043223Z-pinning-http.small"), "pinning-http-synchronized")
    assert cause(pinned, "virtual+carriers-max-4", "fixed-60", "fixed-60") is None, "they wait for a carrier"


def test_where_a_request_costs_as_much_the_cpu_left_idle_is_the_likely_cause() -> None:
    """Idle CPU is the likely cause however many context switches there are: 22.1 against 6.88 here."""
    bank = cells_of(reference("20261130T161540Z-spring-quarkus-bank.small"), "bank-sql-crud-agroal")
    told = "CPU left idle (in use: 94.5 % with quarkus-virtual, 100 % with quarkus)"
    arms = {name: bank[name] for name in ("quarkus-virtual", "quarkus")}
    assert likely_cause(arms, "quarkus", THROUGHPUT.id) == told
    assert likely_cause(arms, "quarkus", P99.id) is None, "idle CPU is no reason to answer late"
    thousands = cells_of(reference("20261128T080238Z-infoq-thousands.small"), "banking-patient")
    arms = {name: thousands[name] for name in ("virtual", "liberty")}
    assert likely_cause(arms, "virtual", THROUGHPUT.id) == (
        "CPU left idle (in use: 97.0 % with virtual, 80.7 % with liberty)"
    )


def test_that_most_of_its_requests_fail_is_the_likely_cause_whatever_else_a_server_does() -> None:
    """The cause is not its context switches per good answer, which are hundreds of times as many."""
    hasty = cells_of(reference("20261201T140526Z-bank-sql"), "bank-sql-10-hasty")
    told = "with tomcat-virtual 98,091 of 98,336 requests failed, and some waited too long for a connection"
    assert likely_cause(hasty, "tomcat", THROUGHPUT.id) == likely_cause(hasty, "tomcat", CPU.id) == told


def test_a_likely_cause_stands_below_the_ratio_and_two_figures_for_one_thing_say_why() -> None:
    """The sentence has 37,500, the table 37,540: forks that took turns are compared in the rounds of both."""
    page = PageOfRun(reference("20261124T182303Z-quick"))
    said = page.answers[0].sentences
    assert said[-1][0] == "A likely cause"
    assert dict(said)["Throughput"].endswith("37,500 against 58,840 requests/s in the rounds that count for both).")
    assert {row.throughput.text for row in page.rows if row.key.executor == "virtual"} != {"37,500"}


@pytest.mark.parametrize(
    ("run_id", "cause"),
    [
        ("20261124T182303Z-quick", "context switches per request: 2.04 with virtual, 0.172 with liberty."),
        (
            "20261128T125116Z-quick",
            "with virtual the server was held up with 17 to 19 % of its CPUs in use: probably pinned carriers (before "
            "JDK 24, waiting inside synchronized pins them).",
        ),
    ],
)
def test_run_and_cell_say_what_may_be_why_one_is_behind(run_id: str, cause: str) -> None:
    run = reference(run_id)
    assert ("A likely cause", cause) in PageOfRun(run).answers[0].sentences
    (against,) = (one for one in found(page_of(run).blocks, Items) if one.css == "against")
    assert plain(against.items[-1]) == f"A likely cause: {cause}"


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
def test_what_pins_is_told_by_the_version_of_the_jdk_not_by_its_name(jdk: str, version: str | None, pins: bool) -> None:
    idle = fork_with(window(sut=sut_usage(cpu_share=0.05)))
    inputs = {"jdk": {"version": version}} if version else {}
    record = cell(key(jdk=jdk), (idle,)).model_copy(update={"identity": Identity(digest="d", inputs=inputs)})
    said = held_back(CellStats(record), far_behind=True) or ""
    assert said.startswith("held up with 5 % of its CPUs in use")
    assert ("probably pinned carriers" in said) is pins and ("something else limits it" in said) is not pins


def test_how_much_of_a_quota_was_used_is_no_share_of_cpus() -> None:
    quota = Enforcement(limit="CPU quota", maximum=500, by="cgroup v2")
    idle = fork_with(window(sut=sut_usage(cpu_share=0.05))).model_copy(update={"limits": (quota,)})
    assert (idle.cpus_allowed, fork_with(window()).cpus_allowed) == (0.5, 1)
    said = held_back(CellStats(cell(key(), (idle,))), far_behind=True) or ""
    assert said.startswith("held up with 5 % of its quota of CPU time in use")


def test_the_strongest_figure_of_a_ramp_is_told() -> None:
    said = dict(PageOfRun(reference("20261128T045823Z-infoq-rampup.small")).answers[0].sentences)
    assert "its median response took up to 9.31 s in the worst second" in said["liberty"]
    assert "its median response took up to 1.12 s in the worst second" in said["virtual"]


TUNED = "virtual+carriers-4"
TUNINGS = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", TUNED), blocks=4)


def test_the_answer_says_what_each_tuning_gains_and_cells_and_summary_over_what() -> None:
    run = made_up(TUNINGS)
    page = PageOfRun(run)
    (answer,) = page.answers
    last, gain = answer.sentences[-1]
    assert last == f"Throughput, {TUNED}", "after what the run is about"
    assert f"with {TUNED} than with virtual" in gain or f"between {TUNED} and virtual" in gain
    assert page.judged.cells.references == "liberty or virtual"
    under = {row.key.executor: row.versus.under for row in page.rows}
    assert (under[TUNED] or "").endswith("of virtual")
    assert " of " not in (under["virtual"] or "")
    summary = printed(run)
    assert "× liberty or virtual" in summary
    assert "a tuned executor over itself without the tuning" in " ".join(summary.split())


def test_no_two_executors_have_the_same_colour_and_dash() -> None:
    assert len({(place % 8, *dash_of(place)) for place in range(64)}) == 64


def test_the_legend_has_what_was_measured() -> None:
    run = made_up(TUNINGS)
    less = replace(run, cells=tuple(cell for cell in run.cells if cell.key.executor != TUNED))
    for loaded, names in ((run, ["liberty", "virtual", TUNED]), (less, ["liberty", "virtual"])):
        groups = found(PageOfRun(loaded).page.blocks, Charts)
        assert groups and all([plain(one) for one in group.key] == names for group in groups)


def test_of_several_conditions_what_each_tuning_gains_is_a_tally() -> None:
    (answer,) = PageOfRun(made_up(replace(TUNINGS, burn_us=(0, 100), blocks=2))).answers
    assert " in all 2 conditions. The largest difference: " in dict(answer.sentences)[f"Throughput, {TUNED}"]


def test_a_tuning_is_told_over_what_it_was_measured_beside() -> None:
    """If nobody asked for plain virtual threads, a tuning is measured beside the pool."""
    arms = ("liberty", "virtual+carriers-1", TUNED)
    (answer,) = PageOfRun(made_up(replace(TUNINGS, executors=arms))).answers
    (gain,) = (text for title, text in answer.sentences if title == f"Throughput, {TUNED}")
    assert "liberty" in gain and "virtual " not in gain.replace(TUNED, "")


def test_tunings_of_the_pool_alone_are_told_of_all_conditions() -> None:
    tuned = "liberty+slice-10ms"
    shape = Shape(jdks=("temurin-25",), executors=("liberty", tuned), cpus=(1, 2), blocks=2)
    answer = answer_of(made_up(shape))
    assert answer.lead == "temurin-25", "it has an answer"
    assert " 2 conditions" in dict(answer.sentences)["Throughput"]


def test_without_a_pool_the_page_is_about_the_first_tuning() -> None:
    base, *tuned = ("virtual", TUNED, "virtual+unparkers-4")
    page = PageOfRun(made_up(replace(TUNINGS, executors=(base, *tuned))))
    (piece,), (answer,) = slices(page.judged.cells), page.answers
    (score,) = page.maps
    assert piece.pair == Pair(tuned[0], base) and score.columns == ("Throughput",), "no other figure is judged"
    assert "no answer" not in answer.lead and " throughput" in answer.lead
    assert [term for term, _ in answer.sentences] == ["Throughput", f"Throughput, {tuned[1]}"]
    (read,) = found(page.page.blocks, HowToRead)
    assert read.pairs == "", "a tuning is judged in the leading figure alone"
