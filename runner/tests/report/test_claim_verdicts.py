"""Verdicts on published claims: what the results of a run say for or against them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import BY_ID, THROUGHPUT, TIME_TO_PEAK
from jdkmatrix.records.claims import CheckedCells, ClaimCheck, ClaimRecord, ClaimSource, Precondition, PublishedFigure
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import NotTestable
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.claims.estimates import Results
from jdkmatrix.report.claims.evidence import CellForks, ClaimEvidence, SeenFigure, evidence, not_steady_words, together
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedClaim, judge, rests_on
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE
from jdkmatrix.stats.verdicts import ArmRefusals, Refused
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.experiment_runs import experiments_of
from tests.support.judged_pages import key_of
from tests.support.records import altered_run, in_whole, with_forks
from tests.support.served_runs import QUICK, Shape, made_up, with_scenario, with_stopping
from tests.support.shipped import REGISTRY
from tests.support.sites import reference

SOURCE = ClaimSource(title="SYNTHETIC", no_url="Nowhere.")
RATIO = PublishedFigure(
    quantity="throughput", arm="virtual", versus="liberty", low=0.6, high=0.9, unit="ratio", as_printed="less"
)
UNKNOWN = Precondition(says="direct buffers", metric="no such figure", low=1)
REFUSED = ArmRefusals(Refused(30, 30, {"foreign-cpu": 30}), Refused(13, 3, {"foreign-cpu": 3}), 1e-7)
VERSUS = ClaimCheck(says="throughput", metric="throughput", arm="virtual", versus="liberty", figure=1)


@pytest.fixture(scope="module")
def loaded() -> LoadedRun:
    """Return a run with virtual / liberty at about 0.83 in each of its cells."""
    return made_up(Shape(jdks=("temurin-25",), cpus=(1, 2), blocks=4))


def ours(check: ClaimCheck = VERSUS, /, **changes: Any) -> ClaimCheck:
    """Return the check with a band of our own."""
    return check.model_copy(update={"figure": None, "inference": "i", **changes})


def claim(*checks: ClaimCheck, **changes: Any) -> ClaimRecord:
    values = {"id": "x", "condition": "c", "published": "p", "figures": (RATIO,), "source": SOURCE, "checks": checks}
    return ClaimRecord.model_validate({**values, **changes})


def told(loaded: LoadedRun, one: ClaimRecord, *refused: tuple[CellKey, CellKey]) -> ClaimEvidence:
    """Return the evidence on a claim. `refused`: pairs whose gates refused the first arm more often."""
    cells, experiments = Cells(loaded.run, loaded.served), Cells(loaded.run, loaded.experiments, served=False)
    return evidence(one, Results(loaded.run, cells, experiments, dict.fromkeys(refused, REFUSED)))


def judged(loaded: LoadedRun, one: ClaimRecord, *refused: tuple[CellKey, CellKey]) -> JudgedClaim:
    return judge(one, told(loaded, one, *refused))


def with_band(**band: float | None) -> ClaimRecord:
    return claim(VERSUS, figures=(RATIO.model_copy(update={"low": None, "high": None, **band}),))


ONE_CPU = VERSUS.model_copy(update={"where": CheckedCells(cpus=(1,))})
ONCE = ours(one_is_enough=True, high=2.0)
NEVER = ours(one_is_enough=True, low=2.0)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((ours(low=0.6, high=0.95),), ClaimVerdict.REPRODUCED),
        ((ours(low=1.2),), ClaimVerdict.CONTRADICTED),
        ((ours(low=0.829, high=0.831),), ClaimVerdict.INCONCLUSIVE),
        ((ONE_CPU, ours(low=2.0)), ClaimVerdict.CONTRADICTED),  # by one cell, of a claim about all
        ((ONCE,), ClaimVerdict.REPRODUCED),
        ((NEVER,), ClaimVerdict.NOT_SEEN),  # what can happen is never contradicted
        ((ONCE, NEVER), ClaimVerdict.NOT_SEEN),  # both are said to happen
        ((ours(difference=True, high=0.0),), ClaimVerdict.REPRODUCED),
    ],
)
def test_interval_and_band_decide(loaded: LoadedRun, checks: tuple[ClaimCheck, ...], verdict: ClaimVerdict) -> None:
    assert judged(loaded, claim(*checks)).verdict is verdict


def test_every_cell_is_judged_by_the_ratio_of_its_page(loaded: LoadedRun) -> None:
    (check,) = judged(loaded, with_band(high=9)).checks
    assert [cell.key.cpus for cell in check.cells] == [1, 2]
    cells = Cells(loaded.run, loaded.served)
    for cell in check.cells:
        assert (cell.estimate.value, cell.estimate.blocks) == (cells.over(THROUGHPUT, cell.key).ratio.value, 4)
    assert len({cell.estimate.value for cell in check.cells}) == 2


def test_where_one_cell_is_enough_the_others_are_told_and_so_are_forks_that_were_not_steady(loaded: LoadedRun) -> None:
    one = claim(ours(one_is_enough=True, high=1.0))
    (check,) = told(loaded, one).checks
    far = replace(check.cells[1], estimate=Estimate(3.0, 2.9, 3.1, 4, of_ratio=True))
    full = SeenFigure("a full server", "CPU use", "virtual", 40.0, "%", holds=False)
    idle = replace(far, estimate=Estimate(2.0, 1.9, 2.1, 4, of_ratio=True), seen=(full,))
    (line,) = rests_on(judge(one, ClaimEvidence("x", (replace(check, cells=(check.cells[0], far, idle)),))))
    found = "(elsewhere 3.00 (2.90–3.10); elsewhere 2.00 (1.90–2.10), needs a full server (virtual: CPU use 40.0 %))"
    assert f" in 1 of 3 cells {found}; " in line and "steady" not in line

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        return fork.model_copy(update={"status": Status.NOT_STEADY}) if (cell.key.cpus, fork.fork) == (1, 1) else fork

    (line,) = rests_on(judged(with_forks(loaded, changed), one))
    assert "; 2 of 16 forks not steady" in line
    base = CellForks("run", "base", 5, 1)
    arms = [replace(far, behind=(CellForks("run", name, 5, 0), base)) for name in ("arm", "another")]
    assert not_steady_words(arms) == ("1 of 15 forks not steady",)


def test_a_bound_says_no_more_than_is_known() -> None:
    """Rounded to the nearest, 2,996 would read as the edge that it does not reach."""
    for low, high, words in (
        *((2996.0, None, "at least 2,990 requests/s"), (3000.0000000004, None, "at least 3,000 requests/s")),
        *((2999.9999999999, None, "at least 3,000 requests/s"), (None, 0.38149, "at most 0.382 requests/s")),
        *((None, 0.0, "at most 0 requests/s"), (-12.34, None, "at least −12.4 requests/s")),
    ):
        estimate = Estimate(low or high or 0.0, low, high, 3, of_ratio=False, one_sided=True)
        cell = JudgedCell(key=key(), build=None, estimate=estimate, why=None, verdict=ClaimVerdict.INCONCLUSIVE)
        assert cell.measured("requests/s").text == words


def test_a_peak_is_asked_of_each_fork(loaded: LoadedRun) -> None:
    cells, metric = Cells(loaded.run, loaded.served), BY_ID["longest"]
    values = [figure.value * metric.scale for figure in cells.some(cells.keys)[0].figures(metric).values()]
    between = (min(values) + max(values)) / 2
    assert min(values) < max(values)
    of_each = Precondition(says="a peak", metric=metric.id, arm=cells.keys[0].executor, low=between)
    at_most = of_each.model_copy(update={"low": None, "high": between})
    here = CheckedCells(cpus=(cells.keys[0].cpus,))
    absent = [judged(loaded, claim(ours(high=9, requires=(one,), where=here))).verdict for one in (of_each, at_most)]
    assert absent == [ClaimVerdict.CAUSE_ABSENT] * 2


def test_without_its_cause_an_effect_proves_nothing(loaded: LoadedRun) -> None:
    """Without its cause, a missing effect contradicts nothing either; the figure that was seen is told."""
    full = Precondition(says="a full server", metric="cpu-share", arm="liberty", low=0.1)
    more = Precondition(says="more CPUs than there are", metric="cpu-share", low=1e6)
    for band, without in (({"high": 9.0}, ClaimVerdict.REPRODUCED), ({"low": 2.0}, ClaimVerdict.CONTRADICTED)):
        for requires in ((), (full,)):
            assert judged(loaded, claim(ours(**band, requires=requires))).verdict is without
        absent = judged(loaded, claim(ours(**band, requires=(full, more))))
        assert absent.verdict is ClaimVerdict.CAUSE_ABSENT
        (line,) = rests_on(absent)
        assert line.count("needs more CPUs than there are (virtual: CPU use ") == line.count(", liberty: CPU use ") == 1
        found = judged(loaded, claim(ours(**band, requires=(UNKNOWN,))))
        assert found.verdict is ClaimVerdict.NOT_MEASURED
        assert "not recorded" in rests_on(found)[0]


def test_a_bound_meets_no_limit_that_it_may_exceed_and_some_things_are_asked_of_bounds_alone() -> None:
    """The knee of a ramp that showed none is at least the ramp's end."""
    run = in_whole(reference("20261125T010916Z-delay-ramp.small"))
    one = REGISTRY.records(["delay-ramp-virtual"])[0]

    def came_to(needed: Precondition, **changes: object) -> JudgedClaim:
        checks = tuple(check.model_copy(update={"requires": (needed,), **changes}) for check in one.checks)
        return judged(run, one.model_copy(update={"checks": checks}))

    full = Precondition(says="all of the CPU", metric="cpu-share", low=101, of_bounds=True)
    assert came_to(full, arm="virtual", low=500).verdict is ClaimVerdict.CAUSE_ABSENT
    assert came_to(full, arm="fixed-200", low=500).verdict is ClaimVerdict.REPRODUCED
    above, below = (
        Precondition(says="a knee", metric="knee", arm="virtual", **end) for end in ({"low": 1000}, {"high": 3000})
    )
    assert came_to(above).verdict is ClaimVerdict.REPRODUCED
    assert came_to(below).verdict is ClaimVerdict.CAUSE_ABSENT
    assert "needs a knee (virtual: rate at the knee of p99 at least 2,000 requests/s)" in rests_on(came_to(below))[0]


