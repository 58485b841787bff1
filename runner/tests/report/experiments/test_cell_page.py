"""The page of a cell without a server: its figures, its arms, and what each of its forks counted.

Figures are those of the results in samples/standalone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from jdkmatrix.experiments.base import Details
from jdkmatrix.experiments.kinds import details_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import MeasuredSpan
from jdkmatrix.records.reasons import Reason
from jdkmatrix.report.blocks.kinds import Disclosure, PageBlock, Pre, Prose, Section, WebPage
from jdkmatrix.report.cell_page.forks import program_blocks, remote_facts
from jdkmatrix.report.words.numbers import missing
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import latency
from tests.support.experiment_runs import OLD, experiments_of, read_sample, with_seen
from tests.support.judged_pages import cell_of, page_of
from tests.support.pages import facts_of, figure_in, found, plain, section_of, table_of, tiles_of
from tests.support.records import altered, with_forks


def counts(sample: str, **changes: object) -> dict[str, str]:
    """Return what is told beside the figures of a sample with these changes in what it has seen."""
    return {row.name: row.value for row in details_of(with_seen(read_sample(sample), changes)).facts}


def below(blocks: Iterable[PageBlock], heading: str) -> dict[str, str]:
    """Return the facts below a heading, or those that a reader opens by it."""
    shown = list(blocks)
    for place, one in enumerate(shown):
        if isinstance(one, Disclosure) and one.summary == heading:
            return facts_of(one.blocks)
        if isinstance(one, Prose) and one.heading == heading:
            return facts_of(shown[place + 1 : place + 2])
    return {}


@pytest.fixture(scope="module")
def burn(loaded: LoadedRun) -> WebPage:
    return page_of(loaded, "fixed-2", workload="burn", load="tasks-8")


@pytest.fixture(scope="module")
def burn_fork(burn: WebPage) -> Section:
    """Return the fork that can be used; the first of its cell is invalid."""
    return section_of(burn, "fork-2")


@pytest.fixture(scope="module")
def boxed(loaded: LoadedRun) -> WebPage:
    return page_of(loaded, "platform", workload="spawn-sleep-boxed")


@pytest.fixture(scope="module")
def few_files(loaded: LoadedRun) -> WebPage:
    return page_of(loaded, workload="fanout-few-files")


def test_it_says_which_cell_it_is_and_what_was_asked(burn: WebPage, boxed: WebPage) -> None:
    assert plain(burn.heading) == "burn, fixed-2 on temurin-21.0.8 ok"
    assert str(burn.summary).startswith(
        "Without a server, 2 CPUs, 500 µs of work per task. Closed loop: 8 tasks in flight"
    )
    asked = section_of(burn, "asked")
    assert str(asked.words).startswith("Tasks that only compute")
    assert facts_of([asked]) == {"experiment": "burn", "warmup_s": "1.0", "drain_s": "10.0", "parks": "true"}
    assert facts_of([section_of(boxed, "asked")])["limits"] == '{"threads_max": 500}'


def test_tiles_have_units_and_say_over_how_many_forks(burn: WebPage, boxed: WebPage) -> None:
    assert list(tiles_of(burn)) == [
        "throughput", "CPU used", "p50", "p99", "parked while tasks were queued",
        "median stretch parked while tasks were queued", "longest stretch parked while tasks were queued",
        "such stretches of 10 ms and more",
    ]  # fmt: skip
    assert {figure.under for figure in tiles_of(burn).values()} == {"1 fork"}
    tiles = tiles_of(boxed)
    assert not {"until all were started", "until all were done", "VIRT", "RSS"} & tiles.keys(), "not all were"
    each = tiles["VIRT per thread"]
    assert (each.title, each.under) == ("VIRT per thread: median of 2 forks, 0.250 MiB", "2 forks")
    assert tiles["threads started"].text == "481"


def test_every_arm_of_the_condition_stands_beside_it(loaded: LoadedRun, burn: WebPage) -> None:
    rows = table_of(burn.blocks, "Arms under the same conditions")
    assert [plain(row["Arm"]).strip() for row in rows] == ["virtual", "fixed-2 this cell", "cached"]
    failed, this, missing = rows
    assert 'href="burn.temurin-21.0.8.virtual.cpus-2.burn-500us.tasks-8.html"' in str(failed["Arm"])
    assert "href" not in str(this["Arm"]) and "href" not in str(missing["Arm"]), "the third has no record"
    figures = [figure_in(row, "throughput, per second").text for row in rows]
    assert figures == ["–", tiles_of(burn)["throughput"].text, "–"]
    assert plain(this["Outcome"]).startswith("complete")
    # A cell without figures names the leading one of its arms.
    other = page_of(loaded, workload="burn", load="tasks-8")
    assert "throughput, per second" in table_of(other.blocks, "Arms under")[0] and not tiles_of(other)
    assert plain(other.heading).endswith(" failed")


def test_a_figure_stands_beside_what_is_expected_of_it(burn_fork: Section, few_files: WebPage) -> None:
    rows = {plain(row["Figure"]): row for row in table_of([burn_fork], "Figures of fork 2")}
    titles = ("Measured", "Expected", "Measured / expected")
    assert [figure_in(rows["throughput 1/s"], title).text for title in titles] == ["3,460", "4,000", "0.865"]
    assert figure_in(rows["CPU used %"], "Measured").text == "99.2"
    assert figure_in(rows["CPU used %"], "Expected").title == "no value is expected for this figure"
    (failed,) = (r for r in table_of(few_files.blocks, "Figures of fork 1") if r["Figure"] == "failed requests")
    figures = [figure_in(failed, title) for title in titles]
    assert [one.text for one in figures] == ["146", "0", "–"] and figures[2].title == "0 is expected"
    assert "throughput = cpus / burn_us * 1e6" in map(plain, facts_of([burn_fork]))


def test_a_fork_says_why_it_cannot_be_used(burn: WebPage, burn_fork: Section) -> None:
    invalid = section_of(burn, "fork-1")
    assert plain(invalid.title) == "Fork 1 invalid" and plain(burn_fork.title) == "Fork 2 ok"
    assert invalid.reasons == ("the hypervisor took 7 % of the CPU time (steal_share 0.0700)",)
    assert burn_fork.reasons == ()


def test_a_fork_says_where_when_and_on_what_it_ran(burn_fork: Section, boxed: WebPage, few_files: WebPage) -> None:
    ran = {
        "Order": "no. 1 in block 2, no. 21 in the run", "Started": "2025-01-01 12:02 UTC, 8 s", "CPUs": "program 0-1",
        "CPU confinement": "by cgroup cpusets, which no thread can leave",
        "CPU speed": "225.0 to 225.9 divisions/µs in 2 readings: moved by 0.4 %",
    }  # fmt: skip
    host = {"Watched": "the program’s whole life", "Steal": "0.1 %", "Others’ CPU": "2.0 %", "CPU pressure": "–"}
    jvm = {
        "JVM": "OpenJDK 64-Bit Server VM, 21.0.8+9-LTS, Eclipse Adoptium", "Java": "21.0.8+9-LTS", "Options": "none",
        "CPUs that it sees": "2", "Kernel": "6.18, amd64",
        "Heap": "at most 6,030 MiB; G1 Young Generation, G1 Concurrent GC, G1 Old Generation",
    }  # fmt: skip
    for heading, facts in (("How it ran", ran), ("The host during the fork", host), ("The JVM", jvm)):
        assert below(burn_fork.blocks, heading) == facts
    of_boxed = section_of(boxed, "fork-1").blocks
    assert below(of_boxed, "How it ran")["Limits"] == "500 threads by cgroup v2"
    assert below(of_boxed, "The JVM")["Options"] == "-Xss256k"
    few = section_of(few_files, "fork-1")
    assert below(few.blocks, "How it ran")["CPUs"] == "program 0-1, remote system 2: no CPU in common"
    assert [one.label for one in found([few], Pre) if one.label] == [
        "Program’s command line", "Remote system’s command line",
    ]  # fmt: skip
    result = [one for one in found([burn_fork], Pre) if not one.label][-1]
    assert '"in_flight": 8' in result.text


def test_what_was_given_up_and_what_was_hit_is_told(loaded: LoadedRun) -> None:
    fork = cell_of(loaded, workload="fanout").forks[0]
    confinement = fork.confinement.model_copy(update={"remote_cpus": (1,), "compromises": ("one CPU for both",)})
    hit = (Reason(code="threads-max", message="500 threads are the limit"),)
    changed = fork.model_copy(update={"confinement": confinement, "outcomes": hit})
    facts = below(program_blocks(changed, loaded.run), "How it ran")
    assert facts["CPUs"].endswith("remote system 1: they share CPUs")
    assert (facts["Compromise"], facts["Limit that was hit"]) == ("one CPU for both", "500 threads are the limit")


def test_what_disturbed_the_host_is_told_where_it_did(loaded: LoadedRun) -> None:
    def host(fork: Fork) -> dict[str, str]:
        return below(program_blocks(fork, loaded.run), "The host during the fork")

    disturbed = Pressure(
        steal_share=0.0, foreign_cpu_share=0.0, psi_cpu_some_share=0.25, throttled_share=0.031,
        swapped_bytes_per_s=4096.0, clock_step_s=0.5, suspended_s=2.25,
    )  # fmt: skip
    fork = loaded.experiments[1].forks[1]
    told = host(altered(fork, {"host": disturbed}))
    assert (told["CPU pressure"], told["Throttled"], told["Swapped"]) == (
        "25 %",
        "0.0310 s in each second",
        "4,100 bytes/s",
    )
    assert (told["Clock stepped"], told["Suspended"]) == ("0.500 s", "2.25 s")
    apart = disturbed.model_copy(update={"clock_step_s": -9.1e-8, "suspended_s": 1.7e-6})
    assert not {"Clock stepped", "Suspended"} & host(altered(fork, {"host": apart})).keys()
    span = MeasuredSpan(start_monotonic_ns=7 * 10**9, end_monotonic_ns=12 * 10**9)
    timed = altered(fork, {"host_span_s": 5.4, "result": fork.result.model_copy(update={"measured_span": span})})
    assert host(timed)["Watched"] == "5.40 s around the 5.00 s that it measured"


def test_tasks_of_a_burn_are_counted_and_what_it_left_undone(burn_fork: Section) -> None:
    _, *told = facts_of([burn_fork]).items()
    assert told[:6] == [
        ("Tasks", "6,998 due, 6,998 submitted, 6,990 done, 8 after the end, 0 never"),
        ("In flight", "7.80 on average"), ("Queued", "8 at most, 5.94 on average"),
        ("Work of a task", "369,304 rounds, 500 µs on a CPU of its own"),
        ("CPU", "3.97 s in 2.00 s on 2 CPUs"), ("Workers", "2"),
    ]  # fmt: skip
    assert "Lower bounds" not in dict(told)
    changes = {"completed_late": 0, "unfinished": 9, "warmup_unfinished": 3, "workers": None, "lower_bounds": 1234}
    assert counts("burn-fixed-2-flight-on-21", **changes).items() >= {
        ("Tasks", "6,998 due, 6,998 submitted, 6,990 done, 9 never"), ("Left over from the warm-up", "3 tasks"),
        ("Workers", "as many as needed"), ("Lower bounds", "1,234 latencies, of tasks that were never done"),
    }  # fmt: skip


def test_what_no_program_of_ours_says_is_told_as_nothing() -> None:
    result = read_sample("burn-fixed-2-flight-on-21")
    for seen in (None, {}, {**(result.seen or {}), "parks": 7}):
        assert details_of(result.model_copy(update={"seen": seen})) == Details()
    assert details_of(result.model_copy(update={"experiment": "unknown"})) == Details()


def test_memory_of_threads_is_in_kib_as_top_shows_it_and_in_mib(boxed: WebPage) -> None:
    found = facts_of([section_of(boxed, "fork-1")])
    assert found["Threads"] == "481 started, 481 live at once"
    assert found["Stack of a platform thread"] == "256 KiB"
    assert found["Memory before"] == (
        "VIRT 8,782,676 KiB (8,580 MiB), RSS 60,088 KiB (58.7 MiB), PSS 57,880 KiB (56.5 MiB); heap 6.21 of 40.0 MiB; "
        "19 threads of the kernel"
    )
    assert found["Memory while all live"].startswith("VIRT 8,905,812 KiB (8,700 MiB), RSS 107,668 KiB (105 MiB)")
    assert found["Memory while all live"].endswith("500 threads of the kernel")
    assert found["Memory at its peak"] == "VIRT 8,905,812 KiB (8,700 MiB), RSS 107,752 KiB (105 MiB)"
    not_all_at_once = counts("spawn-platform-pids-21", live=None, while_live=None, thread_stack_bytes=None)
    assert not_all_at_once["Threads"] == "481 started"
    assert list(not_all_at_once) == ["Threads", "Memory before", "Memory at its peak"]


def test_requests_of_a_fan_out_are_counted() -> None:
    assert counts("fanout-virtual-nofiles-21") == {
        "Requests": "54 answered, 146 failed (too-many-open-files 146)",
        "Open files": "12 before, at least 53 at once; limits: soft 64, hard 64",
        "Threads of the kernel": "at least 27 at once",
    }
    changes = {"errors": {}, "open_files_peak_is_lower_bound": False, "open_files_hard_limit": None}
    found = counts("fanout-virtual-nofiles-21", **changes)
    assert found["Requests"] == "54 answered, 146 failed"
    assert found["Open files"] == "12 before, 53 at once; limits: soft 64, hard none"


def test_the_remote_system_is_counted(few_files: WebPage, loaded: LoadedRun) -> None:
    assert below(section_of(few_files, "fork-1").blocks, "Remote system") == {
        "Requests": "20 answered, 20 at once, 0 abandoned by the caller, 0 refused, 0 faults as ordered",
        "Answered late by": "not recorded",
        "CPU": "0.200 s",
    }
    remote = cell_of(loaded, workload="fanout").forks[0].program.remote
    faults = remote.faults.model_copy(update={"status_500": 1, "close": 20, "never": 300})
    changed = remote.model_copy(update={"faults": faults, "lateness": latency(p99_us=2500)})
    found = {fact.name: str(fact.value) for fact in remote_facts(changed)}
    assert found["Requests"].endswith("321 faults as ordered")
    assert found["Answered late by"] == "2.50 ms (p99)"


def test_pinning_counts_operations_carriers_and_events(loaded: LoadedRun) -> None:
    def pinned(fork: Fork) -> list[Prose]:
        told = (one for one in program_blocks(fork, loaded.run) if isinstance(one, Prose))
        return [one for one in told if one.heading == "Pinned threads" or " events" in str(one.text)]

    fork = cell_of(loaded, workload="pinning-class-init").forks[0]
    facts = facts_of(program_blocks(fork, loaded.run))
    assert facts["Threads"] == "100 started, 100 had a turn" and facts["Operations"] == "158 in 4.00 s"
    assert facts["Carriers"] == "2 usual, 256 allowed, 2 at once, 0 of them in place of blocked ones"
    first, *stacks = pinned(fork)
    assert first.text == "158 jdk.VirtualThreadPinned events, 7.91 s in total." and stacks
    (nothing,) = pinned(cell_of(loaded, workload="pinning-lock").forks[0])
    assert nothing.text == "JDK Flight Recorder recorded no jdk.VirtualThreadPinned event."
    # A recorder that could not look is no finding.
    assert fork.result is not None
    blind = {"probe": "failed", "reason": "no recorder here", "count": None}
    (told,) = pinned(altered(fork, {"result": with_seen(fork.result, {"pinned": blind})}))
    assert told.text == "JDK Flight Recorder could not record: no recorder here."


def test_distributions_are_counts_and_milliseconds(burn_fork: Section) -> None:
    rows = {str(row["In ms"]): row for row in table_of([burn_fork], "Distributions of fork 2")}
    assert list(rows) == [
        "From due time to start", "From due time to end", "Parks of workers", "Parked while tasks were queued",
    ]  # fmt: skip
    first, parks = rows["From due time to start"], rows["Parks of workers"]
    assert list(first) == ["In ms", "count", "least", "p50", "p90", "p99", "p99.9", "most"]
    told = [[figure_in(row, title).text for title in list(row)[1:]] for row in (first, parks)]
    assert told == [
        ["6,998", "0.0216", "1.63", "1.81", "3.26", "–", "4.94"], ["15", "0.0250", "0.124", "–", "–", "–", "4.95"],
    ]  # fmt: skip
    few = "fewer than 10 of {} values were slower: too few to say"
    assert figure_in(first, "p99.9") == missing(few.format("6,998"))
    assert figure_in(parks, "p90") == missing(few.format("15"))
    for sample, names in {
        "pinning-class-init-21": ["From ready to block to going on", "Pinned for"],
        "fanout-virtual-21": ["Request, once it has a thread", "Answered after the first request"],
        "spawn-platform-pids-21": [],
        "hang-virtual-3-21": [],
    }.items():
        assert [one.measures for one in details_of(read_sample(sample)).distributions] == names, sample


def test_a_distribution_among_which_many_had_not_ended_has_lower_bounds(loaded: LoadedRun) -> None:
    fork = cell_of(loaded, "fixed-2", workload="burn", load="tasks-8").forks[1]

    assert fork.result is not None
    result = fork.result

    def told(bounds: int) -> dict[str, list[str]]:
        changed = altered(fork, {"result": with_seen(result, {"lower_bounds": bounds})})
        section = Section("fork", "a fork", tuple(program_blocks(changed, loaded.run)))
        rows = table_of([section], f"Distributions of fork {fork.fork}")
        return {str(row["In ms"]): [figure_in(row, title).text for title in list(row)[2:]] for row in rows}

    few, many, none = told(69), told(70), told(0)
    ended = "From due time to end"
    assert [one.startswith("≥ ") for one in few[ended]] == [False, False, False, False, False, True]
    assert [one.startswith("≥ ") for one in many[ended]] == [True, True, True, True, False, True]
    assert [one.removeprefix("≥ ") for one in many[ended]] == none[ended]
    assert many["From due time to start"] == none["From due time to start"]


def test_parks_are_told_with_their_stretches(burn_fork: Section) -> None:
    assert below(burn_fork.blocks, "Parks of workers") == {
        "Parked": "2 workers, for 0.00934 s in total",
        "Parked while tasks were queued": (
            "15 stretches, 0.00900 s over all workers; at most one worker per queued task: 0.00881 s, "
            "0.2 % of all workers’ time"
        ),
        "Of 0.100 ms and more": "6, 0.00863 s", "Of 1.00 ms and more": "4, 0.00830 s",
        "Of 10.0 ms and more": "0, 0 s",
        "The longest": "4.93 ms, from 0.00320 s on, with 8 tasks queued; thread 23",
        "Parked on": "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject 17",
        "Clocks aligned to within": "0.010 µs",
    }  # fmt: skip


def test_what_parks_were_on_stands_by_how_often_and_lost_events_are_told() -> None:
    result = read_sample("burn-fixed-2-flight-on-21")
    parks = result.seen["parks"]

    def told(**changes: object) -> dict[str, str]:
        ((_, facts),) = details_of(with_seen(result, {"parks": {**parks, **changes}})).sections
        return {row.name: row.value for row in facts}

    found = told(parks_by_blocker={"A": 2, "B": 3000}, lost_bytes=4096)
    assert found["Parked on"] == "B 3,000; A 2"
    assert found["Lost"] == "4,096 bytes of events, so parks are missing"
    assert told(probe="off") == {"JDK Flight Recorder": "not asked to record"}
    assert told(probe="failed", reason="no recorder here") == {"JDK Flight Recorder": "no recorder here"}


def test_an_arm_that_did_not_come_to_the_leading_figure_has_none_in_its_column() -> None:
    """A fork that failed requests has no time until all were answered, and its next figure counts something else."""
    run = experiments_of("fanout")

    def failing(forks: int) -> Callable[[CellRecord, Fork], Fork]:
        def changed(record: CellRecord, fork: Fork) -> Fork:
            if record.key.executor != "virtual" or fork.fork > forks or fork.result is None:
                return fork
            return altered(fork, {"result": fork.result.model_copy(update={"outcome": "requests-failed"})})

        return changed

    wall = "until all were answered"
    for forks, text in ((2, True), (1, False)):
        changed = with_forks(run, failing(forks))
        rows = table_of(page_of(changed, "platform", workload="fanout", jdk=OLD).blocks, "Arms under")
        (virtual,) = [row for row in rows if plain(row["Arm"]).strip() == "virtual"]
        assert (figure_in(virtual, f"{wall}, s").text == "–") is text
        lead = next(iter(tiles_of(page_of(changed, workload="fanout", jdk=OLD))))
        assert (lead == wall) is not text, "one that did leads, whichever came first"
