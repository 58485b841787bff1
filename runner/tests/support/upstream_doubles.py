"""Vendors on loopback with their recorded answers, and catalogues that lag behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jdkmatrix.jdks import net
from jdkmatrix.jdks.catalogue import Archive, Catalogue, JdkEntry
from jdkmatrix.jdks.pins import why_fixed
from jdkmatrix.jdks.update import SYSTEMS
from jdkmatrix.jdks.upstream import adoptium, oracle, semeru
from jdkmatrix.jdks.upstream.offers import MACHINES, Pin
from tests.support.jdks_doubles import FileServer, file_server
from tests.support.project import RECORDED

DATA = RECORDED / "upstream"
X64, AARCH64 = SYSTEMS
EA = "https://download.java.net/java/early_access/jdk28"
REAL_GET_TEXT = net.get_text


def text(name: str) -> str:
    return (DATA / name).read_text()


def both(feature: int) -> list[str]:
    return [text(f"adoptium-{feature}-{machine}.json") for machine in MACHINES]


def releases(drop: int = 0, **change: object) -> str:
    """Return the list of Semeru releases without its first `drop`, and with `change` in the first that is left."""
    data = json.loads(text("semeru-21-releases.json"))[drop:]
    return json.dumps([data[0] | change, *data[1:]])


@pytest.fixture
def upstream() -> Iterator[FileServer]:
    """Serve all vendors on loopback: every address for which there is an answer, without its https://."""
    names = {semeru.addresses(21)[0]: "semeru-21-releases.json"}
    names |= {oracle.addresses(feature)[0]: f"jdk.java.net-{feature}.html" for feature in (22, 28)}
    for i, machine in enumerate(MACHINES):
        names |= {adoptium.addresses(feature)[i]: f"adoptium-{feature}-{machine}.json" for feature in (21, 25)}
        archive = f"{EA}/17/GPL/openjdk-28-ea+17_linux-{machine}_bin.tar.gz"
        names[f"{archive}.sha256"] = f"openjdk-28-ea+17-{machine}.sha256"
    recorded = {url.removeprefix("https://"): (DATA / name).read_bytes() for url, name in names.items()}
    with file_server(**recorded) as running:
        yield running


def through(server: FileServer) -> Callable[[str], str]:
    """Return the real fetching code, with every vendor at `server`."""
    return lambda url: REAL_GET_TEXT(url.replace("https://", f"{server.url}/", 1))


def present() -> Catalogue:
    """Return entries that are behind, up to date, over, and without an answer."""
    newest = adoptium.read(both(25), 25)
    archives = {s: {"url": o.url, "sha256": o.sha256, "second_source": "seen"} for s, o in newest.items()}
    return catalogue(
        jdk("temurin-21", "Eclipse Adoptium", "21.0.11+10", notes=["Pins its carrier."]),
        jdk("temurin-22", "Eclipse Adoptium", "22.0.1+8"),
        jdk("temurin-25", "Eclipse Adoptium", "25.0.4.1+1", archives=archives),
        jdk("temurin-25.0.3", "Eclipse Adoptium", "25.0.3+9", archives={}),
        jdk("semeru-21", "IBM Semeru", "21.0.12.0"),
        jdk("semeru-21-prev", "IBM Semeru", "21.0.10+7_openj9-0.57.0"),
        jdk("openjdk-22-ea", "Oracle OpenJDK", "22-ea+34"),
        jdk("openjdk-28-ea", "Oracle OpenJDK", "28-ea+16"),
        rolling(),
    )


def followed(having: Catalogue) -> list[JdkEntry]:
    return [entry for entry in having.entries if why_fixed(entry) is None]


def jdk(name: str, vendor: str, version: str, **more: Any) -> dict[str, Any]:
    """Return an entry as in jdks.json; its archives are those that `pinned` gives for its version."""
    return {
        "id": name, "vendor": vendor, "vm": "openj9" if vendor == "IBM Semeru" else "hotspot",
        "feature_version": int(version[:2]), "version": version,
        "archives": {system: pin.archive.model_dump() for system, pin in pinned(version).items()}, **more,
    }  # fmt: skip


def pinned(version: str, date: str | None = None) -> dict[Any, Pin]:
    """Make up pins: the same for the same version."""
    digest = version.encode().hex().rjust(63, "0")[-63:]
    archives = {
        system: Archive(url=f"https://example.org/{version}/{system}", sha256=f"{i}{digest}", second_source=None)
        for i, system in enumerate(SYSTEMS)
    }
    return {system: Pin(version, date, archive) for system, archive in archives.items()}


def catalogue(*entries: dict[str, Any]) -> Catalogue:
    return Catalogue.model_validate({"schema_version": 1, "entries": entries})


def rolling() -> dict[str, Any]:
    source = {"kind": "debian", "suite": "sid", "packages": ["openjdk-28-jre-headless"]}
    return {
        "id": "nightly", "vendor": "Debian", "vm": "hotspot", "feature_version": 28, "version": "rolling",
        "last_seen": "28-ea+18-1-Debian", "registry": source,
    }  # fmt: skip


WHEEL = {
    "kind": "pypi", "package": "some-jre", "version": "1", "java_home": "a/b",
    "wheels": {"x86_64-linux": {"filename": "some_jre-1-py3-none-any.whl", "sha256": "b" * 64}},
}  # fmt: skip
