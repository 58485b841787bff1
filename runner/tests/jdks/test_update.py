"""How an entry and jdks.json change when the vendor has a newer build."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, dump_catalogue, parse_catalogue
from jdkmatrix.jdks.lookup import Question, question
from jdkmatrix.jdks.pins import alternatives, instead_of, why_fixed
from jdkmatrix.jdks.update import SYSTEMS, EntryUpdate, judge, with_updates
from jdkmatrix.jdks.upstream.offers import Answer, Over, Unanswered
from tests.support.upstream_doubles import AARCH64, WHEEL, X64, catalogue, followed, jdk, pinned, rolling

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
    """Draw up to six entries that follow their vendor, some with optional fields, among others that do not."""
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


def update(having: Catalogue, answers: Mapping[Question, Answer]) -> Catalogue:
    """Return the catalogue as the vendors' `answers` update it."""
    return with_updates(having, [judge(entry, answers[question(entry)], having) for entry in followed(having)])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (jdk("temurin-25", "Eclipse Adoptium", "25.0.4.1+1"), None),
        (jdk("semeru-25", "IBM Semeru", "25.0.4.10"), None),
        (jdk("openjdk-28-ea", "Oracle OpenJDK", "28-ea+17"), None),
        (jdk("temurin-25-prev", "Eclipse Adoptium", "25.0.4+7"), "its neighbour had before"),
        (jdk("temurin-25.0.3", "Eclipse Adoptium", "25.0.3+9"), "names one exact build"),
        (jdk("temurin-25", "Eclipse Adoptium", "25.0.3+9", archives={}), "no archives"),
        (jdk("openjdk-25", "Oracle OpenJDK", "25.0.2+10"), "only early access of Oracle OpenJDK is looked up"),
        (jdk("sapmachine-22-ea", "SAP SapMachine", "22-ea+36"), "there is nowhere to look up builds of SAP SapMachine"),
        (rolling(), "rolling"),
    ],
    ids=lambda value: value["id"] if isinstance(value, dict) else None,
)
def test_who_follows_the_vendor(data: dict[str, Any], reason: str | None) -> None:
    found = why_fixed(JdkEntry.model_validate(data))
    assert found is None if reason is None else reason in str(found)


def test_what_stands_in_for_an_entry() -> None:
    bug = {"id": "JDK-1", "summary": "bad"}
    having = catalogue(
        jdk("openjdk-22-ea", "Oracle OpenJDK", "22-ea+34"),
        jdk("semeru-22", "IBM Semeru", "22.0.2.0"),
        jdk("sapmachine-22-ea", "SAP SapMachine", "22-ea+36"),
        jdk("temurin-22.0.1", "Eclipse Adoptium", "22.0.1+8", known_bugs=[bug]),
        jdk("temurin-22-prev", "Eclipse Adoptium", "22.0.1+8"),
        jdk("temurin-22", "Eclipse Adoptium", "22.0.2+9"),
        jdk("temurin-25", "Eclipse Adoptium", "25.0.2+10"),
    )
    assert alternatives(having.entry("openjdk-22-ea"), having) == [
        "temurin-22", "temurin-22-prev", "sapmachine-22-ea", "temurin-22.0.1", "semeru-22",
    ]  # fmt: skip
    assert instead_of(having.entry("openjdk-22-ea"), having) == (
        "of JDK 22 the catalogue also has temurin-22, temurin-22-prev, sapmachine-22-ea"
    )
    assert instead_of(having.entry("temurin-25"), having) == "the catalogue has no other JDK 25"


def verdict(data: dict[str, Any], answer: Answer) -> EntryUpdate:
    having = catalogue(data)
    return judge(having.entries[0], answer, having)


TEMURIN = jdk("temurin-25", "Eclipse Adoptium", "25.0.3+9")


def test_it_moves_to_a_newer_build() -> None:
    found = verdict(TEMURIN | {"date": "2026-04-21"}, pinned("25.0.4.1+1", "2026-08-18"))
    assert found.text == "25.0.3+9 -> 25.0.4.1+1 of 2026-08-18; 25.0.3+9 is kept as temurin-25-prev"


def test_the_later_of_two_dates_counts_and_an_old_one_never() -> None:
    pins = pinned("25.0.4+7")
    pins[X64] = dataclasses.replace(pins[X64], date="2026-07-23")
    pins[AARCH64] = dataclasses.replace(pins[AARCH64], date="2026-07-25")
    assert verdict(TEMURIN, pins).moved.date == "2026-07-25"
    assert verdict(TEMURIN | {"date": "2026-04-21"}, pinned("25.0.4+7")).moved.date is None


PROBLEM = "no answer within 60 s"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (pinned("25.0.3+9"), "25.0.3+9 is the newest"),
        (pinned("25.0.2+10"), "stays at 25.0.3+9: upstream's newest is older: 25.0.2+10"),
        ({}, "stays at 25.0.3+9: upstream has no archive of JDK 25"),
        (Unanswered(PROBLEM), f"stays at 25.0.3+9: {PROBLEM}"),
        ({X64: pinned("25.0.4+7")[X64]},
         "stays at 25.0.3+9: upstream has 25.0.4+7 for x86_64-linux only (aarch64-linux: none)"),
        ({X64: pinned("25.0.3+9")[X64], AARCH64: pinned("25.0.4+7")[AARCH64]},
         "stays at 25.0.3+9: upstream has 25.0.4+7 for aarch64-linux only (x86_64-linux: 25.0.3+9)"),
    ],
    ids=["newest", "older", "nothing", "no answer", "one system", "one system is late"],
)  # fmt: skip
def test_it_stays(answer: Answer, said: str) -> None:
    found = verdict(TEMURIN, answer)
    assert (found.text, found.moved) == (said, None)
    assert found.unanswered == (PROBLEM if isinstance(answer, Unanswered) else None)


