"""A weighted mix of requests, as both drivers send it. Pure.

Paths, header values and bodies may contain fields of constant width: `{unique:WIDTH}` is a number that no other
request of the session has (the same in all such fields of a request), `{random:LOWEST:HIGHEST}` is drawn uniformly;
both are decimal with leading zeros. Everything else in braces is text, unless it begins with a letter: that is refused
as an unknown field. The rules are those of RequestFile.java and Template.java; both sides are tested on the same cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from jdkmatrix.domain.tables import Table

MAX_DIGITS = 15
MAX_BYTES = 65_536

_FIELD = re.compile(r"\{([A-Za-z][^{}]*)}")
_UNIQUE = re.compile(r"unique:([1-9][0-9]?)")
_RANDOM = re.compile(r"random:(0|[1-9][0-9]{0,14}):(0|[1-9][0-9]{0,14})")
# RFC 3986: pchar, "/" and "?"; RFC 9110: token; its field values in ASCII.
_PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_OURS = {"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer"}
# RFC 9110, 8.6: requests with these methods state the length of their content, even if there is none.
_WITH_BODY = ("POST", "PUT", "PATCH")


@dataclass(frozen=True)
class Unique:
    """The request's own number, in `width` digits."""

    width: int


@dataclass(frozen=True)
class Random:
    """A number from `lowest` to `highest`, as wide as the latter."""

    lowest: int
    highest: int

    @property
    def width(self) -> int:
        return len(str(self.highest))


Part = bytes | Unique | Random


class RequestTemplate(Table):
    """One request of a mix; `path`, with its query, is relative to the target's host and port."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    path: str
    headers: dict[str, str] = {}
    body: str | None = None
    weight: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 1

    @field_validator("path")
    @classmethod
    def _fits_a_request_line(cls, path: str) -> str:
        if not _PATH.fullmatch(_without_fields(path)):
            raise ValueError(f"path = {path!r}: it must begin with / and have only characters of a URL, others as %XX")
        return path

    @field_validator("headers")
    @classmethod
    def _fit_a_head(cls, headers: dict[str, str]) -> dict[str, str]:
        seen: set[str] = set()
        for name, value in headers.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a header")
            if name.lower() in _OURS:
                raise ValueError(f"{name} is set by the driver")
            if name.lower() in seen:
                raise ValueError(f"{name} stands there twice")
            seen.add(name.lower())
            if not _VALUE.fullmatch(_without_fields(value)):
                raise ValueError(f"the value of {name} may have printable ASCII only, no space at its ends")
        return headers

    @model_validator(mode="after")
    def _is_short_enough(self) -> Self:
        length = sum(len(part) if isinstance(part, bytes) else part.width for part in self.parts(""))
        if length > MAX_BYTES:
            raise ValueError(f"{length} bytes; at most {MAX_BYTES} are allowed")
        return self

    def parts(self, authority: str) -> tuple[Part, ...]:
        """Return the whole request, head and body; `authority` is the value of the Host header."""
        body = "" if self.body is None and self.method in _WITH_BODY else self.body
        # Kept apart, so that no field begins in one and ends in the next.
        texts = [f"{self.method} ", self.path, f" HTTP/1.1\r\nHost: {authority}\r\n"]
        for name, value in self.headers.items():
            texts += [f"{name}: ", value, "\r\n"]
        if body is not None:
            texts.append(f"Content-Length: {len(_without_fields(body).encode())}\r\n")
        return tuple(part for text in (*texts, "\r\n", body or "") for part in _parts(text))

    @property
    def last_unique(self) -> int | None:
        """The highest number that all its unique fields can hold; None where it has none."""
        widths = [part.width for part in self.parts("") if isinstance(part, Unique)]
        return 10 ** min(widths) - 1 if widths else None


class RequestMix(Table):
    """The requests of a session, chosen by weight each time; `seed` makes the choice and the numbers repeatable."""

    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    requests: Annotated[tuple[RequestTemplate, ...], Field(min_length=1, max_length=100)]

    def below(self, root: str, query: str) -> RequestMix:
        """Return the same mix with every path below `root` ("/banking"), and `query` ("burn_us=50", or empty) in it."""
        return RequestMix(
            seed=self.seed,
            requests=tuple(
                request.model_copy(update={"path": root + _with_query(request.path, query)})
                for request in self.requests
            ),
        )

    @property
    def has_unique(self) -> bool:
        return any(request.last_unique is not None for request in self.requests)


def _with_query(path: str, query: str) -> str:
    if not query:
        return path
    return f"{path}{'&' if '?' in path else '?'}{query}"


def _field(inside: str) -> Unique | Random:
    if (match := _UNIQUE.fullmatch(inside)) and int(match[1]) <= MAX_DIGITS:
        return Unique(int(match[1]))
    if (match := _RANDOM.fullmatch(inside)) and int(match[1]) <= int(match[2]):
        return Random(int(match[1]), int(match[2]))
    raise ValueError(
        f"{{{inside}}} is no field; {{unique:WIDTH}} and {{random:LOWEST:HIGHEST}} of at most {MAX_DIGITS} digits are"
    )


def example(text: str) -> str:
    """Fill each field with its lowest number."""

    def lowest(match: re.Match[str]) -> str:
        field = _field(match[1])
        return f"{1 if isinstance(field, Unique) else field.lowest:0{field.width}}"

    return _FIELD.sub(lowest, text)


def _without_fields(text: str) -> str:
    return _FIELD.sub(lambda match: "9" * _field(match[1]).width, text)


def _parts(text: str) -> Iterator[Part]:
    end = 0
    for match in _FIELD.finditer(text):
        if match.start() > end:
            yield text[end : match.start()].encode()
        yield _field(match[1])
        end = match.end()
    if end < len(text):
        yield text[end:].encode()
