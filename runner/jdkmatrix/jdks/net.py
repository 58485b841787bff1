"""HTTP for archives: probe a host, and get a file or a short text from it; several places can be asked in parallel.
Every wait has an end."""

from __future__ import annotations

import hashlib
import http.client
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from jdkmatrix.errors import MatrixError

PROBE_TIMEOUT_S = 4.0  # a host that takes longer to answer a HEAD is no place to get 200 MB from
STALL_TIMEOUT_S = 30.0  # between two pieces of a download
TEXT_TIMEOUT_S = 20.0  # between two pieces of a text
TEXT_LIMIT_BYTES = 16 << 20
_CHUNK_BYTES = 1 << 20
_AGENT = {"User-Agent": "jdk-matrix"}
# ValueError: for what is no address, such as a mistyped proxy's.
_FAILURES = (OSError, http.client.HTTPException, ValueError)
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
_SECURE = re.compile(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/|$)")


class GoneError(MatrixError):
    """The host answers that there is no such file: 404 or 410."""


def is_secure(url: str) -> bool:
    """Return whether nobody on the way can change what comes from there: HTTPS, or this machine's loopback."""
    return _SECURE.match(url) is not None


def is_url(text: str) -> bool:
    """Return whether a request for it can be written down."""
    try:
        return bool(urllib.parse.urlsplit(text).hostname) and text.isascii() and text.isprintable() and " " not in text
    except ValueError:  # not an IPv6 address
        return False


def host_of(url: str) -> str:
    """Return "https://example.org:8443" for any URL there; archives are probed once per host."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def unreachable(host: str) -> str | None:
    """Return None if `host` answers a HEAD (any status), else the reason in plain words."""
    request = urllib.request.Request(f"{host}/", method="HEAD", headers=_AGENT)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=PROBE_TIMEOUT_S):
            return None
    except urllib.error.HTTPError as error:
        error.close()
        return None
    except _FAILURES as error:
        name = urllib.parse.urlsplit(host).netloc
        return f"{name} does not answer from here ({_plain(error, PROBE_TIMEOUT_S)})"


def answers_in_time(jobs: Mapping[K, Callable[[], T]], limit_s: float, late: T) -> dict[K, T]:
    """Run all jobs in parallel. `late` is the answer of one that raises, or has not ended after `limit_s`."""
    answers = dict.fromkeys(jobs, late)

    def run(name: K, job: Callable[[], T]) -> None:
        answers[name] = job()

    # Daemon threads: a DNS lookup can hang for longer than anybody wants to wait at exit.
    threads = [threading.Thread(target=run, args=item, daemon=True) for item in jobs.items()]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit_s
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return dict(answers)


def download(url: str, sha256: str, target: Path, step: Callable[[int, int | None], None]) -> None:
    """Download `url` into `target` and check it; `step(bytes so far, total bytes or None)` is called as it comes.

    Raises:
        GoneError: the host does not have the file.
        MatrixError: the host is not there, the transfer broke off, or the sha256 is another one. The caller throws
            the target's folder away.
    """
    reason = unreachable(host_of(url))
    if reason:
        raise MatrixError(reason)
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(urllib.request.Request(url, headers=_AGENT), timeout=STALL_TIMEOUT_S) as response,
            target.open("wb") as file,
        ):
            length = response.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            done = 0
            while chunk := response.read(_CHUNK_BYTES):
                digest.update(chunk)
                file.write(chunk)
                done += len(chunk)
                step(done, total)
    except urllib.error.HTTPError as error:
        raise _refused(url, error) from None
    except _FAILURES as error:
        raise MatrixError(f"download of {url} failed: {_plain(error, STALL_TIMEOUT_S)}") from None
    if total is not None and done != total:
        raise MatrixError(f"download of {url} broke off after {done} of {total} bytes")
    if digest.hexdigest() != sha256:
        raise MatrixError(f"{url} has sha256 {digest.hexdigest()}; the catalogue says {sha256}: thrown away")


def get_text(url: str, timeout_s: float = TEXT_TIMEOUT_S) -> str:
    """Get the UTF-8 text at `url`. No redirect on the way may leave HTTPS, since nothing else vouches for the text.

    Raises:
        GoneError: the host does not have it.
        MatrixError: the host is not there, answers something else than 200, breaks off, or sends more than 16 MiB.
    """
    if not is_secure(url):
        raise MatrixError(f"{url} is not asked: it must start with https://")
    name = urllib.parse.urlsplit(url).netloc
    request = urllib.request.Request(url, headers=_AGENT)
    try:
        with urllib.request.build_opener(_SecureRedirect).open(request, timeout=timeout_s) as response:
            data: bytes = response.read(TEXT_LIMIT_BYTES + 1)
            length = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        raise _refused(url, error) from None
    except _FAILURES as error:
        raise MatrixError(f"{name} does not answer from here ({_plain(error, timeout_s)})") from None
    if len(data) > TEXT_LIMIT_BYTES:
        raise MatrixError(f"{url} holds more than {TEXT_LIMIT_BYTES >> 20} MiB: it does not answer what was asked")
    if length is not None and length != str(len(data)):
        raise MatrixError(f"{url} broke off after {len(data)} of {length} bytes")
    return data.decode("utf-8", errors="replace")


def _refused(url: str, error: urllib.error.HTTPError) -> MatrixError:
    error.close()
    kind = GoneError if error.code in (404, 410) else MatrixError
    return kind(f"{url} answers {error.code} {error.reason}")


class _SecureRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not is_secure(newurl):
            raise urllib.error.URLError(f"it redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect: the question is whether this host answers, not where it would send us."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _plain(error: BaseException, timeout_s: float) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, socket.gaierror):
        return "DNS lookup failed"
    if isinstance(reason, TimeoutError):
        return f"no answer within {timeout_s:g} s"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {reason.verify_message}"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror.lower()
    return str(reason) or type(reason).__name__
