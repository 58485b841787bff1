"""The threads on which the requests of a window ran, as the application counted them and as the driver says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.faults import KINDS, code_of
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.loads.base import Ask
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.method.gate import Observation
from jdkmatrix.method.gates import refusals
from jdkmatrix.probes.served import left_over_after, served_between
from jdkmatrix.provision.project import Project
from jdkmatrix.records.load_results import Errors, Lead, LoadResult
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Window
from jdkmatrix.run import prepare
from jdkmatrix.servers.proof import HooksError, ProofError, check_served
from jdkmatrix.subjects.parts import Parts
from jdkmatrix.subjects.served.kind import ServedApplications
from jdkmatrix.subjects.served.observe import Bench, Observed
from jdkmatrix.subjects.served.windows import Windows
from tests.support.builders import gauges, key, load_result, pressure, sut_usage
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

QUICK = MATRIX.profiles["quick"]


def between(begun: int, result: LoadResult, *, left_over: int = 0) -> Served:
    found = served_between(gauges(7), gauges(7 + begun), result, left_over=left_over)
    assert found is not None
    return found


def codes(served: Served | None) -> list[str]:
    return [reason.code for reason in refusals(Observation(served=served), MATRIX.thresholds)]


def test_a_window_counts_what_began_in_it() -> None:
    found = between(1000, load_result())
    assert (found.plugged_virtual, found.begun, found.begun_min, found.begun_max) == (1000, 1000, 1000, 1000)
    assert found.threads_started == 2000
    assert codes(found) == []


@pytest.mark.parametrize(
    ("begun", "changes", "left_over", "expected"),
    [
        (999, {}, 0, ["not-counted"]),
        (1001, {}, 0, ["not-counted"]),
        # One was sent before and given up: it may begin now, or never.
        (1001, {}, 1, []),
        (1002, {}, 1, ["not-counted"]),
        # Outstanding at the end, answered late or not at all.
        (1004, {"sent": 1010, "answered_late": 4}, 0, []),
        (1010, {"sent": 1010}, 0, []),
        (1011, {"sent": 1010}, 0, ["not-counted"]),
        # Answers that the application did not give.
        (990, {"non_2xx": 10}, 0, []),
        (989, {"non_2xx": 10}, 0, ["not-counted"]),
        # A driver that does not say what it sent: one more for each of 50 connections, and what failed.
        (1050, {"sent": None}, 0, []),
        (1051, {"sent": None}, 0, ["not-counted"]),
        (1051, {"sent": None, "errors": Errors(read=1)}, 0, []),
        (999, {"sent": None}, 0, ["not-counted"]),
    ],
)
def test_sent_requests_are_what_began(begun: int, changes: dict[str, Any], left_over: int, expected: list[str]) -> None:
    assert codes(between(begun, load_result(**changes), left_over=left_over)) == expected


AHEAD = Lead(duration_s=10.0, sent=310, completed=300, non_2xx=20, errors=Errors(read=10))


def test_what_a_driver_sent_ahead_of_a_window_began_too() -> None:
    """20 of the 300 answers before the window are refusals, and nobody knows whether those requests began."""
    led = load_result(lead=AHEAD, latency_from_s=10.0, sent=1050)
    bounds = [(begun, codes(between(begun, led))) for begun in (1279, 1280, 1360, 1361)]
    assert bounds == [(1279, ["not-counted"]), (1280, []), (1360, []), (1361, ["not-counted"])]
    assert left_over_after(between(1355, led), led, left_over=0) == 5
    assert left_over_after(None, led, left_over=0) == 80


def test_a_driver_that_counts_refusals_from_its_start_on_vouches_for_no_answer_beside_them() -> None:
    """Of 1,000 answers that count, over 50 connections, 300 were refused, and not the window's share of 150."""
    answered, refused = load_result(sent=None), load_result(sent=None, non_2xx=150)
    for begun, result, is_fault in ((950, answered, False), (949, answered, True), (700, refused, False)):
        served = served_between(gauges(7), gauges(7 + begun), result, left_over=0, early_s=0.1)
        assert codes(served) == ["not-counted"] * is_fault