def test_another_file_for_the_same_build_is_said_and_not_taken() -> None:
    changed = {s: dataclasses.replace(pin, archive=pin.archive.model_copy(update={"sha256": "f" * 64}))
               for s, pin in pinned("25.0.3+9").items()}  # fmt: skip
    found = verdict(TEMURIN, changed)
    assert found.moved is None
    assert f"upstream gives sha256 {'f' * 64} for x86_64-linux now, and 0000" in found.text
    assert "find out why before you trust either" in found.text


def test_early_access_that_is_over_stays_and_names_an_alternative() -> None:
    having = catalogue(
        jdk("openjdk-22-ea", "Oracle OpenJDK", "22-ea+34"), jdk("temurin-22", "Eclipse Adoptium", "22.0.2+9")
    )
    found = judge(having.entries[0], Over("22.0.2"), having)
    assert found.moved is None
    assert found.text == (
        "stays at 22-ea+34: early access of JDK 22 has ended: 22.0.2 was released; "
        "of JDK 22 the catalogue also has temurin-22"
    )


def test_a_version_that_cannot_be_compared_is_told_with_its_entry() -> None:
    with pytest.raises(MatrixError, match=r'entry "temurin-25": "25 or so" is not a JDK version'):
        verdict(TEMURIN | {"version": "25 or so"}, pinned("25.0.4+7"))


def test_what_belongs_to_the_old_build_goes_with_it() -> None:
    old = TEMURIN | {"date": "2026-04-21", "registry": WHEEL, "known_bugs": [BUG], "notes": ["Read me."]}
    having = catalogue(old, rolling())
    answers: dict[Question, Answer] = {("Eclipse Adoptium", 25): pinned("25.0.4+7", "2026-07-23")}
    found = judge(having.entries[0], answers["Eclipse Adoptium", 25], having)
    assert "and with it the package that holds it (pypi): temurin-25 has archives only now" in found.text
    assert "and with it JDK-8373120: check whether 25.0.4+7 has them too; the notes stay as they are" in found.text
    new, kept, other = update(having, answers).entries
    assert (new.id, kept.id, other) == ("temurin-25", "temurin-25-prev", having.entries[1])
    assert (new.registry, new.known_bugs, new.notes) == (None, (), ("Read me.",))
    assert kept.model_dump(exclude={"id"}) == having.entries[0].model_dump(exclude={"id"})


def test_a_kept_build_gives_way_to_the_next_wherever_it_stands() -> None:
    older = jdk("temurin-25-prev", "Eclipse Adoptium", "25.0.2+10", notes=["Has bugs."], date="2026-01-20")
    having = catalogue(older, rolling(), TEMURIN)
    kept, other, new = update(having, {("Eclipse Adoptium", 25): pinned("25.0.4+7")}).entries
    assert (kept.id, kept.version, kept.previous) == ("temurin-25-prev", "25.0.3+9", "25.0.2+10")
    assert (kept.notes, kept.date, kept.archives) == ((), None, having.entry("temurin-25").archives)
    assert (new.version, new.previous, other) == ("25.0.4+7", "25.0.3+9", having.entries[1])


def test_only_what_was_set_is_written() -> None:
    having = catalogue(TEMURIN)
    updated = update(having, {("Eclipse Adoptium", 25): pinned("25.0.4+7", "2026-07-23")})
    new, kept = json.loads(dump_catalogue(updated))["entries"]
    common = ["id", "vendor", "vm", "feature_version", "version"]
    assert list(new) == [*common, "date", "previous", "archives"]
    assert list(kept) == [*common, "archives"]
    assert list(new["archives"]) == list(SYSTEMS)
    assert new["archives"][X64]["second_source"] is None


@given(catalogues(), st.data())
def test_updates(having: Catalogue, data: st.DataObject) -> None:
    """If nobody has anything newer, nothing changes; a second update changes nothing; replaced builds are kept."""
    newer: dict[str, str] = {}
    answers: dict[Question, Answer] = {question(entry): pinned(entry.version) for entry in followed(having)}
    unchanged = update(having, answers)
    assert unchanged == having == parse_catalogue(Path("jdks.json"), dump_catalogue(having))
    assert dump_catalogue(unchanged) == dump_catalogue(having)
    for entry in having.entries:
        if why_fixed(entry) is None and data.draw(st.booleans()):
            kind = next(k for k, (vendor, _) in KINDS.items() if vendor == entry.vendor)
            newer[entry.id] = version_of(kind, entry.feature_version, data.draw(st.integers(70, 99)))
            answers[question(entry)] = pinned(newer[entry.id], "2026-11-01")
    updated = update(having, answers)
    assert update(updated, answers) == updated
    assert parse_catalogue(Path("jdks.json"), dump_catalogue(updated)) == updated
    ids = [entry.id for entry in updated.entries]
    for entry in having.entries:
        now = updated.entry(entry.id)
        if entry.id in newer:
            kept = updated.entry(f"{entry.id}-prev")
            assert (now.version, now.previous, now.date) == (newer[entry.id], entry.version, "2026-11-01")
            assert set(now.archives) == set(SYSTEMS)
            assert now.archives == {s: pin.archive for s, pin in pinned(newer[entry.id]).items()}
            different = {"id", "previous"}
            assert kept.model_dump(exclude=different) == entry.model_dump(exclude=different)
            if kept.id not in {e.id for e in having.entries}:
                assert ids.index(kept.id) == ids.index(entry.id) + 1
        elif entry.id.removesuffix("-prev") not in newer:
            assert now == entry
