"""The real jdks.json, and the messages for faulty ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import Catalogue, DebianSource, PypiSource, dump_catalogue, load_catalogue
from tests.support.changes import change
from tests.support.project import ROOT
from tests.support.upstream_doubles import WHEEL, jdk, rolling

JDKS_JSON = ROOT / "jdks.json"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(JDKS_JSON)


def test_every_build_that_stays_is_pinned_to_its_vendors_archive_for_both_systems(catalogue: Catalogue) -> None:
    """The flake gets its JDKs from nothing else. The copy that a registry has may be jlinked."""
    systems = {"x86_64-linux", "aarch64-linux"}
    assert {e.id: set(e.archives) for e in catalogue.entries} == {
        e.id: set() if e.rolling else systems for e in catalogue.entries
    }
    wheels = [e.registry.wheels for e in catalogue.entries if isinstance(e.registry, PypiSource)]
    assert wheels and all(set(one) == systems for one in wheels)


def test_every_pin_says_what_it_pins(catalogue: Catalogue) -> None:
    """A sha256 copied to the wrong place would otherwise be noticed only by someone who can download the file."""
    seen: dict[str, str] = {}
    machine = {"x86_64-linux": ("x64", "x86_64"), "aarch64-linux": ("aarch64", "aarch64")}
    for entry in catalogue.entries:
        for system, archive in entry.archives.items():
            assert machine[system][0] in archive.url.rsplit("/", 1)[1]
            number = entry.version.split("+")[0].split("_")[0].removesuffix("-ea")
            assert number in archive.url
            assert seen.setdefault(archive.sha256, archive.url) == archive.url
        if isinstance(entry.registry, PypiSource):
            for system, wheel in entry.registry.wheels.items():
                assert wheel.filename.startswith(
                    f"{entry.registry.package.replace('-', '_')}-{entry.registry.version}-"
                )
                assert wheel.filename.endswith(f"{machine[system][1]}.whl")
                assert seen.setdefault(wheel.sha256, wheel.filename) == wheel.filename
        if isinstance(entry.registry, DebianSource):
            assert all(f"-{entry.feature_version}-" in package for package in entry.registry.packages)


def test_known_bugs_have_an_address_and_a_summary(catalogue: Catalogue) -> None:
    bugs = [bug for entry in catalogue.entries for bug in entry.known_bugs]
    assert bugs and all(bug.url.endswith(bug.id) and len(bug.summary.split()) > 8 for bug in bugs)


def test_the_file_is_written_as_it_would_be_written_again(catalogue: Catalogue) -> None:
    assert dump_catalogue(catalogue) == JDKS_JSON.read_text()


BASE: dict[str, Any] = {
    "schema_version": 1,
    "entries": [jdk("temurin-25", "Eclipse Adoptium", "25.0.4.1+1", registry=WHEEL), rolling()],
}


def load(tmp_path: Path, changes: Mapping[str, Any]) -> Catalogue:
    """Load BASE with `changes` applied, keyed by the paths of `change`."""
    data = copy.deepcopy(BASE)
    for path, value in changes.items():
        change(path, value)(data)
    file = tmp_path / "jdks.json"
    file.write_text(json.dumps(data))
    return load_catalogue(file)


ENTRY, NIGHTLY = "entries/0", "entries/1"
ARCHIVE = f"{ENTRY}/archives/x86_64-linux"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({f"{ENTRY}/vendor": "Eclipse Adoptum"},
         r'"temurin-25": vendor: "Eclipse Adoptum" is not known; did you mean "Eclipse Adoptium"\? \(allowed: '),
        ({f"{ARCHIVE}/sha256": "abc"},
         r'"temurin-25": archives.x86_64-linux.sha256: found \'abc\'; must match \^\[0-9a-f\]\{64\}\$'),
        ({f"{ENTRY}/archives/x86-linux": BASE["entries"][0]["archives"]["x86_64-linux"]},
         r'"temurin-25": archives.x86-linux: "x86-linux" is not known; did you mean "x86_64-linux"'),
        ({f"{ARCHIVE}/url": "http://example.org/x"},
         r'archives.x86_64-linux.url: found "http://example.org/x"; must start with https://'),
        ({f"{ARCHIVE}/url": "http://localhost:1@example.org/x"}, "must start with https://"),
        ({f"{ARCHIVE}/url": "https://[::1/x.tar.gz"},
         r'archives.x86_64-linux.url: found "https://\[::1/x.* must be a URL'),
        ({f"{ARCHIVE}/url": "https://example.org/ü.gz"},
         r'url: found "https://example.org/ü.gz"; must be a URL, in ASCII'),
        ({f"{ENTRY}/vm": None}, r'entry "temurin-25": vm: missing'),
        ({f"{ENTRY}/colour": "red"}, r'entry "temurin-25": colour: "colour" is not known'),
        ({f"{ENTRY}/registry/kind": "pypy"}, r'"temurin-25": registry: "pypy" is not known; did you mean "pypi"\?'),
        ({f"{ENTRY}/registry/wheels/x86_64-linux/filename": "../x.whl"},
         r"registry.wheels.x86_64-linux.filename: found '../x.whl'; must match"),
        ({f"{ENTRY}/feature_version": 26},
         r'entry "temurin-25": version "25.0.4.1\+1" does not begin with feature_version 26'),
        ({f"{ENTRY}/feature_version": 17}, r"feature_version: found 17; .*greater than or equal to 21"),
        ({f"{ENTRY}/vm": "openj9"}, r'vm "openj9" does not go with vendor "Eclipse Adoptium"'),
        ({f"{ENTRY}/date": "20260818"}, r'date: found "20260818"; must be a date such as 2026-08-18'),
        ({f"{ENTRY}/date": "2026-02-30"}, r'date: found "2026-02-30"; must be a date'),
        ({f"{ENTRY}/previous": "24.0.1+9"},
         r'entry "temurin-25": previous "24.0.1\+9" does not begin with feature_version 25'),
        ({f"{NIGHTLY}/date": "2026-08-18"}, r'entry "nightly": version is "rolling", but it has a `date`'),
        ({f"{NIGHTLY}/previous": "28-ea+17"}, r'or a `previous`; these are of one exact build'),
        ({f"{ENTRY}/last_seen": "25"}, r'`last_seen` is only for version "rolling"'),
        ({f"{ENTRY}/version": "rolling"}, r"an archive is one exact build"),
        ({f"{NIGHTLY}/last_seen": None}, r'entry "nightly": version is "rolling", but there is no `last_seen`'),
        ({f"{NIGHTLY}/last_seen": None, f"{NIGHTLY}/version": "28-ea+18"},
         r'entry "nightly": a debian source has only its newest; found version "28-ea\+18", allowed: "rolling"'),
        ({"entries": BASE["entries"][:1] * 2}, r'entry "temurin-25": is listed twice'),
        ({f"{ENTRY}/id": "Temurin 25"}, r'entry "Temurin 25": id: found \'Temurin 25\'; must match'),
        ({"schema_version": 2}, r'schema_version: "2" is not known.*allowed: 1'),
        ({"entries": [3]}, r"entries\[0\]: found 3; "),
        ({"entries": []}, r"entries: found \[\]; list should have at least 1 item"),
        ({f"{ENTRY}/vm": None, f"{ENTRY}/colour": "red"}, r"2 problems\n  entry .*vm: missing\n  entry .*colour"),
    ],
)  # fmt: skip
def test_what_is_said_about_a_wrong_file(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(MatrixError, match=message) as raised:
        load(tmp_path, changes)
    assert str(raised.value).startswith(f"{tmp_path / 'jdks.json'}: ")
