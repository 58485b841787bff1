"""Notices: how far the clock of the host moved, and one executor measured against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.executors import check_executor
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.provenance import PartOrigin, Provenance
from jdkmatrix.records.windows import Capacity, CapacityStep
from jdkmatrix.report.blocks.kinds import FactList, Notice
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.facts import own_applications
from jdkmatrix.report.run_page.notices import aa_notices, attempt_notices, detectable_share, own_notices
from jdkmatrix.report.run_page.sessions import clock_notices, moved, speed_words, speeds
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cell, fork, fork_with, key, window
from tests.support.experiment_runs import experiments_of
from tests.support.judged_pages import PageOfRun, judged, page_of
from tests.support.outcome_runs import run_of, scaled
from tests.support.pages import found, section_of
from tests.support.records import altered, altered_run, run_record, with_forks_of
from tests.support.shipped import FILES


def measured(number: int, before: Sequence[float | None], after: float | None) -> Fork:
    windows = tuple(window(clock_speed=speed) for speed in before)
    return altered(fork(number), {"windows": windows, "clock_speed_after": after})


def two_cells(*blocks: tuple[list[float], list[float]]) -> list[CellRecord]:
    """Make two cells of one group from the readings of each block, the last of which come after its windows."""
    return [
        cell(key(name), tuple(measured(i, block[arm][:-1], block[arm][-1]) for i, block in enumerate(blocks, start=1)))
        for arm, name in enumerate(("liberty", "virtual"))
    ]


def test_a_block_is_what_is_compared_and_never_one_cpu_with_another() -> None:
    found = moved(two_cells(([100, 101], [102, 101]), ([110, 110], [110, 110])), beyond=0.015)
    assert (found.in_block, found.over_run) == pytest.approx((0.02, 0.1))
    assert (found.blocks, found.blocks_beyond) == (2, 1)
    other = measured(1, [200.0], 200.0)
    other = other.model_copy(update={"confinement": other.confinement.model_copy(update={"sut_cpus": (3,)})})
    cells = [*two_cells(([100, 101], [101, 101])), cell(key(cpus=2), (other,))]
    assert moved(cells, 0.05).over_run == pytest.approx(0.01)


def test_a_notice_comes_where_it_moved_by_more_than_is_promised() -> None:
    assert not list(clock_notices(two_cells(([100, 101], [101, 101])), 0.05))
    between = two_cells(([100, 101], [101, 101]), ([108, 108], [108, 108]))
    (notice,) = clock_notices(between, 0.05)
    assert notice.weight == "info"
    assert "up to 8.0 % faster" in notice.text and "± 5 %" in notice.text
    assert "inside a block by 1.0 % at most" in notice.text
    (notice,) = clock_notices(two_cells(([100, 101], [101, 107])), 0.05)
    assert notice.weight == "warn"
    assert "inside 1 of 1 block it moved by more than that, in one by 7.0 %" in notice.text


def test_nothing_read_is_nothing_told() -> None:
    old = [cell(key(), (measured(1, [None, None], None),))]
    assert moved(old, 0.05) is None
    assert not list(clock_notices(old, 0.05))
    assert speed_words(old[0].forks[0]) == "not read"


def test_the_windows_of_a_search_are_read_too() -> None:
    step = CapacityStep(rate_rps=1.0, purpose="", held=True, window=window(clock_speed=103.0))
    searched = Capacity(
        outcome="", p99_max_us=1, floor_rps=1, ceiling_rps=1, held_rps=1, failed_rps=None, not_monotonic_rps=(),
        steps=(step,),
    )  # fmt: skip
    one = altered(measured(1, [100.0, None], 101.0), {"capacity": searched})
    assert speeds(one) == (100.0, 103.0, 101.0)
    assert speed_words(one) == "100.0 to 103.0 divisions/µs in 3 readings: moved by 3.0 %"
    assert speeds(experiments_of("spawn").experiments[0].forks[0]) == (225.0, 225.9)


def test_a_reader_sees_it(quick: LoadedRun) -> None:
    assert "The CPUs’ speed changed" not in {notice.title for notice in PageOfRun(quick).notices}
    slow = with_forks_of(quick, "liberty", lambda fork: altered(fork, {"clock_speed_after": 200.0}))
    told = {notice.title: notice.weight for notice in PageOfRun(slow).notices}
    assert told["The CPUs’ speed changed"] == "warn"


def test_a_second_arm_of_no_executor_is_refused() -> None:
    with pytest.raises(ValueError, match='did you mean "virtual-aa"'):
        check_executor("virtal-aa")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options("quick", {"executor": ("virtual",)}, aa="liberty"), "--executor"),
        (Options("quick", {}, aa="jetty"), "--executor jetty --executor jetty-aa: Open Liberty has no executor jetty"),
    ],
)
def test_what_cannot_be_checked_is_said(options: Options, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        options.apply(parse_files(FILES, options.asked))


def test_detectable_share_worked_by_hand() -> None:
    assert detectable_share(Ratio(1.0, 0.8, 1.25, 2)) == pytest.approx(0.25)
    assert detectable_share(Ratio(1.0, None, None, 1)) is None


def check_of(*factors: float) -> Notice:
    """Return the check of an executor whose second arm has so much of the first one's throughput, block by block."""
    forks = tuple(fork_with(window(), number=number) for number in range(1, len(factors) + 1))
    one, other = (cell(key(arm), forks) for arm in ("liberty", "liberty-aa"))
    (notice,) = aa_notices(judged(run_of([scaled(one, [1.0] * len(factors)), scaled(other, factors)]))[1])
    return notice


