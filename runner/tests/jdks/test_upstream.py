"""The vendors' answers, and how the vendors are asked."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import net
from jdkmatrix.jdks.catalogue import JdkEntry
from jdkmatrix.jdks.lookup import look_up, question
from jdkmatrix.jdks.update import SYSTEMS
from jdkmatrix.jdks.upstream import adoptium, oracle, semeru
from jdkmatrix.jdks.upstream.offers import MACHINES, Over, Unanswered, read_sha256
from tests.support.changes import change
from tests.support.jdks_doubles import FileServer
from tests.support.upstream_doubles import (
    AARCH64,
    DATA,
    EA,
    X64,
    both,
    followed,
    jdk,
    present,
    releases,
    text,
    through,
    upstream,
)

__all__ = ["upstream"]


def test_adoptium() -> None:
    found = adoptium.read(both(21), 21)
    assert list(found) == [X64, AARCH64]
    offer = found[X64]
    assert (offer.version, offer.date) == ("21.0.12+8", "2026-07-24")
    assert offer.sha256 == "e4446ff06a276155697597cc0f1b15da004ff083f4964a35271ecee567177370"
    assert offer.url.endswith("/jdk-21.0.12%2B8/OpenJDK21U-jdk_x64_linux_hotspot_21.0.12_8.tar.gz")
    assert found[AARCH64].url.endswith("/OpenJDK21U-jdk_aarch64_linux_hotspot_21.0.12_8.tar.gz")
    for machine, address in zip(MACHINES, adoptium.addresses(21), strict=True):
        assert address.endswith(f"/21/hotspot?architecture={machine}&image_type=jdk&os=linux&vendor=eclipse")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("release_name", "jdk-28+5-ea-beta"), ("release_name", "jdk-25.0.4.1+1"), ("vendor", "ibm"),
        ("binary/image_type", "jre"), ("binary/os", "alpine-linux"), ("binary/jvm_impl", "openj9"),
        ("binary/architecture", "riscv64"),
    ],
)  # fmt: skip
def test_what_adoptium_answers_besides_does_not_count(path: str, value: str) -> None:
    data = json.loads(both(21)[0])
    change(f"0/{path}", value)(data)
    assert adoptium.read([json.dumps(data)], 21) == {}


def test_adoptium_without_a_checksum_or_a_date() -> None:
    data = json.loads(both(21)[0])
    del data[0]["binary"]["package"]["checksum"], data[0]["binary"]["updated_at"]
    offer = adoptium.read([json.dumps(data)], 21)[X64]
    assert (offer.sha256, offer.date) == (None, None)
    assert offer.sha256_url == f"{offer.url}.sha256.txt"


@pytest.mark.parametrize(
    ("listed", "version"),
    [
        (releases(), "21.0.12.10"),
        (releases(draft=True), "21.0.12.0"),
        (releases(prerelease=True), "21.0.12.0"),
        (releases(assets=[]), "21.0.12.0"),
        (releases(2), "21.0.10.1"),
        (releases(3), "21.0.10+7_openj9-0.57.0"),
        (releases(4), "21.0.7+6_openj9-0.51.0"),
        (json.dumps(json.loads(releases())[::-1]), "21.0.12.10"),
        (releases().replace("21.0.12.10.tar.gz", "21.0.13_1_openj9-0.62.0-m1.tar.gz"), "21.0.12.0"),
    ],
    ids=["newest", "draft", "preview", "no files", "mixed tag", "old names", "oldest", "other order", "milestone"],
)
def test_semeru(listed: str, version: str) -> None:
    found = semeru.read([listed], 21)
    assert {offer.version for offer in found.values()} == {version}
    assert set(found) == set(SYSTEMS)
    assert all("ibm-semeru-open-jdk_" in offer.url for offer in found.values())
    assert semeru.read([listed], 25) == {}


def test_semerus_checksums_come_from_github_or_from_the_file_beside() -> None:
    new, old = semeru.read([releases()], 21)[AARCH64], semeru.read([releases(4)], 21)[AARCH64]
    assert (new.date, new.sha256) == ("2026-08-25", "027329a3b7170b7b976243f769b13bc1354bbcddaffea399ef070cff9cfc2e8b")
    assert (old.date, old.sha256) == ("2025-05-05", None)
    assert old.sha256_url == f"{old.url}.sha256.txt"
    assert read_sha256(text("semeru-21.0.7-aarch64.sha256.txt"), old.url).startswith("a2bd932f")


def test_early_access() -> None:
    found = oracle.read([text("jdk.java.net-28.html")], 28)
    assert {s: (o.version, o.date) for s, o in found.items()} == dict.fromkeys(SYSTEMS, ("28-ea+17", "2026-09-24"))
    assert [o.url for o in found.values()] == [
        f"{EA}/17/GPL/openjdk-28-ea+17_linux-{machine}_bin.tar.gz" for machine in ("aarch64", "x64")
    ]
    assert all(offer.sha256 is None and offer.sha256_url == f"{offer.url}.sha256" for offer in found.values())
    assert oracle.addresses(28) == ("https://jdk.java.net/28/",)


def test_early_access_that_is_over() -> None:
    page = text("jdk.java.net-22.html")
    assert oracle.read([page], 22) == Over("22.0.2")
    assert oracle.read([page.replace("22.0.2", "22.0.10") + page], 22) == Over("22.0.10")


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<h1>JDK 28</h1>",
        text("jdk.java.net-22.html"),
        f"<a href={EA}/17/GPL/openjdk-28-ea+17_linux-x64-musl_bin.tar.gz>",
        f"<a href={EA}/17/GPL/openjdk-28-ea+17_linux-x64_bin.tar.gz.sha256>",
        f"<a href={EA}/36/GPL/openjdk-28_linux-x64_bin.tar.gz>",
    ],
    ids=["empty", "no links", "another page", "musl", "only the sum", "no build number"],
)
def test_a_page_without_builds_is_not_taken_for_the_end_of_early_access(page: str) -> None:
    with pytest.raises(MatrixError, match=r"the page https://jdk.java.net/28/ names no build of JDK 28 for Linux"):
        oracle.read([page], 28)


def test_a_page_written_in_another_way() -> None:
    x64 = f"<a href='{EA}/9/GPL/openjdk-28-ea&#43;9_linux-x64_bin.tar.gz'>"
    newer = f"<a href={EA}/17/GPL/openjdk-28-ea+17_linux-aarch64_bin.tar.gz>tar.gz</a> Build 17 (2026/13/45)"
    found = oracle.read([x64 + newer], 28)
    assert {s: (o.version, o.date) for s, o in found.items()} == {X64: ("28-ea+9", None), AARCH64: ("28-ea+17", None)}


@pytest.mark.parametrize("answer", ["", "<html>busy</html>", '{"message": "rate limit"}', '[{"release_name": 3}]'])
def test_an_answer_that_is_no_answer(answer: str) -> None:
    with pytest.raises(MatrixError, match=r"the answer of Eclipse Adoptium is not as expected( at 0\.binary)?: "):
        adoptium.read([answer], 21)
    with pytest.raises(MatrixError, match=r"the answer of IBM Semeru is not as expected( at 0\.assets)?: "):
        semeru.read([answer], 21)


def test_checksum_files() -> None:
    digest, url = "Ab" * 32, "https://example.org/x/jdk-28-ea%2B17.tar.gz"
    for good in (digest, f"{digest}\n", f"{digest}  jdk-28-ea+17.tar.gz\n", f"{digest} *out/jdk-28-ea+17.tar.gz"):
        assert read_sha256(good, url) == digest.lower()
    for bad in ("", "<html>", digest[1:], f"{digest} {digest} {digest}"):
        with pytest.raises(MatrixError, match=r"the checksum file of jdk-28-ea\+17.tar.gz is not as expected: found"):
            read_sha256(bad, url)
    with pytest.raises(MatrixError, match=r"checksum file of jdk-28-ea\+17.tar.gz is for jre.tar.gz"):
        read_sha256(f"{digest}  jre.tar.gz", url)


def test_the_checksum_file_of_an_old_release_is_fetched(upstream: FileServer) -> None:
    upstream.files[f"/{semeru.addresses(21)[0].removeprefix('https://')}"] = releases(4).encode()
    base = "/github.com/ibmruntimes/semeru21-binaries/releases/download/jdk-21.0.7%2B6_openj9-0.51.0"
    for machine in MACHINES:
        name = f"ibm-semeru-open-jdk_{machine}_linux_21.0.7_6_openj9-0.51.0.tar.gz.sha256.txt"
        upstream.files[f"{base}/{name}"] = (DATA / f"semeru-21.0.7-{machine}.sha256.txt").read_bytes()
    entry = JdkEntry.model_validate(jdk("semeru-21", "IBM Semeru", "21.0.6+7_openj9-0.49.0"))
    answer = look_up([entry], through(upstream))["IBM Semeru", 21]
    assert answer[X64].archive.sha256 == "70228be801934a3a51761cc6ec5531b4ab52a8942efd2f0f5033ae6b24ae1423"
    assert answer[AARCH64].version == "21.0.7+6_openj9-0.51.0"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (text("jdk.java.net-28.html").replace("+17_linux", "+18_linux"), r"answers 404"),
        ("<html></html>", r"names no build of JDK 28 for Linux$"),
    ],
    ids=["no checksum file", "empty page"],
)
def test_half_an_answer_is_none(upstream: FileServer, page: str, reason: str) -> None:
    upstream.files["/jdk.java.net/28/"] = page.encode()
    entry = present().entry("openjdk-28-ea")
    assert re.search(reason, look_up([entry], through(upstream))[question(entry)].reason)


def test_an_address_in_an_answer_that_is_none_is_told() -> None:
    def get_text(_: str) -> str:
        return urlsplit("https://[x").netloc

    entry = present().entry("openjdk-28-ea")
    answer = look_up([entry], get_text)[question(entry)]
    assert answer == Unanswered("its answer cannot be used: Invalid IPv6 URL")


def test_an_archive_that_is_not_behind_https_is_not_taken(upstream: FileServer) -> None:
    address = f"/{adoptium.addresses(21)[0].removeprefix('https://')}"
    upstream.files[address] = upstream.files[address].replace(b'"link": "https:', b'"link": "http:')
    entry = present().entry("temurin-21")
    answer = look_up([entry], through(upstream))[question(entry)]
    assert "is refused: it must start with https://" in answer.reason


def test_a_vendor_that_is_slow_does_not_hold_up_the_others(upstream: FileServer) -> None:
    get_text = through(upstream)

    def slow(url: str) -> str:
        if "jdk.java.net" in url:
            time.sleep(2)
        return get_text(url)

    answers = look_up(followed(present()), slow, limit_s=1.0)
    assert answers["Oracle OpenJDK", 28] == Unanswered("no answer within 1 s")
    assert isinstance(answers["Eclipse Adoptium", 25], Mapping)


def test_a_text_is_waited_for_only_so_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(MatrixError, match=r"^127.0.0.1:\d+ does not answer from here \(no answer within 0.2 s\)$"):
            net.get_text(url, timeout_s=0.2)


def test_texts(upstream: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream.files |= {"/short": b"ab", "/long": b"x" * 11}
    upstream.announced["/short"] = 3
    upstream.refused["/limit"] = 403
    upstream.moved |= {"/there": "/long", "/away": "http://example.org/long"}
    assert net.get_text(f"{upstream.url}/there") == "x" * 11
    with pytest.raises(MatrixError, match=r"/short broke off after 2 of 3 bytes"):
        net.get_text(f"{upstream.url}/short")
    with pytest.raises(net.GoneError, match=r"/gone answers 404 Not Found"):
        net.get_text(f"{upstream.url}/gone")
    with pytest.raises(MatrixError, match=r"/limit answers 403 Forbidden") as raised:
        net.get_text(f"{upstream.url}/limit")
    assert not isinstance(raised.value, net.GoneError)
    with pytest.raises(MatrixError, match=r"it redirects to http://example.org/long, which is not https"):
        net.get_text(f"{upstream.url}/away")
    for url in ("http://example.org/x", "file:///etc/passwd"):
        with pytest.raises(MatrixError, match=r"is not asked: it must start with https://"):
            net.get_text(url)
    monkeypatch.setattr(net, "TEXT_LIMIT_BYTES", 10)
    with pytest.raises(MatrixError, match=r"/long holds more than"):
        net.get_text(f"{upstream.url}/long")
