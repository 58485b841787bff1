"""From one cell without a server to what its page shows. Pure; logs were read before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from jdkmatrix.domain.quantities import plural
from jdkmatrix.experiments.base import Spread
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.kinds import Fact
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.experiment_cells import experiment_of
from jdkmatrix.report.experiments.fork_view import fork_view
from jdkmatrix.report.experiments.views import Arm, ExperimentCellView
from jdkmatrix.report.experiments.words import (
    STATUS_MEANING,
    given,
    outcome_views,
    spread_figure,
)
from jdkmatrix.report.html.names import file_stem
from jdkmatrix.report.run_page.attempts import Logs
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.sentences import program_condition
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS
from jdkmatrix.store.cells import CellRecord


def view_experiment_cell(
    cell: CellStats, experiments: Cells, run: RunRecord, order: Sequence[str], logs: Logs
) -> ExperimentCellView:
    """`order`: of executors, for their colours."""
    key, record = cell.key, cell.record
    kind = experiment_of(record.parameters)
    return ExperimentCellView(
        cell_id=key.cell_id,
        title=f"{key.workload}, {key.executor} on {key.jdk}",
        condition=f"Without a server, {program_condition(key)}",
        load_words=given(cell).words(),
        kind_words=BY_NAME[kind].PAGE.introduction if kind else "",
        status=STATUS_WORDS[cell.best_status],
        status_class=STATUS_CLASS[cell.best_status],
        status_title=STATUS_MEANING[cell.best_status],
        outcomes=outcome_views(record.forks),
        tiles=tuple((spread.title, _unit(spread), _tile(spread)) for spread in cell.spreads),
        tiles_note="Medians over the usable forks; beneath them the minimum and the maximum." if cell.spreads else None,
        asked=_asked(record),
        leading=_leading_name(cell, experiments),
        arms=_arms(cell, experiments, order),
        forks=tuple(fork_view(fork, key, run, logs.get((fork.fork, fork.attempt), ())) for fork in record.forks),
    )


def _unit(spread: Spread) -> str:
    return "per second" if spread.unit == "1/s" else spread.unit


def _tile(spread: Spread) -> Figure:
    """It says beneath what it rests on."""
    figure = spread_figure(spread)
    forks = plural(spread.forks, "fork")
    return replace(figure, under=f"{figure.under}, {forks}" if figure.under else forks)


def _asked(record: CellRecord) -> tuple[Fact, ...]:
    """Its table of matrix.toml, less what is not set."""
    return tuple(
        Fact(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in record.parameters.items()
        if value is not None
    )


def _leading_name(cell: CellStats, experiments: Cells) -> str:
    """The leading figure of the cell, or of another arm where this one has none."""
    peers = [cell, *(other for other in experiments if other.key.group == cell.key.group)]
    first = next((peer.spreads[0] for peer in peers if peer.spreads), None)
    return f"{first.name}, {_unit(first)}" if first and first.unit else first.name if first else "figure"


def _arms(cell: CellStats, experiments: Cells, order: Sequence[str]) -> tuple[Arm, ...]:
    """Every arm under the same conditions."""
    found = []
    for key in (key for key in experiments.keys if key.group == cell.key.group):
        other = experiments.get(key)
        leading = other.spreads[:1] if other else ()
        found.append(
            Arm(
                executor=key.executor,
                slot=order.index(key.executor),
                href=f"{file_stem(key.cell_id)}.html" if other and key != cell.key else None,
                leading=spread_figure(leading[0]) if leading else missing("no fork can be used"),
                outcomes=outcome_views(other.record.forks) if other else (),
                current=key == cell.key,
            )
        )
    return tuple(found)
