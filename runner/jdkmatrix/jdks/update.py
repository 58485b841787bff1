"""Update entries of the catalogue to newer builds of their vendors. Pure.

When entry X moves from build A to build B, the entry X-prev becomes A, whole, so that a regression can be chased with
both. What belongs to A goes with it: archives, date, known bugs, and the package of a registry that holds A.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, System
from jdkmatrix.jdks.identify import BuildOrder, build_order
from jdkmatrix.jdks.pins import PREVIOUS_SUFFIX, instead_of
from jdkmatrix.jdks.upstream.offers import Answer, Over, Pin, Unanswered

SYSTEMS: tuple[System, ...] = get_args(System)


@dataclass(frozen=True)
class EntryUpdate:
    """The verdict on one entry. `text` says what becomes of `entry`, and why. `moved`: what it becomes; None: it stays.

    `unanswered`: why nobody could say whether there is a newer build; None: somebody could.
    """

    entry: JdkEntry
    text: str
    moved: JdkEntry | None = None
    unanswered: str | None = None


def judge(entry: JdkEntry, answer: Answer, catalogue: Catalogue) -> EntryUpdate:
    """Compare `entry` with what its vendor answered. It moves only forward, and only when every system has the build.

    Raises:
        MatrixError: the version of the entry, or of the vendor, is no version of a JDK.
    """
    match answer:
        case Unanswered(reason=reason):
            return _stays(entry, reason, unanswered=reason)
        case Over(released=released):
            over = f"early access of JDK {entry.feature_version} has ended: {released} was released"
            return _stays(entry, f"{over}; {instead_of(entry, catalogue)}")
        case _:
            return _compare(entry, answer)


def with_updates(catalogue: Catalogue, verdicts: Iterable[EntryUpdate]) -> Catalogue:
    """Return the catalogue with every move of `verdicts`, and with the replaced builds in the `-prev` entries."""
    moves = {verdict.entry.id: verdict.moved for verdict in verdicts if verdict.moved is not None}
    standing = {entry.id: entry for entry in catalogue.entries}
    kept = {
        f"{entry.id}{PREVIOUS_SUFFIX}": _kept(entry, standing.get(f"{entry.id}{PREVIOUS_SUFFIX}"))
        for entry in catalogue.entries
        if entry.id in moves
    }
    entries: list[JdkEntry] = []
    for entry in catalogue.entries:
        entries.append(moves.get(entry.id) or kept.get(entry.id) or entry)
        beside = f"{entry.id}{PREVIOUS_SUFFIX}"
        if beside in kept and beside not in standing:
            entries.append(kept[beside])
    return Catalogue(schema_version=catalogue.schema_version, entries=tuple(entries))


def difference(old: str, new: str, name: str) -> str:
    """Return a unified diff of two texts of the file `name`, in the form that `git apply` takes; "" if they agree."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, fromfile=f"a/{name}", tofile=f"b/{name}"))


def _compare(entry: JdkEntry, answer: Mapping[System, Pin]) -> EntryUpdate:
    if not answer:
        return _stays(entry, f"upstream has no archive of JDK {entry.feature_version}")
    order = {system: _order(entry, pin.version) for system, pin in answer.items()}
    newest = max(order.values())
    version = next(pin.version for system, pin in answer.items() if order[system] == newest)
    present = _order(entry, entry.version)
    if newest < present:
        return _stays(entry, f"upstream's newest is older: {version}")
    if newest == present:
        return EntryUpdate(entry, _same_build(entry, answer, [s for s in order if order[s] == newest]))
    missing = [system for system in SYSTEMS if order.get(system) != newest]
    if missing:
        having = [system for system in SYSTEMS if system not in missing]
        without = ", ".join(f"{s}: {answer[s].version if s in answer else 'none'}" for s in missing)
        return _stays(entry, f"upstream has {version} for {', '.join(having)} only ({without})")
    return _move(entry, version, answer)


def _stays(entry: JdkEntry, why: str, unanswered: str | None = None) -> EntryUpdate:
    return EntryUpdate(entry, f"stays at {entry.version}: {why}", unanswered=unanswered)


def _order(entry: JdkEntry, version: str) -> BuildOrder:
    with refused(f'entry "{entry.id}"', of=MatrixError):
        return build_order(version)


def _same_build(entry: JdkEntry, answer: Mapping[System, Pin], systems: Iterable[System]) -> str:
    for system in systems:
        pinned, published = entry.archives.get(system), answer[system].archive
        if pinned is not None and pinned.sha256 != published.sha256:
            return (
                f"stays at {entry.version}, the newest; but upstream gives sha256 {published.sha256} for {system} now, "
                f"and {pinned.sha256} is pinned: find out why before you trust either"
            )
    return f"{entry.version} is the newest"


def _move(entry: JdkEntry, version: str, answer: Mapping[System, Pin]) -> EntryUpdate:
    dates = [pin.date for pin in answer.values() if pin.date is not None]
    date = max(dates, default=None)  # the day from which every system had it
    data = _written(entry, without={"date", "registry", "known_bugs"}) | {
        "version": version,
        "previous": entry.version,
        "archives": {system: answer[system].archive.model_dump() for system in SYSTEMS},
    }
    if date is not None:
        data["date"] = date
    text = f"{entry.version} -> {version}" + (f" of {date}" if date else "")
    text += f"; {entry.version} is kept as {entry.id}{PREVIOUS_SUFFIX}"
    if entry.registry is not None:
        text += f", and with it the package that holds it ({entry.registry.kind}): {entry.id} has archives only now"
    if entry.known_bugs:
        text += f", and with it {', '.join(bug.id for bug in entry.known_bugs)}: check whether {version} has them too"
    if entry.notes:
        text += "; the notes stay as they are: read them again"
    return EntryUpdate(entry, text, JdkEntry.model_validate(data))


def _kept(entry: JdkEntry, standing: JdkEntry | None) -> JdkEntry:
    """Return `entry` as its own `-prev`, in place of `standing`."""
    data = _written(entry, without={"previous"}) | {"id": f"{entry.id}{PREVIOUS_SUFFIX}"}
    if standing is not None and standing.version != entry.version:
        data["previous"] = standing.version
    return JdkEntry.model_validate(data)


def _written(entry: JdkEntry, without: set[str]) -> dict[str, Any]:
    """Return the keys of `entry` that are in the file."""
    return entry.model_dump(exclude_unset=True, exclude=without)
