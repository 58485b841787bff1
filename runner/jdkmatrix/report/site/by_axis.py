"""A page for each server, JDK, executor, workload and host: what the newest runs measured there. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.domain.quantities import MISSING, plural
from jdkmatrix.report.blocks.inline import file_stem, joined, link, say, small, strong
from jdkmatrix.report.blocks.kinds import Items, PageBlock, Prose, Section, WebPage
from jdkmatrix.report.blocks.tables import Column, DataTable, columns
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import MeasuredCell, RunDigest, host_names, runs_section
from jdkmatrix.report.site.server_costs import server_costs_section
from jdkmatrix.report.words.sentences import AXIS_TITLES, driven
from jdkmatrix.report.words.sentences import condition as condition_words

INDEX = "by/index.html"
KINDS = {axis: AXIS_TITLES[axis] for axis in ("server", "jdk", "executor", "workload", "host")}
_ROOT = "../../"  # from a page to the site's
_Part = tuple[RunDigest, list[MeasuredCell]]  # of a run, those cells that a page is about


class ConditionPlace(NamedTuple):
    """`words`: of the axes of `KINDS` other than the page's and the executor; `load`: and what made it."""

    words: tuple[str, ...]
    cpus: int
    size: TaskSize
    load: str

    @property
    def order(self) -> tuple[object, ...]:
        return [*map(_by_number, self.words)], self.cpus, self.size, _by_number(self.load)


def axis_pages(runs: Sequence[RunDigest]) -> dict[str, WebPage]:
    """By path, seen from the site's root; the one that lists them is among them. `runs`: newest first."""
    hosts = host_names(runs)
    pages: dict[str, WebPage] = {}
    listed: list[Section] = []
    for axis, kind in KINDS.items():
        found = _by_value(axis, runs)
        items = []
        for value in _ordered(axis, found, hosts):
            path = f"by/{axis}/{file_stem(value)}.html"
            rows = _rows(axis, found[value], hosts)
            pages[path] = _page(axis, value, found[value], hosts, rows)
            counts = f"{plural(len(rows), 'condition')}, {plural(len(found[value]), 'run')}"
            items.append(joined(link(pages[path].heading, f"../{path}"), " ", small(counts)))
        if items:
            listed.append(Section(kind.lower(), kind, (Items(items),)))
    pages[INDEX] = WebPage(
        heading="Browse",
        summary="All that was measured, by server, JDK, executor, workload and host.",
        blocks=listed,
        root="../",
        menu=[(one.title, f"#{one.id}") for one in listed],
    )
    return pages


def _by_value(axis: str, runs: Sequence[RunDigest]) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {}
    for run in runs:
        valued = [(run.host_id if axis == "host" else getattr(cell, axis), cell) for cell in run.cells]
        there = {"host": [run.host_id], "jdk": [jdk for jdk, _ in run.jdks]}.get(axis, [value for value, _ in valued])
        for value in dict.fromkeys(there):
            found.setdefault(value, []).append((run, [cell for one, cell in valued if one == value]))
    return found


def _ordered(axis: str, values: Collection[str], hosts: Mapping[str, str]) -> list[str]:
    if axis == "executor":
        return [name for name in executor_order(values) if name in values]
    return sorted(values, key=lambda value: _by_number(hosts[value] if axis == "host" else value))


def _by_number(text: str) -> list[tuple[bool, int, str]]:
    """Orders "temurin-9" before "temurin-21.0.8"."""
    parts = re.split(r"([0-9]+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


_Rows = dict[ConditionPlace, dict[str, str]]  # by executor, the link to its cell


def _rows(axis: str, parts: Sequence[_Part], hosts: Mapping[str, str]) -> _Rows:
    others = _others(axis)
    found: _Rows = {}
    for run, cells in parts:
        for cell in cells:
            words = tuple(hosts[run.host_id] if name == "host" else getattr(cell, name) for name in others)
            size = TaskSize(cell.burn_us, cell.wait_us)
            place = ConditionPlace(words, cell.cpus, size, driven(cell.load, cell.driver))
            newest = found.setdefault(place, {})
            if cell.executor not in newest:
                newest[cell.executor] = _entry(cell, run)
    return dict(sorted(found.items(), key=lambda told: told[0].order))


def _others(axis: str) -> tuple[str, ...]:
    return tuple(name for name in KINDS if name not in (axis, "executor"))


def _entry(cell: MeasuredCell, run: RunDigest) -> str:
    """Its leading figure over its reference."""
    under = f"{cell.figure} over {cell.over}: {cell.under}" if cell.over else cell.under
    return joined(link(cell.value or "measured", f"{_ROOT}{run.folder}{cell.page}"), " ", small(under))


def _page(axis: str, value: str, parts: Sequence[_Part], hosts: Mapping[str, str], rows: _Rows) -> WebPage:
    runs = [run for run, _ in parts]
    title = hosts[value] if axis == "host" else value
    told = "; ".join(f"{name} ({days})" for name, days in _facts(axis, value, runs))
    measured = Section("measured", "Measured", _table(axis, rows, hosts), say("newest_cells"))
    costs = server_costs_section(parts, hosts, _ROOT) if axis == "workload" else None
    sections = [one for one in (measured, costs, runs_section(runs, hosts, _ROOT)) if one]
    return WebPage(
        heading=title,
        summary=f"{KINDS[axis]}{f': {told}' if told else ''}",
        blocks=sections,
        root=_ROOT,
        menu=(*((one.title, f"#{one.id}") for one in sections), ("Browse", "../index.html")),
        foot=link("All servers, JDKs, executors, workloads and hosts", "../index.html"),
    )


def _table(axis: str, rows: _Rows, hosts: Mapping[str, str]) -> tuple[PageBlock, ...]:
    """Axes with one value in all rows stand above it."""
    if not rows:
        return (Prose("No cell with a server: what its runs measured stands on their pages.", css=""),)
    others = _others(axis)
    executors = _ordered("executor", {executor for entries in rows.values() for executor in entries}, hosts)
    differ = [index for index in range(len(others)) if len({place.words[index] for place in rows}) > 1]
    first = next(iter(rows)).words
    shared = [(KINDS[others[index]], word) for index, word in enumerate(first) if index not in differ]
    above = [part for name, word in shared for part in (f"{name}: ", strong(word), " · ")]
    return (
        *([Prose(joined(*above[:-1]), css="")] if above else []),
        DataTable(
            "Table of what was measured",
            (*(Column(KINDS[others[index]], "ends") for index in differ), *columns("Condition", *executors)),
            [
                (
                    *(place.words[index] for index in differ),
                    f"{condition_words(place.cpus, place.size)}, {place.load}",
                    *(entries.get(executor, MISSING) for executor in executors),
                )
                for place, entries in rows.items()
            ],
            "wrap",
            sortable=True,
        ),
    )


def _facts(axis: str, value: str, runs: Sequence[RunDigest]) -> Iterator[tuple[str, str]]:
    """The words of runs about it, and when; the newest first."""
    told: dict[str, Callable[[RunDigest], str | None]] = {
        "jdk": lambda run: dict(run.jdks).get(value),
        "server": lambda run: dict(run.servers).get(value),
        "host": lambda run: f"kernel {run.kernel}",
    }
    found: dict[str, list[str]] = {}
    for run in runs if axis in told else ():
        if words := told[axis](run):
            found.setdefault(words, []).append(run.started_at)
    for words, days in found.items():
        yield words, moment(days[0]) if len(days) == 1 else f"{moment(days[-1])} to {moment(days[0])}"
