"""`matrix plan`: what a run would do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jdkmatrix.cli.progress import clock
from jdkmatrix.cli.scenarios import chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.resolve import Available, resolve
from jdkmatrix.loads.cell_loads import basis_cells
from jdkmatrix.provision.project import find_project
from jdkmatrix.run.plan import Plan, estimate_s, make_plan, select_cells
from jdkmatrix.run.prepare import too_few_cpus
from jdkmatrix.subjects.kinds import kind_of
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.quantities import plural


def show(options: Options, *, as_json: bool) -> None:
    """Print cells, order and estimate; starts nothing and asks no network."""
    project = find_project()
    chosen = chosen_here(project, options)
    matrix, options = chosen.matrix, chosen.options
    profile = matrix.profiles[options.profile]
    cells = select_cells(matrix, options.profile, options.only)
    seed = options.order_seed()
    plan = make_plan(cells, profile, seed=seed, impossible=too_few_cpus(matrix, cells, read_topology()))
    catalogue = load_catalogue(project.jdks)
    planned = {fork.key.jdk for fork in plan.forks}
    to_fetch = [
        jdk
        for jdk in dict.fromkeys(cell.jdk for cell in plan.cells)
        if jdk in planned and not isinstance(resolve(catalogue.entry(jdk), allow_fetch=False), Available)
    ]
    least_s, most_s = (estimate_s(matrix, profile, forks) for forks in (plan.sure, plan.forks))
    repeats_max = matrix.measure.repeats_max
    repeated_s = most_s * (1 + repeats_max)
    if as_json:
        print(
            json.dumps(
                {
                    "profile": options.profile,
                    "scenario": chosen.scenario.model_dump() if chosen.scenario else None,
                    "seed": seed,
                    "seed_asked_for": options.seed is not None,
                    "blocks": profile.blocks,
                    "max_blocks": profile.blocks_at_most,
                    "precision": profile.stopping.precision if profile.stopping else None,
                    "windows": profile.windows,
                    "window_s": profile.window_s,
                    "cells": [{"cell_id": cell.cell_id, **cell.model_dump()} for cell in plan.cells],
                    "not_testable": [{"cell_id": n.key.cell_id, "reason": n.reason} for n in plan.not_testable],
                    "measured_first": [cell.cell_id for cell in basis_cells(matrix, plan.cells)],
                    "order": plan.order,
                    "jdks_to_fetch": to_fetch,
                    "estimated_s": least_s,
                    "estimated_max_s": most_s,
                    "repeats_max": repeats_max,
                    "estimated_with_repeats_max_s": repeated_s,
                },
                indent=2,
            )
        )
        return
    console = Console()
    if chosen.why:
        console.print(escape(chosen.why))
    if len(plan.cells) > _CELLS_LISTED:
        console.print(_summed_up(plan, options.profile))
        console.print("matrix plan --json lists every cell.")
    else:
        console.print(_table(plan, options.profile))
    lengths = {kind_of(cell).length_words(matrix, profile, cell) for cell in plan.cells}
    bases = basis_cells(matrix, plan.cells)
    if bases:
        console.print(
            f"First {plural(len(bases), 'fork')}, one for each condition, to measure the capacity that sizes the loads."
        )
    console.print(
        f"{len(plan.cells)} cells, {len(plan.sure)} forks in {profile.blocks} blocks, "
        f"{' or '.join(sorted(lengths))} each: about {clock(least_s)}."
    )
    if options.seed is None:
        console.print("Every run draws a new order of forks and records its seed; --seed N repeats an order.")
    else:
        console.print(f"In the order of seed {options.seed}.")
    if profile.stopping:
        console.print(
            f"Blocks are added until every ratio is known to ± {profile.stopping.precision:.1%}, up to "
            f"{profile.stopping.max_blocks}: {len(plan.forks)} forks, about {clock(most_s)}."
        )
    if repeats_max:
        console.print(
            f"A fork that a fault of the host spoils is measured again, at most {repeats_max} times: "
            f"about {clock(repeated_s)} at the very most."
        )
    for reason, count in Counter(entry.reason for entry in plan.not_testable).items():
        console.print(f"[yellow]{count} cells are not testable here: {escape(reason)}")
    if to_fetch:
        console.print(f"Not here yet; a run will try to fetch: {', '.join(to_fetch)}.")


# More than these are no table that anybody reads.
_CELLS_LISTED = 60
_NAMES_LISTED = 4


def _summed_up(plan: Plan, profile: str) -> Table:
    """A line for the cells of each workload and load."""
    table = Table(title=f"profile {profile}")
    for heading in ("workload", "load", "JDKs", "executors", "CPUs", "burn µs", "wait µs", "cells", "forks"):
        table.add_column(heading, overflow="fold")
    groups: dict[tuple[str, str], list[CellKey]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.served, cell.load), []).append(cell)
    forks = Counter((fork.key.served, fork.key.load) for fork in plan.sure)
    for (served, load), cells in groups.items():
        axes = [_values(cells, axis) for axis in ("jdk", "executor", "cpus", "burn_us", "wait_us")]
        table.add_row(served, load, *axes, str(len(cells)), str(forks[served, load]))
    return table


def _values(cells: Sequence[CellKey], axis: str) -> str:
    values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in cells))
    if len(values) <= _NAMES_LISTED:
        return ", ".join(values)
    return f"{len(values)}: {values[0]} … {values[-1]}"


def _table(plan: Plan, profile: str) -> Table:
    impossible = {entry.key for entry in plan.not_testable}
    forks = Counter(fork.key for fork in plan.sure)
    table = Table(title=f"profile {profile}")
    waits = any(cell.wait_us for cell in plan.cells)
    for heading in ("workload", "JDK", "executor", "CPUs", "burn µs", *(["wait µs"] if waits else []), "load", "forks"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "JDK")
    for cell in plan.cells:
        table.add_row(
            cell.served,
            cell.jdk,
            cell.executor,
            str(cell.cpus),
            str(cell.burn_us),
            *([str(cell.wait_us)] if waits else []),
            cell.load,
            "not testable" if cell in impossible else str(forks[cell]),
            style="dim" if cell in impossible else None,
        )
    return table
