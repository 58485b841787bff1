"""Apt sources in both formats, and JDKs found on the host or in the user's folders."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import host
from jdkmatrix.jdks.cache import other_build
from jdkmatrix.jdks.catalogue import JdkEntry, load_catalogue
from jdkmatrix.jdks.own import OwnJdk, load_with_own, own_ids
from jdkmatrix.jdks.resolve import resolve
from jdkmatrix.provision.debian.apt import _APT_CONF
from jdkmatrix.provision.debian.sources import (
    AptSource,
    debian_archive,
    for_suite,
    parse_deb822,
    parse_one_line,
    read_sources,
)
from tests.support.jdks_doubles import entry, fake_jdk
from tests.support.project import ROOT
from tests.support.upstream_doubles import rolling

JDKS = ROOT / "jdks.json"
CATALOGUE = load_catalogue(JDKS)
KEY = "/usr/share/keyrings/main.gpg"
ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb [ signed-by=/usr/share/keyrings/main.gpg arch=amd64,arm64 ] http://mirror.example/debian/ bookworm main contrib #x
deb-src http://mirror.example/debian bookworm main
deb https://other.example/node_20.x nodistro main
"""

DEB822 = """\
Types: deb deb-src
# a comment between fields
URIs: http://mirror.example/debian
  http://second.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/main.gpg

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://mirror.example/debian
Suites: bookworm
Components: main
"""

KEY_BLOCK = """\
Types: deb
URIs: http://mirror.example/debian
Suites: trixie
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEZaFlfBYJKwYBBAHaRw8BAQdA
 -----END PGP PUBLIC KEY BLOCK-----
"""


def test_one_line_format() -> None:
    found = parse_one_line(ONE_LINE)
    assert [s.suites for s in found] == [("bookworm-security",), ("bookworm",), ("nodistro",)]
    assert found[1] == AptSource(("http://mirror.example/debian/",), ("bookworm",), ("main", "contrib"), KEY)


def test_deb822_format() -> None:
    uris, suites = ("http://mirror.example/debian", "http://second.example/debian"), ("bookworm", "bookworm-updates")
    assert parse_deb822(DEB822) == [AptSource(uris, suites, ("main", "contrib"), KEY)]


@pytest.mark.parametrize("sources", [parse_one_line(ONE_LINE), parse_deb822(DEB822)], ids=["one-line", "deb822"])
def test_the_archive_is_the_one_of_the_hosts_own_release(sources: list[AptSource]) -> None:
    found = debian_archive(sources, "bookworm")
    assert found.uris[0].rstrip("/") == "http://mirror.example/debian"
    assert debian_archive(sources, "trixie") is None
    assert debian_archive(sources, None) is None


@pytest.mark.parametrize("suite", ["sid", "unstable", "stable", "testing"])
def test_suites_that_every_debian_has(suite: str) -> None:
    source = AptSource(("http://mirror.example/debian",), (suite,), ("main",))
    assert debian_archive([source], None) == source


@pytest.mark.parametrize("text", [DEB822, KEY_BLOCK], ids=["path", "key block"])
def test_another_suite_of_the_same_mirror_keeps_its_key(text: str) -> None:
    source = parse_deb822(text)[0]
    again = parse_deb822(for_suite(source, "sid"))
    assert again == [AptSource(source.uris, ("sid",), ("main",), source.signed_by)]
    if text is KEY_BLOCK:
        assert "\n .\n mDME" in for_suite(source, "sid")


def test_no_key_stays_no_key() -> None:
    assert "Signed-By" not in for_suite(AptSource(("http://m.example",), ("sid",), ("main",)), "sid")


