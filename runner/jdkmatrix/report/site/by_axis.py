"""A page for each server, JDK, executor, workload and host: what the newest runs measured there. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import compress

from markupsafe import Markup

from jdkmatrix.domain.cell_key import TaskSize
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import MISSING, plural
from jdkmatrix.report.blocks.inline import file_stem, joined, link, say, small, strong
from jdkmatrix.report.blocks.kinds import Items, PageBlock, Prose, Section, WebPage
from jdkmatrix.report.blocks.tables import Column, DataTable, Sorted, columns
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import MeasuredCell, RunDigest, host_names, runs_section
from jdkmatrix.report.site.server_costs import RunPart, server_costs_section
from jdkmatrix.report.words.sentences import AXIS_TITLES, driven
from jdkmatrix.report.words.sentences import condition as condition_words

INDEX = "by/index.html"
KINDS = {axis: AXIS_TITLES[axis] for axis in ("server", "jdk", "executor", "workload", "host")}
_ROOT = "../../"  # from a page to the site's root


def axis_pages(runs: Sequence[RunDigest]) -> dict[str, WebPage]:
    """Build the pages by path, seen from the site's root, and the index that lists them. `runs`: newest first."""
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
        summary="Everything that was measured, by server, JDK, executor, workload and host.",
        blocks=listed,
        root="../",
        menu=[(one.title, f"#{one.id}") for one in listed],
    )
    return pages


def _by_value(axis: str, runs: Sequence[RunDigest]) -> dict[str, list[RunPart]]:
    found: dict[str, list[RunPart]] = {}
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
    """Return a sort key that puts "temurin-9" before "temurin-21.0.8"."""
    parts = re.split(r"([0-9]+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


# Each executor's entry, by the words of `_others` and of the condition.
_Rows = dict[tuple[str, ...], dict[str, Sorted]]


def _rows(axis: str, parts: Sequence[RunPart], hosts: Mapping[str, str]) -> _Rows:
    others = _others(axis)
    found: dict[tuple[tuple[str, ...], int, TaskSize, str], dict[str, tuple[MeasuredCell, RunDigest]]] = {}
    for run, cells in parts:
        for cell in cells:
            words = tuple(hosts[run.host_id] if name == "host" else getattr(cell, name) for name in others)
            place = words, cell.cpus, cell.task, driven(cell.load, cell.driver)
            newest = found.setdefault(place, {})
            if (kept := newest.get(cell.executor)) is None or (cell.usable and not kept[0].usable):
                newest[cell.executor] = cell, run
    in_order = sorted(found, key=lambda place: ([*map(_by_number, place[0])], *place[1:3], _by_number(place[3])))
    return {
        (*words, f"{condition_words(cpus, size)}, {load}"): {
            executor: _entry(*one) for executor, one in found[words, cpus, size, load].items()
        }
        for words, cpus, size, load in in_order
    }


def _others(axis: str) -> tuple[str, ...]:
    """Return the axes of `KINDS` other than the page's own and the executor."""
    return tuple(name for name in KINDS if name not in (axis, "executor"))


def _entry(cell: MeasuredCell, run: RunDigest) -> Sorted:
    """Show a cell's leading figure over that of its reference."""
    under = f"{cell.figure} over {cell.over}: {cell.under}" if cell.over else cell.under
    state = "measured" if cell.usable else "no usable fork"
    words = joined(link(cell.value or state, f"{_ROOT}{run.folder}{cell.page}"), " ", small(under))
    return Sorted(words, (cell.value or "").replace(",", ""))


def _page(axis: str, value: str, parts: Sequence[RunPart], hosts: Mapping[str, str], rows: _Rows) -> WebPage:
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
    """Build the table; axes with the same value in all rows stand above it."""
    if not rows:
        return (Prose("No cell with a server: what its runs measured is on their pages.", css=""),)
    executors = _ordered("executor", {executor for entries in rows.values() for executor in entries}, hosts)
    *others, _ = zip(*rows, strict=True)
    titled = [(KINDS[name], words) for name, words in zip(_others(axis), others, strict=True)]
    alike = [joined(f"{title}: ", strong(words[0])) for title, words in titled if len(set(words)) == 1]
    differ = [len(set(words)) > 1 for words in others]
    heads = (*(Column(title, "ends") for title, _ in compress(titled, differ)), *columns("Condition", *executors))
    body = [
        (*compress(words, (*differ, True)), *(entries.get(executor, MISSING) for executor in executors))
        for words, entries in rows.items()
    ]
    table = DataTable("Table of what was measured", heads, body, "wrap", sortable=True)
    return (Prose(Markup(" · ").join(alike), css=""), table) if alike else (table,)


def _facts(axis: str, value: str, runs: Sequence[RunDigest]) -> Iterator[tuple[str, str]]:
    """Yield what runs say about the value, and when; newest first."""
    told: dict[str, Callable[[RunDigest], str | None]] = {
        "jdk": lambda run: dict(run.jdks).get(value),
        "server": lambda run: dict(run.servers).get(value),
        "host": lambda run: f"kernel {run.kernel}",
    }
    some = runs if axis in told else ()
    found = grouped((words, run.started_at) for run in some if (words := told[axis](run)))
    for words, days in found.items():
        yield words, moment(days[0]) if len(days) == 1 else f"{moment(days[-1])} to {moment(days[0])}"
