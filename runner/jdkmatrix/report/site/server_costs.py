"""The cost of the same answer on each server: CPU per request where one run loaded several of them alike. Pure.

Nothing else compares servers with each other, and this names no winner: they differ in more than their threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.quantities import MISSING, digits, plural
from jdkmatrix.domain.servers import own_pool, server_kind, virtual_of
from jdkmatrix.report.blocks.inline import joined, link, say, small
from jdkmatrix.report.blocks.kinds import PageBlock, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.site.digest import MeasuredCell, RunDigest
from jdkmatrix.report.words.numbers import Figure, missing, with_interval
from jdkmatrix.report.words.sentences import condition, driven

_COLUMNS = columns("Server", "Own pool|µs#", "Virtual threads|µs#", "What differs=")

# The cells of a server's pool and of its virtual threads; None for one with no cell, or a fork that missed the rate.
ServerCost = tuple[MeasuredCell | None, MeasuredCell | None]
RunPart = tuple[RunDigest, Sequence[MeasuredCell]]  # with those cells that a page is about


def server_costs(
    parts: Sequence[RunPart], hosts: Mapping[str, str]
) -> dict[str, tuple[RunDigest, Mapping[str, ServerCost]]]:
    """Find, by condition in words, the newest run in which at least two servers held one rate, and these servers.

    `parts`: newest first; `hosts`: their words.
    """
    found: dict[str, tuple[RunDigest, Mapping[str, ServerCost]]] = {}
    for run, cells in parts:
        held: dict[str, dict[str, dict[str, MeasuredCell]]] = {}
        for cell in cells:
            if cell.rate:
                load = driven(cell.rate.words, cell.driver)
                alike = f"{cell.jdk}, {condition(cell.cpus, cell.task)}, {load}, on {hosts[run.host_id]}"
                held.setdefault(alike, {}).setdefault(cell.server, {})[cell.executor] = cell
        for alike, servers in held.items():
            costs = {server: cost for server, arms in servers.items() if any(cost := _cost(server, arms))}
            if len(costs) > 1:
                found.setdefault(alike, (run, costs))
    return found


def _cost(server: str, arms: Mapping[str, MeasuredCell]) -> ServerCost:
    """Return the server's own pool as it comes and its arm of virtual threads; an own "pool" may itself be virtual."""
    own = own_pool(server)
    virtual = (arms[name] for name in (virtual_of(server), "virtual", own) if name in arms and is_virtual(name))
    return None if is_virtual(own) else arms.get(own), next(virtual, None)


def server_costs_section(parts: Sequence[RunPart], hosts: Mapping[str, str], root: str) -> Section | None:
    """Build the section; None where no run loaded two servers alike. `root` leads to the site's folder."""
    blocks: list[PageBlock] = []
    for words, (run, servers) in server_costs(parts, hosts).items():
        folder = f"{root}{run.folder}"
        blocks.append(Prose(joined(f"{words}: run ", link(run.run_id, f"{folder}index.html")), css=""))
        rows = [_row(server, cost, run, folder) for server, cost in servers.items()]
        label = f"Table of CPU per request on each server, {words}"
        blocks.append(DataTable(label, _COLUMNS, rows, "wrap", sortable=True))
    return Section("servers", "CPU per request on each server", blocks, say("server_costs")) if blocks else None


def _row(server: str, cost: ServerCost, run: RunDigest, folder: str) -> tuple[Cell, ...]:
    """Build a server's row. An application that is not ours brings along what it answers with."""
    kind, release = server_kind(server), dict(run.servers).get(server, "")
    own = {cell.workload for cell in cost if cell} & dict(run.own).keys()
    figures = [_figure(cell, folder) for cell in cost]
    if is_virtual(own_pool(server)):
        figures[0] = missing("this server has no pool")
    return joined(server, " ", small(release)), *figures, kind.differs if kind and not own else MISSING


def _figure(cell: MeasuredCell | None, folder: str) -> Figure:
    if cell is None or cell.rate is None:
        return missing("not measured, or a fork missed the rate")
    cpu, page = cell.rate.cpu, f"{folder}{cell.page}"
    told = f"{plural(cell.rate.not_steady, 'fork')} not steady" if cell.rate.not_steady else ""
    if cpu.low is None or cpu.high is None:
        return Figure(link(digits(cpu.value, 3), page), cpu.value, under=told)
    value, low, high = with_interval(cpu.value, cpu.low, cpu.high)
    return Figure(link(value, page), cpu.value, under=", ".join(filter(None, (f"{low}–{high}", told))))
