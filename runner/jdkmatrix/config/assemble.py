"""Assemble the tables of one matrix from the files of a project: merge them, apply each table with `extends` to the one
it extends, and give each name with a number the table of its template. Pure, on parsed TOML."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jdkmatrix.config.own import is_command
from jdkmatrix.domain.executors import tuning_of
from jdkmatrix.domain.servers import COMMAND
from jdkmatrix.reading import ConfigError
from jdkmatrix.validation import shown, told, unknown

Tables = dict[str, Any]

# The tables that a file beside matrix.toml may have; all others belong in matrix.toml alone.
NAMED = ("workloads", "experiments", "mixes", "servers", "loads", "tunings", "profiles", "scenarios")
TEMPLATES = ("workloads", "loads", "tunings")  # tables in which a name may contain a number

NUMBERS = ("cpus", "burn_us", "wait_us")  # axes of numbers
_LISTED = ("jdk", "executor", *NUMBERS)  # the axes whose values are not names of tables

_NUMBER = re.compile(r"(?<![^-])N(?![^-])")  # in the name of a template, between hyphens
NUMBER_MAX = 999_999_999
_PLACEHOLDER = re.compile(r"\bN\b(%?)")


@dataclass(frozen=True)
class Assembled:
    """`main`: the file that must have what is in no other; `files`: the file of each table, or of each of a table's
    named entries, "TABLE.NAME"; `bases`: the entry that each entry extends; `problems`: a file, and what is wrong in
    it. `templates`: names in TEMPLATES as the files have them, with N for a number."""

    main: str
    tables: Tables = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    templates: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def error(self, problems: Iterable[str]) -> ConfigError:
        """Build the error that lists each problem after its file; an inherited one is reported for its base alone."""
        everything = dict.fromkeys(problems)
        found = []
        for problem in everything:
            place = self._place(problem)
            if not (place in self.bases and self.bases[place] + problem.removeprefix(place) in everything):
                found.append((self.files.get(place, self.main), problem))
        return told(found)

    def _place(self, problem: str) -> str:
        """Return the entry or table that a problem is about: the longest that fits, since names may contain dots."""
        places = (place for place in self.files if problem.startswith((f"{place}.", f"{place}:", f"{place}[")))
        return max(places, key=len, default="")


def merged(
    files: Mapping[str, Tables], named: Collection[str] = NAMED, of_others: Collection[str] = NAMED
) -> Assembled:
    """Merge all tables as if they were in one file; those in `named` may have entries in several. `of_others`: the
    tables that files other than the first may have."""
    found = Assembled(main=next(iter(files)))
    for file, tables in files.items():
        for table, entries in tables.items():
            if file != found.main and table not in of_others:
                found.problems.append((file, f"{table}: {unknown(table, of_others)}"))
                continue
            if table in named and not isinstance(entries, dict):
                found.problems.append((file, f"{table}: found {shown(entries)}; it should be a table"))
                continue
            found.files.setdefault(table, file)
            for key in (f"{table}.{name}" for name in entries) if table in named else (table,):
                if (other := found.files.setdefault(key, file)) != file:
                    found.problems.append((file, f"{key}: is also in {other}"))
            found.tables[table] = {**found.tables.get(table, {}), **entries} if table in named else entries
    return found


def assembled(files: Mapping[str, Tables], also: Mapping[str, Sequence[str | int]]) -> Assembled:
    """Assemble the tables, with one for every variant and every name with a number, and with "all" replaced. `also`: as
    in parse_files."""
    found = merged(files)
    tables = found.tables
    for table in NAMED:
        if isinstance(entries := tables.get(table), dict):
            tables[table] = {name: _extended(found, table, name) for name in entries}
    workloads = tables.get("workloads")
    if isinstance(workloads, dict) and any(map(is_command, workloads.values())):
        tables.setdefault("servers", {}).setdefault(COMMAND, {})
    executors = (*_under("executor", tables), *map(str, also.get("executor", ())))
    tunings = {tuning for name in executors if (tuning := tuning_of(name))}
    asked = {
        **{f"{axis}s": {*_under(axis, tables), *map(str, also.get(axis, ()))} for axis in ("workload", "load")},
        "tunings": tunings,
    }
    for table in TEMPLATES:
        if isinstance(entries := tables.get(table), dict):
            found.templates[table] = tuple(entries)
            tables[table] = {}
            for name, entry in entries.items():
                for one, size in _sizes(name, asked[table] - entries.keys()):
                    found.files[f"{table}.{one}"] = found.files[f"{table}.{name}"]
                    tables[table][one] = _filled(entry, size)
    whole = axes if isinstance(axes := tables.get("axes"), dict) else {}
    found.tables.update({key: _on_axes(value, whole) for key, value in tables.items()})
    if whole and also:
        found.tables["axes"] = whole | {axis: _with(whole.get(axis), also[axis]) for axis in _LISTED if axis in also}
    return found


def _with(listed: Any, also: Sequence[str | int]) -> Any:
    return list(dict.fromkeys((*listed, *also))) if isinstance(listed, list) else listed or list(also)


def is_made(name: str, names: Collection[str]) -> bool:
    """Return whether `name` is one of `names`, or made by a template among them."""
    return (name in names and not _NUMBER.search(name)) or any(_makes(one, name) for one in names)


def numbered(template: str, name: str) -> str | None:
    """Return the number, as written, that `name` has in place of the template's N; None if no number stands there, or
    `name` differs elsewhere."""
    before, *behind = _NUMBER.split(template)
    found = re.fullmatch(f"{re.escape(before)}(-?[0-9][0-9.,]*){re.escape('N'.join(behind))}", name) if behind else None
    return found and found[1]


def with_number(template: str, size: int) -> str:
    return _NUMBER.sub(str(size), template)


def _extended(found: Assembled, table: str, name: str, seen: tuple[str, ...] = ()) -> Any:
    entries, seen = found.tables[table], (*seen, name)
    entry = entries[name] if name in entries else _made(entries, name)
    if not isinstance(entry, dict) or "extends" not in entry:
        return entry
    own, base = {key: value for key, value in entry.items() if key != "extends"}, str(entry["extends"])
    if (base in entries or _made(entries, base)) and base not in seen:
        found.bases[f"{table}.{name}"] = f"{table}.{base}"
        return _changed(_extended(found, table, base, seen), own)
    wrong = f'"{base}" leads back to it' if base in seen else unknown(base, entries)
    # What a template makes only for others to extend is in no file.
    of = name if f"{table}.{name}" in found.files else next(one for one in entries if _makes(one, name))
    found.problems.append((found.files[f"{table}.{of}"], f"{table}.{of}.extends: {wrong}"))
    return own


def _made(entries: Mapping[str, Any], name: str) -> Any:
    """Return the entry that a template makes for this name; None if none does."""
    templates = (one for one in entries if _NUMBER.search(one))
    return next((_filled(entries[one], size) for one in templates for _, size in _sizes(one, {name})), None)


def _makes(template: str, name: str) -> bool:
    return bool(_NUMBER.search(template) and _sizes(template, {name}))


def _changed(base: Any, own: Any) -> Any:
    """Apply `own` to `base`: tables are changed key by key; anything else is replaced."""
    if not (isinstance(base, dict) and isinstance(own, dict)):
        return own
    return base | {key: _changed(base.get(key), value) for key, value in own.items()}


def _under(key: str, node: Any) -> Iterator[str]:
    """Yield the names that stand under `key`, at any depth."""
    for name, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if name == key:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))
        else:
            yield from _under(key, value)


def _sizes(name: str, names: set[str]) -> list[tuple[str, int]]:
    """Return those of `names` that a template makes, smallest number first; one that is no template makes itself."""
    before, *behind = _NUMBER.split(name)
    if not behind:
        return [(name, 0)]
    pattern = re.compile(f"{re.escape(before)}([1-9][0-9]{{0,8}}){re.escape('N'.join(behind))}")
    matches = [match for one in names if (match := pattern.fullmatch(one))]
    return sorted(((match[0], int(match[1])) for match in matches), key=lambda sized: sized[1])


def _filled(node: Any, size: int) -> Any:
    """Replace "N" by a number, and "N%" by a hundredth of it; they stay strings, which become numbers when they are
    validated."""
    if isinstance(node, str) and size:
        return _PLACEHOLDER.sub(lambda found: f"{size / 100:g}" if found[1] else str(size), node)
    if isinstance(node, dict):
        return {key: _filled(value, size) for key, value in node.items()}
    return [_filled(value, size) for value in node] if isinstance(node, list) else node


def _on_axes(node: Any, axes: Mapping[str, Any]) -> Any:
    """Replace "all", and axes of numbers that a `select` leaves out, by what [axes] lists: what others add to the axes
    is theirs alone."""
    if isinstance(node, dict):
        found = {
            key: axes[key] if value == "all" and key in axes else _on_axes(value, axes) for key, value in node.items()
        }
        if isinstance(select := found.get("select"), dict):
            found["select"] = {axis: axes[axis] for axis in NUMBERS if axis in axes} | select
        return found
    return [_on_axes(value, axes) for value in node] if isinstance(node, list) else node
