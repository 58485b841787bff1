"""Nothing is used unless its sha256 is that of the lock file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.config.load import load_matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.artefacts import Artefact, Lock, fetch, forget, load_lock, maven_repository
from jdkmatrix.provision.project import find_project
from tests.support.programs import program

CONTENT = b"an archive"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"another").hexdigest()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))


def lock_with(sha256: str, coordinates: str = "org.example:thing:1.0:tar.gz:bin") -> Lock:
    return Lock(maven_dependency_plugin="3.11.0", artefacts={"thing": Artefact(coordinates=coordinates, sha256=sha256)})


def stand_in_for_maven(folder: Path, script: str) -> str:
    """Write a program that gets Maven's arguments; `$repo` is the local repository that it was told to use."""
    made = program(
        folder / "mvn",
        f"#!/bin/sh\necho \"$@\" >> '{folder}/calls'\n"
        'for a in "$@"; do case "$a" in -Dmaven.repo.local=*) repo="${a#*=}";; esac; done\n'
        f"{script}\n",
    )
    return str(made)


DELIVER = 'd="$repo/org/example/thing/1.0"; mkdir -p "$d"; printf "an archive" > "$d/thing-1.0-bin.tar.gz"'


def test_a_verified_file_is_fetched_once(tmp_path: Path) -> None:
    maven = stand_in_for_maven(tmp_path, DELIVER)
    path = fetch(lock_with(SHA256), "thing", maven=maven)
    assert path == maven_repository() / "org/example/thing/1.0/thing-1.0-bin.tar.gz"
    assert path.read_bytes() == CONTENT
    assert fetch(lock_with(SHA256), "thing", maven=maven) == path
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1
    assert "maven-dependency-plugin:3.11.0:get -Dartifact=org.example:thing:1.0:tar.gz:bin" in calls[0]


def test_another_sha256_leaves_nothing(tmp_path: Path) -> None:
    maven = stand_in_for_maven(tmp_path, DELIVER)
    with pytest.raises(MatrixError, match=rf"sha256 is {SHA256}, toolchain.lock.json says {OTHER_SHA256}"):
        fetch(lock_with(OTHER_SHA256), "thing", maven=maven)
    assert [path for path in maven_repository().rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_a_file_that_rotted_in_the_cache_is_noticed_and_removed(tmp_path: Path) -> None:
    maven = stand_in_for_maven(tmp_path, DELIVER)
    path = fetch(lock_with(SHA256), "thing", maven=maven)
    path.write_bytes(b"an archivE")
    with pytest.raises(MatrixError, match="it was removed"):
        fetch(lock_with(SHA256), "thing", maven=maven)
    assert fetch(lock_with(SHA256), "thing", maven=maven).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo '[ERROR] no route to anywhere'; exit 1", r"(?s)fetching org.example:thing.*status 1.*no route to any"),
        ("true", "Maven reported success"),
        (None, r"cannot start .*/mvn"),
    ],
)
def test_a_maven_that_delivers_nothing_is_told(tmp_path: Path, script: str | None, message: str) -> None:
    maven = str(tmp_path / "mvn") if script is None else stand_in_for_maven(tmp_path, script)
    with pytest.raises(MatrixError, match=message):
        fetch(lock_with(SHA256), "thing", maven=maven)


@pytest.mark.parametrize("proxy", ["", "http://proxy.example:3128"])
def test_a_proxy_that_maven_ignores_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.setenv("https_proxy", proxy)
    maven = stand_in_for_maven(tmp_path, "echo 'repo.maven.apache.org: Name or service not known'; exit 1")
    with pytest.raises(MatrixError, match="Name or service not known") as told:
        fetch(lock_with(SHA256), "thing", maven=maven)
    assert ("Maven does not read https_proxy" in str(told.value)) == bool(proxy)


def test_forgotten_means_fetched_again(tmp_path: Path) -> None:
    maven = stand_in_for_maven(tmp_path, DELIVER)
    path = fetch(lock_with(SHA256), "thing", maven=maven)
    forget(lock_with(SHA256), "thing")
    assert not path.exists()
    forget(lock_with(SHA256), "thing")
    assert fetch(lock_with(SHA256), "thing", maven=maven).exists()


@pytest.mark.real
def test_the_hosts_maven_fetches_and_a_wrong_sha256_leaves_nothing() -> None:
    lock = lock_with(OTHER_SHA256, coordinates="org.osgi:org.osgi.core:6.0.0:jar")
    folder = maven_repository() / "org" / "osgi" / "org.osgi.core" / "6.0.0"
    with pytest.raises(MatrixError, match=r"sha256 is [0-9a-f]{64}, toolchain.lock.json says"):
        fetch(lock, "thing")
    assert not folder.exists()
    found = next(
        line.split()[0]
        for line in (find_project().root / "workloads/.mvn/checksums/checksums.sha256").read_text().splitlines()
        if line.endswith("/org.osgi.core-6.0.0.jar")
    )
    right = lock_with(found, coordinates="org.osgi:org.osgi.core:6.0.0:jar")
    assert fetch(right, "thing") == folder / "org.osgi.core-6.0.0.jar"


def test_the_projects_lock_is_complete() -> None:
    lock = load_lock(find_project().root)
    servers = load_matrix(find_project().matrix).servers.values()
    databases = {"postgresql-x86_64", "postgresql-aarch64"}
    assert {"maven", *databases, *(server.artefact for server in servers if server.artefact)} == set(lock.artefacts)
    assert lock.artefact("maven").version.startswith("3.9.")
    with pytest.raises(MatrixError, match=r"no artefact 'gradle' \(there are: maven, open-"):
        lock.artefact("gradle")


GOOD: dict[str, Any] = {
    "maven_dependency_plugin": "3.11.0",
    "artefacts": {"maven": {"coordinates": "a.b:c:1:jar", "sha256": SHA256}},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"artefacts": {"maven": {"coordinates": "a.b:c:1", "sha256": SHA256}}}, "artefacts.maven.coordinates"),
        ({"artefacts": {"maven": {"coordinates": "a.b:c:1:jar", "sha256": "abc"}}}, "artefacts.maven.sha256"),
        ({"maven_dependency_plugin": "3.11.0:evil"}, "maven_dependency_plugin"),
        ({"more": 1}, "more"),
    ],
)
def test_a_bad_lock_says_where(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "toolchain.lock.json").write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(MatrixError, match=rf"toolchain.lock.json: {message}"):
        load_lock(tmp_path)
