"""The build: once per state of the sources, and from pinned parts only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import hosttools, maven
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import build_workloads

ROOT = find_project().root
LIBRARIES = sorted(path.parent.name for path in ROOT.glob("workloads/libraries/*/pom.xml"))
EMBEDDED = [name for name, kind in server_kinds().items() if kind.jar]


def copy_sources(root: Path) -> Path:
    shutil.copytree(ROOT / "workloads", root / "workloads", ignore=shutil.ignore_patterns("target"))
    shutil.copyfile(ROOT / "toolchain.lock.json", root / "toolchain.lock.json")
    return root


class Builds:
    """Stands in for Maven: leaves the outputs, counts the calls."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, root: Path, arguments: list[str]) -> None:
        self.calls.append(arguments)
        jars = ("burn", "loadgen", "remote", "standalone")
        outputs = [f"{war}/target/{war}.war" for war in applications()] + [f"{jar}/target/{jar}.jar" for jar in jars]
        outputs += [f"servers/{server}/target/{server}-server.jar" for server in EMBEDDED]
        outputs += [f"libraries/{library}/target/{library}.jar" for library in LIBRARIES]
        for name in (*outputs, "request-executor/target/jdkmatrix.requestexecutor.jar"):
            path = root / "workloads" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{name} of build {len(self.calls)}")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that tests change in turn."""
    return copy_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Builds:
    stand_in = Builds()
    monkeypatch.setattr(maven, "build", stand_in)
    return stand_in


def test_a_second_build_starts_no_maven(tmp_path: Path, builds: Builds) -> None:
    root = copy_sources(tmp_path)
    said: list[str] = []
    first = build_workloads(root, say=said.append)
    assert build_workloads(root, say=said.append) == first
    assert builds.calls == [["-DskipTests", "clean", "package"]]
    assert said == ["building the workloads"]
    assert first.file("burn.jar").read_text() == "burn/target/burn.jar of build 1"
    assert set(first.sha256) == {
        *(f"{server}-server.jar" for server in EMBEDDED),
        *(f"{library}.jar" for library in LIBRARIES),
        *(f"{name}.war" for name in ("mp-ping", "banking", "bank-sql", "pinning")),
        *(f"{name}.jar" for name in ("request-executor", "burn", "loadgen", "remote", "standalone")),
        "request-executor.mf",
        *(f"{server}/server.toml" for server in (*EMBEDDED, "command")),
        *(str(path.relative_to(first.servers)) for path in first.servers.glob("open-liberty*/**/*.*")),
    }


def test_what_was_changed_after_it_was_built_is_built_again(tmp_path: Path, builds: Builds) -> None:
    root = copy_sources(tmp_path)
    with build_workloads(root, say=lambda _line: None).file("burn.jar").open("a") as file:
        file.write("more")
    again = build_workloads(root, say=lambda _line: None)
    assert again.file("burn.jar").read_text() == "burn/target/burn.jar of build 2"


@pytest.mark.parametrize(
    ("changed", "rebuilt"),
    [
        ("workloads/pom.xml", True),
        ("workloads/burn/pom.xml", True),
        ("workloads/burn/src/main/java/jdkmatrix/burn/Burn.java", True),
        ("workloads/request-executor/src/main/feature/jdkmatrix.requestexecutor-1.0.mf", True),
        ("workloads/.mvn/checksums/checksums.sha256", True),
        ("toolchain.lock.json", True),
        ("workloads/burn/src/test/java/jdkmatrix/burn/BurnTest.java", False),
        ("workloads/burn/target/burn.jar", False),
        ("workloads/executors/executors.toml", True),
        ("workloads/applications/banking.toml", True),
        ("workloads/servers/open-liberty/server.xml", False),
    ],
)
def test_what_decides_the_result_decides_the_build(changed: str, rebuilt: bool, sources: Path, builds: Builds) -> None:
    before = build_workloads(sources, say=lambda _line: None)
    builds.calls.clear()
    with (sources / changed).open("a") as file:
        file.write("\n")
    after = build_workloads(sources, say=lambda _line: None)
    assert len(builds.calls) == rebuilt
    assert (after.file("burn.jar") != before.file("burn.jar")) == rebuilt
    assert after.file("burn.jar").exists()
    assert before.file("burn.jar").exists() != rebuilt, "what older sources made is deleted"
    configured = {name for name, digest in after.sha256.items() if before.sha256[name] != digest and "/" in name}
    xml = "open-liberty/server.xml"
    assert configured == ({xml} if changed == f"workloads/servers/{xml}" else set())
    assert after.digests([after.servers / xml, after.file("remote.jar")]) == {
        name: after.sha256[name] for name in (xml, "remote.jar")
    }


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copy_sources(tmp_path)

    def fail(_root: Path, _arguments: list[str]) -> None:
        raise MatrixError("building the workloads: status 1")

    monkeypatch.setattr(maven, "build", fail)
    with pytest.raises(MatrixError, match="status 1"):
        build_workloads(root, say=lambda _line: None)
    assert [path for path in (root / ".build").rglob("*") if path.suffix != ".lock" and path.is_file()] == []


