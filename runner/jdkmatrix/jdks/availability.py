"""Find out whether each entry of the catalogue can be had here: looked up and probed, never guessed, and without
starting a JDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import archive, net, pypi
from jdkmatrix.jdks.catalogue import Catalogue, DebianSource, JdkEntry, PypiSource
from jdkmatrix.jdks.locate import Here, host_only, locate, not_handed_over, notice
from jdkmatrix.provision.debian import apt

PROBES_LIMIT_S = 5.0

Status = Literal["ready", "fetchable", "unavailable"]
Answer = str | None  # None: it answers
Probe = Callable[[], Answer]


@dataclass(frozen=True)
class Outlook:
    """An entry's availability. `detail` says where the JDK is, where it would come from, or why it cannot be had."""

    entry: JdkEntry
    status: Status
    source: str | None
    detail: str
    home: Path | None = None
    version: str | None = None
    notice: str | None = None


def outlook(catalogue: Catalogue) -> list[Outlook]:
    """Return one per entry, in the catalogue's order. Every remote place is asked once, all in parallel; 5 s at most.

    Raises:
        MatrixError: MATRIX_PARTS is set, and what it names cannot be read.
    """
    places = {entry.id: [_looked_at(place) for place in locate(entry)] for entry in catalogue.entries}
    missing = [entry for entry in catalogue.entries if _usable(places[entry.id]) is None]
    asked = (place for entry in missing for place in _elsewhere(entry) if place.absent is None)
    probes = {place.name: place.probe for place in asked}
    late = f"no answer within {PROBES_LIMIT_S:g} s"
    answers: dict[str, Answer] = net.answers_in_time(probes, PROBES_LIMIT_S, late)
    return [_judge(entry, places[entry.id], answers) for entry in catalogue.entries]


@dataclass(frozen=True)
class _Elsewhere:
    """A remote place of an entry's JDK. `name`: the name under which it is asked, once for all entries; `absent`: why
    there is nothing to ask."""

    source: Literal["archive", "registry"]
    name: str = ""
    detail: str = ""
    probe: Probe = lambda: None
    absent: str | None = None


def _elsewhere(entry: JdkEntry) -> Iterator[_Elsewhere]:
    pinned = archive.pinned(entry)
    if isinstance(pinned, str):
        yield _Elsewhere("archive", absent=pinned)
    else:
        host = net.host_of(pinned.url)
        yield _Elsewhere("archive", host, pinned.url, partial(net.unreachable, host))
    match entry.registry:
        case PypiSource() as source:
            name = f"PyPI {source.package}=={source.version}"
            yield _Elsewhere("registry", name, name, partial(pypi.unreachable, source), pypi.absent(source))
        case DebianSource() as source:
            name, detail = f"Debian {source.suite}", f"Debian {source.suite}, the newest {source.packages[0]}"
            yield _Elsewhere("registry", name, detail, partial(apt.unreachable, source.suite), apt.absent())
        case None:
            yield _Elsewhere("registry", absent="none")


def _looked_at(place: Here) -> Here:
    try:
        return replace(place, problem=place.cached.problem) if place.cached else place
    except MatrixError as error:
        return replace(place, problem=str(error))


def _usable(places: list[Here]) -> Here | None:
    return next((place for place in places if place.problem is None), None)


def _judge(entry: JdkEntry, places: list[Here], answers: Mapping[str, Answer]) -> Outlook:
    here = _usable(places)
    if here is not None:
        libc = here.cached.facts.libc if here.cached else None
        said = notice(entry, here.version, libc) if here.version else None
        return Outlook(entry, "ready", here.source, str(here.home), here.home, here.version, said)
    reasons = [reason] if (reason := not_handed_over(entry)) else []
    reasons += [f"{found.source}: {found.problem}" for found in places]
    if not entry.archives and entry.registry is None:
        return Outlook(entry, "unavailable", None, "; ".join([*reasons, host_only(entry)]))
    for place in _elsewhere(entry):
        reason = place.absent or answers[place.name]
        if reason is None:
            return Outlook(entry, "fetchable", place.source, place.detail)
        reasons.append(f"{place.source}: {reason}")
    return Outlook(entry, "unavailable", None, "; ".join(reasons))
