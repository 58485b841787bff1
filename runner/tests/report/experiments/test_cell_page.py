"""What the page of a cell without a server shows: its figures, its arms, and what each of its forks counted.

Figures are those of the results in samples/standalone."""

from __future__ import annotations

import pytest

from jdkmatrix.experiments.base import Details
from jdkmatrix.experiments.kinds import details_of
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.reasons import Reason
from jdkmatrix.report.blocks.kinds import Command, Fact
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.experiments.cell_view import view_experiment_cell
from jdkmatrix.report.experiments.fork_facts import distributions, remote_facts
from jdkmatrix.report.experiments.fork_view import fork_view
from jdkmatrix.report.experiments.views import ExperimentCellView, ExperimentForkView
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import latency
from tests.support.experiment_runs import experiments_run, read_sample, with_seen
from tests.support.records import altered


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return experiments_run(tmp_path_factory.mktemp("experiments"), accidents=True)


def page_of(
    loaded: LoadedRun, workload: str, executor: str, load: str = "", jdk: str = "temurin-21.0.8"
) -> ExperimentCellView:
    experiments = Cells(loaded.run, loaded.experiments, served=False)
    cell = next(
        cell
        for cell in experiments
        if (cell.key.workload, cell.key.executor, cell.key.jdk) == (workload, executor, jdk)
        and cell.key.load.startswith(load)
    )
    order = executor_order(key.executor for key in loaded.run.cells)
    return view_experiment_cell(cell, experiments, loaded.run, order, {})


def by_name(facts: tuple[Fact, ...]) -> dict[str, str]:
    return {fact.name: str(fact.value) for fact in facts}


def counts(sample: str, **changes: object) -> dict[str, str]:
    """What is told beside figures of a result that says something else in these."""
    return {row.name: row.value for row in details_of(with_seen(read_sample(sample), changes)).facts}


@pytest.fixture(scope="module")
def burn(loaded: LoadedRun) -> ExperimentCellView:
    return page_of(loaded, "burn", "fixed-2", "tasks-8")


@pytest.fixture(scope="module")
def burn_fork(loaded: LoadedRun) -> ExperimentForkView:
    """The one that can be used; the first of its cell is invalid."""
    return page_of(loaded, "burn", "fixed-2", "tasks-8").forks[1]


@pytest.fixture(scope="module")
def boxed(loaded: LoadedRun) -> ExperimentCellView:
    return page_of(loaded, "spawn-sleep-boxed", "platform")


@pytest.fixture(scope="module")
def few_files(loaded: LoadedRun) -> ExperimentCellView:
    return page_of(loaded, "fanout-few-files", "virtual")


def test_it_says_which_cell_it_is(burn: ExperimentCellView) -> None:
    assert burn.cell_id == "burn.temurin-21.0.8.fixed-2.cpus-2.burn-500us.tasks-8"
    assert burn.title == "burn, fixed-2 on temurin-21.0.8"
    assert burn.condition == "Without a server, 2 CPUs, 500 µs of work per task"
    assert burn.load_words.startswith("closed loop: 8 tasks in flight")
    assert burn.kind_words.startswith("Tasks that only compute")


def test_what_was_asked_for_is_its_table_of_the_matrix_without_what_is_not_set(
    burn: ExperimentCellView, boxed: ExperimentCellView
) -> None:
    assert by_name(burn.asked) == {"experiment": "burn", "warmup_s": "1.0", "drain_s": "10.0", "parks": "true"}
    assert by_name(boxed.asked)["limits"] == '{"threads_max": 500}'


