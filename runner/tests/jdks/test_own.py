"""JDKs in folders of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.own import own_ids, with_own
from jdkmatrix.jdks.resolve import resolve
from tests.support.jdks_doubles import fake_jdk
from tests.support.project import ROOT

CATALOGUE = load_catalogue(ROOT / "jdks.json")


def jdk(home: Path, version: str = "25.0.1") -> Path:
    return fake_jdk(home, f"{version}-internal-adhoc.me.jdk", implementor="Me", brand="")


def test_an_own_jdk_is_one_of_the_catalogue_that_nothing_pins(tmp_path: Path) -> None:
    home = jdk(tmp_path / "JDK 25 (mine)")
    homes = own_ids([home])
    assert homes == {"own-jdk-25-mine": str(home)}
    entry = with_own(CATALOGUE, homes).entry("own-jdk-25-mine")
    assert (entry.vendor, entry.vm, entry.feature_version) == ("Me", "hotspot", 25)
    found = resolve(entry)
    assert (found.source, found.version) == ("own", "25.0.1-internal-adhoc.me.jdk")
    assert found.notice == f"the JDK in {home}, which no catalogue has and no hash pins"
    (home / "lib").write_text("changed")
    assert resolve(entry).files_sha256 != found.files_sha256, "another build is another cell"
    assert with_own(CATALOGUE, {}) is CATALOGUE


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two, three = (tmp_path / letter / "jdk" for letter in "abc")
    assert own_ids([one, two, one, three]) == {"own-jdk": str(one), "own-jdk.2": str(two), "own-jdk.3": str(three)}


def test_what_is_no_jdk_or_too_old_is_told(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r"own-empty: .*/empty is no JDK: there is no bin/java in it"):
        with_own(CATALOGUE, {"own-empty": str(tmp_path / "empty")})
    old = jdk(tmp_path / "old", "17.0.9")
    with pytest.raises(MatrixError, match=r"is Java 17\.0\.9-internal-adhoc\.me\.jdk; virtual threads need 21 or"):
        with_own(CATALOGUE, {"own-old": str(old)})
