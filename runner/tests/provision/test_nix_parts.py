"""The parts that a package hands over, and what is said about where parts came from."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.config.load import load_matrix
from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.provision.liberty import open_liberty
from jdkmatrix.provision.nix_parts import VARIABLE, NixParts, handed_over
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import Workloads, open_workloads
from jdkmatrix.records.provenance import FlakeInput, PartOrigin, Provenance
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.origins import origins, source_revision
from jdkmatrix.run.plan import select_cells
from jdkmatrix.run.prepare import set_up_parts, wrk2_from
from jdkmatrix.servers.base import InstalledServer
from jdkmatrix.servers.kinds import releases
from jdkmatrix.subjects.parts import Parts
from tests.support.nix_parts import write_nix_parts
from tests.support.project import ROOT


def test_releases_of_servers_are_those_of_the_workloads_that_are_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds whatever the sources beside them have or lack."""
    parts = write_nix_parts(tmp_path)
    monkeypatch.setenv(VARIABLE, str(parts))
    handed = handed_over()
    assert handed is not None
    servers = load_matrix(ROOT / "matrix.toml").servers
    known = releases(ROOT, servers, handed.model_copy(update={"workloads": None}))
    assert "open-liberty" in known and "tomcat" not in known
    jar = tmp_path / "workloads" / (server_kinds()["tomcat"].jar or "")
    jar.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(jar, "w") as archive:
        file, key = server_kinds()["tomcat"].version or ("", "")
        archive.writestr(file, f"{key}=11.0.99")
    made = handed.model_copy(update={"workloads": jar.parent})
    assert releases(ROOT, servers, made)["tomcat"] == "11.0.99"
    jar.write_bytes(jar.read_bytes()[:20])
    assert "tomcat" not in releases(ROOT, servers, made), "a damaged one is built again when it is needed"


def test_nothing_is_handed_over_in_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert handed_over() is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", r"found \[\]; it should be a table"),
        ('{"schema_version": 2}', r'(?s:.*)schema_version: "2" is not known \(allowed: 1\)'),
        ('{"servers": {"open-liberty": {"home": "/x"}}}', "(?s:.*)servers.open-liberty.version: missing"),
    ],
)
def test_a_foreign_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    (tmp_path / "parts.json").write_text(text)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "parts.json"))
    with pytest.raises(MatrixError, match=rf"MATRIX_PARTS=.*parts.json: {message}"):
        handed_over()


def test_sources_are_in_the_package_and_results_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, work = tmp_path / "package", tmp_path / "work"
    for folder in (package, work):
        folder.mkdir()
        (folder / "matrix.toml").touch()
    source = {"root": str(package), "rev": None, "dirty": False}
    monkeypatch.setenv(VARIABLE, str(write_nix_parts(tmp_path, source=source)))
    monkeypatch.delenv("MATRIX_HOME", raising=False)
    monkeypatch.chdir(work)
    project = find_project()
    assert (project.root, project.results, project.site) == (package, work / "results", work / "site")
    monkeypatch.setenv("MATRIX_HOME", str(work))
    assert find_project().root == work


SMALL = {
    "jdks": {"temurin-25": "/nix/store/jdk"},
    "servers": {"open-liberty": {"home": "/nix/store/wlp", "version": "25.0.0.12", "sha256": "0" * 64}},
}
# Rolling JDKs are in no flake, and nobody promises anything about early access.
FIVE = ("temurin-25", "temurin-21", "openjdk-22-ea", "openjdk-28-nightly", "semeru-21")


@pytest.mark.parametrize(
    ("profile", "only", "changes", "lacking"),
    [
        ("quick", {}, {"workloads": None}, "no workloads to measure with"),
        ("quick", {}, {"servers": {}}, "no open-liberty"),
        ("full", {"jdk": FIVE}, {}, "no temurin-21, no semeru-21"),
    ],
)
def test_what_is_asked_for_and_was_not_handed_over_is_named_with_who_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, only: dict[str, tuple[str, ...]],
    changes: dict[str, Any], lacking: str,
) -> None:  # fmt: skip
    source = {"root": str(ROOT), "rev": None, "dirty": False}
    outputs = json.loads((ROOT / "workloads" / "outputs.json").read_text())
    wars = (f"{name}.war" for name in applications())
    libraries = (f"{pom.parent.name}.jar" for pom in ROOT.glob("workloads/libraries/*/pom.xml"))
    for name in (*outputs, *wars, *libraries, *(jar for kind in server_kinds().values() if (jar := kind.jar))):
        (tmp_path / name).touch()
    given = {"workloads": str(tmp_path), **SMALL, **changes}
    monkeypatch.setenv(VARIABLE, str(write_nix_parts(tmp_path, source=source, **given)))
    monkeypatch.delenv("MATRIX_HOME", raising=False)
    matrix = with_values(load_matrix(ROOT / "matrix.toml"), profile, only)
    cells = select_cells(matrix, profile)
    with pytest.raises(MatrixError) as error:
        set_up_parts(
            find_project(), matrix, cells, profile=matrix.profiles[profile], capacities_rps={}, say=pytest.fail
        )
    everything = "`nix run .#everything -- run …` has every part that lasts, and of JDKs those on axes.jdk"
    assert str(error.value) == f"this `matrix` was handed {lacking}: {everything}"