def test_what_is_asked_of_bounds_is_looked_for_in_the_forks_that_have_one() -> None:
    """On 23.0.0.10, the pool reached its peak in four of five forks; what the fifth left idle says why it did not."""
    run = JudgedRun(reference("20261128T045823Z-infoq-rampup.small"))
    results = Results(run.run, run.cells, run.experiments, run.refusals)
    of_bounds = Precondition(says="idle CPUs", metric="cpu-share", arm="liberty", high=80, of_bounds=True)
    peaks = [(cell, cell.figures(TIME_TO_PEAK).items()) for cell in run.cells]
    bound = [(cell, [one for one, figure in figures if not figure.compares]) for cell, figures in peaks]
    ((cell, (slow,)),) = [(cell, forks) for cell, forks in bound if 0 < len(forks) < len(cell.usable)]
    _, value, _, _ = results.seen(of_bounds, cell.key, TIME_TO_PEAK.id)
    assert value == pytest.approx(100 * cell.figures(BY_ID["cpu-share"])[slow].value)
    _, overall, _, _ = results.seen(of_bounds.model_copy(update={"of_bounds": False}), cell.key, TIME_TO_PEAK.id)
    assert overall != pytest.approx(value)


def test_what_a_verdict_does_not_rest_on_is_told_beside_it(loaded: LoadedRun) -> None:
    elsewhere = VERSUS.model_copy(update={"says": "another", "where": CheckedCells(cpus=(9,))})
    absent = Precondition(says="more than there is", metric="cpu-share", low=1e6)
    lacking = VERSUS.model_copy(update={"says": "a third", "requires": (absent,)})
    found = judged(loaded, claim(VERSUS, elsewhere, lacking))
    assert found.verdict is ClaimVerdict.IN_PART
    first, *others = rests_on(found)
    assert first.startswith("throughput: ") and others[0] == "not testable here: another"
    assert others[1].startswith("cause absent: a third: ") and "needs more than there is" in others[1]
    assert len(rests_on(judged(loaded, claim(elsewhere)))) == 1
    found = judged(loaded, claim(VERSUS, lacking.model_copy(update={"requires": (UNKNOWN,)})))
    assert rests_on(found)[1].startswith("not measured: a third: ")


