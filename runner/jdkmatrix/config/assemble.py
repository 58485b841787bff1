"""From the files of a project to the tables of one matrix: what they say is put together, a table with `extends` is the
one that it changes, and a name with a number gets the table of its template. Pure, on what TOML says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jdkmatrix.config.checks import unknown
from jdkmatrix.domain.executors import tuning_of

Tables = dict[str, Any]

# What a published source may bring along; the other tables are those of matrix.toml alone.
OF_SOURCES = ("workloads", "experiments", "mixes", "loads", "tunings", "scenarios")
NAMED = (*OF_SOURCES, "servers", "profiles")

_LISTED = ("jdk", "executor", "cpus", "burn_us", "wait_us")  # what of the axes is no name of a table

_NUMBER = re.compile(r"(?<![^-])N(?![^-])")  # in the name of a template, between hyphens
_PLACEHOLDER = re.compile(r"\bN\b(%?)")


@dataclass(frozen=True)
class Assembled:
    """`files`: in which file a named table is, by "TABLE.NAME"; `problems`: the file, and what is wrong there."""

    tables: Tables = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)


def merged(files: Mapping[str, Tables]) -> Assembled:
    """All tables as if of one file. `files`: by name, that of matrix.toml first."""
    found = Assembled()
    first = next(iter(files))
    for file, tables in files.items():
        for table, entries in tables.items():
            if file != first and table not in OF_SOURCES:
                found.problems.append((file, f"{table}: {unknown(table, OF_SOURCES)}"))
            elif table in NAMED and isinstance(entries, dict) and isinstance(found.tables.setdefault(table, {}), dict):
                for name, entry in entries.items():
                    if (other := found.files.setdefault(f"{table}.{name}", file)) != file:
                        found.problems.append((file, f"{table}.{name}: stands in {other}, too"))
                    found.tables[table][name] = entry
            else:
                found.tables[table] = entries
    return found


def assembled(files: Mapping[str, Tables], also: Mapping[str, Sequence[str | int]]) -> Assembled:
    """With every variant and every name with a number as a table of its own, and what "all" is. `also`: as
    parse_files."""
    found = merged(files)
    tables = found.tables
    for table in NAMED:
        if isinstance(entries := tables.get(table), dict):
            tables[table] = {name: _extended(found, table, name) for name in entries}
    executors = (*_under("executor", tables), *map(str, also.get("executor", ())))
    tunings = {tuning for name in executors if (tuning := tuning_of(name))}
    asked = {"loads": {*_under("load", tables), *map(str, also.get("load", ()))}, "tunings": tunings}
    for table, names in asked.items():
        if isinstance(entries := tables.get(table), dict):
            tables[table] = {}
            for name, entry in entries.items():
                for one, size in _sizes(name, names - entries.keys()):
                    found.files[f"{table}.{one}"] = found.files[f"{table}.{name}"]
                    tables[table][one] = _filled(entry, size)
    whole = axes if isinstance(axes := tables.get("axes"), dict) else {}
    tables = {key: _without_all(value, whole) for key, value in tables.items()}
    if whole and also:
        tables["axes"] = whole | {axis: _with(whole.get(axis), also[axis]) for axis in _LISTED if axis in also}
    return Assembled(tables, found.files, found.problems)


def _with(listed: Any, also: Sequence[str | int]) -> Any:
    return list(dict.fromkeys((*listed, *also))) if isinstance(listed, list) else listed


def is_made(name: str, names: Collection[str]) -> bool:
    """Is this one of `names`, or made by a template among them?"""
    return (name in names and not _NUMBER.search(name)) or any(
        _NUMBER.search(one) and _sizes(one, {name}) for one in names
    )


def _extended(found: Assembled, table: str, name: str, seen: tuple[str, ...] = ()) -> Any:
    entries, seen = found.tables[table], (*seen, name)
    entry = entries[name]
    if not isinstance(entry, dict) or "extends" not in entry:
        return entry
    own, base = {key: value for key, value in entry.items() if key != "extends"}, str(entry["extends"])
    if base in entries and base not in seen:
        return _changed(_extended(found, table, base, seen), own)
    wrong = f'"{base}" leads back to it' if base in seen else unknown(base, entries)
    found.problems.append((found.files[f"{table}.{name}"], f"{table}.{name}.extends: {wrong}"))
    return own


def _changed(base: Any, own: Any) -> Any:
    """Tables are changed key by key; anything else is replaced."""
    if not (isinstance(base, dict) and isinstance(own, dict)):
        return own
    return base | {key: _changed(base.get(key), value) for key, value in own.items()}


def _under(key: str, node: Any) -> Iterator[str]:
    """Names that stand under `key`, at any depth."""
    for name, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if name == key:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))
        else:
            yield from _under(key, value)


def _sizes(name: str, names: set[str]) -> list[tuple[str, int]]:
    """Those of `names` that a template makes, the smallest number first; a table that is none makes itself."""
    before, *behind = _NUMBER.split(name)
    if not behind:
        return [(name, 0)]
    pattern = re.compile(f"{re.escape(before)}([1-9][0-9]{{0,8}}){re.escape('N'.join(behind))}")
    matches = [match for one in names if (match := pattern.fullmatch(one))]
    return sorted(((match[0], int(match[1])) for match in matches), key=lambda sized: sized[1])


def _filled(node: Any, size: int) -> Any:
    """With a number in the place of "N", and a hundredth of it in that of "N%"; still as strings, which become numbers
    where they are validated."""
    if isinstance(node, str) and size:
        return _PLACEHOLDER.sub(lambda found: f"{size / 100:g}" if found[1] else str(size), node)
    if isinstance(node, dict):
        return {key: _filled(value, size) for key, value in node.items()}
    return [_filled(value, size) for value in node] if isinstance(node, list) else node


def _without_all(node: Any, axes: Mapping[str, Any]) -> Any:
    """With what [axes] lists in the place of "all"."""
    if isinstance(node, dict):
        return {
            key: axes[key] if value == "all" and key in axes else _without_all(value, axes)
            for key, value in node.items()
        }
    return [_without_all(value, axes) for value in node] if isinstance(node, list) else node
