"""`matrix plan`: what a run would do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from jdkmatrix.cli.plan_table import plan_table
from jdkmatrix.cli.scenarios import chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.terminal import escape
from jdkmatrix.config.cell_loads import basis_cells
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.catalogue import Catalogue, load_catalogue
from jdkmatrix.jdks.own import with_own
from jdkmatrix.jdks.resolve import resolve
from jdkmatrix.provision.project import find_project
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.capacities import bases_s
from jdkmatrix.run.impossible import impossible_here, none_here
from jdkmatrix.run.plan import Plan, Stage, estimate_s, make_plan, stages
from jdkmatrix.subjects.kinds import kind_of


@dataclass(frozen=True)
class _StageEstimate:
    """A stage as this host can measure it. `bases`: what is measured before it, one fork each, since its loads are
    shares of what they do, and no stage before has them."""

    stage: Stage
    plan: Plan
    bases: tuple[CellKey, ...]
    bases_s: float
    least_s: float
    most_s: float

    @property
    def as_json(self) -> dict[str, Any]:
        profile = self.stage.profile
        return {
            "profile": self.stage.name,
            "blocks": profile.blocks,
            "max_blocks": profile.blocks_at_most,
            "precision": profile.stopping.precision if profile.stopping else None,
            "protocol": profile.protocol,
            "windows": profile.windows,
            "window_s": profile.window_s,
            "cells": [cell.cell_id for cell in self.plan.cells],
            "measured_first": [cell.cell_id for cell in self.bases],
            "estimated_s": self.least_s,
        }


def _ahead(matrix: Matrix, planned: Sequence[Stage], seed: int, catalogue: Catalogue) -> Iterator[_StageEstimate]:
    topology = read_topology()
    before: set[CellKey] = set()
    for stage in planned:
        impossible = impossible_here(matrix, stage.cells, topology, catalogue)
        plan = make_plan(stage.cells, stage.profile, seed=seed, impossible=impossible)
        bases = tuple(cell for cell in basis_cells(matrix, stage.cells) if cell not in before)
        first_s = bases_s(matrix, stage.profile, bases)
        least_s, most_s = (first_s + estimate_s(matrix, stage.profile, forks) for forks in (plan.sure, plan.forks))
        yield _StageEstimate(stage, plan, bases, first_s, least_s, most_s)
        before.update(stage.cells, bases)


def show(options: Options, *, as_json: bool) -> None:
    """Print cells, order and estimate; starts nothing and asks no network.

    Raises:
        MatrixError: as chosen_here; or none of the cells can be measured here.
    """
    project = find_project()
    chosen = chosen_here(project, options)
    matrix, options = chosen.matrix, chosen.options
    seed = options.order_seed()
    catalogue = with_own(load_catalogue(project.jdks), matrix.jdk_homes)
    ahead = list(_ahead(matrix, stages(matrix, options.profile), seed, catalogue))
    cells = [cell for one in ahead for cell in one.plan.cells]
    not_testable = [entry for one in ahead for entry in one.plan.not_testable]
    planned = {fork.key.jdk for one in ahead for fork in one.plan.forks}
    to_fetch = [
        jdk
        for jdk in dict.fromkeys(cell.jdk for cell in cells)
        if jdk in planned and resolve(catalogue.entry(jdk)) is None
    ]
    if not planned:
        raise none_here(cells, {entry.key: entry.reason for entry in not_testable})
    least_s, most_s = sum(one.least_s for one in ahead), sum(one.most_s for one in ahead)
    repeats_max = matrix.measure.repeats_max
    repeated_s = most_s * (1 + repeats_max)
    if as_json:
        profile = matrix.profiles[options.profile]
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
                    "stages": [one.as_json for one in ahead],
                    "cells": [{"cell_id": cell.cell_id, **cell.model_dump()} for cell in cells],
                    "not_testable": [{"cell_id": n.key.cell_id, "reason": n.reason} for n in not_testable],
                    "measured_first": [cell.cell_id for one in ahead for cell in one.bases],
                    "order": [label for one in ahead for label in one.plan.order],
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
    for one in ahead:
        _show_stage(one, matrix, console)
    if len(ahead) > 1:
        console.print(f"{len(ahead)} stages, one after the other: about {span(least_s)}.")
    if options.seed is None:
        console.print("Every run draws a new order of forks and records its seed; --seed N repeats an order.")
    else:
        console.print(f"In the order of seed {options.seed}.")
    if repeats_max:
        console.print(
            "A fork that a fault of the host spoils is measured again, with its whole block where forks take turns, at "
            f"most {plural(repeats_max, 'time')}: about {span(repeated_s)} at the very most."
        )
    for reason, count in Counter(entry.reason for entry in not_testable).items():
        cells_are = f"{plural(count, 'cell')} {'is' if count == 1 else 'are'}"
        console.print(f"[yellow]{cells_are} not testable here: {escape(reason)}")
    if to_fetch:
        console.print(f"Not here yet; a run will try to fetch: {', '.join(to_fetch)}.")


def _show_stage(one: _StageEstimate, matrix: Matrix, console: Console) -> None:
    plan, profile = one.plan, one.stage.profile
    table, is_whole = plan_table(plan, one.stage.name)
    console.print(table)
    if not is_whole:
        console.print("matrix plan --json lists every cell.")
    lengths = {kind_of(matrix, cell).length_words(matrix, profile, cell) for cell in plan.cells}
    if one.bases:
        console.print(
            f"First {plural(len(one.bases), 'fork')}, one for each condition, to measure the capacity that sizes the "
            f"loads: about {span(one.bases_s)}."
        )
    console.print(
        f"{plural(len(plan.cells), 'cell')}, {plural(len(plan.sure), 'fork')} in {plural(profile.blocks, 'block')}, "
        f"{' or '.join(sorted(lengths))} each: about {span(one.least_s)}."
    )
    together = plan.cells if profile.in_turns else ()
    alone = Counter(why for cell in together if (why := kind_of(matrix, cell).why_no_turns(matrix, cell)))
    for reason, count in alone.items():
        console.print(f"{plural(count, 'cell')}: fork after fork, not in turns: {escape(reason)}.")
    if profile.stopping:
        console.print(
            f"Blocks are added until every ratio is known to ± {profile.stopping.precision:.1%}, up to "
            f"{profile.stopping.max_blocks}: {plural(len(plan.forks), 'fork')}, about {span(one.most_s)}."
        )