def test_threads_that_started_before_an_early_reading_may_begin_their_requests_after_it() -> None:
    """A bounded executor's threads wait for their turn: 45 of 50 had started when wrk2's first window began."""
    result = load_result(RateLoad(rate_rps=3000, connections=50), sent=None, completed=1000)
    before, after = gauges(7, threads_started=52), gauges(1007, threads_started=1007)
    early = served_between(before, after, result, left_over=0, early_s=0.05)
    assert early is not None and early.threads_started == 955
    check_served(early, "virtual-bounded-5")
    with pytest.raises(ProofError, match="955 were started for 1,000"):
        check_served(early.model_copy(update={"left_over": 0}), "virtual-bounded-5")


def test_a_server_that_does_not_tell_proves_nothing_and_is_no_fault() -> None:
    untold = gauges(1, served_elsewhere=None)
    for before, after in ((None, gauges(1)), (gauges(1), None), (untold, gauges(2)), (gauges(1), untold)):
        assert served_between(before, after, load_result(), left_over=0) is None
    assert codes(None) == []
    stock = gauges(5, threads_started=None)
    found = served_between(stock, stock, load_result(), left_over=0)
    assert found is not None and found.threads_started is None, "no plugged executor, no threads of its"


def test_what_a_driver_gave_up_may_begin_later() -> None:
    rate = RateLoad(rate_rps=1000, connections=5)
    drowned = load_result(rate, sent=1000, completed=700, answered_late=100)
    served = between(900, drowned)
    assert left_over_after(served, drowned, left_over=0) == 100
    assert left_over_after(None, drowned, left_over=3) == 303, "nobody knows how many of them began"
    assert left_over_after(between(1000, load_result()), load_result(), left_over=0) == 0
    silent = load_result(rate, sent=None, errors=Errors(read=2))
    assert left_over_after(between(1000, silent), silent, left_over=40) == 7, "it does not grow from phase to phase"


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 4), min_size=1, max_size=8))
def test_no_window_of_an_honest_server_is_a_fault(phases: list[tuple[int, int, int, int]]) -> None:
    """In every phase some requests are answered, late or in time, some begin and are given up, some wait until a later
    phase, and some of those that waited begin."""
    left_over = waiting = total = 0
    for answered, late, given_up, not_begun in phases:
        woken = waiting // 2
        begun = answered + late + given_up + woken
        sent = answered + late + given_up + not_begun
        waiting += not_begun - woken
        result = load_result(completed=answered, answered_late=late, sent=sent)
        served = served_between(gauges(total), gauges(total + begun), result, left_over=left_over)
        total += begun
        assert codes(served) == []
        left_over = left_over_after(served, result, left_over=left_over)
        assert left_over == waiting


@pytest.mark.parametrize(
    ("executor", "counts"),
    [
        ("virtual", {"plugged_virtual": 1000, "threads_started": 1005}),
        ("virtual", {"plugged_virtual": 1000, "threads_started": 998, "left_over": 2}),
        ("liberty-virtual", {"plugged_virtual": 1000, "threads_started": 0}),
        ("liberty", {"servers": 1000}),
        ("platform", {"plugged_platform": 1000, "threads_started": 1000}),
        ("fixed-50", {"plugged_platform": 1000, "threads_started": 0}),
        ("cached", {"plugged_platform": 1000, "threads_started": 3}),
        ("virtual-pooled-8", {"plugged_virtual": 1000, "threads_started": 0}),
        ("quarkus-virtual", {"servers": 1000}),
        ("quarkus-fixed-8", {"servers": 1000}),
        ("micronaut-fixed-8", {"servers": 1000}),
    ],
)
def test_requests_that_ran_where_the_cell_says(executor: str, counts: dict[str, int]) -> None:
    check_served(served(**counts), executor)


