"""Archives from a loopback server, the order of sources, and which JDKs can be had."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import archive, availability, cache
from jdkmatrix.jdks import resolve as resolving
from jdkmatrix.jdks.availability import outlook
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, this_system
from jdkmatrix.jdks.net import download, get_text, unreachable
from jdkmatrix.jdks.resolve import fetch, resolve
from jdkmatrix.provision import nix_parts
from jdkmatrix.provision.seal import seal
from tests.support.jdks_doubles import VERSION, FileServer, entry, fake_jdk, file_server, packed, sha256
from tests.support.nix_parts import write_nix_parts
from tests.support.waiting import HANGS_S

GOOD = packed()


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test its own cache and home, so that this machine's cache and JDKs have no influence."""
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(nix_parts.VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server(good=GOOD) as running:
        yield running


def left_behind(tmp_path: Path) -> list[str]:
    """Return everything in the cache except locks and the folders `jdks` and `test-jdk`."""
    found = (tmp_path / "cache").rglob("*")
    return sorted(str(p) for p in found if not p.name.endswith(".lock") and p.name not in ("jdks", "test-jdk"))


def refused(wanted: JdkEntry, *others: JdkEntry) -> str:
    """Return the reason why `wanted` cannot be had; `others`: the catalogue's other entries."""
    catalogue = Catalogue(schema_version=1, entries=(*others, wanted))
    with pytest.raises(MatrixError, match=rf"^{wanted.id} is not available here: ") as told:
        fetch(wanted, catalogue=catalogue)
    return str(told.value).partition(" is not available here: ")[2]


def test_an_archive_is_fetched_verified_and_unpacked(server: FileServer, tmp_path: Path) -> None:
    told: list[str] = []
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    got = fetch(wanted, progress=told.append)
    assert (got.source, got.version, got.notice) == ("archive", VERSION, None)
    assert got.release["IMPLEMENTOR"] == "Eclipse Adoptium"
    assert "Temurin-21.0.99+1" in got.version_output
    assert (got.home / "legal/jdk.jfr/LICENSE").read_text() == "free"
    assert "+" not in str(got.home.relative_to(tmp_path))
    assert any("sha256 matches" in line for line in told)
    again = resolve(wanted)
    assert (again.source, again.home, again.version_output) == ("cache", got.home, got.version_output)
    assert fetch(wanted).source == "cache"
    assert server.asked["/good"] == 1


def test_a_wrong_sha256_leaves_nothing(server: FileServer, tmp_path: Path) -> None:
    told = refused(entry(url=f"{server.url}/good", digest="1" * 64))
    assert re.search(rf"has sha256 {sha256(GOOD)}; the catalogue says 1111.*thrown away; registry: none$", told)
    assert left_behind(tmp_path) == []


def test_a_broken_off_download_leaves_nothing(server: FileServer, tmp_path: Path) -> None:
    server.files["/short"] = GOOD[:100]
    server.announced["/short"] = len(GOOD)
    told = refused(entry(url=f"{server.url}/short", digest=sha256(GOOD)))
    assert f"broke off after 100 of {len(GOOD)} bytes" in told
    assert left_behind(tmp_path) == []


def evil(name: str, kind: bytes = tarfile.REGTYPE, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, linkname
    return info


UNPACKED = "archive: the archive cannot be unpacked: "
EVIL = (
    evil("../outside"),
    evil("jdk/../../outside"),
    evil("jdk/link", tarfile.SYMTYPE, "/etc/passwd"),
    evil("jdk/link", tarfile.SYMTYPE, "../../../outside"),
    evil("jdk/device", tarfile.CHRTYPE),
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        *((packed(extra=(member,)), UNPACKED) for member in EVIL),
        (packed("21.0.98+1"), r'says 21.0.98\+1; the catalogue says "21.0.99\+1" for test-jdk'),
        (packed(brand=""), 'is signed by 21.0.99\\+1; the catalogue says "Eclipse Adoptium"'),
        (packed(vm="Eclipse OpenJ9 VM"), 'runs on openj9; the catalogue says "hotspot" for test-jdk'),
        (b"no archive", f"{UNPACKED}not a gzip file"),
        (packed(extra=(evil("second/bin/java"),)), r"holds \*/bin/java 2 times; expected one JDK"),
        (packed(script="#!/bin/sh\necho cannot load library >&2\nexit 3\n"),
         r"bin/java -version ended with status 3: cannot load library"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,
)  # fmt: skip
def test_a_wrong_archive_leaves_nothing(server: FileServer, tmp_path: Path, data: bytes, message: str) -> None:
    server.files["/other"] = data
    assert re.search(message, refused(entry(url=f"{server.url}/other", digest=sha256(data))))
    assert left_behind(tmp_path) == [] and not list(tmp_path.rglob("outside"))


def test_hosts_and_files_that_are_not_there(server: FileServer) -> None:
    server.refused["/broken"] = 500
    told = refused(entry(url=f"{server.url}/broken"))
    assert re.fullmatch(r"archive: http://127.*/broken answers 500 [\w ]+; registry: none", told)
    with file_server() as closed:
        name = closed.url.removeprefix("http://")
    told = refused(entry(url=f"http://{name}/x"))
    assert re.fullmatch(rf"archive: {name} does not.*\(connection refused\); registry: none", told)


@pytest.mark.parametrize("status", [404, 410])
def test_an_archive_that_its_vendor_took_away(server: FileServer, tmp_path: Path, status: int) -> None:
    server.refused["/no"] = status
    gone = entry(url=f"{server.url}/no")
    exact = gone.model_copy(update={"id": "test-21.0.99"})
    newer, other = entry("21.0.100+1", id="newer"), entry("25+36", id="jdk-25", feature_version=25)
    message = refused(gone, other, exact, newer)
    assert f"{server.url}/no answers {status} " in message
    assert (
        "the vendor no longer has the archive of test-jdk; `matrix jdks update test-jdk` looks for a newer" in message
    )
    assert "of JDK 21 the catalogue also has test-21.0.99, newer; registry: none" in message
    assert left_behind(tmp_path) == []
    message = refused(exact, other)
    assert "matrix jdks update" not in message
    assert "the vendor no longer has the archive of test-21.0.99; the catalogue has no other JDK 21;" in message


def test_an_archive_only_for_another_machine() -> None:
    other = {"url": "https://example.org/x", "sha256": "0" * 64, "second_source": None}
    system = "aarch64-linux" if this_system() == "x86_64-linux" else "x86_64-linux"
    assert re.match(rf"archive: none for .* \(only {system}\)", refused(entry(archives={system: other})))


def test_a_half_made_folder_does_not_count_and_is_made_anew(server: FileServer, tmp_path: Path) -> None:
    """A process that is killed between the move and the last file leaves such a folder."""
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    got = fetch(wanted)
    facts = got.home.parent / cache.FACTS_FILE
    facts.unlink()
    assert resolve(wanted) is None
    assert fetch(wanted).source == "archive"
    facts.write_text("{}")
    assert resolve(wanted) is None


def test_a_jdk_that_was_changed_in_the_cache_is_got_again_or_not_used(server: FileServer, tmp_path: Path) -> None:
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    catalogue = Catalogue(schema_version=1, entries=(wanted,))
    got = fetch(wanted)
    java = got.home / "bin" / "java"
    pinned = java.read_text()
    java.write_text(f'#!/bin/sh\nexec {tmp_path}/java -Xint "$@"\n')
    assert resolve(wanted) is None
    assert outlook(catalogue)[0].status == "fetchable"
    told: list[str] = []
    again = fetch(wanted, progress=told.append)
    assert (again.source, java.read_text(), again.files_sha256) == ("archive", pinned, got.files_sha256)
    assert any(f"{got.home.parent}: changed since it was made: jdk/bin/java" in line for line in told)
    java.write_text(java.read_text() + "\n")
    server.files.clear()
    assert re.search(r"changed since it was made: jdk/bin/java; archive: .* answers 404", refused(wanted))


def test_a_python_that_unpacks_unsafely_downloads_nothing(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One such Python is 3.11.2, which Debian 12 has."""
    monkeypatch.delattr(tarfile, "data_filter")
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    why = "archive: this Python cannot unpack safely"
    assert why in refused(wanted)
    (told,) = outlook(Catalogue(schema_version=1, entries=(wanted,)))
    assert told.status == "unavailable" and why in told.detail
    assert not server.asked


def test_another_pin_is_another_jdk(server: FileServer) -> None:
    """When the catalogue is corrected, a JDK fetched by the old sha256 does not stand for the corrected entry."""
    fetch(entry(url=f"{server.url}/good", digest=sha256(GOOD)))
    other = packed(extra=(evil(f"jdk-{VERSION}/more"),))
    server.files["/other"] = other
    corrected = entry(url=f"{server.url}/other", digest=sha256(other))
    assert resolve(corrected) is None
    assert (fetch(corrected).home / "more").exists()


def test_two_processes_fetch_once(server: FileServer) -> None:
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    program = (
        "import sys; from jdkmatrix.jdks.catalogue import JdkEntry;"
        "from jdkmatrix.jdks.resolve import fetch;"
        "print(fetch(JdkEntry.model_validate_json(sys.argv[1])).home)"
    )
    command = [sys.executable, "-c", program, wanted.model_dump_json()]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = {process.communicate(timeout=HANGS_S)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(outputs) == 1
    assert server.asked["/good"] == 1


def test_the_order_of_sources(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JDK on the host spares the archive; the cache takes precedence over the host, and Nix over the cache."""
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    assert resolve(wanted) is None
    on_host = fake_jdk(tmp_path / "home/.jdks/some", f"{VERSION}-LTS")
    assert resolve(wanted).source == "host"
    assert fetch(wanted).home == on_host
    assert server.asked["/good"] == 0
    (on_host / "release").rename(on_host / "not-now")
    assert fetch(wanted).source == "archive"
    (on_host / "not-now").rename(on_host / "release")
    assert resolve(wanted).source == "cache"
    from_nix = fake_jdk(tmp_path / "store", VERSION)
    monkeypatch.setenv(nix_parts.VARIABLE, str(write_nix_parts(tmp_path, jdks={"test-jdk": from_nix})))
    found = resolve(wanted)
    assert (found.source, found.home, found.version) == ("nix", from_nix, VERSION)


def test_what_nix_hands_over_must_be_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = fake_jdk(tmp_path / "store", "21.0.1+1")
    monkeypatch.setenv(nix_parts.VARIABLE, str(write_nix_parts(tmp_path, jdks={"test-jdk": other})))
    reason = refused(entry())
    assert reason.startswith(f"nix: {tmp_path}/store says 21.0.1+1; the catalogue says")
    assert outlook(Catalogue(schema_version=1, entries=(entry(),)))[0].detail == reason
    write_nix_parts(tmp_path, jdks={"test-jdk": tmp_path / "gone"})
    assert "gone/bin/java is missing" in outlook(Catalogue(schema_version=1, entries=(entry(),)))[0].detail


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (entry(), "nix: not handed over; `nix run .#everything` has every JDK on the axis that lasts"),
        (entry("21-ea+3"), "nix: early access is handed over by `nix run .#matrix-with-early-access`, if its vendor"),
        (JdkEntry(id="r", vendor="Debian", vm="hotspot", feature_version=21, version="rolling", last_seen="21-ea+3"),
         "nix: no hash can pin a rolling build"),
    ],
    ids=["not on the axis", "early access", "rolling"],
)  # fmt: skip
def test_what_nix_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: JdkEntry, why: str) -> None:
    monkeypatch.setenv(nix_parts.VARIABLE, str(write_nix_parts(tmp_path)))
    assert refused(wanted).startswith(why)
    assert outlook(Catalogue(schema_version=1, entries=(wanted,)))[0].detail.startswith(why)


def test_a_host_jdk_that_lies_is_found_out(tmp_path: Path) -> None:
    """The `release` file names the right build, but java itself reports another."""
    home = fake_jdk(tmp_path / "home/.jdks/some", VERSION)
    (home / "bin/java").write_text(fake_jdk(tmp_path / "other", "21.0.1+1").joinpath("bin/java").read_text())
    assert re.search(r'host: .*says 21.0.1\+1; the catalogue says "21.0.99\+1"', refused(entry()))


def test_an_entry_without_any_source() -> None:
    with pytest.raises(MatrixError, match=r"no Eclipse Adoptium 21.0.99\+1 on this host, and it has no other source"):
        fetch(entry())


def test_the_outlook_says_what_can_be_had(server: FileServer, tmp_path: Path) -> None:
    with file_server() as closed:
        nobody = closed.url

    fake_jdk(tmp_path / "home/.jdks/some", "21.0.97+1")
    entries = (
        entry("21.0.97+1", id="here"),
        entry(url=f"{server.url}/good", id="there"),
        entry(url=f"{server.url}/other", id="there-too"),
        entry(url=f"{nobody}/x", id="nowhere"),
        entry(id="nothing"),
    )
    found = {o.entry.id: o for o in outlook(Catalogue(schema_version=1, entries=entries))}
    fetchable, unavailable = ("fetchable", "archive"), ("unavailable", None)
    assert [(o.status, o.source) for o in found.values()] == [("ready", "host"), *[fetchable] * 2, *[unavailable] * 2]
    assert found["here"].version == "21.0.97+1"
    assert found["nowhere"].detail.endswith("does not answer from here (connection refused); registry: none")
    assert sum(server.asked.values()) == 0


@pytest.mark.parametrize("proxy", ["http:/proxy:3128", "http://proxy..corp:3128"])
def test_a_proxy_that_was_mistyped_is_told(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert "does not answer from here" in (unreachable(server.url) or "")
    with pytest.raises(MatrixError, match="does not answer from here"):
        get_text(f"{server.url}/good")
    with pytest.raises(MatrixError, match="does not answer from here"):
        download(f"{server.url}/good", "0" * 64, tmp_path / "file", lambda *_: None)


def test_a_probe_that_hangs_is_answered_for(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(availability, "PROBES_LIMIT_S", 0.2)
    monkeypatch.setattr("jdkmatrix.jdks.net.unreachable", lambda host: str(never.wait()) if "slow" in host else None)
    entries = (entry(id="slow", url="https://slow.example/x"), entry(id="quick", url=f"{server.url}/good"))
    slow, quick = outlook(Catalogue(schema_version=1, entries=entries))
    never.set()
    assert slow.detail.endswith("archive: no answer within 0.2 s; registry: none")
    assert (slow.status, quick.status) == ("unavailable", "fetchable")


def test_a_cache_that_was_moved_or_is_shared_has_no_jdk_that_runs_elsewhere(server: FileServer, tmp_path: Path) -> None:
    wanted = entry(url=f"{server.url}/good", digest=sha256(GOOD))
    fetch(wanted)
    (found,) = tmp_path.rglob(cache.FACTS_FILE)
    facts = cache.Facts.model_validate_json(found.read_bytes())
    assert facts.folder == str(found.parent)

    def is_there(**changes: object) -> bool:
        return cache._is_for(wanted, cache.Cached(found.parent, facts.model_copy(update=changes)))

    assert is_there() and is_there(folder="/elsewhere") and is_there(libc="2.41")
    assert not is_there(libc="2.41", folder="/elsewhere")
    assert is_there(system=None) and not is_there(system="riscv64-linux")


def test_an_archive_that_is_passed_over_is_told(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url, told = f"{server.url}/good", list[str]()
    good = entry(url=url, digest=sha256(GOOD))
    monkeypatch.setattr(resolving, "_from_registry", lambda _, progress: archive.fetch(good, progress))
    assert fetch(entry(url=url, digest="1" * 64), progress=told.append).source == "registry"
    assert any(line.startswith("test-jdk: archive: ") and "has sha256" in line for line in told)


def test_the_libraries_beside_a_jdk_are_part_of_what_it_is(tmp_path: Path) -> None:
    """A JDK from Debian runs on its own libc, which is not one of the JDK's files."""
    fake_jdk(tmp_path / "jdk", VERSION)
    facts = cache.Facts(
        source="registry", java_home="jdk", origin={}, id="x", catalogue_version=VERSION, version=VERSION,
        version_output="", release={}, got_at="2026-01-01", packages={"libc6": "2.41-1"}, libc="2.41",
    )  # fmt: skip
    seal(tmp_path)

    def digest(**changes: Any) -> str:
        cached = cache.Cached(tmp_path, facts.model_copy(update=changes))
        return resolving._from_cache(entry(), cached, "cache").files_sha256

    assert digest() == digest() != digest(packages={"libc6": "2.42-1"})
    assert digest(libc=None) == digest(libc=None, packages={}) != digest()