def test_the_path_is_for_checkouts_and_a_named_wrk2_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jdkmatrix.run.prepare.find_wrk2", lambda *where: where)
    on_path, named = {"PATH": "/bin"}, {"PATH": "/bin", "MATRIX_WRK2": "/own/wrk2"}

    def handed(wrk2: str | None) -> NixParts:
        return NixParts.model_validate_json(write_nix_parts(tmp_path, wrk2=wrk2).read_bytes())

    assert wrk2_from(None, on_path) == (on_path, "/bin")
    assert wrk2_from(handed("/nix/wrk2"), on_path) == ({"MATRIX_WRK2": "/nix/wrk2"}, None)
    for one in (None, "/nix/wrk2"):
        assert wrk2_from(handed(one), named) == (named, "/bin")
    assert "no wrk2 was handed over; `nix run .#matrix` has it" in str(wrk2_from(handed(None), on_path))


def test_parts_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r"the workloads are incomplete: .*mp-ping.war.* is missing"):
        open_workloads(ROOT, tmp_path)
    with pytest.raises(MatrixError, match=r"java9.options: No such file or directory: no Open Liberty in "):
        open_liberty(tmp_path, "1", "0" * 64)


def _parts(source: str, jdk_id: str, home: Path) -> Parts:
    entry = load_catalogue(ROOT / "jdks.json").entry(jdk_id)
    return Parts(
        workloads=Workloads({}, home, {}),
        servers={"open-liberty": InstalledServer(server_kinds()["open-liberty"], "25.0.0.12", "0" * 64, home=home)},
        jdks={jdk_id: Available(entry, home, source, "25.0.4.1+1", {}, "", "0" * 64)},
        loads={},
        drivers={},
    )


def test_everything_from_the_flake_is_fully_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = {"home": str(tmp_path), "version": "25.0.0.12", "sha256": "0" * 64}
    monkeypatch.setenv(VARIABLE, str(write_nix_parts(tmp_path, servers={"open-liberty": server})))
    parts = handed_over()
    found = origins(_parts("nix", "temurin-25", tmp_path), parts)
    assert found.not_pinned(source_dirty=False) == ()
    assert source_revision(tmp_path, parts) == ("0" * 40, False)
    assert found.not_pinned(source_dirty=True) == ("the source has uncommitted changes",)
    assert found.not_pinned(source_dirty=None) == ("the commit of the source is not known",)


def test_a_run_from_a_checkout_says_what_was_the_hosts(tmp_path: Path) -> None:
    found = origins(_parts("host", "temurin-25", tmp_path), None)
    assert {part.part: part.origin for part in found.parts} == {
        "tool": "host",
        "workloads and loadgen": "host",
        "open-liberty": "hash",
        "temurin-25": "host",
    }
    assert len(found.not_pinned(source_dirty=False)) == 4
    rolling = origins(_parts("cache", "openjdk-28-nightly", tmp_path), None).parts[-1]
    assert rolling.origin == "host"
    assert rolling.detail == "a rolling entry; 25.0.4.1+1, the newest when it was fetched"
    on_host = origins(_parts("host", "openjdk-28-nightly", tmp_path), None).parts[-1]
    assert "rolling" in on_host.detail and "no newer one was looked for" in on_host.detail
    assert origins(_parts("cache", "temurin-25", tmp_path), None).parts[-1].origin == "hash"


def test_another_nixpkgs_than_the_locked_one_is_not_fully_pinned() -> None:
    other = FlakeInput(name="nixpkgs", rev=None, nar_hash="sha256-x", locked=False)
    part = PartOrigin(part="tool", origin="nix", detail="built by the flake")
    provenance = Provenance(inputs=(other,), parts=(part,))
    assert provenance.not_pinned(source_dirty=False) == ("nixpkgs is not the one in flake.lock",)
