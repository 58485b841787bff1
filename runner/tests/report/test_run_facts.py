"""The facts of a run: how much of it is usable, its host, JDKs and parts, applications of the user, what is not ok."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from jdkmatrix.records.database import DatabaseFacts
from jdkmatrix.records.forks import Audit, Fork, Proof
from jdkmatrix.records.load_results import Errors, Lead
from jdkmatrix.records.outside import OutsideProof, ThreadGroup
from jdkmatrix.records.provenance import FlakeInput, PartOrigin, Provenance
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.remote import RemoteFaults
from jdkmatrix.records.run import HostFacts
from jdkmatrix.records.served import Served
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, FactList, Items, Pre
from jdkmatrix.report.cell_page.fork_series import warmup_note
from jdkmatrix.report.cell_page.forks import outside_words, remote_facts, under_load_words
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.cells_table import fork_lines, merged
from jdkmatrix.report.run_page.facts import jdk_row, numbered
from jdkmatrix.report.run_page.sessions import differences
from jdkmatrix.report.words.sentences import without_log_prefix
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import fork_with, remote_stats, sut_usage, window
from tests.support.judged_pages import PageOfRun, page_of
from tests.support.outcome_runs import windows_of
from tests.support.pages import facts_of, figure_in, found, section_of, table_of
from tests.support.records import altered, altered_run, run_record, with_forks, with_forks_of, with_load
from tests.support.run_facts import host_facts
from tests.support.served_runs import QUICK, made_up, turned_run
from tests.support.sites import reference


def test_its_head_says_what_was_measured_and_how_much_of_it(loaded: LoadedRun, page: PageOfRun) -> None:
    shown = page.page
    assert shown.run_id == "20250101-120000-synthetic"
    assert shown.title == "Thread pool or virtual threads: mp-ping · 20250101-120000-synthetic"
    assert str(shown.summary).startswith(
        '<b class="forks amber">38 of 48 forks usable: 7 lost to faults of the host or of the measurement, 3 without a '
        "readable record.</b> 2 executors on 2 JDKs: 13 of 16 cells with a usable fork"
    )
    *_, files, order = found(shown.blocks, Items)
    aside = "was unreadable and set aside; measured again, or continued without its series"
    assert files.items == (f"some-cell.json: {aside}",)
    assert order.items == loaded.run.order
    (command,) = (one for one in found(shown.blocks, Pre) if one.label)
    assert command.text.endswith("\n.venv/bin/matrix run --profile synthetic --seed 7")


def test_its_facts_say_with_what_and_when(loaded: LoadedRun, page: PageOfRun) -> None:
    told = facts_of(page.page.lede)
    assert told == {
        "CPU": host_facts().cpu.model, "Host": "4 cores, 8 CPUs usable; Linux 6.2.0-synthetic; virtual machine (KVM)",
        "Measured": "2025-01-01 12:00 UTC, 67 min", "Server": "Open Liberty 25.0.0.12",
        "JDKs": "temurin-21.0.8, temurin-25", "Driver": "loadgen 1 on Java 25.0.4.1+1",
        "Tool": "jdk-matrix 0.1.0, commit 0123456789ab", "Parts": "fully pinned",
        "Profile, seed": "synthetic, seed 7", "Sessions": "1", "In windows": "4 % of that time",
    }  # fmt: skip
    (server,) = (fact for fact in facts.run_facts(loaded.run) if fact.name == "Server")
    assert server.title == f"archive sha256 {'a' * 64}"
    dirty = altered_run(loaded.run, {"git_dirty": True})
    told = facts_of([FactList(tuple(facts.run_facts(dirty)))])
    assert told["Tool"].endswith("commit 0123456789ab with uncommitted changes")


def test_an_attempt_that_was_repeated_is_no_further_fork(quick: LoadedRun) -> None:
    order = (*quick.run.order, f"{quick.run.order[0]}.2")
    page = PageOfRun(replace(quick, run=altered_run(quick.run, {"order": order}))).page
    assert "Order of execution (8 forks)" in {one.summary for one in found(page.blocks, Disclosure)}


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


def test_what_the_flake_gave_is_told_with_its_revisions(loaded: LoadedRun) -> None:
    inputs = (
        FlakeInput(name="nixpkgs", rev="c" * 40, nar_hash="sha256-x", locked=True),
        FlakeInput(name="other", rev=None, nar_hash=None, locked=True),
    )
    origins = (PartOrigin(part="java", origin="nix", detail="/nix/store/x"),)
    loose = (*origins, PartOrigin(part="wrk2", origin="host", detail="found on PATH"))

    def told(inputs: tuple[FlakeInput, ...], parts: tuple[PartOrigin, ...]) -> tuple[Fact, list[str]]:
        run = loaded.run.model_copy(update={"provenance": Provenance(inputs=inputs, parts=parts)})
        notices = PageOfRun(replace(loaded, run=run)).notices
        fact = next(fact for fact in facts.run_facts(run) if fact.name == "Parts")
        return fact, [notice.text for notice in notices if notice.title == "Not fully pinned"]

    pinned, _ = told(inputs, origins)
    assert pinned.value == f"fully pinned, from the flake: nixpkgs {'c' * 12}, other without a revision"
    assert pinned.title == "nixpkgs sha256-x"
    assert told(inputs, loose)[1] == ["The flake did not provide everything: wrk2: found on PATH."]
    fact, notices = told((), loose)
    assert fact.value == "not fully pinned: wrk2: found on PATH"
    assert not notices, "a run without the flake says it among its facts alone"


def test_the_host_is_described_with_units(page: PageOfRun) -> None:
    """Mitigations that say that the host is not affected are left out."""
    assert facts_of([section_of(page.page, "host")]) == {
        "CPU": host_facts().cpu.model, "Cores": "4 cores in 1 package, 8 CPUs online, SMT on", "CPUs allowed": "0-7",
        "Virtualisation": "virtual machine (KVM)", "Kernel": "6.2.0-synthetic",
        "OS, libc": f"{host_facts().os}, glibc 2.36", "Memory, swap": "30.7 GiB, 0.0 GiB",
        "Frequency": "governor performance, driver intel_pstate, boost on", "Scheduler": "CFS", "Clock source": "tsc",
        "Microcode": "0x1", "Load before the run": "0.12", "Mitigations": "spectre_v2: Mitigation: Enhanced IBRS",
        "Limits": "nofile 1048576", "Host": f"x86_64-linux, {host_facts().id}",
    }  # fmt: skip
    (row,) = table_of([section_of(page.page, "host")], "Calibration")
    assert (row["JDK"], row["Repeats"], row["CPU"]) == ("temurin-25", "20", "0")
    assert figure_in(row, "Rounds per µs").text == "41.2" and figure_in(row, "Spread % of median").text == "0.40"


def test_what_the_host_does_not_tell_is_said() -> None:
    told = host_facts()
    cpu = told.cpu.model_copy(
        update={"governor": None, "driver": None, "boost": None, "microcode": None, "mitigations": {}, "smt": False}
    )
    silent: HostFacts = told.model_copy(
        update={"cpu": cpu, "virtualisation": None, "scheduler": None, "clocksource": None, "limits": {}}
    )
    found = facts_of([FactList(facts.host_facts(silent))])
    for name in ("Frequency", "Scheduler", "Clock source", "Microcode"):
        assert found[name] == "the kernel does not report it"
    assert (found["Virtualisation"], found["Limits"]) == ("none seen", "not recorded")
    assert found["Mitigations"] == "none needed or none reported" and found["Cores"].endswith("SMT off")


@pytest.mark.parametrize(
    ("host", "cpu", "words"),
    [
        ({"memory_bytes": 34_000_000_000}, {}, "the memory in GiB differs (31, then 32)"),
        ({"limits": {"nofile": "9"}}, {}, "the list of limits differs (nofile 1048576, then nofile 9)"),
        ({}, {"allowed": (0, 1)}, "the list of CPUs allowed differs (0-7, then 0-1)"),
        ({}, {"smt": False}, "SMT differs (on, then off)"),
        ({}, {"driver": "acpi"}, "the driver of the CPU’s frequency differs (intel_pstate, then acpi)"),
    ],
)
def test_what_differs_between_sessions_is_said(host: Mapping[str, Any], cpu: Mapping[str, Any], words: str) -> None:
    first, before = run_record("two", cells=(), order=()).first_session, host_facts()
    changed = before.model_copy(update={**host, "cpu": before.cpu.model_copy(update=cpu)})
    (told,) = differences((first, first.model_copy(update={"number": 2, "host": changed})))
    assert told.endswith(words)


def test_jdks_are_told_with_what_became_of_them(loaded: LoadedRun, page: PageOfRun) -> None:
    rows = [list(row.values()) for row in table_of([section_of(page.page, "jdks")], "Table of JDKs")]
    first, second, missing = rows
    assert [row[0] for row in rows] == ["temurin-21.0.8", "temurin-25", "semeru-25"]
    assert first[1:5] == ["Eclipse Adoptium (synthetic)", "HotSpot", "21.0.8+9-LTS", "registry"]
    assert first[5] == '<span class="badge ok">measured</span>'
    assert str(first[6]).startswith("<details><summary>What it reports about itself</summary>")
    assert "openjdk" in str(first[6]) and "IMPLEMENTOR=SYNTHETIC\nJAVA_VERSION=0" in str(first[6])
    assert str(second[6]).startswith("the newest build was taken; the recorded one is gone<details")
    assert "<p>JDK-8369227: a virtual thread can stay parked for ever</p>" in str(second[6])
    assert missing[2:5] == ["OpenJ9", "25.0.1 (catalogue)", "–"]
    assert missing[5:] == [
        '<span class="badge failed">not available here</span>',
        "the archive cannot be reached from here (synthetic)",
    ]
    unasked = [jdk.model_copy(update={"selected": False}) for jdk in loaded.run.jdks[::2]]
    assert [jdk_row(jdk, ran=False)[5] for jdk in unasked] == [
        '<span class="badge none">available, not selected</span>',
        '<span class="badge none">not available here</span>',
    ], "what nobody asked for is no trouble"


def test_only_web_addresses_become_links(quick: LoadedRun) -> None:
    jdk = quick.run.jdks[1]
    bug = jdk.known_bugs[0]

    def shown(url: str) -> str:
        changed = jdk.model_copy(update={"known_bugs": (bug.model_copy(update={"url": url}),)})
        return str(jdk_row(changed, ran=True)[-1])

    assert '<a href="https://bugs.example/JDK-1" rel="noopener noreferrer">' in shown("https://bugs.example/JDK-1")
    assert "<a" not in shown("javascript:alert(1)") + shown("data:text/html,x")


PROOF = OutsideProof(
    path="/items", dumps=4, virtual_threads=13, virtual_names=("tomcat-handler-#", ""),
    carriers=("ForkJoinPool-1-worker-1",), carriers_cpu_share=0.893, answers=1892,
    busiest=(ThreadGroup(name="ForkJoinPool-#-worker-#", threads=2, cpu_share=0.893),),
)  # fmt: skip


def test_the_proof_says_what_was_seen() -> None:
    assert outside_words(PROOF) == (
        "from outside, under a closed loop of GET /items: 4 thread dumps showed 13 virtual threads "
        "(“tomcat-handler-#”, without a name); 1 carrier of virtual threads had 89 % of the CPU time of 1,892 "
        "answers; by threads: “ForkJoinPool-#-worker-#” (2) 89 %"
    )
    pool = PROOF.model_copy(update={"virtual_threads": 0, "carriers": (), "carriers_cpu_share": 0.0})
    assert "showed no virtual thread; their carriers had 0.0 %" in outside_words(pool)


def fork_facts(loaded: LoadedRun) -> dict[str, str]:
    """Return the facts of the first fork of the pool on the first JDK."""
    return facts_of([section_of(page_of(loaded, "liberty"), "fork-1")])


def test_how_a_fork_was_measured_beside_the_others_is_said(quick: LoadedRun) -> None:
    turned = fork_facts(turned_run())
    assert turned["Protocol"] == "interleaved: 10 rounds in turn with 1 other server, 1 of them lost to gates"
    assert fork_facts(quick)["Protocol"] == "separate: by itself"
    told = with_forks_of(quick, "liberty", lambda fork: altered(fork, {"why_alone": "its memory is read"}))
    assert fork_facts(told)["Protocol"] == "by itself: its memory is read"


LEAD = Lead(duration_s=1.0, sent=100, completed=90, non_2xx=0, errors=Errors())


def test_a_fork_says_on_whose_threads_its_windows_ran() -> None:
    loaded = made_up(replace(QUICK, executors=("liberty", "virtual", "fixed-50"), jdks=("temurin-25",)))
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
    led = windows_of(fork, lambda one: with_load(one, {"lead": LEAD}))
    assert under_load_words(led).endswith(f"the driver sent {sent + 200:,}"), "which the lead counts as begun, too"


@pytest.mark.parametrize(
    ("began", "executor", "where"),
    [
        (1000, "tomcat", " ran on threads of the server’s own pool; "),
        (1000, "tomcat-virtual", " ran on virtual threads that the server makes itself; "),
        (1000, "helidon", " ran on virtual threads that the server makes itself; "),
        (7, "virtual", " ran on threads of the server’s own pool; "),  # they were to run elsewhere
        (0, "helidon", "no request began in 1 window; the driver sent 1,000"),
    ],
)
def test_virtual_threads_that_a_server_makes_itself_are_no_pool(began: int, executor: str, where: str) -> None:
    served = Served(
        servers=began, plugged_virtual=0, plugged_platform=0, elsewhere=0, begun_min=0, begun_max=began, left_over=0,
        threads_started=None,
    )  # fmt: skip
    proof = Proof(requests=200, executor=executor, virtual=executor != "tomcat", distinct_threads=9, thread_names=())
    assert where in under_load_words(altered(fork_with(window(served=served)), {"proof": proof}))


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
        ((silent,), "the driver got 1,234 answers"),
    ):
        assert words in under_load_words(altered(quick.cells[0].forks[0], {"windows": windows}))
    assert "ran on threads of the server’s own pool" in fork_facts(quick)["Proof under load"], "the page says it"


def test_windows_say_what_carriers_took_and_that_nothing_was_counted() -> None:
    windows = [window(n, sut=sut_usage(carriers_cpu_share=share)) for n, share in enumerate((0.88, 0.91), start=1)]
    assert under_load_words(fork_with(*windows)) == (
        "not counted, since it contains nothing of ours; carriers of virtual threads had 88 % to 91 % of the CPU time "
        "in 2 windows"
    )


def foreign(share: float, of: str = "server") -> Reason:
    return Reason(code="foreign-cpu", message=f"other processes used {share:.1%} of the CPUs of the {of}")


@pytest.fixture
def fork(quick: LoadedRun) -> Fork:
    """Return a fork with ten windows."""
    first = quick.cells[0].forks[0]
    return altered(first, {"windows": tuple(first.windows[0].model_copy(update={"index": i}) for i in range(1, 11))})


def losing(fork: Fork, reasons: dict[int, tuple[Reason, ...]]) -> Fork:
    return windows_of(fork, lambda window: window.model_copy(update={"reasons": reasons.get(window.index, ())}))


def test_a_fork_is_one_line_with_its_windows_and_the_range_of_its_figures(fork: Fork) -> None:
    told = fork_lines([losing(fork, {3: (foreign(0.091),), 10: (foreign(0.41),)})], shortfalls=False)
    assert told == ("fork 1: windows 3, 10 of 10 lost: other processes used 9.1 to 41.0 % of the CPUs of the server",)
    assert merged(["a 1 b 2,000", "a 3 b 10", "c 4"]) == ["a 1 to 3 b 10 to 2,000", "c 4"], "only figures may differ"
    address = "host 127.0.0.1 and port {}, on jdk-21.0.8; 1,024 files: status {}."
    assert merged([address.format(9080, 1)]) == [address.format(9080, 1)]
    assert merged([address.format(9080, 1), address.format(9081, 1)]) == [address.format("9080 to 9081", 1)]


def test_forks_of_which_the_same_is_told_stand_together_and_windows_are_not_told_twice(fork: Fork) -> None:
    spoilt = losing(fork, {2: (foreign(0.03), foreign(0.2, "driver"))})
    invalid = spoilt.model_copy(update={"status": Status.INVALID, "reasons": spoilt.window_reasons})
    assert fork_lines([invalid, invalid.model_copy(update={"fork": 2})], shortfalls=False) == (
        "forks 1-2: window 2 of 10 lost: other processes used 3.0 % of the CPUs of the server; "
        "other processes used 20.0 % of the CPUs of the driver",
    )
    assert fork_lines([fork], shortfalls=True) == ()


def test_one_cpu_is_a_cpu(quick: LoadedRun) -> None:
    assert [numbered("CPU", cpus) for cpus in ((1,), (0, 1), ())] == ["CPU 1", "CPUs 0-1", "CPUs none"]

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
    assert str(remote_facts(once)[0].value).endswith("0 refused, 1 fault as ordered")


@pytest.mark.parametrize(("file_system", "told"), [("tmpfs", "41 MB of fresh data on tmpfs"), (None, "fresh data")])
def test_a_database_tells_the_file_system_of_its_data(quick: LoadedRun, file_system: str | None, told: str) -> None:
    database = DatabaseFacts(
        version="18.1", command=("postgres",), data_bytes=41_000_000, file_system=file_system, user="nobody"
    )

    def with_it(fork: Fork) -> Fork:
        shared = fork.confinement.model_copy(update={"remote_cpus": fork.confinement.driver_cpus})
        return altered(fork, {"confinement": shared, "database": database})

    shown = page_of(with_forks(quick, lambda _, fork: with_it(fork)))
    assert facts_of([section_of(shown, "fork-1")])["Database"].endswith(told)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("[88.402s][warning][os,thread] Failed to start", "Failed to start"),
        ("say so, first: [88.402s][warning][os,thread] Failed to start", "say so, first: Failed to start"),
        ("[3 of 4] windows", "[3 of 4] windows"),
    ],
)
def test_a_quoted_line_of_a_log_has_no_decoration(line: str, plain: str) -> None:
    assert without_log_prefix(line) == plain


def test_a_reference_run_has_no_sentence_that_contradicts_itself() -> None:
    """Its records say "the rest still falls (+0.11% a second ...": once of the rest, once of its last half minute."""
    troubles = PageOfRun(reference("20261124T043223Z-pinning-http.small")).troubles
    reasons = [reason for trouble in troubles for reason in trouble.reasons]
    assert reasons[0] == (
        "fork 2: not steady after 90 s of warm-up: CPU per request fell by 8.75 % overall, though no longer in "
        "the last 30 s"
    )
    assert not any("+" in reason for reason in reasons)