def test_a_check_of_the_other_size_is_not_missed_where_that_of_this_size_has_its_cells(loaded: LoadedRun) -> None:
    small = VERSUS.model_copy(update={"scale": "small"})
    published = VERSUS.model_copy(update={"says": "larger", "scale": "article", "where": CheckedCells(cpus=(9,))})
    found = judged(loaded, claim(small, published))
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert len(found.checks) == 2 and [line.split(":")[0] for line in rests_on(found)] == ["throughput"]
    neither = claim(VERSUS, small.model_copy(update={"where": CheckedCells(cpus=(9,))}), published)
    assert judged(loaded, neither).verdict is ClaimVerdict.IN_PART, "none stands for it"
    with pytest.raises(ValidationError, match="needs another check of the other scale"):
        claim(VERSUS, published)


def test_blocks_that_were_added_until_ratios_are_known_cost_every_interval_confidence(loaded: LoadedRun) -> None:
    added = with_stopping(loaded)
    ratio = ours(low=0.0)
    for check in (ratio, ours(ratio, difference=True), ours(ratio, versus=None)):
        one = claim(check)
        sure, looked = (judged(each, one).checks[0].cells[0].estimate for each in (loaded, added))
        assert (sure.confidence, looked.confidence) == (CONFIDENCE, SEQUENTIAL_CONFIDENCE)
        assert looked.low < sure.low and looked.value == sure.value


