"""A page for each server, JDK, executor, workload and host: what the newest runs measured there. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.html.names import file_stem
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import MeasuredCell, RunDigest
from jdkmatrix.report.site.home import RunRow, host_names, run_row
from jdkmatrix.report.words.sentences import condition as condition_words
from jdkmatrix.report.words.sentences import driven

FOLDER = "by"
KINDS = {"server": "Server", "jdk": "JDK", "executor": "Executor", "workload": "Workload", "host": "Host"}
_ROOT = "../../"  # from a page to the site's
_Part = tuple[RunDigest, list[MeasuredCell]]  # of a run, those cells that a page is about


@dataclass(frozen=True)
class Entry:
    """A cell: its leading figure over its reference. `value`: None where it has none, or is the reference itself."""

    page: str
    value: str | None
    under: str


@dataclass(frozen=True)
class Row:
    """What one host measured under one condition; `words`: as the `axes` of the page; `entries`: as its `executors`,
    None where nothing was measured."""

    words: tuple[str, ...]
    where: str
    entries: tuple[Entry | None, ...]


@dataclass(frozen=True)
class ValuePage:
    """`path`: seen from the site's root. `facts`: what runs told of it and when, the newest first. `shared`: axes other
    than the executor that have one value in all rows, and that value; `axes`: those that differ."""

    path: str
    kind: str
    title: str
    facts: tuple[tuple[str, str], ...]
    shared: tuple[tuple[str, str], ...]
    axes: tuple[str, ...]
    executors: tuple[str, ...]
    rows: tuple[Row, ...]
    runs: tuple[RunRow, ...]


@dataclass(frozen=True)
class Group:
    """The pages of one kind."""

    title: str
    pages: tuple[ValuePage, ...]


@dataclass(frozen=True)
class _Place:
    """`words`: of the axes of `KINDS` other than the page's and the executor."""

    words: tuple[str, ...]
    cpus: int
    size: TaskSize
    load: str
    driver: str | None


def view_axes(runs: Sequence[RunDigest]) -> tuple[Group, ...]:
    """`runs`: newest first."""
    hosts = host_names(runs)
    groups = []
    for axis, kind in KINDS.items():
        found = _by_value(axis, runs)
        pages = (_page(axis, value, found[value], hosts) for value in _ordered(axis, found, hosts))
        groups.append(Group(kind, tuple(pages)))
    return tuple(group for group in groups if group.pages)


def _by_value(axis: str, runs: Sequence[RunDigest]) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {}
    for run in runs:
        cells: dict[str, list[MeasuredCell]] = {value: [] for value in _values(run, axis)}
        for cell in run.cells:
            value = run.host_id if axis == "host" else getattr(cell, axis)
            if value in cells:
                cells[value].append(cell)
        for value, some in cells.items():
            found.setdefault(value, []).append((run, some))
    return found


def _ordered(axis: str, values: Collection[str], hosts: dict[str, str]) -> list[str]:
    if axis == "executor":
        return [name for name in executor_order(values) if name in values]
    return sorted(values, key=lambda value: _by_number(hosts[value] if axis == "host" else value))


def _by_number(text: str) -> list[tuple[bool, int, str]]:
    """Orders "temurin-9" before "temurin-21.0.8"."""
    parts = re.split(r"([0-9]+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _values(run: RunDigest, axis: str) -> Iterator[str]:
    match axis:
        case "host":
            yield run.host_id
        case "jdk":
            yield from (jdk for jdk, _ in run.jdks)
        case _:
            yield from (getattr(cell, axis) for cell in run.cells)


def _page(axis: str, value: str, parts: Sequence[_Part], hosts: dict[str, str]) -> ValuePage:
    here = [run for run, _ in parts]
    others = tuple(name for name in KINDS if name not in (axis, "executor"))
    found: dict[_Place, dict[str, Entry]] = {}
    for run, cells in parts:
        for cell in cells:
            words = tuple(hosts[run.host_id] if name == "host" else getattr(cell, name) for name in others)
            place = _Place(words, cell.cpus, TaskSize(cell.burn_us, cell.wait_us), cell.load, cell.driver)
            found.setdefault(place, {}).setdefault(cell.executor, _entry(cell, run))
    executors = tuple(_ordered("executor", {executor for entries in found.values() for executor in entries}, hosts))
    differ = [index for index in range(len(others)) if len({place.words[index] for place in found}) > 1]
    first = next(iter(found)).words if found else ()
    return ValuePage(
        path=f"{FOLDER}/{axis}/{file_stem(value)}.html",
        kind=KINDS[axis],
        title=hosts[value] if axis == "host" else value,
        facts=tuple(_facts(axis, value, here)),
        shared=tuple((KINDS[others[index]], word) for index, word in enumerate(first) if index not in differ),
        axes=tuple(KINDS[others[index]] for index in differ),
        executors=executors,
        rows=tuple(
            Row(
                words=tuple(place.words[index] for index in differ),
                where=f"{condition_words(place.cpus, place.size)}, {driven(place.load, place.driver)}",
                entries=tuple(entries.get(executor) for executor in executors),
            )
            for place, entries in sorted(found.items(), key=_in_order)
        ),
        runs=tuple(run_row(run, hosts[run.host_id], _ROOT) for run in here),
    )


def _in_order(found: tuple[_Place, dict[str, Entry]]) -> tuple[object, ...]:
    place = found[0]
    load = driven(place.load, place.driver)
    return [_by_number(word) for word in place.words], place.cpus, place.size, _by_number(load)


def _entry(cell: MeasuredCell, run: RunDigest) -> Entry:
    over = f"{cell.figure} over {cell.over}" if cell.over else "what others are compared with"
    return Entry(
        page=f"{_ROOT}{run.folder}{cell.page}",
        value=cell.value,
        under=f"{over}, {cell.under}" if cell.value else over,
    )


def _facts(axis: str, value: str, runs: Sequence[RunDigest]) -> Iterator[tuple[str, str]]:
    told: dict[str, Callable[[RunDigest], str | None]] = {
        "jdk": lambda run: dict(run.jdks).get(value),
        "host": lambda run: f"kernel {run.kernel}",
    }
    if axis not in told:
        return
    found: dict[str, list[str]] = {}
    for run in runs:
        if words := told[axis](run):
            found.setdefault(words, []).append(run.started_at)
    for words, days in found.items():
        yield words, moment(days[0]) if len(days) == 1 else f"{moment(days[-1])} to {moment(days[0])}"