def test_tiles_have_units_and_say_over_how_many_forks(burn: ExperimentCellView, boxed: ExperimentCellView) -> None:
    assert [(name, unit) for name, unit, _ in burn.tiles] == [
        ("throughput", "per second"),
        ("CPU used", "%"),
        ("p50", "ms"),
        ("p99", "ms"),
        ("parked while tasks were queued", "%"),
        ("median stretch parked while tasks were queued", "ms"),
        ("longest stretch parked while tasks were queued", "ms"),
        ("such stretches of 10 ms and more", ""),
    ]
    assert {figure.under for _, _, figure in burn.tiles} == {"1 fork"}
    tiles = {name: figure for name, _, figure in boxed.tiles}
    started = tiles["until all were started"]
    assert (started.text, started.under) == ("0.0872", "0.0868–0.0876, 2 forks"), "the median, the least and the most"
    assert tiles["VIRT per thread"].title == "VIRT per thread: median of 2 forks, 0.250 MiB"
    assert tiles["RSS"].title is not None and tiles["RSS"].title.endswith(
        "107,668 KiB: top shows it in KiB, without a unit"
    )
    assert tiles["threads started"].text == "481"


def test_every_arm_of_the_condition_stands_beside_it(burn: ExperimentCellView) -> None:
    order = executor_order(("virtual", "fixed-2", "cached", "fixed-5", "structured", "virtual-semaphore-5"))
    assert [(arm.executor, arm.current) for arm in burn.arms] == [
        ("virtual", False), ("fixed-2", True), ("cached", False),
    ]  # fmt: skip
    failed, this, missing = burn.arms
    assert failed.href == "burn.temurin-21.0.8.virtual.cpus-2.burn-500us.tasks-8.html"
    assert this.href is None and missing.href is None, "the third has no record"
    assert [arm.slot for arm in burn.arms] == [order.index(arm.executor) for arm in burn.arms]
    assert burn.leading == "throughput, per second"
    assert (failed.leading.text, missing.leading.text) == ("–", "–")
    assert this.leading.text == next(figure.text for name, _, figure in burn.tiles if name == "throughput")
    assert [outcome.word for outcome in this.outcomes] == ["complete"]


def test_the_leading_figure_of_a_cell_without_one_is_named_after_its_arms(loaded: LoadedRun) -> None:
    failed = page_of(loaded, "burn", "virtual", "tasks-8")
    assert failed.leading == "throughput, per second" and not failed.tiles
    assert (failed.status, failed.status_class) == ("failed", "failed")


def test_a_figure_stands_beside_what_is_expected_of_it(
    burn_fork: ExperimentForkView, few_files: ExperimentCellView
) -> None:
    figures = {name: (unit, value.text, expected, ratio) for name, unit, value, expected, ratio in burn_fork.figures}
    unit, value, expected, ratio = figures["throughput"]
    assert (unit, value, expected.text, ratio.text) == ("1/s", "3,460", "4,000", "0.865")
    assert figures["CPU used"][:2] == ("%", "99.2")
    assert figures["CPU used"][2].title == "nothing is expected of this figure"
    failed = next(one for one in few_files.forks[0].figures if one[0] == "failed requests")
    assert (failed[2].text, failed[3].text, failed[4].text, failed[4].title) == ("146", "0", "–", "0 is expected")
    assert burn_fork.expectation is not None
    assert (burn_fork.expectation.figure, burn_fork.expectation.formula) == ("throughput", "cpus / burn_us * 1e6")


def test_a_fork_says_why_it_cannot_be_used(burn: ExperimentCellView) -> None:
    invalid, usable = burn.forks
    assert (invalid.status, invalid.status_class) == ("invalid", "invalid")
    assert invalid.reasons == ("the hypervisor took 7 % of the CPU time (steal_share 0.0700)",)
    assert (usable.status, usable.number, usable.anchor, usable.reasons) == ("ok", 2, "fork-2", ())
    assert [outcome.word for outcome in invalid.outcomes] == ["complete"]


def test_a_fork_says_where_when_and_on_what_it_ran(
    burn_fork: ExperimentForkView, boxed: ExperimentCellView, few_files: ExperimentCellView
) -> None:
    facts = by_name(burn_fork.facts)
    assert facts["Order"] == "1 in block 2, 21 in the run"
    assert facts["Started"] == "2025-01-01 12:02 UTC, 8 s"
    assert (facts["CPUs"], facts["CPU confinement"]) == ("program 0-1", "by cgroup cpuset")
    assert facts["CPU speed"] == "225.0 to 225.9 divisions/µs in 2 readings: moved by 0.4 %"
    assert "Limits" not in facts and by_name(boxed.forks[0].facts)["Limits"] == "500 threads by cgroup v2"
    assert by_name(few_files.forks[0].facts)["CPUs"] == "program 0-1, remote system 2: no CPU in common"
    assert [one.text for one in burn_fork.commands if isinstance(one, Command)] == [
        "/jdks/SYNTHETIC/bin/java -jar standalone.jar burn '--it'\"'\"'s' 'a test'",
    ]
    told = [one.label for one in few_files.forks[0].commands if isinstance(one, Command)]
    assert told == ["Program’s command line", "Remote system’s command line"]
    assert '"in_flight": 8' in burn_fork.asked