@pytest.mark.parametrize(
    ("executor", "counts", "message"),
    [
        ("virtual", {"servers": 1000},
         '1,000 of 1,000 requests under load did not run on "virtual": 1,000 on the serv'),
        ("virtual", {"plugged_virtual": 999, "servers": 1, "threads_started": 1000}, "1 of 1,000 requests"),
        ("virtual", {"plugged_virtual": 1000, "threads_started": 900}, "900 were started for 1,000"),
        ("virtual", {"plugged_virtual": 1000, "threads_started": None}, "0 were started for 1,000"),
        ("virtual", {"plugged_platform": 1000}, "1,000 on platform threads of the plugged executor"),
        ("liberty", {"plugged_virtual": 1000}, "1,000 on virtual threads of the plugged executor"),
        ("fixed-50", {"plugged_platform": 990, "servers": 10},
         '10 of 1,000 requests under load did not run on "fixed-'),
        ("liberty-virtual", {"servers": 1000}, "did not run"),
        ("liberty", {"servers": 999, "elsewhere": 1}, "1 on threads of unknown origin"),
        ("platform", {"plugged_platform": 1000, "threads_started": 50}, "a thread for each request"),
    ],
)  # fmt: skip
def test_a_request_that_ran_elsewhere_fails(executor: str, counts: dict[str, Any], message: str) -> None:
    with pytest.raises(ProofError, match=message) as failed:
        check_served(served(**counts), executor)
    assert failed.value.figures["begun"] == 1000


def measured(
    executor: str,
    seen: Served | None,
    load: LoadResult | None = None,
    step: Callable[[str], object] = str,
    readings: tuple[WindowReading, ...] = (),
    carriers_share: float | None = None,
) -> Window:
    """Measure a window of a server that was seen like this."""
    result = load or load_result()

    class Observation:
        cpu_sets = CpuSets(sut=(min(os.sched_getaffinity(0)),), driver=(), overlapped=False)

        def observe(self, load: Load, duration_s: float, *, label: str, lead_s: float) -> Observed:
            sut = sut_usage(carriers_cpu_share=carriers_share)
            return Observed(1.0, result, sut, pressure(), remote=None, served=seen, readings=readings)

    listener = cast(Any, SimpleNamespace(step=step))
    windows = Windows(cast(Bench, Observation()), executor, MATRIX.thresholds, "../logs", listener)
    return windows.measure(Ask(result.load, 1.0, "window-1", "window 1/1"), index=1)


def test_a_window_is_recorded_with_what_spoilt_it_and_what_the_server_did_not_do() -> None:
    """The fault alone decides whether the window counts."""
    rate = RateLoad(rate_rps=1000, connections=10)
    heard: list[str] = []
    busy = load_result(rate, due=1000, completed=10, driver_cpu_share=0.99)
    window = measured("virtual", None, busy, heard.append)
    assert [reason.code for reason in window.reasons] == ["driver-saturated"]
    assert [reason.code for reason in window.shortfalls] == ["rate-missed"]
    assert not window.valid
    assert heard[0].endswith("(invalid: driver-saturated; fell short: rate-missed)")


def test_every_window_is_proved_and_keeps_its_counts() -> None:
    assert measured("liberty", None).served is None
    good = measured("liberty", served(servers=1000))
    assert good.valid and good.served == served(servers=1000)
    lost = measured("liberty", served(servers=900))
    assert [reason.code for reason in lost.reasons] == ["not-counted"]
    assert lost.reasons[0].figures == {"begun": 900, "min": 1000, "max": 1000}
    with pytest.raises(ProofError, match="did not run on"):
        measured("virtual", served(servers=1000))


def test_hooks_that_are_called_under_load_fail_the_fork() -> None:
    on_virtual = served(plugged_virtual=1000, threads_started=1000)
    gone, left = ((WindowReading(metric="hook_calls", value=calls),) for calls in (0, 2))
    assert measured("virtual", on_virtual, readings=gone).readings == gone
    with pytest.raises(HooksError, match="they were called 2 times under load") as failed:
        measured("virtual", on_virtual, readings=left)
    assert failed.value.figures == {"hook_calls": 2}
    assert KINDS[code_of(failed.value)] == "fault", "each request ran where it should"


def test_threads_of_an_application_of_the_users_own_are_judged_where_it_serves() -> None:
    """One that runs out of memory is busy with its collector, whatever serves its requests."""
    with pytest.raises(ProofError, match='"virtual" promises virtual threads, but they used 5'):
        measured("virtual", None, carriers_share=0.05)
    failing = load_result(RateLoad(rate_rps=1000, connections=10), due=1000, completed=10)
    assert [one.code for one in measured("virtual", None, failing, carriers_share=0.05).shortfalls] == ["rate-missed"]


