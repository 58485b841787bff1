"""`matrix plan`: show what a run would do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.scenarios import chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.terminal import escape
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import delay_words, plural, work_words
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.catalogue import Catalogue
from jdkmatrix.jdks.own import load_with_own
from jdkmatrix.jdks.resolve import resolve
from jdkmatrix.provision.project import find_project
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.capacities import bases_s
from jdkmatrix.run.impossible import impossible_here, none_here, possible_bases
from jdkmatrix.run.plan import Plan, Stage, estimate_s, make_plan, stages
from jdkmatrix.subjects.kinds import kind_of

_ROWS_AT_MOST = 40  # nobody reads a longer table
_NAMES_AT_MOST = 4

_AXES: dict[str, Callable[[CellKey], str]] = {
    "workload": lambda key: key.served,
    "JDK": lambda key: key.jdk,
    "CPUs": lambda key: str(key.cpus),
    "burn µs": lambda key: str(key.burn_us),
    "delay µs": lambda key: str(key.wait_us),
    "load": lambda key: key.load,
}
_KEPT = ("workload", "load")  # in rows that stand for several conditions


@dataclass(frozen=True)
class _StageEstimate:
    """A stage as far as this host can measure it. `bases`: the cells measured before it, one fork each, because its
    loads are shares of what they do, and no earlier stage has them."""

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
        impossible = impossible_here(matrix, stage.profile, stage.cells, topology, catalogue)
        plan = make_plan(stage.cells, stage.profile, seed=seed, impossible=impossible)
        possible = possible_bases(matrix, stage.profile, stage.cells, topology, catalogue)
        bases = tuple(cell for cell in possible if cell not in before)
        first_s = bases_s(matrix, stage.profile, bases)
        longest = stage.profile.model_copy(update={"rounds": stage.profile.max_rounds or stage.profile.rounds})
        least_s = first_s + estimate_s(matrix, stage.profile, plan.sure)
        most_s = first_s + estimate_s(matrix, longest, plan.forks)
        yield _StageEstimate(stage, plan, bases, first_s, least_s, most_s)
        before.update(stage.cells, bases)


def show(options: Options, *, as_json: bool) -> None:
    """Print cells, order and estimate; measure nothing, and do not use the network.

    Raises:
        MatrixError: as chosen_here; or none of the cells can be measured here.
    """
    project = find_project()
    chosen = chosen_here(project, options)
    matrix, options = chosen.matrix, chosen.options
    seed = options.order_seed()
    catalogue = load_with_own(project.jdks, matrix.jdk_homes)
    ahead = list(_ahead(matrix, stages(matrix, options.profile), seed, catalogue))
    cells = [cell for one in ahead for cell in one.plan.cells]
    not_testable = [entry for one in ahead for entry in one.plan.not_testable]
    planned = {fork.key.jdk for one in ahead for fork in one.plan.forks}
    to_fetch = [
        jdk
        for jdk in dict.fromkeys([*(cell.jdk for cell in cells if cell.jdk in planned), matrix.driver.jdk])
        if resolve(catalogue.entry(jdk)) is None
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
    console = console_here()
    if chosen.why:
        console.print(escape(chosen.why))
    for one in ahead:
        _show_stage(one, matrix, console)
    if len(ahead) > 1:
        console.print(f"{len(ahead)} stages, one after the other: about {span(least_s)}.")
    if options.seed is None:
        console.print("Every run draws a new order of forks and records its seed; --seed N repeats an order.")
    else:
        console.print(f"Forks run in the order of seed {options.seed}.")
    if repeats_max:
        console.print(
            "A fork that a fault of the host spoils is measured again, with its whole block where forks take turns, at "
            f"most {plural(repeats_max, 'time')}: about {span(repeated_s)} in the worst case."
        )
    for reason, count in Counter(entry.reason for entry in not_testable).items():
        cells_are = f"{plural(count, 'cell')} {'is' if count == 1 else 'are'}"
        console.print(f"[yellow]{cells_are} not testable here: {escape(reason)}")
    if to_fetch:
        console.print(f"Not here yet; a run will try to fetch: {', '.join(to_fetch)}.")


def _show_stage(one: _StageEstimate, matrix: Matrix, console: Console) -> None:
    plan, profile = one.plan, one.stage.profile
    table, is_whole = _table(plan, one.stage.name)
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
        console.print(f"{plural(count, 'cell')} measured fork after fork, not in turns: {escape(reason)}.")
    if profile.stopping:
        console.print(
            f"Blocks are added until every leading ratio is known to ± {profile.stopping.precision * 100:g} %, near 1 "
            f"up to twice as precisely, up to {profile.stopping.max_blocks}: "
            f"{plural(len(plan.forks), 'fork')}, about {span(one.most_s)}."
        )


def _table(plan: Plan, profile: str) -> tuple[Table, bool]:
    """Build a table with a row per condition, and True; or if these are too many, per workload and load, and False."""
    varying = [name for name, of in _AXES.items() if len({of(cell) for cell in plan.cells}) > 1]
    rows = _rows(plan.cells, varying)
    is_whole = len(rows) <= _ROWS_AT_MOST
    if not is_whole:
        rows = _rows(plan.cells, [name for name in varying if name in _KEPT])
    shared = [words for name in _AXES if name not in varying and (words := _shared(name, plan.cells[0]))]
    table = Table(title=f"profile {profile}: {', '.join(shared)}" if shared else f"profile {profile}")
    for name in (*varying, "executors" if is_whole else "cells", "forks"):
        table.add_column(name, overflow="fold", no_wrap=name in ("JDK", "load"))
    forks, impossible = Counter(fork.key for fork in plan.sure), {entry.key for entry in plan.not_testable}
    for cells in rows:
        told = [_values(map(_AXES[name], cells)) for name in varying]
        what = ", ".join(dict.fromkeys(cell.executor for cell in cells)) if is_whole else str(len(cells))
        number = sum(forks[cell] for cell in cells)
        none = impossible.issuperset(cells)
        table.add_row(*told, what, "not testable" if none else str(number), style="dim" if none else None)
    return table, is_whole


def _rows(cells: Sequence[CellKey], axes: Sequence[str]) -> list[list[CellKey]]:
    """Group the cells that are alike on these axes, in their order."""
    return list(grouped((tuple(_AXES[name](cell) for name in axes), cell) for cell in cells).values())


def _shared(name: str, key: CellKey) -> str:
    """Return the value that all cells share, for the title; empty where it goes without saying."""
    match name:
        case "CPUs":
            return plural(key.cpus, "CPU")
        case "burn µs":
            return f"{work_words(key.burn_us)} of work" if key.burn_us else ""
        case "delay µs":
            return delay_words(key.wait_us) if key.wait_us else ""
        case _:
            return _AXES[name](key)


def _values(values: Iterable[str]) -> str:
    found = list(dict.fromkeys(values))
    if (len(found) <= _NAMES_AT_MOST and all(value.isdigit() for value in found)) or len(found) == 1:
        return ", ".join(found)
    return f"{len(found)}: {found[0]} … {found[-1]}" if found[0].isdigit() else str(len(found))