def test_what_was_given_up_and_what_was_hit_is_told(loaded: LoadedRun) -> None:
    record = next(r for r in loaded.experiments if r.key.workload == "fanout")
    fork = record.forks[0]
    confinement = fork.confinement.model_copy(update={"remote_cpus": (1,), "compromises": ("one CPU for both",)})
    hit = (Reason(code="threads-max", message="500 threads are the limit"),)
    changed = fork.model_copy(update={"confinement": confinement, "outcomes": hit})
    facts = by_name(fork_view(changed, record.key, loaded.run, ()).facts)
    assert facts["CPUs"].endswith("remote system 1: they share CPUs")
    assert (facts["Compromise"], facts["Limit that was hit"]) == ("one CPU for both", "500 threads are the limit")


def test_the_host_was_watched_in_per_cent(loaded: LoadedRun, burn_fork: ExperimentForkView) -> None:
    host = by_name(burn_fork.host)
    assert (host["Steal"], host["Others’ CPU"], host["CPU pressure"]) == ("0.1 %", "2.0 %", "–")
    assert not {"Throttled", "Swapped", "Clock stepped", "Suspended"} & host.keys()
    record = loaded.experiments[1]
    disturbed = Pressure(
        steal_share=0.0, foreign_cpu_share=0.0, psi_cpu_some_share=0.25, throttled_share=0.031,
        swapped_bytes_per_s=4096.0, clock_step_s=0.5, suspended_s=2.25,
    )  # fmt: skip
    fork = altered(record.forks[1], {"host": disturbed})
    host = by_name(fork_view(fork, record.key, loaded.run, ()).host)
    assert (host["CPU pressure"], host["Throttled"], host["Swapped"]) == ("25 %", "3.1 %", "4,100 bytes/s")
    assert (host["Clock stepped"], host["Suspended"]) == ("0.500 s", "2.25 s")


def test_the_jvm_is_described(boxed: ExperimentCellView, burn_fork: ExperimentForkView) -> None:
    vm = by_name(boxed.forks[0].vm)
    assert vm["JVM"] == "OpenJDK 64-Bit Server VM, 21.0.8+9-LTS, Eclipse Adoptium"
    assert (vm["Options"], by_name(burn_fork.vm)["Options"]) == ("-Xss256k", "none")
    assert (vm["CPUs that it sees"], vm["Kernel"]) == ("2", "6.18, amd64")
    assert vm["Heap"].startswith("at most 6,030 MiB; G1 Young Generation")


# ------------------------------------------------------------------------------------------------ counts


def test_tasks_of_a_burn_are_counted(burn_fork: ExperimentForkView) -> None:
    found = by_name(burn_fork.counts)
    assert found["Tasks"] == "6,998 due, 6,998 submitted, 6,990 done, 8 after the end, 0 never"
    assert found["Queued"] == "8 at most, 5.94 on average"
    assert found["Work of a task"] == "369,304 rounds, 500 µs on a CPU of its own"
    assert (found["CPU"], found["Workers"]) == ("3.97 s in 2.00 s on 2 CPUs", "2")
    assert not {"Left over from the warm-up", "Lower bounds"} & found.keys()


def test_what_a_burn_left_undone_is_told() -> None:
    changes = {"completed_late": 0, "unfinished": 9, "warmup_unfinished": 3, "workers": None, "lower_bounds": 1234}
    found = counts("burn-fixed-2-flight-on-21", **changes)
    assert found["Tasks"] == "6,998 due, 6,998 submitted, 6,990 done, 9 never"
    assert found["Left over from the warm-up"] == "3 tasks"
    assert found["Workers"] == "as many as it takes"
    assert found["Lower bounds"] == "1,234 latencies of tasks that were never done"