def served(**counts: Any) -> Served:
    empty: dict[str, Any] = {
        "servers": 0, "plugged_virtual": 0, "plugged_platform": 0, "elsewhere": 0, "begun_min": 1000,
        "begun_max": 1000, "left_over": 0, "threads_started": None,
    }  # fmt: skip
    return Served.model_validate({**empty, **counts})


def test_without_a_database_the_bank_on_one_is_not_testable() -> None:
    parts = cast(Parts, SimpleNamespace(postgres="PostgreSQL cannot be had", drivers={}))
    cell = key(server="tomcat", executor="tomcat", workload="bank-sql-10", load="saturate-50")
    assert ServedApplications().why_not(MATRIX, parts, cell) == "bank-sql-10 needs a database: PostgreSQL cannot be had"


@pytest.mark.parametrize(
    ("free_bytes", "told"),
    [
        (2**30, None),
        (2**30 - 1, "its data need 1 GiB"),
        (2**28, "bank-sql-10 needs a database: its data need 1 GiB, but {} has 0.25 GiB free (TMPDIR may name"),
    ],
)
def test_without_room_for_its_data_the_bank_on_a_database_is_not_testable(
    free_bytes: int, told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Databases of processes that are gone are removed and take none of the room."""
    cell = key(server="tomcat", executor="tomcat", workload="bank-sql-10", load="saturate-50")
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    (abandoned := tmp_path / f"jdk-matrix-postgres-{namespace}-{2**22 + 1}-x").mkdir()
    (of_another_container := tmp_path / f"jdk-matrix-postgres-{namespace + 1}-{2**22 + 1}-x").mkdir()
    loads = {cell: SimpleNamespace(connections=50)}
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free_bytes))
    monkeypatch.setattr(prepare, "provision_postgres", lambda root, *, say: object())
    monkeypatch.setattr(prepare, "everyone_reaches", lambda _: True)
    postgres = prepare.postgres_from(Project(ROOT, tmp_path), None, say=print)
    parts = cast(Parts, SimpleNamespace(postgres=postgres, drivers={cell: object()}, loads=loads))
    found = ServedApplications().why_not(MATRIX, parts, cell)
    assert found is None if told is None else found is not None and told.format(tmp_path) in found
    assert not abandoned.exists() and of_another_container.exists()


def test_root_needs_a_folder_for_its_data_that_others_can_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL runs as another user then."""
    (closed := tmp_path / "closed").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    monkeypatch.setattr(prepare, "provision_postgres", lambda root, *, say: object())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = prepare.postgres_from(Project(ROOT, tmp_path), None, say=print)
    assert isinstance(found, str) and f"other users cannot enter {closed}" in found and "TMPDIR" in found


def test_slow_answers_make_the_way_to_the_steady_state_longer() -> None:
    """The gate looks at twelve windows of at least five answers each, which no delay up to 250 ms makes longer, and
    tries four times the longest rest before it gives up; after that, settling takes one window."""
    expected_s, quick = ServedApplications().expected_s, MATRIX.profiles["quick"]
    cells = (key(workload="banking", load="share-50", wait_us=us) for us in (0, 200_000, 1_000_000, 5_000_000))
    usual_s, *longer_s = (expected_s(MATRIX, quick, one) for one in cells)
    caps_s = 8 * (15 + 0.2), 4 * (60 + 1), 4 * (300 + 5)  # in stretches, each with a wait for the last answers
    least_s = 15 + 3, 60 + 5, 300 + 25
    more_s = [(cap_s - 90) / 2 + rest_s - 18 for cap_s, rest_s in zip(caps_s, least_s, strict=True)]
    assert longer_s == pytest.approx([usual_s + one for one in more_s])


def test_a_closed_loop_of_slow_answers_is_warmed_in_whole_stretches() -> None:
    """A stretch has 16 windows of 15 s if answers take 3 s, after a lead of 30 s; the cap is three stretches."""
    profile = MATRIX.profiles["quick"].model_copy(update={"protocol": "separate"})
    cells = (key(workload="banking", load="flood", wait_us=us) for us in (0, 3_000_000))
    usual_s, slow_s = (ServedApplications().expected_s(MATRIX, profile, cell) for cell in cells)
    lead_s = 30
    usual_warmup_s, slow_warmup_s = 90 / 3 + 15 + 3, 3 * (lead_s + 16 * 15 + 3) + lead_s + 15
    assert slow_s - slow_warmup_s == pytest.approx(usual_s - usual_warmup_s + profile.windows * lead_s)


@pytest.mark.parametrize(("vm", "told"), [("hotspot", None), ("openj9", "; semeru-25 is OpenJ9")])
def test_an_application_of_the_user_is_measured_on_hotspot_alone(vm: str, told: str | None) -> None:
    """Other JVMs do not say on which threads an application serves, which is known without starting it."""
    cell = key(workload="mine", jdk="semeru-25")
    matrix = SimpleNamespace(workloads={"mine": SimpleNamespace(own=True, database=None)})
    jdk = SimpleNamespace(entry=SimpleNamespace(vm=vm))
    load = SimpleNamespace(connections=1)
    parts = SimpleNamespace(jdk=lambda _: jdk, drivers={cell: object()}, loads={cell: load}, postgres=None)
    found = ServedApplications().why_not(cast(Any, matrix), cast(Any, parts), cell)
    assert found is None if told is None else found is not None and found.endswith(told)


@pytest.mark.parametrize(
    ("burn_us", "cpus", "told"),
    [(100, 1, None), (500, 1, None), (1000, 2, None), (1000, 1, "at least 0.05 s"), (5000, 2, "at least 0.125 s")],
)
def test_servers_with_half_done_work_as_a_turn_ends_take_none(burn_us: int, cpus: int, told: str | None) -> None:
    """Fifty requests that share a CPU are all done late, while those that run one after another are not: a turn would
    count them for one arm only."""
    cell = key(burn_us=burn_us, cpus=cpus, load="saturate-50")
    found = ServedApplications().why_no_turns(MATRIX, cell)
    assert found is None if told is None else found is not None and f"an answer takes {told}" in found


def test_servers_that_block_for_as_long_as_they_are_told_take_no_turns() -> None:
    """Such a server may block for longer than a turn, in which it would then answer nothing."""
    cell = key(workload="pinning-http-lock", load="saturate-50")
    assert "block for as long as they are told to" in (ServedApplications().why_no_turns(MATRIX, cell) or "")


@pytest.mark.parametrize(
    ("quota_cpus", "told"),
    [(None, None), (0.1, "are answered after 50 s on a quota of 0.1 CPUs, and the driver")],
)
def test_work_that_a_quota_makes_too_long_is_never_measured(quota_cpus: float | None, told: str | None) -> None:
    limits = None if quota_cpus is None else Limits(cpu_quota_cpus=quota_cpus)
    workload = MATRIX.workloads["mp-ping"].model_copy(update={"limits": limits})
    matrix = MATRIX.model_copy(update={"workloads": {**MATRIX.workloads, "mp-ping": workload}})
    found = ServedApplications().why_never(matrix, QUICK, key(burn_us=100_000, cpus=1, load="saturate-50"))
    assert found is None if told is None else found is not None and told in found


@pytest.mark.parametrize(
    ("load", "driver", "told"),
    [
        ("rate-2", "auto", "answers after 12 s, and rate-2 has windows of 10 s, in which no request would be answered"),
        ("rate-2", "wrk2", None),
        ("saturate-50", "auto", None),
        ("steps-of-20s", "auto", None),
    ],
)
def test_a_window_that_ends_before_its_first_answer_is_never_measured(load: str, driver: str, told: str | None) -> None:
    """In such a window, every server would have missed the rate."""
    steps = StepsLoad(warmup_rps=1, rates_rps=(1, 2), connections=50, step_s=20)
    matrix = MATRIX.model_copy(
        update={
            "loads": {**MATRIX.loads, "rate-2": RateLoad(rate_rps=2, connections=50), "steps-of-20s": steps},
            "driver": MATRIX.driver.model_copy(update={"choice": driver, "timeout_s": 60}),
        }
    )
    cell = key(workload="forward", load=load, wait_us=12_000_000)
    found = ServedApplications().why_never(matrix, QUICK.model_copy(update={"window_s": 10}), cell)
    assert found is None if told is None else found is not None and told in found
