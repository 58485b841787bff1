"""The needs of each app, package and check of the flake, evaluated with the whole catalogue; nothing is built."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.identify import is_early_access
from jdkmatrix.jdks.locate import has_everything
from jdkmatrix.provision.artefacts import load_lock
from jdkmatrix.run.plan import select_cells
from tests.nix.flake_checkout import FlakeCheckout
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

ENTRIES = load_catalogue(ROOT / "jdks.json").entries
SYSTEMS = ("x86_64-linux", "aarch64-linux")
PINNED = {entry.id for entry in ENTRIES if entry.archives}
EARLY_ACCESS = {entry.id for entry in ENTRIES if is_early_access(entry.version)}
ON_AXIS = PINNED & set(MATRIX.axes.jdk)
SERVERS = {server.artefact for server in MATRIX.servers.values() if server.artefact}
OF_QUICK = {"temurin-25", "open-liberty"}

pytestmark = pytest.mark.real


def select(profiles: Iterable[str]) -> set[str]:
    """Return what these profiles need: the JDKs and the artefacts of servers."""
    cells = [cell for name in profiles for cell in select_cells(MATRIX, name)]
    artefacts = {MATRIX.servers[cell.server].artefact for cell in cells}
    return {MATRIX.driver.jdk, *(cell.jdk for cell in cells), *(one for one in artefacts if one)}


Needs = Mapping[str, frozenset[str]]
References = Mapping[str, Sequence[str]]


@pytest.fixture(scope="session")
def references(whole: FlakeCheckout, outputs: dict[str, Any]) -> References:
    """The references of each store path behind an output, all without the folder of the store."""
    all_of = [named for of_systems in outputs.values() for named in of_systems.values()]
    derivations = {path for named in all_of for one in named.values() for path in one["behind"]}
    graph = whole.nix.run(["--query", "--graph", *sorted(derivations)], whole.source, tool="nix-store").stdout
    found: dict[str, list[str]] = defaultdict(list)
    for to, path in re.findall(r'^"([^"]+)" -> "([^"]+)"', graph, re.MULTILINE):
        found[path].append(to)
    return found


@pytest.fixture(scope="session", params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def needs(references: References, outputs: dict[str, Any], system: str) -> dict[str, Needs]:
    """The needs of each output for a system, by kind and name: ids of JDKs, names of other artefacts."""
    return {
        kind: {name: frozenset(_parts(references, one["behind"])) for name, one in of_systems[system].items()}
        for kind, of_systems in outputs.items()
    }


def _parts(references: References, derivations: Iterable[str]) -> set[str]:
    behind: set[str] = set()
    waiting = [Path(derivation).name for derivation in derivations]
    while waiting:
        if (path := waiting.pop()) not in behind:
            behind.add(path)
            waiting += references.get(path, ())
    built = {path.partition("-")[2].removesuffix(".drv") for path in behind}
    jdks = {entry.id for entry in ENTRIES if f"jdk-{entry.id}-{entry.version.replace('+', '_')}" in built}
    archives = {
        name for name, one in load_lock(ROOT).artefacts.items() if one.repository_path.name in built and name != "maven"
    }
    return jdks | archives | ({"workloads", "wrk2"} & built)


def test_every_output_evaluates_for_both_systems(whole: FlakeCheckout, outputs: dict[str, Any]) -> None:
    shown = json.loads(whole.run("flake", "show", "--json", ".").stdout)
    for kind in ("apps", "checks", "devShells", "packages"):
        assert {system: set(names) for system, names in shown[kind].items()} == {
            system: set(names) for system, names in outputs[kind].items()
        }
        assert set(shown[kind]) == set(SYSTEMS)
    apps = {"default", "matrix", "everything", "quick", "report", "doctor", "update-jdks"}
    assert apps == set(shown["apps"]["x86_64-linux"])
    assert {"open-liberty", "matrix", "runner", "workloads"} <= set(shown["packages"]["aarch64-linux"])
    # The text of each package and app differs from the others'; the default is one of them.
    for kind in ("apps", "packages"):
        said = {name: one["told"] for name, one in outputs[kind][SYSTEMS[0]].items() if name != "default"}
        assert len(said) > 5
        assert len({*said.values()}) == len(said)
        assert all(len(text) > 20 for text in said.values())


@pytest.mark.parametrize("app", ["doctor", "report", "update-jdks"])
def test_what_measures_nothing_needs_no_jdk_and_no_server(needs: dict[str, Needs], app: str) -> None:
    assert needs["apps"][app] == set()


def test_measuring_needs_what_its_profiles_select_or_all_that_lasts(needs: dict[str, Needs], system: str) -> None:
    apps = needs["apps"]
    lasting = ON_AXIS - EARLY_ACCESS
    assert apps["quick"] == OF_QUICK | {"workloads"}, "no rate, and so no wrk2"
    made = {"workloads"} if system == "aarch64-linux" else {"workloads", "wrk2"}  # nixpkgs calls it broken there
    assert apps["matrix"] == apps["default"] == select({"mission", "quick"} & set(MATRIX.profiles)) | made
    assert apps["everything"] == lasting | SERVERS | made
    assert apps["quick"] <= apps["matrix"] < apps["everything"]
    on_axis = [entry for entry in ENTRIES if entry.id in MATRIX.axes.jdk]
    assert lasting == {entry.id for entry in on_axis if has_everything(entry)}, "as the tool says of `everything`"


def test_early_access_is_needed_only_where_it_is_asked_for(needs: dict[str, Needs]) -> None:
    """A build that its vendor takes away is needed only by its own package."""
    asked_for = {f"jdk-{jdk}" for jdk in EARLY_ACCESS & PINNED} | {"matrix-with-early-access"}
    packages = needs["packages"]
    assert asked_for < set(packages)
    assert {name for name, parts in packages.items() if parts & EARLY_ACCESS} == asked_for
    assert packages["matrix-with-early-access"] & EARLY_ACCESS == {"sapmachine-22-ea"}


def test_the_checks_need_what_quick_needs_and_parts_the_rest(needs: dict[str, Needs]) -> None:
    """Everything `nix flake check` builds must fit on a hosted runner's disk; `parts` are built one after the other."""
    assert set.union(*map(set, needs["checks"].values())) == OF_QUICK | {"workloads"}
    parts = needs["parts"]
    of_jdks = {name: one for name, one in parts.items() if name.startswith("jdk-")}
    assert set().union(*of_jdks.values()) == PINNED - EARLY_ACCESS
    assert all(len(one) == 1 for one in of_jdks.values())
    # Each is cut down with the catalogue's JDK, not with one of nixpkgs.
    servers = set().union(*(one for name, one in parts.items() if name not in of_jdks))
    assert servers == SERVERS | {MATRIX.driver.jdk}


def test_only_the_sources_tests_run_on_the_sources(outputs: dict[str, Any]) -> None:
    """The others test the package, which would import what is on PYTHONPATH instead of itself."""
    checks = outputs["checks"][SYSTEMS[0]]
    assert [name for name, one in checks.items() if "PYTHONPATH" in one["script"]] == ["unit"]


UNPINNED = {entry.rolling: entry.id for entry in ENTRIES if entry.id not in PINNED}


@pytest.mark.parametrize("jdk", UNPINNED.values())
def test_whoever_asks_for_a_jdk_that_no_hash_pins_is_told_why(whole: FlakeCheckout, jdk: str) -> None:
    asked = whole.run("build", "--no-link", f".#jdk-{jdk.replace('.', '_')}", check=False)
    assert asked.returncode != 0
    assert f"{jdk} is not in the flake: " in asked.stderr
    rolling = next(entry.rolling for entry in ENTRIES if entry.id == jdk)
    assert (f"jdks fetch {jdk}" in asked.stderr) == rolling
