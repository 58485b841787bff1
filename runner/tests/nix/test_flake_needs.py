"""What each app, package and check of the flake needs, evaluated with the whole catalogue; nothing is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.identify import is_early_access
from jdkmatrix.provision.artefacts import load_lock
from tests.nix.flake_checkout import FlakeCheckout, make
from tests.nix.install import newest_nix
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

ENTRIES = load_catalogue(ROOT / "jdks.json").entries
SYSTEMS = ("x86_64-linux", "aarch64-linux")
PINNED = {entry.id for entry in ENTRIES if entry.archives or (entry.registry and entry.registry.kind == "pypi")}
EARLY_ACCESS = {entry.id for entry in ENTRIES if is_early_access(entry.version)}
OF_QUICK = {"temurin-25"}

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def flake(tmp_path_factory: pytest.TempPathFactory) -> FlakeCheckout:
    folder = tmp_path_factory.mktemp("needs")
    return make(folder / "here", newest_nix(), Path("/no/seeds")).copy(folder / "whole", everything=True)


def needs(flake: FlakeCheckout, attribute: str, of: str) -> dict[str, frozenset[str]]:
    """By name, what stands behind everything in `attribute`: ids of JDKs, names of other artefacts. `of`: a function in
    Nix from one of them to its text."""
    derivations = f"builtins.mapAttrs (_: one: builtins.attrNames (builtins.getContext ({of} one)))"
    found = json.loads(flake.run("eval", "--json", f".#{attribute}", "--apply", derivations).stdout)
    return {name: frozenset(_parts(flake, paths)) for name, paths in found.items()}


def _parts(flake: FlakeCheckout, derivations: list[str]) -> set[str]:
    listed = flake.nix.run(["--query", "--requisites", *derivations], flake.source, tool="nix-store").stdout
    built = {Path(line).name.partition("-")[2].removesuffix(".drv") for line in listed.splitlines()}
    jdks = {entry.id for entry in ENTRIES if f"jdk-{entry.id}-{entry.version.replace('+', '_')}" in built}
    archives = {
        name for name, one in load_lock(ROOT).artefacts.items() if one.repository_path.name in built and name != "maven"
    }
    return jdks | archives | ({"temurin-bin-25", "workloads"} & {one.removeprefix("jdk-matrix-") for one in built})


@pytest.fixture(scope="module", params=SYSTEMS)
def apps(flake: FlakeCheckout, request: pytest.FixtureRequest) -> dict[str, frozenset[str]]:
    return needs(flake, f"apps.{request.param}", "(app: app.program)")


@pytest.mark.parametrize("app", ["doctor", "report", "update-jdks"])
def test_what_measures_nothing_needs_no_jdk_and_no_server(apps: dict[str, frozenset[str]], app: str) -> None:
    assert apps[app] == set()


def test_measuring_needs_what_can_be_selected_and_lasts(apps: dict[str, frozenset[str]]) -> None:
    lasting = (PINNED & set(MATRIX.axes.jdk)) - EARLY_ACCESS
    assert lasting > OF_QUICK
    servers = {server.artefact for server in MATRIX.servers.values() if server.artefact}
    assert apps["matrix"] == apps["default"]
    assert {part for part in apps["matrix"] if part.startswith(("temurin-2", "semeru-"))} == lasting
    assert servers < apps["matrix"]
    assert apps["matrix"].isdisjoint(EARLY_ACCESS)
    assert {part for part in apps["quick"] if part.startswith("temurin-2")} == OF_QUICK
    assert apps["quick"] & servers == {"open-liberty"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_early_access_is_needed_only_where_it_is_asked_for(flake: FlakeCheckout, system: str) -> None:
    asked_for = {f"jdk-{jdk}" for jdk in EARLY_ACCESS & PINNED} | {"matrix-with-early-access"}
    packages = needs(flake, f"packages.{system}", "(one: one.outPath)")
    assert asked_for < set(packages)
    assert {name for name, parts in packages.items() if parts & EARLY_ACCESS} == asked_for
    assert packages["matrix-with-early-access"] & EARLY_ACCESS == EARLY_ACCESS & PINNED & set(MATRIX.axes.jdk) != set()


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_checks_need_what_quick_needs_and_parts_the_rest(flake: FlakeCheckout, system: str) -> None:
    """What `nix flake check` builds must fit on the disk of a hosted runner; `parts` are built one after the other."""
    checks = needs(flake, f"checks.{system}", "(one: one.outPath)")
    assert set.union(*map(set, checks.values())) == {*OF_QUICK, "open-liberty", "temurin-bin-25", "workloads"}
    parts = needs(flake, f"legacyPackages.{system}.parts", "(one: one.outPath)")
    of_jdks = {name: one for name, one in parts.items() if name.startswith("jdk-")}
    assert set().union(*of_jdks.values()) == PINNED - EARLY_ACCESS
    assert all(len(one) == 1 for one in of_jdks.values())
    servers = set().union(*(one for name, one in parts.items() if name not in of_jdks))
    assert servers == {server.artefact for server in MATRIX.servers.values() if server.artefact} | {"temurin-bin-25"}


@pytest.mark.parametrize("jdk", sorted({entry.id for entry in ENTRIES} - PINNED))
def test_whoever_asks_for_a_jdk_that_no_hash_pins_is_told_why(flake: FlakeCheckout, jdk: str) -> None:
    asked = flake.run("build", "--no-link", f".#jdk-{jdk.replace('.', '_')}", check=False)
    assert asked.returncode != 0
    assert f"{jdk} is not in the flake: " in asked.stderr
    rolling = next(entry.rolling for entry in ENTRIES if entry.id == jdk)
    assert (f"jdks fetch {jdk}" in asked.stderr) == rolling