def test_what_no_program_of_ours_says_is_told_as_nothing() -> None:
    result = read_sample("burn-fixed-2-flight-on-21")
    for seen in (None, {}, {**(result.seen or {}), "parks": 7}):
        assert details_of(result.model_copy(update={"seen": seen})) == Details()
    assert details_of(result.model_copy(update={"experiment": "unknown"})) == Details()


def test_memory_of_threads_is_in_kib_as_top_shows_it_and_in_mib(boxed: ExperimentCellView) -> None:
    found = by_name(boxed.forks[0].counts)
    assert found["Threads"] == "481 started, 481 live at once"
    assert found["Stack of a platform thread"] == "256 KiB"
    assert found["Memory before"] == (
        "VIRT 8,782,676 KiB (8,580 MiB), RSS 60,088 KiB (58.7 MiB), PSS 57,880 KiB (56.5 MiB); heap 6.21 of 40.0 MiB; "
        "19 threads of the kernel"
    )
    assert found["Memory while all live"].startswith("VIRT 8,905,812 KiB (8,700 MiB), RSS 107,668 KiB (105 MiB)")
    assert found["Memory while all live"].endswith("500 threads of the kernel")
    assert found["Memory at its peak"] == "VIRT 8,905,812 KiB (8,700 MiB), RSS 107,752 KiB (105 MiB)"


def test_threads_that_did_not_all_live_at_once_have_no_such_memory() -> None:
    found = counts("spawn-platform-pids-21", live=None, while_live=None, thread_stack_bytes=None)
    assert found["Threads"] == "481 started"
    assert list(found) == ["Threads", "Memory before", "Memory at its peak"]


def test_requests_of_a_fan_out_are_counted(few_files: ExperimentCellView) -> None:
    found = by_name(few_files.forks[0].counts)
    assert found == {
        "Requests": "54 answered, 146 failed (too-many-open-files 146)",
        "Beyond the ideal": "0.0919 s",
        "Open files": "12 before, at least 53 at once; limits: soft 64, hard 64",
        "Threads of the kernel": "27 at once",
    }
    changes = {"errors": {}, "open_files_peak_is_lower_bound": False, "open_files_hard_limit": None}
    found = counts("fanout-virtual-nofiles-21", **changes)
    assert found["Requests"] == "54 answered, 146 failed"
    assert found["Open files"] == "12 before, 53 at once; limits: soft 64, hard none"


def test_the_remote_system_is_counted(few_files: ExperimentCellView, loaded: LoadedRun) -> None:
    assert by_name(few_files.forks[0].remote) == {
        "Requests": "20 answered, 20 at once, 0 abandoned by the caller, 0 refused, 0 faults that were ordered",
        "Answered late by": "not recorded",
        "CPU": "0.200 s",
    }
    program = next(r for r in loaded.experiments if r.key.workload == "fanout").forks[0].program
    assert program is not None and program.remote is not None
    remote = program.remote
    faults = remote.faults.model_copy(update={"status_500": 1, "close": 20, "never": 300})
    found = by_name(remote_facts(remote.model_copy(update={"faults": faults, "lateness": latency(p99_us=2500)})))
    assert found["Requests"].endswith("321 faults that were ordered")
    assert found["Answered late by"] == "2.50 ms (p99)"


def test_pinning_counts_operations_carriers_and_events(loaded: LoadedRun) -> None:
    fork = page_of(loaded, "pinning-class-init", "virtual").forks[0]
    found = by_name(fork.counts)
    assert found == {
        "Threads": "100 started, 100 had a turn",
        "Operations": "158 in 4.00 s",
        "Carriers": "2 usual, 256 allowed, 2 at once, of them 0 in place of blocked ones",
    }
    assert fork.pinned_note == "158 events jdk.VirtualThreadPinned, together 7.91 s."
    assert fork.pinned is not None and fork.pinned.title == "pinning-class-init on temurin-21.0.8"
    nothing = page_of(loaded, "pinning-lock", "virtual").forks[0]
    assert nothing.pinned is None
    assert nothing.pinned_note == "JDK Flight Recorder looked and saw no event jdk.VirtualThreadPinned."


