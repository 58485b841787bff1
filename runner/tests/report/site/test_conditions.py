"""Conditions over several runs: which run of a host answers, who is ahead over many, and a run at a glance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Prose
from jdkmatrix.report.blocks.tables import DataTable
from jdkmatrix.report.cells.advice import Side
from jdkmatrix.report.site.conditions import conditions_maps, overview
from jdkmatrix.report.site.digest import MeasuredCondition
from jdkmatrix.report.site.home import home_page, offered
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.stats.pooling import pooled
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.outcome_runs import all_of, hung, with_outcomes
from tests.support.pages import found, plain
from tests.support.ramped_runs import LEVEL, ramped
from tests.support.records import altered, with_forks
from tests.support.served_runs import Shape, made_up
from tests.support.shipped import MATRIX
from tests.support.sites import conditions_of, digest_of, first_of, saying
from tests.support.stepped_runs import searched

FIVE = Shape(blocks=5, windows=1)
ALONE = replace(FIVE, jdks=("temurin-25",))


def test_a_driver_is_that_of_the_arm_that_was_measured() -> None:
    """Otherwise a run whose virtual threads all hang in their warm-up would answer alone, and decide nothing."""
    sound = made_up(ALONE)
    (usual,) = digest_of(sound).conditions
    hangs = digest_of(with_outcomes(sound, {"virtual": all_of(hung)}))
    assert usual.driver and [one.driver for one in hangs.conditions] == [usual.driver]
    assert {one.driver for one in hangs.cells} == {usual.driver}


def test_one_line_sums_up_all_conditions() -> None:
    runs = (
        "20261127T142932Z-carriers",
        "20261128T113605Z-infoq-cpu.small",
        "20261129T150551Z-bank-sql",
        "20261130T161540Z-spring-quarkus-bank.small",
    )
    found = [condition for run in runs for condition in conditions_of(run)]
    told = [(condition.task, condition.advice) for condition in found]
    assert overview(told) == (
        "Over all 11 conditions: with tasks of up to 100 µs, the pool is ahead in 2 of 2; with tasks of 300 µs, "
        "virtual threads are ahead in 1 of 2, the pool in 1; with tasks of 1,000 µs, the pool is ahead in 1 of 3, no "
        "difference seen in 1, cannot tell in 1; where requests wait for a remote system, the pool is ahead in 2 of 4, "
        "cannot tell in 2."
    )
    assert overview(told[:1]) is None


def test_what_is_not_decided_is_told_apart() -> None:
    (quick,) = conditions_of("20261124T182303Z-quick")
    pool, same = quick.advice[0], replace(quick.advice[0], side=Side.OPEN, word="no difference seen")
    wide, unjudged = (replace(same, word=word) for word in ("cannot tell", "not judged"))
    leads = ((0, same), (0, wide), (0, wide), (100, pool), (100, replace(pool, side=Side.VIRTUAL)), (100, pool),
             (100, unjudged))  # fmt: skip
    # Another figure that decides something puts nobody ahead: the leading one is what is shown.
    assert overview([(TaskSize(burn_us, 0), [lead, pool]) for burn_us, lead in leads]) == (
        "Over all 7 conditions: with no added work, cannot tell in 2 of 3, no difference seen in 1; with tasks of 100 "
        "µs, the pool is ahead in 2 of 4, virtual threads in 1, not judged in 1."
    )


def test_of_several_runs_the_one_that_knows_best_answers_as_all_come_to_together() -> None:
    """A well-known 0.637 must not give way to 0.63 of a noisy day, nor be told as if there were no other day."""
    run = digest_of(made_up(FIVE))
    noisy, known = saying(run, "b", 0.56, 0.63, 0.72), saying(run, "a", 0.620, 0.637, 0.655)
    found = first_of(noisy, known)
    assert (found.run.run_id, found.condition.page) == ("a", known.conditions[0].page)
    lead = found.advice[0]
    assert (lead.side, lead.value) == (Side.POOL, "0.637") and "% lower (95 % interval " in lead.sentence
    assert lead.low is not None and lead.high is not None and lead.sentence.startswith("Keep the pool for ")
    torn = first_of(saying(run, "b", 0.75, 0.76, 0.77), saying(run, "c", 0.52, 0.53, 0.54))
    assert (torn.advice[0].side, torn.advice[0].word) == (Side.OPEN, "cannot tell")
    assert torn.advice[0].sentence.startswith("Cannot tell: with virtual threads throughput is anywhere between")
    ratios = f"throughput 0.630, 0.637; together {lead.value} ({lead.under})"
    assert found.together == f"2 runs, newest first: {ratios}", "one figure, rounded once"
    alone = first_of(noisy)
    assert (alone.run.run_id, alone.together) == ("b", None)
    jdk, server = run.conditions[0].jdk, run.conditions[0].server
    turns = replace(known.conditions[0], protocol="another protocol")
    others: tuple[dict[str, Any], ...] = (
        {"kernel": "7.0"}, {"jdks": ((jdk, "another build"),)}, {"servers": ((server, "another release"),)},
        {"conditions": (turns,)},
    )  # fmt: skip
    for other in others:
        assert first_of(noisy, replace(known, **other)).run.run_id == "b"
    assert first_of(noisy, replace(known, kernel=f"{run.kernel}-2")).run.run_id == "a"


def test_what_several_runs_leave_open_is_no_difference_where_they_exclude_all_that_matters() -> None:
    run = digest_of(made_up(FIVE))
    ratios = (("c", 0.985, 0.990, 0.995), ("b", 0.990, 1.002, 1.014), ("a", 0.988, 1.000, 1.012))
    runs = [saying(run, *told) for told in ratios]
    near = first_of(*runs).advice[0]
    assert near.low is not None and near.high is not None and 0.95 < near.low < 1 < near.high < 1.05
    assert (near.side, near.word) == (Side.OPEN, "no difference seen")
    assert near.sentence.startswith("No difference in throughput was seen: ")
    first, *others = runs[0].conditions[0].advice
    strict = replace(runs[0].conditions[0], advice=(replace(first, relevant=0.005), *others))
    told = first_of(replace(runs[0], conditions=(strict,)), *runs[1:])
    assert told.advice[0].word == "cannot tell", "one percent matters there"


def test_each_figure_is_pooled_by_the_blocks_behind_it() -> None:
    """If the leading one is a bound in three blocks of five, as a rate held may be, the others have all five."""
    run = digest_of(made_up(FIVE))
    condition = run.conditions[0]
    lead, other, *_ = condition.advice
    few = replace(lead, ratio=0.64, low=0.5, high=0.82, blocks=2)
    told = replace(condition, blocks=2, advice=(few, replace(other, side=Side.POOL, ratio=1.2, low=1.14, high=1.26)))
    found = first_of(*(replace(run, run_id=name, conditions=(told,)) for name in "ba")).advice[1]
    each = Estimate(1.2, 1.14, 1.26, 5, of_ratio=True)
    whole = pooled([each, each])
    assert (found.figure, found.low, found.high) == (other.figure, whole.low, whole.high)


@pytest.mark.parametrize(
    ("run", "figures"),
    [(searched(made_up(ALONE)), ["capacity", "throughput"]), (ramped(LEVEL), ["time-to-peak", "throughput"])],
    ids=["a search", "a ramp"],
)
def test_the_leading_figure_leads_whatever_the_order_of_tables(run: LoadedRun, figures: list[str]) -> None:
    lead, other, *_ = first_of(digest_of(run)).advice
    assert [lead.figure, other.figure] == figures
    blocks = home_page([digest_of(run)], (), (), offered(MATRIX)).blocks
    (said,) = [str(one.text) for one in found(blocks, Prose) if one.css.startswith("verdict")]
    assert plain(said).replace("\u00a0", " ").endswith(lead.sentence)
    (table,) = [one for one in found(blocks, DataTable) if one.id == "answers-table"]
    assert f'data-lead="{figures[0]}"' in table.body


def test_an_answer_counts_the_blocks_of_the_figure_it_begins_with() -> None:
    """A search that found nothing has no capacity; its answer is of throughput."""

    def without_result(_: CellRecord, fork: Fork) -> Fork:
        assert fork.capacity is not None
        nothing = {"held_rps": None, "failed_rps": None, "outcome": SearchOutcome.INVALID_WINDOWS.value}
        return altered(fork, {"capacity": fork.capacity.model_copy(update=nothing)})

    (condition,) = digest_of(with_forks(searched(made_up(ALONE)), without_result)).conditions
    assert (condition.advice[0].figure, condition.blocks) == ("throughput", 5)


def test_tasks_and_delays_stand_across_and_workloads_down() -> None:
    half = [condition("mp-ping", 500, 0), condition("banking", 0, 2_000), condition("banking", 0, 20_000)]
    by_loadgen = replace(condition("banking", 0, 200_000), driver="loadgen")
    maps = conditions_maps([(f"answer-{number}", one) for number, one in enumerate([*half, by_loadgen])])
    assert [one.title.rpartition(" ")[2] for one in maps] == ["wrk2", "loadgen"], "a map for each driver"
    first = maps[0]
    assert first.columns == ("remote delay of 2 ms", "remote delay of 20 ms", "tasks of 500 µs")
    assert [(head, [entry.href for entry in entries]) for head, entries in first.rows] == [
        ("mp-ping", [None, None, "#answer-0"]), ("banking", ["#answer-1", "#answer-2", None]),
    ]  # fmt: skip
    assert conditions_maps([("answer-0", half[0])]) == (), "one condition is its own answer"
    (own,) = conditions_maps([("", replace(one, server="command")) for one in half])
    assert own.title == f"Virtual threads / pool on {half[0].jdk}, 1 CPU, under share-50, by wrk2"


def condition(workload: str, burn_us: int, wait_us: int) -> MeasuredCondition:
    (quick,) = conditions_of("20261124T182303Z-quick")
    return replace(quick, workload=workload, burn_us=burn_us, wait_us=wait_us, load="share-50", driver="wrk2")
