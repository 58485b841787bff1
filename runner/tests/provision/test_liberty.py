"""The server's feature sets, and what is left of it after minifying."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from jdkmatrix.domain.servers import feature_sets
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts, hosttools, liberty
from jdkmatrix.provision.liberty import features, open_liberty, parse_options, provision_liberty
from jdkmatrix.provision.project import find_project

ROOT = find_project().root
CONFIG = ROOT / "workloads" / "servers" / "open-liberty"
FEATURE_SETS = tuple(feature_sets())


def test_the_feature_sets_are_those_of_the_configuration() -> None:
    assert {path.stem for path in (CONFIG / "features").iterdir()} == set(FEATURE_SETS)
    named = ("jsonb-3.0", "microProfile-6.1", "monitor-1.0", "restfulWS-3.1", "servlet-6.0")
    assert features(CONFIG, FEATURE_SETS) == named


def test_options_are_read_as_the_server_script_reads_them() -> None:
    text = "# comment\n--add-opens\n  java.base/java.lang=ALL-UNNAMED\n\n### more\n"
    assert parse_options(text) == ("--add-opens", "java.base/java.lang=ALL-UNNAMED")


def test_a_folder_that_it_cannot_run_from_is_told() -> None:
    with pytest.raises(MatrixError, match=r"cannot run from a folder with ':' in its name"):
        open_liberty(Path("/cache:1/wlp"), "25.0.0.12", "0" * 64)


def test_it_can_be_cut_down_below_a_folder_with_an_umlaut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM that does it takes the encoding of paths from its locale, and knows only ASCII if it has none."""
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("wlp/lib/platform/java/java9.options", "--add-opens\n")
    settings: dict[str, str] = {}

    def server(command: Sequence[str], *, what: str, cwd: Path, env: Mapping[str, str]) -> None:
        settings.update(env)
        shutil.copyfile(whole, next(word.removeprefix("--archive=") for word in command if "--archive=" in word))

    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "jürgen"))
    monkeypatch.setattr(artefacts, "fetch", lambda *_: whole)
    monkeypatch.setattr(hosttools, "find_jdk", lambda: hosttools.Jdk(Path("/jdk"), "21"))
    monkeypatch.setattr(liberty, "run_logged", server)
    provision_liberty(ROOT, CONFIG, "open-liberty", FEATURE_SETS, say=lambda _: None)
    assert settings["LANG"] == "C.UTF-8" and "jürgen" in settings["WLP_USER_DIR"]


@pytest.mark.real
def test_the_minified_server_is_kept_and_the_archive_is_not() -> None:
    found = provision_liberty(ROOT, CONFIG, "open-liberty", FEATURE_SETS, say=print)
    assert found.version == artefacts.load_lock(ROOT).artefact("open-liberty").version
    assert (found.home / "bin" / "tools" / "ws-server.jar").is_file()
    assert (found.home / "bin" / "tools" / "ws-javaagent.jar").is_file()
    assert "java.base/java.lang=ALL-UNNAMED" in found.java_options
    installed = {path.name for path in (found.home / "lib" / "features").glob("*.mf")}
    assert any("restfulWS-3.1" in name for name in installed)
    assert not any("jsp-3.1" in name for name in installed), "only what the feature sets need"
    assert not list(found.home.rglob("package_*.txt")), "files with a time of day would make each copy another server"
    archive = artefacts.maven_repository() / artefacts.load_lock(ROOT).artefact("open-liberty").repository_path
    assert not archive.exists()

    said: list[str] = []
    assert provision_liberty(ROOT, CONFIG, "open-liberty", FEATURE_SETS, say=said.append) == found
    assert said == []
