"""Find out for every entry of the catalogue whether it can be had here; looked up and probed, never guessed, no JDK
started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import archive, debian, net, pypi
from jdkmatrix.jdks.catalogue import Catalogue, DebianSource, JdkEntry, PypiSource
from jdkmatrix.jdks.locate import Here, host_only, locate, not_handed_over, notice
from jdkmatrix.jdks.parallel import answers_in_time

PROBES_LIMIT_S = 5.0

Status = Literal["ready", "fetchable", "unavailable"]
Answer = str | None  # None: it answers
Probe = Callable[[], Answer]


@dataclass(frozen=True)
class Outlook:
    """`detail` says where it is, or where it would come from, or why it cannot be had."""

    entry: JdkEntry
    status: Status
    source: str | None
    detail: str
    home: Path | None = None
    version: str | None = None
    notice: str | None = None


def outlook(catalogue: Catalogue) -> list[Outlook]:
    """One per entry, in the catalogue's order. Every remote place is asked once, all at the same time; 5 s at most.

    Raises:
        MatrixError: MATRIX_PARTS is set, and what it names cannot be read.
    """
    places = {entry.id: [_looked_at(place) for place in locate(entry)] for entry in catalogue.entries}
    missing = [entry for entry in catalogue.entries if _usable(places[entry.id]) is None]
    answers = ask({name: probe for entry in missing for name, probe in _probes(entry).items()})
    return [_judge(entry, places[entry.id], answers) for entry in catalogue.entries]


def ask(probes: Mapping[str, Probe], limit_s: float = PROBES_LIMIT_S) -> dict[str, Answer]:
    """Run all probes at the same time; one that does not end in time is answered for."""
    answers = answers_in_time(probes, limit_s)
    late = f"no answer within {limit_s:g} s"
    return {name: answers.get(name, late) for name in probes}


def _probes(entry: JdkEntry) -> dict[str, Probe]:
    probes: dict[str, Probe] = {}
    pinned = archive.pinned(entry)
    if pinned is not None:
        name = net.host_of(pinned.url)
        probes[name] = partial(net.unreachable, name)
    match entry.registry:
        case PypiSource() as source if pypi.absent(source) is None:
            probes[_name(source)] = partial(pypi.unreachable, source)
        case DebianSource() as source if debian.absent() is None:
            probes[_name(source)] = partial(debian.unreachable, source)
    return probes


def _name(source: PypiSource | DebianSource) -> str:
    if isinstance(source, PypiSource):
        return f"PyPI {source.package}=={source.version}"
    return f"Debian {source.suite}"


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
    reasons += [f"{place.source}: {place.problem}" for place in places]
    if not entry.archives and entry.registry is None:
        return Outlook(entry, "unavailable", None, "; ".join([*reasons, host_only(entry)]))
    pinned = archive.pinned(entry)
    if pinned is None:
        reasons.append(f"archive: {archive.absent(entry)}")
    elif (answer := answers[net.host_of(pinned.url)]) is None:
        return Outlook(entry, "fetchable", "archive", pinned.url)
    else:
        reasons.append(f"archive: {answer}")
    source = entry.registry
    absent = _absent(source)
    if source is None or absent is not None:
        reasons.append(f"registry: {absent}")
    elif (answer := answers[_name(source)]) is None:
        return Outlook(entry, "fetchable", "registry", _detail(source))
    else:
        reasons.append(f"registry: {answer}")
    return Outlook(entry, "unavailable", None, "; ".join(reasons))


def _absent(source: PypiSource | DebianSource | None) -> str | None:
    match source:
        case PypiSource():
            return pypi.absent(source)
        case DebianSource():
            return debian.absent()
        case None:
            return "none"


def _detail(source: PypiSource | DebianSource) -> str:
    if isinstance(source, DebianSource):
        return f"{_name(source)}, the newest {source.packages[0]}"
    return _name(source)