def test_who_drew_a_band_is_told(loaded: LoadedRun) -> None:
    single = RATIO.model_copy(update={"low": None, "high": None, "value": 0.8})
    read = RATIO.model_copy(update={"inference": "read off a graph"})
    tolerant = VERSUS.model_copy(update={"tolerance": 0.5, "inference": "i"})
    ways = (
        (claim(VERSUS), "as published"),
        (claim(VERSUS, figures=(read,)), "ours"),
        (claim(ours(high=9.0)), "ours"),
        (claim(tolerant, figures=(single,)), "published with our tolerance"),
    )
    for one, origin in ways:
        found = judged(loaded, one)
        assert found.checks[0].origin == origin
        assert f"would reproduce it ({origin})" in rests_on(found)[0]


def test_of_many_cells_at_an_edge_one_outside_by_chance_contradicts_nothing() -> None:
    """A claim about that one cell alone would be contradicted by the same figure."""
    shape = Shape(jdks=("temurin-21", "temurin-25"), cpus=(1, 2), burn_us=(0, 100), blocks=4)
    run = made_up(shape)
    cells = judged(run, with_band(high=9)).checks[0].cells
    lowest = min((cell for cell in cells if cell.estimate), key=lambda cell: cell.estimate.high or 0)
    edge = lowest.estimate.high * 1.000001
    among = judged(run, with_band(low=edge)).checks[0].cells
    (found,) = (cell for cell in among if cell.key == lowest.key)
    assert found.verdict is ClaimVerdict.INCONCLUSIVE
    assert found.why == f"by itself it lies outside the band, but one of {len(among)} may do so by chance"
    key = lowest.key
    where = CheckedCells(jdk=(key.jdk,), cpus=(key.cpus,), burn_us=(key.burn_us,))
    figure = RATIO.model_copy(update={"low": edge, "high": None})
    alone = claim(VERSUS.model_copy(update={"where": where}), figures=(figure,))
    assert judged(run, alone).verdict is ClaimVerdict.CONTRADICTED


def test_a_pair_whose_gates_refused_one_arm_more_often_is_not_compared(loaded: LoadedRun) -> None:
    """Gates may refuse the very thing that is compared; it is told how many windows they refused."""
    virtual = key_of(loaded, cpus=1)
    pool = virtual.model_copy(update={"executor": "liberty"})
    for pair in ((virtual, pool), (pool, virtual)):
        first, second = judged(loaded, with_band(low=0.6, high=0.95), pair).checks[0].cells
        assert (first.verdict, second.verdict) == (ClaimVerdict.NOT_MEASURED, ClaimVerdict.REPRODUCED)
        assert "gates refused 30 of 30 windows of " in first.why


