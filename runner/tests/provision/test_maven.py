"""The pinned Maven itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from jdkmatrix.provision import artefacts, hosttools, maven
from jdkmatrix.provision.project import find_project
from tests.support.waiting import HANGS_S

ROOT = find_project().root
pytestmark = pytest.mark.real


def test_the_pinned_version_is_what_runs(tmp_path: Path) -> None:
    """It runs on the JDK that was chosen, whatever the user's other Maven is told."""
    (tmp_path / ".mavenrc").write_text("JAVA_HOME=/nowhere\n")
    version = artefacts.load_lock(ROOT).artefact("maven").version
    command, env = maven.maven_command(ROOT, ["--version"])
    env["HOME"] = str(tmp_path)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=HANGS_S)
    assert f"Apache Maven {version} " in done.stdout
    assert env["JAVA_HOME"] in done.stdout


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A project that Maven can be asked about, without anything to build."""
    shutil.copyfile(ROOT / artefacts.LOCK_FILE, tmp_path / artefacts.LOCK_FILE)
    (tmp_path / "workloads" / "servers").mkdir(parents=True)
    shutil.copy(ROOT / "workloads" / "servers" / "modules.sh", tmp_path / "workloads" / "servers")
    return tmp_path


def test_it_goes_by_the_settings_of_the_host_s_maven(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are those of all users, where companies keep their mirrors; broken ones show that they were read."""
    settings = empty / "maven" / "conf" / "settings.xml"
    settings.parent.mkdir(parents=True)
    settings.write_text("<settings><mirrors>")
    host = hosttools.Maven(empty / "maven" / "bin" / "mvn", (3, 9))
    monkeypatch.setattr(maven, "find_maven", lambda: host)
    assert maven.main(["verify"], empty) == 1
    told = capfd.readouterr().out
    assert "building the effective settings" in told and str(settings) in told


def test_its_exit_status_is_ours(empty: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert maven.main(["no-such-phase"], empty) == 1
    assert "there is no POM in this directory" in capfd.readouterr().out


def test_without_a_lock_it_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert maven.main(["verify"], tmp_path) == 2
    assert "toolchain.lock.json: cannot be read: No such file" in capfd.readouterr().err


def test_without_a_project_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MATRIX_HOME", str(tmp_path))
    assert maven.main(["verify"]) == 2
    assert capfd.readouterr().err.startswith(f"no matrix.toml in MATRIX_HOME = {tmp_path}")


def test_checksums_that_could_not_be_recorded_are_as_before(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = empty / "workloads" / maven.CHECKSUMS
    recorded.parent.mkdir(parents=True)
    recorded.write_text("as before")
    assert maven.main(["--record"], empty) == 2
    assert recorded.read_text() == "as before"

    def interrupted(*_: object) -> None:
        assert recorded.read_text() == "as before", "it stays while the build goes on, which may be killed"
        raise KeyboardInterrupt

    monkeypatch.setattr(maven, "build", interrupted)
    assert maven.main(["--record"], empty) == 130
    assert recorded.read_text() == "as before"