def test_what_the_build_did_not_make_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maven, "build", lambda _root, _arguments: None)
    with pytest.raises(MatrixError, match=r"^the build made no workloads/\S+\.[jw]ar: does workloads/pom\.xml name"):
        build_workloads(copy_sources(tmp_path), say=lambda _line: None)


def test_no_sources_are_said(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    with pytest.raises(MatrixError, match=r"no modules with a pom\.xml here"):
        build_workloads(tmp_path, say=lambda _line: None)


@pytest.mark.real
@pytest.mark.parametrize(
    ("module", "jar", "digest", "message"),
    [
        (
            "burn",
            "plexus-archiver-4.12.0.jar",
            "0" * 64,
            "plexus-archiver.* trusted checksum mismatch.*remove the file's folder below .*/m2",
        ),
        ("request-executor", "org.osgi.core-6.0.0.jar", None, "Missing from summaryFile trusted checksum.*osgi.core"),
    ],
)
def test_a_part_not_as_locked_stops_it(module: str, jar: str, digest: str | None, message: str, tmp_path: Path) -> None:
    """One part is a plugin's own dependency with other bytes, the other a dependency that the lock does not have."""
    root = copy_sources(tmp_path)
    checksums = root / "workloads" / maven.CHECKSUMS
    lines = checksums.read_text().splitlines()
    (locked,) = [line for line in lines if line.endswith(f"/{jar}")]
    others = [line for line in lines if line != locked]
    checksums.write_text("\n".join([*others, *([digest + locked[64:]] if digest else [])]) + "\n")
    with pytest.raises(MatrixError, match=rf"(?s)building the workloads.*{message}"):
        maven.build(root, ["--projects", module, "-DskipTests", "package"])


@pytest.mark.parametrize(
    ("variable", "options", "collectors"),
    [("MAVEN_OPTS", "-XX:+UseParallelGC", 1), ("JAVA_TOOL_OPTIONS", "-XX:+UseZGC", 0), ("MAVEN_OPTS", "-Xmx1g", 1)],
)
def test_maven_has_one_locale_everywhere_and_one_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, options: str, collectors: int
) -> None:
    for name in ("MAVEN_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, options)
    for name in ("LC_ALL", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    monkeypatch.setattr(hosttools, "find_jdk", lambda: hosttools.Jdk(Path("/jdk"), "21"))
    monkeypatch.setattr(maven, "provision_maven", lambda root: root / "mvn")
    monkeypatch.setattr(maven, "run_logged", lambda *_, **__: None)
    _, settings = maven.maven_command(tmp_path, ["verify"])
    assert (settings["LC_ALL"], settings["LANGUAGE"]) == ("C.UTF-8", "") and settings[variable].endswith(options)
    assert settings["MAVEN_OPTS"].count("GC") == collectors


def test_what_is_compiled_for_one_machine_is_locked_for_the_other_too() -> None:
    """A build on either uses the same list, whichever machine it was recorded on."""
    paths = {line.split()[1] for line in (ROOT / "workloads" / maven.CHECKSUMS).read_text().splitlines()}
    native = [path for path in paths if "x86_64" in path]
    assert native
    for path in native:
        assert {path.replace("x86_64", other) for other in ("aarch64", "aarch_64")} & paths, path


def test_the_checksum_file_names_no_host() -> None:
    lines = (ROOT / "workloads" / maven.CHECKSUMS).read_text().splitlines()
    assert len(lines) > 100
    for line in lines:
        digest, path = line.split()
        assert len(digest) == 64 and not path.startswith("/") and ":" not in path and "jdkmatrix" not in path