def test_several_runs_speak_together() -> None:
    """Runs speak together of the cells that they share; the estimate is known better, and each run's own is told."""
    small, large = (
        made_up(Shape(jdks=("temurin-25",), cpus=cpus, blocks=4, seed=seed))
        for name, cpus, seed in (("a", (1,), 1), ("b", (1, 2), 2))
    )
    one = with_band(high=9)
    found = judge(one, together([told(large, one), told(small, one)]))
    shared, lone = found.checks[0].cells
    assert (shared.key.cpus, lone.key.cpus) == (1, 2)
    assert len(shared.alone) == 2 and not lone.alone
    assert shared.estimate.blocks == 8
    assert min(run.value for run in shared.alone) <= shared.estimate.value <= max(run.value for run in shared.alone)
    alone = ", ".join(digits(run.value, 3) for run in shared.alone)
    assert shared.remark(found.checks[0].unit) == f"2 runs: {alone}"

    def other_heap(cell: CellRecord) -> CellRecord:
        inputs = {"jvm_options": ["-Xmx128m"]} if cell.key.executor == "liberty" else cell.identity.inputs
        return cell.model_copy(update={"identity": cell.identity.model_copy(update={"inputs": inputs})})

    block = made_up(Shape(jdks=("temurin-25",), blocks=1, seed=3))
    (check,) = together([told(block, one), told(small, one)]).checks
    assert [cell.alone for cell in check.cells] == [()] and check.cells[0].estimate.blocks == 4
    assert {fork.forks for fork in check.cells[0].behind} == {4}, "one block is in neither figure nor interval"

    other = replace(small, cells=tuple(map(other_heap, small.cells)))
    (check,) = together([told(large, one), told(other, one)]).checks
    assert [cell.alone for cell in check.cells] == [()] * 3, "the pool had another heap"
    slower = {**small.run.matrix, "loads": {"saturate-50": {"kind": "saturate", "connections": 51}}}
    asked = replace(small, run=small.run.model_copy(update={"matrix": slower}))
    (check,) = together([told(large, one), told(asked, one)]).checks
    assert [cell.alone for cell in check.cells] == [()] * 3, "the load of this name was another one"


def test_a_run_is_judged_by_the_claims_of_today_and_by_all_that_it_has_cells_of(quick: LoadedRun) -> None:
    loaded = with_scenario(quick)
    recorded = loaded.run.scenario.claims[0]
    today = recorded.model_copy(update={"checks": (ours(recorded.checks[0], low=1e9),)})
    other = claim(VERSUS, id="measured by chance")
    without = claim(VERSUS.model_copy(update={"kernel_from": "99"}), id="of another kernel")
    run = JudgedRun(loaded, [today, other, without])
    verdicts = {one.claim.id: one.verdict for one in run.claims}
    assert "of another kernel" not in verdicts and "measured by chance" in verdicts
    (then,) = (one.verdict for one in JudgedRun(loaded).claims if one.claim.id == recorded.id)
    assert verdicts[recorded.id] is ClaimVerdict.CONTRADICTED and then is not ClaimVerdict.CONTRADICTED
    assert run.earlier_verdicts == {recorded.id: then} and not JudgedRun(loaded).earlier_verdicts


def test_forks_that_failed_by_themselves_are_not_left_out_of_a_claim_on_one_executor(loaded: LoadedRun) -> None:
    one = claim(ours(versus=None, metric="cpu", where=CheckedCells(cpus=(1,)), low=0, high=1e6))

    def ending(code: str, status: Status = Status.FAILED) -> JudgedClaim:
        def changed(cell: CellRecord, fork: Fork) -> Fork:
            reasons = (Reason(code=code, message="…"),)
            return fork.model_copy(update={"status": status, "reasons": reasons} if fork.fork == 1 else {})

        return judged(with_forks(loaded, changed), one)

    assert ending("steal", Status.INVALID).verdict is ClaimVerdict.REPRODUCED, "a fault of the host"
    (cell,) = ending("server-hangs").checks[0].cells
    assert cell.verdict is ClaimVerdict.NOT_MEASURED
    assert (cell.why or "").startswith("1 of 4 forks have no such figure, and not by a fault of the host")


