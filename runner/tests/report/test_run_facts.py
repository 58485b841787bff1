"""The facts of a run: how much of it is usable, its host, JDKs and parts, applications of the user, what is not ok."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.records.database import DatabaseFacts
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.outside import OutsideProof, ThreadGroup
from jdkmatrix.records.provenance import FlakeInput, PartOrigin, Provenance
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import HostFacts
from jdkmatrix.report.blocks.kinds import Fact, FactList, Items, Pre
from jdkmatrix.report.cell_page.forks import outside_words, under_load_words
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.cells_table import fork_lines, merged
from jdkmatrix.report.run_page.facts import jdk_row, own_applications
from jdkmatrix.report.run_page.notices import own_notices
from jdkmatrix.report.words.sentences import without_log_prefix
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import fork_with, key, sut_usage, window
from tests.support.judged_pages import PageOfRun, facts_of, figure_in, found, page_of, section_of, table_of
from tests.support.outcome_runs import windows_of
from tests.support.records import altered, altered_run, run_record, with_forks
from tests.support.run_facts import host_facts
from tests.support.sites import reference


def test_its_head_says_what_was_measured_and_how_much_of_it(loaded: LoadedRun, page: PageOfRun) -> None:
    shown = page.page
    assert shown.run_id == "20250101-120000-synthetic"
    assert shown.title == "Thread pool or virtual threads: mp-ping · 20250101-120000-synthetic"
    assert str(shown.summary).startswith(
        '<b class="forks amber">38 of 48 forks usable: 7 lost to faults of the host or of the measurement, 3 without a '
        "readable record.</b> 2 executors on 2 JDKs: 13 of 16 cells with a fork that can be used"
    )
    *_, files, order = found(shown.blocks, Items)
    assert files.items == ("some-cell.json: was unreadable, set aside and measured again",)
    assert order.items == loaded.run.order
    (command,) = (one for one in found(shown.blocks, Pre) if one.label)
    assert command.text.endswith("\n.venv/bin/matrix run --profile synthetic --seed 7")


def test_its_facts_say_with_what_and_when(loaded: LoadedRun, page: PageOfRun) -> None:
    found = facts_of(page.page.lede)
    assert found["CPU"] == host_facts().cpu.model
    assert found["Host"] == "4 cores, 8 CPUs usable; Linux 6.1.0-synthetic; virtual machine (KVM)"
    assert found["Measured"] == "2025-01-01 12:00 UTC, 67 min"
    assert found["Server"] == "Open Liberty 25.0.0.12"
    assert found["JDKs"] == "temurin-21.0.8, temurin-25"
    assert found["Driver"] == "loadgen 1 on Java 25.0.4.1+1"
    assert found["Tool"] == "jdk-matrix 0.1.0, commit 0123456789ab"
    assert found["Profile, seed"] == "synthetic, seed 7"
    (server,) = (fact for fact in facts.run_facts(loaded.run) if fact.name == "Server")
    assert server.title == f"archive sha256 {'a' * 64}"
    dirty = altered_run(loaded.run, {"git_dirty": True})
    told = facts_of([FactList(tuple(facts.run_facts(dirty)))])
    assert told["Tool"].endswith("commit 0123456789ab with uncommitted changes")


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
    assert told(inputs, loose)[1] == ["The flake did not give everything: wrk2: found on PATH."]
    fact, notices = told((), loose)
    assert fact.value == "not fully pinned: wrk2: found on PATH"
    assert not notices, "a run without the flake says it among its facts alone"


def test_the_host_is_described_with_units(page: PageOfRun) -> None:
    found = facts_of([section_of(page.page, "host")])
    assert found["Cores"] == "4 cores in 1 package, 8 CPUs online, SMT on"
    assert found["CPUs allowed"] == "0-7"
    assert found["Virtualisation"] == "virtual machine (KVM)"
    assert (found["Kernel"], found["Clock source"], found["Scheduler"]) == ("6.1.0-synthetic", "tsc", "CFS")
    assert found["OS, libc"].endswith(", glibc 2.36")
    assert found["Memory, swap"] == "30.7 GiB, 0.0 GiB"
    assert found["Frequency"] == "governor performance, driver intel_pstate, boost on"
    assert found["Microcode"] == "0x1"
    assert found["Load before the run"] == "0.12"
    assert found["Mitigations"] == "spectre_v2: Mitigation: Enhanced IBRS", "and none that it is not affected by"
    assert found["Limits"] == "nofile 1048576"
    assert found["Host"] == f"x86_64-linux, {host_facts().id}"


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
        assert found[name] == "the kernel does not say"
    assert (found["Virtualisation"], found["Limits"]) == ("none seen", "not recorded")
    assert found["Mitigations"] == "none needed or none reported" and found["Cores"].endswith("SMT off")


def test_jdks_are_told_with_what_became_of_them(page: PageOfRun) -> None:
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


def test_a_jdk_that_nobody_asked_for_is_no_trouble(loaded: LoadedRun) -> None:
    here, _, missing = (jdk.model_copy(update={"selected": False}) for jdk in loaded.run.jdks)
    assert [jdk_row(jdk, ran=False)[5] for jdk in (here, missing)] == [
        '<span class="badge none">available, not selected</span>',
        '<span class="badge none">not available here</span>',
    ]


def test_calibrations_are_in_rounds_per_microsecond_and_per_cent(page: PageOfRun) -> None:
    (row,) = table_of([section_of(page.page, "host")], "Calibration")
    assert (row["JDK"], row["Repeats"], row["CPU"]) == ("temurin-25", "20", "0")
    assert figure_in(row, "Rounds per µs").text == "41.2" and figure_in(row, "Spread % of median").text == "0.40"


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


def test_windows_say_what_carriers_took_and_that_nothing_was_counted() -> None:
    windows = [window(n, sut=sut_usage(carriers_cpu_share=share)) for n, share in enumerate((0.88, 0.91), start=1)]
    assert under_load_words(fork_with(*windows)) == (
        "not counted, since nothing of ours is in it; carriers of virtual threads had 88 % to 91 % of the CPU time in "
        "2 windows"
    )


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


def foreign(share: float, of: str = "server") -> Reason:
    return Reason(code="foreign-cpu", message=f"other processes used {share:.1%} of the CPUs of the {of}")


@pytest.fixture
def fork(quick: LoadedRun) -> Fork:
    """Of ten windows."""
    first = quick.cells[0].forks[0]
    return altered(first, {"windows": tuple(first.windows[0].model_copy(update={"index": i}) for i in range(1, 11))})


def losing(fork: Fork, reasons: dict[int, tuple[Reason, ...]]) -> Fork:
    return windows_of(fork, lambda window: window.model_copy(update={"reasons": reasons.get(window.index, ())}))


def test_a_fork_is_one_line_with_its_windows_and_the_range_of_its_figures(fork: Fork) -> None:
    told = fork_lines([losing(fork, {3: (foreign(0.091),), 10: (foreign(0.41),)})], shortfalls=False)
    assert told == ("fork 1: windows 3, 10 of 10 lost: other processes used 9.1 to 41.0 % of the CPUs of the server",)


def test_forks_of_which_the_same_is_told_stand_together_and_windows_are_not_told_twice(fork: Fork) -> None:
    spoilt = losing(fork, {2: (foreign(0.03), foreign(0.2, "driver"))})
    invalid = spoilt.model_copy(update={"status": Status.INVALID, "reasons": spoilt.window_reasons})
    assert fork_lines([invalid, invalid.model_copy(update={"fork": 2})], shortfalls=False) == (
        "forks 1-2: window 2 of 10 lost: other processes used 3.0 % of the CPUs of the server; "
        "other processes used 20.0 % of the CPUs of the driver",
    )
    assert fork_lines([fork], shortfalls=True) == ()


def test_only_figures_make_messages_differ() -> None:
    assert merged(["a 1 b 2,000", "a 3 b 10", "c 4"]) == ["a 1 to 3 b 10 to 2,000", "c 4"]


@pytest.mark.parametrize(("file_system", "told"), [("tmpfs", "41 MB of fresh data on tmpfs"), (None, "fresh data")])
def test_the_database_of_a_fork_says_on_which_file_system_its_data_were(
    quick: LoadedRun, file_system: str | None, told: str
) -> None:
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
    """Its records say "the rest still falls (+0.11% a second ...": of the rest, and of its last half minute."""
    troubles = PageOfRun(reference("20261124T043223Z-pinning-http.small")).troubles
    reasons = [reason for trouble in troubles for reason in trouble.reasons]
    assert reasons[0] == (
        "fork 2: not steady after 90 s of warm-up: CPU per request fell by 8.75 % on the whole, though no longer in "
        "the last 30 s"
    )
    assert not any("+" in reason for reason in reasons)
