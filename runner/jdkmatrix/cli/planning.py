"""`matrix plan`: what a run would do."""

from __future__ import annotations

import json
from collections import Counter

from rich.console import Console

from jdkmatrix.cli.plan_table import plan_table
from jdkmatrix.cli.scenarios import chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.terminal import escape
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.resolve import Available, resolve
from jdkmatrix.loads.cell_loads import basis_cells
from jdkmatrix.provision.project import find_project
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.plan import estimate_s, make_plan, select_cells
from jdkmatrix.run.prepare import too_few_cpus
from jdkmatrix.subjects.kinds import kind_of
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
    table, is_whole = plan_table(plan, options.profile)
    console.print(table)
    if not is_whole:
        console.print("matrix plan --json lists every cell.")
    lengths = {kind_of(cell).length_words(matrix, profile, cell) for cell in plan.cells}
    bases = basis_cells(matrix, plan.cells)
    if bases:
        console.print(
            f"First {plural(len(bases), 'fork')}, one for each condition, to measure the capacity that sizes the loads."
        )
    console.print(
        f"{plural(len(plan.cells), 'cell')}, {plural(len(plan.sure), 'fork')} in {plural(profile.blocks, 'block')}, "
        f"{' or '.join(sorted(lengths))} each: about {span(least_s)}."
    )
    if options.seed is None:
        console.print("Every run draws a new order of forks and records its seed; --seed N repeats an order.")
    else:
        console.print(f"In the order of seed {options.seed}.")
    if profile.stopping:
        console.print(
            f"Blocks are added until every ratio is known to ± {profile.stopping.precision:.1%}, up to "
            f"{profile.stopping.max_blocks}: {len(plan.forks)} forks, about {span(most_s)}."
        )
    if repeats_max:
        console.print(
            f"A fork that a fault of the host spoils is measured again, at most {repeats_max} times: "
            f"about {span(repeated_s)} at the very most."
        )
    for reason, count in Counter(entry.reason for entry in plan.not_testable).items():
        cells_are = "1 cell is" if count == 1 else f"{count} cells are"
        console.print(f"[yellow]{cells_are} not testable here: {escape(reason)}")
    if to_fetch:
        console.print(f"Not here yet; a run will try to fetch: {', '.join(to_fetch)}.")