def test_one_block_is_inconclusive() -> None:
    found = judged(made_up(replace(QUICK, blocks=1)), with_band(low=0.1, high=9))
    assert found.verdict is ClaimVerdict.INCONCLUSIVE
    assert {cell.why for cell in found.checks[0].cells} == {"one block, no interval"}
    run, one = in_whole(reference("20261125T010916Z-delay-ramp.small")), REGISTRY.records(["delay-ramp-virtual"])[0]
    first = replace(run, cells=tuple(cell.model_copy(update={"forks": cell.forks[:1]}) for cell in run.cells))
    (bound,) = judged(first, one).checks[0].cells
    assert bound.estimate is not None and bound.estimate.one_sided
    assert (bound.verdict, bound.why) == (ClaimVerdict.INCONCLUSIVE, "one block")


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ({"kernel_from": "6.1"}, None),
        ({"kernel_from": "5.14", "kernel_below": "6.7"}, None),
        ({"kernel_from": "6.7"}, "the kernel is 6.2.0-synthetic; the claim is about Linux from 6.7"),
        ({"kernel_from": "4.18", "kernel_below": "4.19"}, "the claim is about Linux from 4.18 and below 4.19"),
        ({"kernel_below": "6.1"}, "the claim is about Linux below 6.1"),
    ],
)
def test_a_claim_of_another_kernel_is_not_testable(loaded: LoadedRun, kernel: dict[str, str], why: str | None) -> None:
    (check,) = judged(loaded, claim(VERSUS.model_copy(update=kernel))).checks
    assert (check.verdict is ClaimVerdict.NOT_TESTABLE_HERE) == (why is not None)
    assert check.why is None if why is None else why in check.why


def test_rss_is_not_judged_where_it_lacks_pages_of_each_thread(loaded: LoadedRun) -> None:
    old = loaded.run.latest_session.host.model_copy(update={"kernel": "6.1.0"})
    less = claim(VERSUS.model_copy(update={"metric": "rss-peak"}))
    told = [
        judged(replace(loaded, run=altered_run(loaded.run, changes)), less).checks[0] for changes in ({}, {"host": old})
    ]
    assert [one.verdict is ClaimVerdict.NOT_TESTABLE_HERE for one in told] == [False, True]
    assert "before 6.2 up to 256 KiB of each thread are not in RSS" in (told[1].why or "")


def test_what_this_run_does_not_have_is_said(loaded: LoadedRun) -> None:
    on_four = VERSUS.model_copy(update={"where": CheckedCells(cpus=(4,), jdk=("*-25",))})
    (check,) = judged(loaded, claim(on_four)).checks
    assert check.verdict is ClaimVerdict.NOT_TESTABLE_HERE
    assert check.why == "this run has no cell on *-25 with 4 CPUs with virtual"
    refused = NotTestable(key=key("virtual", cpus=4), reason="this host has 2 CPUs")
    known = replace(loaded, run=loaded.run.model_copy(update={"not_testable": (refused,)}))
    assert judged(known, claim(on_four)).checks[0].why == "this host has 2 CPUs"
    unchecked = judged(loaded, claim(figures=(), only="graph", not_checked="There is only a graph."))
    assert (unchecked.verdict, unchecked.why) == (ClaimVerdict.NOT_TESTABLE, "There is only a graph.")


def test_published_figures_are_in_units_of_the_page_or_of_another_quantity(loaded: LoadedRun) -> None:
    figure = PublishedFigure(quantity="RSS", arm="virtual", value=1, unit="GiB", as_printed="1 GB")
    peak = ClaimCheck(says="RSS", metric="rss-peak", arm="virtual", figure=1, tolerance=0.5, inference="i")
    (check,) = judged(loaded, claim(peak, figures=(figure,))).checks
    assert (check.unit, check.band.low, check.band.high) == ("MiB", 512, 1536)
    assert all(1 < cell.estimate.value < 1e6 for cell in check.cells)
    (nowhere,) = judged(loaded, claim(ours(peak, figure=1, metric="stack", arm="x"), figures=(figure,))).checks
    assert nowhere.band_words == "0.5 to 1.5 GiB", "of what was not measured"
    answers = figure.model_copy(update={"value": 2000, "unit": "requests"})
    found = judged(loaded, claim(peak.model_copy(update={"metric": "throughput"}), figures=(answers,)))
    assert found.verdict is ClaimVerdict.NOT_TESTABLE
    assert found.checks[0].why == "published in requests, measured in requests/s"
    assert judged(loaded, claim(ours(difference=True, high=0.0))).checks[0].unit == "requests/s"


