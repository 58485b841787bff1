"""The host's tools, looked for on made-up hosts."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jdkmatrix.provision import hosttools
from jdkmatrix.provision.hosttools import find_jdk, find_maven, maven_env, problems
from tests.support.programs import program


@pytest.fixture(autouse=True)
def on_a_machine_that_has_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")


UNUSABLE = "#!/bin/sh\nexit 99\n"


def make_jdk(home: Path, version: str, *, javac: bool = True) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\nJAVA_VERSION_DATE="2026-01-01"\n')
    for name in ["java", *(["javac"] if javac else [])]:
        program(home / "bin" / name, UNUSABLE)
    return home


def make_maven(home: Path, version: str, *, jar: str = "maven-core-x.jar") -> Path:
    """Make a Maven whose program must not be started: it exits with 99."""
    (home / "lib").mkdir(parents=True)
    with zipfile.ZipFile(home / "lib" / jar, "w") as file:
        file.writestr("META-INF/maven/org.apache.maven/maven-core/pom.properties", f"version={version}\n")
    return program(home / "bin" / "mvn", UNUSABLE).parent


def test_the_newest_suitable_jdk_is_found_without_starting_one(tmp_path: Path) -> None:
    jvm = tmp_path / "jvm"
    make_jdk(jvm / "a-9", "9.0.4")
    make_jdk(jvm / "b-21", "21.0.8")
    make_jdk(jvm / "c-25", "25.0.3")
    make_jdk(jvm / "d-25", "25.0.10")
    make_jdk(jvm / "e-27", "27.0.1", javac=False)
    (jvm / "empty").mkdir()
    (jvm / "file").write_text("")
    found = find_jdk({}, (jvm, tmp_path / "absent"))
    assert (found.home.name, found.version) == ("d-25", "25.0.10")


def test_java_home_wins_when_it_is_suitable(tmp_path: Path) -> None:
    jvm = tmp_path / "jvm"
    newest = make_jdk(jvm / "26", "26.0.1")
    chosen = make_jdk(tmp_path / "mine", "21")
    too_old = make_jdk(tmp_path / "old", "17.0.1")
    for home, found in ((chosen, chosen), (too_old, newest), (tmp_path / "nowhere", newest)):
        assert find_jdk({"JAVA_HOME": str(home)}, (jvm,)).home == found


def test_path_sdkman_intellij_and_nix_profiles_are_looked_at(tmp_path: Path) -> None:
    jdk = make_jdk(tmp_path / "jdk", "22.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "javac").symlink_to(jdk / "bin" / "javac")
    assert find_jdk({"PATH": str(tmp_path / "bin")}, ()).home == jdk
    sdkman = make_jdk(tmp_path / "home/.sdkman/candidates/java/23-tem", "23")
    assert find_jdk({"HOME": str(tmp_path / "home")}, ()).home == sdkman
    intellij = make_jdk(tmp_path / "other/.jdks/openjdk-24", "24")
    assert find_jdk({"HOME": str(tmp_path / "other")}, ()).home == intellij
    nix = make_jdk(tmp_path / "profile/lib/openjdk", "24.0.1")
    assert find_jdk({"NIX_PROFILES": f"/nowhere {tmp_path / 'profile'}"}, ()).home == nix


def test_the_folder_of_opensuse_is_one_of_the_usual() -> None:
    assert Path("/usr/lib64/jvm") in find_jdk.__defaults__[1]


@pytest.mark.parametrize("jar", ["maven-core-3.9.1.jar", "maven-core-3.x.jar", "maven-core.jar"])
def test_mavens_version_is_read_from_its_jar(jar: str, tmp_path: Path) -> None:
    path = make_maven(tmp_path / "maven", "3.9.1", jar=jar)
    assert find_maven({"PATH": str(path)}).version == (3, 9, 1)


def test_mavens_version_is_asked_for_when_there_is_no_jar(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "mvn", "#!/bin/sh\necho 'Apache Maven 3.8.4 (abcdef)'\n")
    assert find_maven({"PATH": str(tmp_path / "bin")}).version == (3, 8, 4)


def test_each_missing_thing_is_one_line_that_says_how_to_get_it(tmp_path: Path) -> None:
    make_jdk(tmp_path / "jvm" / "17", "17.0.1")
    jdk, maven = problems({"PATH": ""}, (tmp_path / "jvm",))
    assert "a JDK 21 or newer with javac is needed" in jdk and str(tmp_path / "jvm") in jdk
    assert "apt-get install openjdk-21-jdk-headless (Debian 12 has none), your system's equivalent" in jdk
    assert "Maven 3.8 or newer is needed, no mvn on PATH: apt-get install maven" in maven
    assert "\n" not in jdk + maven


def test_where_a_package_is_compiled_a_compiler_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_jdk(tmp_path / "jvm" / "21", "21")
    path = make_maven(tmp_path / "maven", "3.9.0")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    (told,) = problems({"PATH": str(path)}, (tmp_path / "jvm",))
    assert "hdrhistogram, is compiled: apt-get install gcc python3-dev" in told
    (tmp_path / "Python.h").touch()
    program(path / "cc", "")
    assert problems({"PATH": str(path)}, (tmp_path / "jvm",)) == []


@pytest.mark.parametrize(("version", "enough"), [("3.6.3", False), ("3.8", True), ("3.10.0", True), ("4.0.0", True)])
def test_an_old_maven_is_named(version: str, enough: bool, tmp_path: Path) -> None:
    make_jdk(tmp_path / "jvm" / "21", "21")
    path = make_maven(tmp_path / "maven", version)
    found = problems({"PATH": str(path)}, (tmp_path / "jvm",))
    assert (found == []) == enough
    assert enough or f"{path / 'mvn'} is {version}: install a newer one" in found[0]


def test_a_maven_that_does_not_work_is_not_enough(tmp_path: Path) -> None:
    make_jdk(tmp_path / "jvm" / "21", "21")
    program(tmp_path / "bin" / "mvn", UNUSABLE)
    (found,) = problems({"PATH": str(tmp_path / "bin")}, (tmp_path / "jvm",))
    assert "is unknown" in found


def test_an_old_python_and_a_bare_one_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_jdk(tmp_path / "jvm" / "21", "21")
    path = make_maven(tmp_path / "maven", "3.9.0")
    monkeypatch.setattr(sys, "version_info", (3, 10, 4, "final", 0))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setattr(sys, "platform", "darwin")
    system, python, venv, parts = problems({"PATH": str(path)}, (tmp_path / "jvm",))
    assert "only on Linux" in system
    assert "Python 3.11 to 3.14 is needed, this is 3.10.4" in python
    assert "without _ctypes, _lzma, _ssl: apt-get install libffi-dev liblzma-dev libssl-dev," in parts
    assert "apt-get install python3.10-venv," in venv, "python3-venv is for the system's default Python alone"
    monkeypatch.setattr(sys, "version_info", (3, 15, 0, "final", 0))
    assert "3.11 to 3.14 is needed, this is 3.15.0" in problems({"PATH": str(path)}, (tmp_path / "jvm",))[1]


def test_maven_gets_a_java_only_where_it_would_find_none(tmp_path: Path) -> None:
    jdk = make_jdk(tmp_path / "home/.sdkman/candidates/java/99", "99.0.1")
    bare = {"PATH": str(tmp_path), "HOME": str(tmp_path / "home")}
    assert maven_env(bare) == {**bare, "JAVA_HOME": str(jdk)}
    own = {**bare, "JAVA_HOME": str(make_jdk(tmp_path / "own", "17"))}
    assert maven_env(own) == own
    gone = {**own, "JAVA_HOME": str(tmp_path / "removed")}
    assert maven_env(gone) == {**gone, "JAVA_HOME": str(jdk)}
    on_path = {**bare, "PATH": str(jdk / "bin")}
    assert maven_env(on_path) == on_path


def test_it_needs_nothing_but_the_standard_library() -> None:
    runner = Path(hosttools.__file__).parents[2]
    script = (
        f"import sys; sys.path.insert(0, {str(runner)!r})\n"
        "from jdkmatrix.provision import hosttools; hosttools.problems()\n"
        "assert 'pydantic' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