def test_a_recorder_that_could_not_look_is_no_finding(loaded: LoadedRun) -> None:
    record = next(r for r in loaded.experiments if r.key.workload == "pinning-class-init")
    program = record.forks[0].program
    assert program is not None and program.result is not None
    blind = {"probe": "failed", "reason": "no recorder here", "count": None}
    fork = altered(record.forks[0], {"result": with_seen(program.result, {"pinned": blind})})
    assert fork_view(fork, record.key, loaded.run, ()).pinned_note == (
        "JDK Flight Recorder could not look: no recorder here."
    )


# ------------------------------------------------------------------------------------------------ distributions, parks


def test_distributions_are_counts_and_milliseconds(burn_fork: ExperimentForkView) -> None:
    table = burn_fork.distributions
    assert table is not None
    assert table.heads == ("count", "least", "p50", "p90", "p99", "p99.9", "most")
    rows = {name: [figure.text for figure in figures] for name, figures in table.rows}
    assert list(rows) == [
        "From when it was due to its start", "From when it was due to its end", "Parks of workers",
        "Parked while tasks were queued",
    ]  # fmt: skip
    (_, found), *_ = details_of(read_sample("burn-fixed-2-flight-on-21")).distributions
    assert rows["From when it was due to its start"][0] == f"{found['count']:,}"
    percentiles = [found["percentiles_us"][name] for name in ("50", "90", "99", "99.9")]
    shown = list(map(float, rows["From when it was due to its start"][1:]))
    ends = [end / 1000 for end in (found["min_us"], *percentiles, found["max_us"])]
    assert shown == pytest.approx(ends, rel=6e-3)


@pytest.mark.parametrize(
    ("sample", "names"),
    [
        ("pinning-class-init-21", ["From wanting to block to going on", "Pinned for"]),
        ("fanout-virtual-21", ["Request", "Answered after the first request"]),
        ("spawn-platform-pids-21", None),
    ],
)
def test_distributions_of_the_other_experiments(sample: str, names: list[str] | None) -> None:
    table = distributions(details_of(read_sample(sample)))
    assert (None if table is None else [name for name, _ in table.rows]) == names


def test_parks_are_told_with_their_stretches(burn_fork: ExperimentForkView) -> None:
    ((title, facts),) = burn_fork.sections
    assert title == "Parks of workers"
    found = by_name(facts)
    assert found["Parked"] == "2 workers, together for 0.00934 s"
    assert found["Parked while tasks were queued"] == (
        "15 stretches, 0.00900 s over all workers; no more workers counted than tasks were queued: 0.00881 s, 0.2 % of "
        "all workers’ time"
    )
    assert found["Of 0.100 ms and more"] == "6, 0.00863 s" and found["Of 10.0 ms and more"] == "0, 0 s"
    assert found["The longest"] == "4.93 ms, from 0.00320 s on, with 8 tasks queued; thread 23"
    blockers = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject 17"
    assert found["What they were parked on"] == blockers
    assert found["Times set against each other to"] == "0.010 µs"
    assert "Lost" not in found


def test_what_parks_were_on_stands_by_how_often_and_lost_events_are_told() -> None:
    result = read_sample("burn-fixed-2-flight-on-21")
    assert result.seen is not None
    parks = result.seen["parks"]

    def told(**changes: object) -> dict[str, str]:
        ((_, facts),) = details_of(with_seen(result, {"parks": {**parks, **changes}})).sections
        return {row.name: row.value for row in facts}

    found = told(parks_by_blocker={"A": 2, "B": 3000}, lost_bytes=4096)
    assert found["What they were parked on"] == "B 3,000; A 2"
    assert found["Lost"] == "4,096 bytes of events: parks are missing"
    assert told(probe="off") == {"JDK Flight Recorder": "not asked to look"}
    assert told(probe="failed", reason="no recorder here") == {"JDK Flight Recorder": "no recorder here"}
