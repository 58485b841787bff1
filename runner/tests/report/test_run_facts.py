"""What the page of a run says of the run itself: with what, when, and on which host it was measured."""

from __future__ import annotations

import pytest

from jdkmatrix.records.provenance import FlakeInput, PartOrigin, Provenance
from jdkmatrix.records.run import HostFacts
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.report.views import Fact, RunView
from jdkmatrix.store.loaded import LoadedRun
from tests.support.records import altered_run
from tests.support.run_facts import host_facts
from tests.support.served_runs import Shape, synthetic_run

MATRIX = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("run"), MATRIX)


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> RunView:
    return view_run(JudgedRun(loaded))


def by_name(found: tuple[Fact, ...]) -> dict[str, str]:
    return {fact.name: fact.value for fact in found}


def test_its_head_says_what_was_measured_and_how_much_of_it(loaded: LoadedRun, page: RunView) -> None:
    assert page.run_id == "20250101-120000-synthetic"
    assert page.title == "Thread pool or virtual threads: mp-ping"
    assert page.summary.startswith("2 executors on 2 JDKs: 13 of 16 cells with a fork that can be used")
    assert page.forks.amber
    assert page.forks.text == (
        "38 of 48 forks usable: 7 lost to faults of the host or of the measurement, 3 without a readable record"
    )
    assert page.problems == ("some-cell.json: was unreadable, set aside and measured again",)
    assert page.order == loaded.run.order
    assert page.reproduce.splitlines()[-1] == ".venv/bin/matrix run --profile synthetic --seed 7"


def test_its_facts_say_with_what_and_when(loaded: LoadedRun, page: RunView) -> None:
    found = by_name(page.facts)
    assert found["CPU"] == host_facts().cpu.model
    assert found["Host"] == "4 cores, 8 CPUs usable; Linux 6.1.0-synthetic; virtual machine (KVM)"
    assert found["Measured"] == "2025-01-01 12:00 UTC, 67 min"
    assert found["Server"] == "Open Liberty 25.0.0.12"
    assert found["JDKs"] == "temurin-21.0.8, temurin-25"
    assert found["Driver"] == "loadgen 1 on Java 25.0.4.1+1"
    assert found["Tool"] == "jdk-matrix 0.1.0, commit 0123456789ab"
    assert found["Profile, seed"] == "synthetic, seed 7"
    assert next(fact.title for fact in page.facts if fact.name == "Server") == f"archive sha256 {'a' * 64}"
    dirty = altered_run(loaded.run, {"git_dirty": True})
    assert by_name(facts.run_facts(dirty))["Tool"].endswith("commit 0123456789ab with uncommitted changes")


def test_what_the_flake_gave_is_told_with_its_revisions(loaded: LoadedRun) -> None:
    inputs = (
        FlakeInput(name="nixpkgs", rev="c" * 40, nar_hash="sha256-x", locked=True),
        FlakeInput(name="other", rev=None, nar_hash=None, locked=True),
    )
    origins = (PartOrigin(part="java", origin="nix", detail="/nix/store/x"),)

    def parts(provenance: Provenance) -> Fact:
        run = loaded.run.model_copy(update={"provenance": provenance})
        return next(fact for fact in facts.run_facts(run) if fact.name == "Parts")

    pinned = parts(Provenance(inputs=inputs, parts=origins))
    assert pinned.value == f"fully pinned, from the flake: nixpkgs {'c' * 12}, other without a revision"
    assert pinned.title == "nixpkgs sha256-x"
    loose = (*origins, PartOrigin(part="wrk2", origin="host", detail="found on PATH"))
    assert parts(Provenance(inputs=(), parts=loose)).value == "not fully pinned"


def test_the_host_is_described_with_units(page: RunView) -> None:
    found = by_name(page.host)
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
    assert found["Host"] == f"x86_64-linux, {'0' * 12}"


def test_what_the_host_does_not_tell_is_said() -> None:
    told = host_facts()
    cpu = told.cpu.model_copy(
        update={"governor": None, "driver": None, "boost": None, "microcode": None, "mitigations": {}, "smt": False}
    )
    silent: HostFacts = told.model_copy(
        update={"cpu": cpu, "virtualisation": None, "scheduler": None, "clocksource": None, "limits": {}}
    )
    found = by_name(facts.host_facts(silent))
    for name in ("Frequency", "Scheduler", "Clock source", "Microcode"):
        assert found[name] == "the kernel does not say"
    assert (found["Virtualisation"], found["Limits"]) == ("none seen", "not recorded")
    assert found["Mitigations"] == "none needed or none reported" and found["Cores"].endswith("SMT off")


def test_jdks_are_told_with_what_became_of_them(page: RunView) -> None:
    first, second, missing = page.jdks
    assert [one.id for one in page.jdks] == ["temurin-21.0.8", "temurin-25", "semeru-25"]
    assert (first.vm, first.version, first.source, first.remark) == ("HotSpot", "21.0.8+9-LTS", "registry", None)
    assert (first.state, first.state_class, first.bugs) == ("measured", "ok", ())
    assert first.vendor == "Eclipse Adoptium (synthetic)" and first.output and first.output.startswith("openjdk")
    assert first.release == "IMPLEMENTOR=SYNTHETIC\nJAVA_VERSION=0"
    assert second.remark == "the newest build was taken; the recorded one is gone"
    assert second.bugs == (("JDK-8369227", "a virtual thread can stay parked for ever", None),)
    assert (missing.vm, missing.version, missing.source) == ("OpenJ9", "25.0.1 (catalogue)", "–")
    assert (missing.state, missing.state_class) == ("not available here", "failed")
    assert missing.remark == "the archive cannot be reached from here (synthetic)"
    assert (missing.output, missing.release) == (None, None)


def test_a_jdk_that_nobody_asked_for_is_no_trouble(loaded: LoadedRun) -> None:
    here, _, missing = (jdk.model_copy(update={"selected": False}) for jdk in loaded.run.jdks)
    assert [facts.jdk_row(jdk).state for jdk in (here, missing)] == ["available, not selected", "not available here"]
    assert [facts.jdk_row(jdk).state_class for jdk in (here, missing)] == ["none", "none"]


def test_calibrations_are_in_rounds_per_microsecond_and_per_cent(page: RunView) -> None:
    (calibration,) = page.calibrations
    jdk, rounds, spread, repeats, cpu = calibration
    assert (jdk, rounds.text, spread.text, repeats, cpu) == ("temurin-25", "41.2", "0.40", 20, 0)
