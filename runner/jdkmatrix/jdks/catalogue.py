"""The JDK catalogue: jdks.json as values. Only reading that file touches the machine.

One entry is one exact build, whichever source delivers it. The exception is a rolling entry, whose source has only its
newest build: its version is "rolling", and `last_seen` is the version fetched when the entry was written.
"""

from __future__ import annotations

import datetime
import json
import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, field_validator, model_validator

from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.identify import VendorName, Vm, feature_version
from jdkmatrix.jdks.net import is_secure, is_url
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.records.run import KnownBug
from jdkmatrix.validation import explain, told, unknown

System = Literal["x86_64-linux", "aarch64-linux"]
ROLLING = "rolling"
T = TypeVar("T")

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]


def _iso_date(text: str) -> str:
    try:
        if datetime.date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise ValueError(f'found "{text}"; must be a date such as 2026-08-18')


IsoDate = Annotated[str, AfterValidator(_iso_date)]


class Archive(Record):
    """A vendor's tar.gz. `second_source`: where else the same sha256 was seen; None: in one place only."""

    url: Text
    sha256: Sha256
    second_source: str | None

    @field_validator("url")
    @classmethod
    def _https(cls, url: str) -> str:
        if not is_secure(url):
            raise ValueError(f'found "{url}"; must start with https:// (or be on this machine\'s loopback)')
        if not is_url(url):
            raise ValueError(f'found "{url}"; must be a URL, in ASCII and without blanks')
        return url


class Wheel(Record):
    filename: Annotated[str, StringConstraints(pattern=r"^[\w.+-]+\.whl$")]
    sha256: Sha256


class PypiSource(Record):
    """A Java runtime inside a PyPI wheel, in its folder `java_home`."""

    kind: Literal["pypi"]
    package: Text
    version: Text
    java_home: Annotated[str, StringConstraints(pattern=r"^[\w.-]+(/[\w.-]+)*$")]
    wheels: Annotated[dict[System, Wheel], Field(min_length=1)]


class DebianSource(Record):
    """Debian packages of a rolling suite; the first is the JRE, whose shared libraries are fetched with it."""

    kind: Literal["debian"]
    suite: Text
    packages: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]+$")], ...], Field(min_length=1)
    ]


Registry = Annotated[PypiSource | DebianSource, Field(discriminator="kind")]


class JdkEntry(Record):
    """One exact build. Without archives and registry it can only come from the host or from Nix.

    `date`: when the vendor released the build. `previous`: the version that was here before an update replaced it with
    this one. Both are None where nobody recorded them.
    """

    id: Id
    vendor: VendorName
    vm: Vm
    feature_version: Annotated[int, Field(ge=21)]
    version: Text
    date: IsoDate | None = None
    previous: Text | None = None
    last_seen: str | None = None
    archives: dict[System, Archive] = {}
    registry: Registry | None = None
    known_bugs: tuple[KnownBug, ...] = ()
    notes: tuple[Text, ...] = ()

    @property
    def rolling(self) -> bool:
        return self.version == ROLLING

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        if self.rolling:
            if self.archives:
                yield 'version is "rolling", but it has archives; an archive is one exact build'
            if self.last_seen is None:
                yield 'version is "rolling", but there is no `last_seen`'
            if self.date is not None or self.previous is not None:
                yield 'version is "rolling", but it has a `date` or a `previous`; these are of one exact build'
        elif self.last_seen is not None:
            yield f'`last_seen` is only for version "rolling"; found version "{self.version}"'
        elif isinstance(self.registry, DebianSource):
            yield f'a debian source has only its newest; found version "{self.version}", allowed: "rolling"'
        shown = self.last_seen if self.rolling else self.version
        for key, value in (("version", shown), ("previous", self.previous)):
            if value is not None and feature_version(value) != self.feature_version:
                yield f'{key} "{value}" does not begin with feature_version {self.feature_version}'
        if (self.vendor == "IBM Semeru") != (self.vm == "openj9"):
            yield f'vm "{self.vm}" does not go with vendor "{self.vendor}" (IBM Semeru is openj9, the others hotspot)'


class Catalogue(Record):
    schema_version: Literal[1]
    entries: Annotated[tuple[JdkEntry, ...], Field(min_length=1)]

    def entry(self, jdk_id: str) -> JdkEntry:
        """Raises: MatrixError: there is none of that id; says which was meant and which there are."""
        for entry in self.entries:
            if entry.id == jdk_id:
                return entry
        raise MatrixError(f"JDK {unknown(jdk_id, [entry.id for entry in self.entries])}")


def this_system() -> str:
    """Return this machine's system in the spelling of Nix: "x86_64-linux"."""
    return f"{platform.machine()}-{platform.system().lower()}"


def for_this_system(choices: Mapping[System, T]) -> T | None:
    """Return the choice for this machine; None where there is none."""
    return next((value for system, value in choices.items() if system == this_system()), None)


def load_catalogue(path: Path) -> Catalogue:
    """Read and validate jdks.json. Raises: MatrixError: it cannot be read, or as parse_catalogue."""
    return parse_catalogue(path, read_text(path))


def dump_catalogue(catalogue: Catalogue) -> str:
    """Return the text of jdks.json: keys in the order of the records, and only those that were set."""
    return json.dumps(catalogue.model_dump(mode="json", exclude_unset=True), indent=2) + "\n"


def parse_catalogue(path: Path, text: str) -> Catalogue:
    """Validate `text`, the content of `path`. Pure.

    Raises:
        MatrixError: names the file, the entry, the key, what was found and what is allowed.
    """
    data = parse_json(text, str(path))
    try:
        catalogue = Catalogue.model_validate(data)
    except ValidationError as error:
        raise told((str(path), _named(problem, data)) for problem in explain(error, Catalogue)) from None
    ids = [entry.id for entry in catalogue.entries]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise told((str(path), f'entry "{i}": is listed twice; an id is one build') for i in twice)
    return catalogue


def _named(problem: str, data: Any) -> str:
    """Return the problem with the id of the entry in place of its number."""
    found = re.match(r"entries\[([0-9]+)](?:\.|: )", problem)
    entry = data["entries"][int(found[1])] if found else None
    name = entry.get("id") if isinstance(entry, Mapping) else None
    return f'entry "{name}": {problem[found.end() :]}' if found and isinstance(name, str) else problem