def test_both_formats_are_read_and_other_files_are_not(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (parts / "debian.sources").write_text(DEB822)
    (parts / "x.list.disabled").write_text("deb http://no.example/ bookworm main\n")
    (parts / "broken.list").write_bytes(b"\xff\xfe")
    assert len(read_sources(tmp_path)) == 4


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def own(root: Path) -> list[Path]:
    """Return the candidates below `root`: the machine that runs this may have JDKs of its own."""
    return [home for home in host.candidates() if home.is_relative_to(root)]


def test_where_jdks_are_looked_for(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_jdk(places / "home", "21.0.99+1")
    on_path = fake_jdk(places / "on-path", "21.0.99+1")
    sdkman = fake_jdk(places / ".sdkman/candidates/java/21", "21.0.99+1")
    (places / ".sdkman/candidates/java/current").symlink_to("21")
    jetbrains = fake_jdk(places / ".jdks/temurin-21", "21.0.99+1")
    (places / ".jdks/empty").mkdir()
    (places / ".jdks/round").symlink_to("round")
    (places / "bin").mkdir()
    (places / "bin/java").symlink_to(on_path / "bin/java")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(places / "bin"))
    assert own(places) == [home, on_path, sdkman, jetbrains]


def test_a_jdk_below_the_home_of_another_user_is_none(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host-wide JAVA_HOME may lie below /root."""
    hidden = fake_jdk(places / "root/jdk", "21.0.99+1")
    shown = fake_jdk(places / ".jdks/temurin-21", "21.0.99+1")
    monkeypatch.setenv("JAVA_HOME", str(hidden))
    real = Path.is_file

    def is_file(path: Path, **how: Any) -> bool:
        if path.is_relative_to(hidden):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **how)

    monkeypatch.setattr(Path, "is_file", is_file)
    assert own(places) == [shown]


@pytest.mark.parametrize(
    ("version", "implementor", "expected"),
    [
        ("21.0.99+1", "Eclipse Adoptium", True),
        ("21.0.99+1-LTS", "Eclipse Adoptium", True),
        ("21.0.99+2", "Eclipse Adoptium", False),
        ("21.0.99+1", "Debian", False),
        ("21.0.99+1", "Somebody", False),
    ],
)
def test_a_host_jdk_matches_by_build_and_vendor(tmp_path: Path, version: str, implementor: str, expected: bool) -> None:
    _, build = host.read_release(fake_jdk(tmp_path / "jdk", version, implementor=implementor))
    assert (build is not None and other_build(entry(version="21.0.99+1"), build, "it") is None) is expected


def test_a_rolling_entry_takes_any_build_of_its_feature_version(tmp_path: Path) -> None:
    nightly = JdkEntry.model_validate(rolling())
    _, right = host.read_release(fake_jdk(tmp_path / "a", "28-ea+30-1-Debian", implementor="Debian"))
    _, old = host.read_release(fake_jdk(tmp_path / "b", "21.0.1+9-Debian", implementor="Debian"))
    assert right is not None and old is not None
    assert other_build(nightly, right, "it") is None
    assert other_build(nightly, old, "it") == "it says 21.0.1+9-Debian; the catalogue says JDK 28 for nightly"


def test_a_jdk_without_a_release_file_says_nothing(tmp_path: Path) -> None:
    home = fake_jdk(tmp_path / "jdk", "21.0.99+1")
    (home / "release").unlink()
    assert host.read_release(home) == ({}, None)


def jdk(home: Path, version: str = "25.0.1") -> Path:
    return fake_jdk(home, f"{version}-internal-adhoc.me.jdk", implementor="Me", brand="")


def test_an_own_jdk_is_one_of_the_catalogue_that_nothing_pins(tmp_path: Path) -> None:
    home = jdk(tmp_path / "JDK 25 (mine)")
    homes = own_ids([home])
    assert homes == {"own-jdk-25-mine": str(home)}
    mine = load_with_own(JDKS, homes).entry("own-jdk-25-mine")
    assert (mine.vendor, mine.vm, mine.feature_version) == ("Me", "hotspot", 25)
    found = resolve(mine)
    assert (found.source, found.version) == ("own", "25.0.1-internal-adhoc.me.jdk")
    assert found.notice == f"the JDK in {home}, which no catalogue has and no hash pins"
    (home / "lib").write_text("changed")
    assert resolve(mine).files_sha256 != found.files_sha256, "another build is another cell"
    assert load_with_own(JDKS, {}) == CATALOGUE


def test_a_folder_is_seen_from_the_catalogue_and_takes_no_name_of_it(tmp_path: Path) -> None:
    path = Path(shutil.copy(JDKS, tmp_path))
    home = jdk(tmp_path / "mine")
    mine = load_with_own(path, {"mine": "mine"}).entry("mine")
    assert isinstance(mine, OwnJdk) and mine.home == home
    with pytest.raises(MatrixError, match=r"jdk_homes: temurin-25 is a JDK of jdks\.json; call yours something else"):
        load_with_own(path, {"temurin-25": str(home)})


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two, three = (tmp_path / letter / "jdk" for letter in "abc")
    assert own_ids([one, two, one, three]) == {"own-jdk": str(one), "own-jdk.2": str(two), "own-jdk.3": str(three)}


def test_what_is_no_jdk_or_too_old_is_told(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r"own-empty: .*/empty is not a JDK: there is no bin/java in it"):
        load_with_own(JDKS, {"own-empty": str(tmp_path / "empty")})
    old = jdk(tmp_path / "old", "17.0.9")
    with pytest.raises(MatrixError, match=r"is Java 17\.0\.9-internal-adhoc\.me\.jdk; virtual threads need 21 or"):
        load_with_own(JDKS, {"own-old": str(old)})


@pytest.mark.parametrize("codename", ["bookworm", "trixie"])
def test_a_vendor_whose_suites_have_the_names_of_debians_is_not_its_archive(codename: str) -> None:
    """Adoptium's archive has suites named after Debian's releases, and its file comes first in order."""
    vendor = AptSource(("https://vendor.example/artifactory/deb",), (codename, "stable"), ("main",), KEY)
    text = DEB822 if codename == "bookworm" else KEY_BLOCK  # the second has no updates
    found = debian_archive([vendor, *parse_deb822(text)], codename)
    assert found is not None and found.uris[0] == "http://mirror.example/debian"


def test_apt_does_not_insist_on_the_release_of_the_host(tmp_path: Path) -> None:
    host, ours = tmp_path / "host.conf", tmp_path / "ours.conf"
    host.write_text('APT::Default-Release "trixie";\n')
    ours.write_text(_APT_CONF.format(folder=tmp_path, user="nobody"))
    command = ["apt-config", "-c", str(ours), "dump", "APT::Default-Release"]
    try:
        told = subprocess.run(
            command, env={**os.environ, "APT_CONFIG": str(host)}, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        pytest.skip("this host has no apt")
    assert told.stdout == 'APT::Default-Release "";\n'


def test_a_folder_below_the_home_of_another_user_is_passed_by(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = fake_jdk(places / ".jdks/temurin-21", "21.0.99+1")
    real = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        if path == places / ".sdkman/candidates/java":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert own(places) == [shown]