def test_the_page_says_what_this_host_can_tell_and_warns_of_a_difference_where_none_should_be() -> None:
    notice = check_of(1.0, 1.0)
    assert (notice.title, notice.weight) == ("A/A check", "info")
    assert "liberty against itself on" in notice.text and "throughput ratio 1.000" in notice.text
    assert "a single comparison finds a difference of 0.0 % slightly more often than not" in notice.text
    told = check_of(0.99, 1.0, 1.01).text
    assert "finds a difference of 2.5 % slightly more often than not, and one of 3.5 % in four of five runs" in told
    notice = check_of(0.8, 0.8)
    assert (notice.title, notice.weight) == ("A/A check failed", "warn")
    assert "a difference where there is none" in notice.text


def sharing(loaded: LoadedRun, **confinement: object) -> LoadedRun:
    """Confine the forks of the pool differently."""

    def changed(fork: Fork) -> Fork:
        return altered(fork, {"confinement": fork.confinement.model_copy(update=confinement)})

    return with_forks_of(loaded, "liberty", changed)


def test_notices_say_what_changes_the_reading(quick: LoadedRun) -> None:
    run = altered_run(quick.run, {"status": "interrupted", "ended_at": None, "git_dirty": True})
    told = PageOfRun(sharing(replace(quick, run=run), overlapped=True)).notices
    notices = {notice.title: notice for notice in told}
    assert notices["Server and driver share CPUs"].weight == "warn"
    assert notices["Server and driver share CPUs"].text.startswith("In 2 of 4 cells")
    assert {"Not complete", "Not bare metal", "Uncommitted changes", "JDKs not available here"} <= set(notices)
    weights = [notice.weight for notice in told]
    assert weights == sorted(weights, reverse=True)


def test_how_threads_were_pinned_is_said(quick: LoadedRun) -> None:
    def told(loaded: LoadedRun) -> tuple[object, list[str]]:
        (first, *_) = found([section_of(page_of(loaded, "liberty"), "fork-1")], FactList)
        title = "Kept on their CPUs by affinity alone"
        texts = [notice.text for notice in PageOfRun(loaded).notices if notice.title == title]
        return {fact.name: fact.value for fact in first.facts}["CPU confinement"], texts

    assert told(quick) == ("by cgroup cpusets, which no thread can leave", [])
    said, (notice,) = told(sharing(quick, method="sched_setaffinity", why_not_cgroup="<it> is not permitted"))
    by_affinity = "by CPU affinity, which a thread can change for itself; each window is checked for that"
    assert said == f"{by_affinity} (no cgroup cpusets: <it> is not permitted)"
    assert notice.startswith("In 4 of 8 forks ") and notice.endswith("were not used: <it> is not permitted.")


def test_a_block_that_was_cut_off_while_it_was_measured_again_made_no_later_attempt(quick: LoadedRun) -> None:
    first, *others = quick.cells
    cut = first.model_copy(update={"attempts": first.forks[:1]})
    (notice,) = attempt_notices(replace(quick, cells=(cut, *others)))
    assert notice.text.startswith("A block was cut off while it was measured again. What the server itself did")
    assert notice.text.endswith("show 1 earlier attempt.")


def test_a_run_says_what_it_was_made_of_and_what_is_missing() -> None:
    own = {"command": "java -jar my.jar {port}", "arms": {"pool": "", "virtual": "-Dx=y"}, "path": "/items"}
    part = PartOrigin(part="mine", origin="host", detail="an application of the user: my.jar (sha256 0123456789ab…)")
    cells = tuple(key(executor, workload="mine", server="command") for executor in ("pool", "virtual"))
    run = run_record(
        "own",
        matrix={"workloads": {"mine": {"own": own}, "mp-ping": {"own": None}, "other": {"own": own}}},
        cells=(*cells, key()),
        order=(),
        provenance=Provenance(inputs=(), parts=(part,)),
    )
    (application,) = own_applications(run)
    assert application.how == "started by java -jar my.jar {port} (pool: as it is; virtual: -Dx=y)"
    (notice,) = own_notices(run)
    (fact,) = (one for one in facts.run_facts(run) if one.name == "Application")
    assert "mine, GET /items; an application of the user: my.jar (sha256 0123456789ab…)" in str(fact)
    for said in ("my.jar", "at least 10 %", "less than 50 %", "time in collections", "could not judge"):
        assert said in str(notice)
    assert not [*own_applications(run_record("ours", cells=(key(),), order=()))]
