"""Vendors on loopback with their recorded answers, and catalogues that are behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from hypothesis import strategies as st

from jdkmatrix.jdks import net
from jdkmatrix.jdks.catalogue import Archive, Catalogue, JdkEntry
from jdkmatrix.jdks.lookup import Question, question
from jdkmatrix.jdks.pins import why_fixed
from jdkmatrix.jdks.update import SYSTEMS, judge, with_updates
from jdkmatrix.jdks.upstream import adoptium, oracle, semeru
from jdkmatrix.jdks.upstream.offers import MACHINES, Answer, Pin
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
    """The list of Semeru releases without its first `drop`, and with `change` in the first that is left."""
    data = json.loads(text("semeru-21-releases.json"))[drop:]
    return json.dumps([data[0] | change, *data[1:]])


def addressed() -> dict[str, bytes]:
    """Every address for which there is an answer, without its https://."""
    names = {semeru.addresses(21)[0]: "semeru-21-releases.json"}
    names |= {oracle.addresses(feature)[0]: f"jdk.java.net-{feature}.html" for feature in (22, 28)}
    for i, machine in enumerate(MACHINES):
        names |= {adoptium.addresses(feature)[i]: f"adoptium-{feature}-{machine}.json" for feature in (21, 25)}
        archive = f"{EA}/17/GPL/openjdk-28-ea+17_linux-{machine}_bin.tar.gz"
        names[f"{archive}.sha256"] = f"openjdk-28-ea+17-{machine}.sha256"
    return {url.removeprefix("https://"): (DATA / name).read_bytes() for url, name in names.items()}


def vendors() -> AbstractContextManager[FileServer]:
    """All vendors, on loopback."""
    return file_server(**addressed())


def through(server: FileServer) -> Callable[[str], str]:
    """The real fetching code, with every vendor at `server`."""
    return lambda url: REAL_GET_TEXT(url.replace("https://", f"{server.url}/", 1))


def present() -> Catalogue:
    """Entries that are behind, up to date, over, and not answered for."""
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
    """An entry as jdks.json has it; its archives are those that `pinned` gives for its version."""
    return {
        "id": name, "vendor": vendor, "vm": "openj9" if vendor == "IBM Semeru" else "hotspot",
        "feature_version": int(version[:2]), "version": version,
        "archives": {system: pin.archive.model_dump() for system, pin in pinned(version).items()}, **more,
    }  # fmt: skip


def pinned(version: str, date: str | None = None) -> dict[Any, Pin]:
    """Made-up pins: the same for the same version."""
    digest = version.encode().hex().rjust(63, "0")[-63:]
    archives = {
        system: Archive(url=f"https://example.org/{version}/{system}", sha256=f"{i}{digest}", second_source=None)
        for i, system in enumerate(SYSTEMS)
    }
    return {system: Pin(version, date, archive) for system, archive in archives.items()}


def catalogue(*entries: dict[str, Any]) -> Catalogue:
    return Catalogue.model_validate({"schema_version": 1, "entries": entries})


def rolling(**more: Any) -> dict[str, Any]:
    source = {"kind": "debian", "suite": "sid", "packages": ["openjdk-28-jre-headless"]}
    return {
        "id": "nightly", "vendor": "Debian", "vm": "hotspot", "feature_version": 28, "version": "rolling",
        "last_seen": "28-ea+18-1-Debian", "registry": source, **more,
    }  # fmt: skip


def update(having: Catalogue, answers: Mapping[Question, Answer]) -> Catalogue:
    """What becomes of the catalogue when vendors answer that."""
    return with_updates(having, [judge(entry, answers[question(entry)], having) for entry in followed(having)])


WHEEL = {
    "kind": "pypi", "package": "some-jre", "version": "1", "java_home": "a/b",
    "wheels": {"x86_64-linux": {"filename": "some_jre-1-py3-none-any.whl", "sha256": "b" * 64}},
}  # fmt: skip
BUG = {"id": "JDK-8373120", "summary": "A virtual thread can get stuck."}
KINDS: dict[str, tuple[str, str]] = {
    "temurin": ("Eclipse Adoptium", "{feature}.0.{major}+{minor}"),
    "semeru": ("IBM Semeru", "{feature}.0.{major}.{minor}"),
    "openjdk-ea": ("Oracle OpenJDK", "{feature}-ea+{number}"),
}


def version_of(kind: str, feature: int, number: int) -> str:
    return KINDS[kind][1].format(feature=feature, major=1 + number // 10, minor=1 + number % 10, number=1 + number)


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    """Up to six entries that follow their vendor, some with what a build may have, among others that do not."""
    questions = st.tuples(st.sampled_from(sorted(KINDS)), st.integers(21, 40))
    entries: list[dict[str, Any]] = [rolling()]
    for kind, feature in draw(st.lists(questions, min_size=1, max_size=6, unique=True)):
        name, version = f"{kind}-{feature}", version_of(kind, feature, draw(st.integers(2, 60)))
        extras = {
            "date": "2026-08-18", "previous": version_of(kind, feature, 1), "registry": WHEEL, "known_bugs": [BUG],
            "notes": ["Read me: Größe."],
        }  # fmt: skip
        chosen = {key: extras[key] for key in draw(st.lists(st.sampled_from(sorted(extras)), unique=True))}
        entries.append(jdk(name, KINDS[kind][0], version, **chosen))
        if draw(st.booleans()):
            entries.insert(0, jdk(f"{name}-prev", KINDS[kind][0], version_of(kind, feature, 0)))
    return catalogue(*entries)


def own_builds(having: Catalogue) -> dict[Question, Answer]:
    """What vendors answer that have nothing newer than the catalogue."""
    return {question(entry): pinned(entry.version) for entry in followed(having)}