def test_what_an_experiment_did_not_measure_has_its_unit_and_not_a_servers() -> None:
    pinning = experiments_of("pinning")
    for workload, unit in (("pinning-*", "1/s"), ("mp-ping", "requests/s")):
        where = CheckedCells(workload=(workload,), jdk=("*-99",))
        check = ours(metric="throughput", versus=None, where=where, high=100.0)
        assert judged(pinning, claim(check)).checks[0].unit == unit


def test_a_load_over_another_one() -> None:
    shape = Shape(jdks=("temurin-25",), loads=("saturate-50", "rate-2000"), blocks=3)
    more = ClaimCheck(
        says="s", metric="rss-peak", arm="liberty", versus_load="saturate-50", low=0.01, inference="i",
        where={"load": ("rate-2000",)},
    )  # fmt: skip
    found = judged(made_up(shape), claim(more))
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert [cell.key.load for cell in found.checks[0].cells] == ["rate-2000"]
    needed = Precondition(says="a server that is no busier than at a rate", metric="cpu-share", high=0)
    absent = judged(made_up(shape), claim(more.model_copy(update={"requires": (needed,)})))
    assert [one.arm for one in absent.checks[0].cells[0].seen] == ["liberty rate-2000", "liberty saturate-50"]


def test_a_ratio_is_compared_with_that_on_the_jdk_of_another_vendor() -> None:
    run = made_up(Shape(jdks=("semeru-25", "temurin-25"), blocks=4))
    alike = ours(versus_vendor="temurin", low=0.5, high=2.0, where=CheckedCells(jdk=("semeru-*",)))
    found = judged(run, claim(alike))
    assert found.verdict is ClaimVerdict.REPRODUCED
    cells = Cells(run.run, run.served)
    for cell in found.checks[0].cells:
        twin = cell.key.model_copy(update={"jdk": "temurin-25"})
        mine, other = (cells.over(THROUGHPUT, one).ratio.value for one in (cell.key, twin))
        assert cell.estimate.value == pytest.approx(mine / other)
        assert cell.estimate.low < cell.estimate.value
    last = judged(run, claim(alike), (twin, twin.model_copy(update={"executor": "liberty"}))).checks[0].cells[-1]
    assert "gates refused 30 of 30 windows of " in last.why
    apart = alike.model_copy(update={"low": 3.0, "high": 4.0})
    assert judged(run, claim(apart)).verdict is ClaimVerdict.CONTRADICTED
    needed = Precondition(says="a saturated pool", metric="cpu-share", arm="liberty", low=0)
    (seen, *_) = judged(run, claim(alike.model_copy(update={"requires": (needed,)}))).checks[0].cells
    assert [one.arm for one in seen.seen] == ["liberty semeru-25", "liberty temurin-25"], "on both"


def test_without_the_other_vendors_jdk_there_is_no_such_ratio() -> None:
    lone = made_up(Shape(jdks=("semeru-25",), blocks=3))
    found = judged(lone, claim(ours(versus_vendor="temurin", low=0.5, high=2.0)))
    assert found.verdict is ClaimVerdict.NOT_MEASURED
    lost = "no usable fork of mp-ping · temurin-25 · "
    assert all(cell.why and cell.why.startswith(lost) for cell in found.checks[0].cells)


@pytest.mark.parametrize("without", [{"versus": None}, {"difference": True}])
def test_only_ratios_are_compared_between_vendors(without: dict[str, object]) -> None:
    told = {**VERSUS.model_dump(), "versus_vendor": "temurin", **without}
    with pytest.raises(ValueError, match="versus_vendor compares ratios"):
        ClaimCheck.model_validate(told)


def test_experiments_without_a_server_speak_by_their_readings() -> None:
    loaded = experiments_of(forks=3)
    quick = ClaimCheck(
        says="s", metric="until all were answered", arm="virtual", high=60, inference="i", where={"workload": ("fan*",)}
    )
    found = judged(loaded, claim(quick))
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert found.checks[0].unit == "s"
    pinned = quick.where.model_copy(update={"workload": ("pinning*",)})
    often = quick.model_copy(update={"metric": "throughput", "high": 1e6, "where": pinned})
    (check,) = judged(loaded, claim(often)).checks
    assert (check.verdict, check.unit) == (ClaimVerdict.REPRODUCED, "1/s"), "a server's figure has the same name"
    nothing = judged(loaded, claim(quick.model_copy(update={"metric": "throughput"})))
    assert nothing.verdict is ClaimVerdict.NOT_MEASURED
