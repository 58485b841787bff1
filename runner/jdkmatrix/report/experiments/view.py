"""From the experiments of a run to what its page shows of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice, of_kinds
from jdkmatrix.report.experiments.answers import answers
from jdkmatrix.report.experiments.bar_groups import bar_groups
from jdkmatrix.report.experiments.expectations import expectations
from jdkmatrix.report.experiments.overhead import overhead
from jdkmatrix.report.experiments.pinning_heat import RULE, heat_tables, legend
from jdkmatrix.report.experiments.stacks import pinned_views
from jdkmatrix.report.experiments.table import table
from jdkmatrix.report.experiments.views import ExperimentKindView, ExperimentsView, Legend
from jdkmatrix.report.experiments.words import load_of


def view_experiments(experiments: Cells, order: Sequence[str]) -> ExperimentsView:
    """`order`: of executors, for their colours; without an experiment there are no blocks."""
    blocks = tuple(_block(piece, order) for piece in of_kinds(experiments))
    return ExperimentsView(blocks, heat_rule=RULE, heat_legend=legend())


def _block(piece: ExperimentSlice, order: Sequence[str]) -> ExperimentKindView:
    present = {key.executor for key in piece.keys}
    return ExperimentKindView(
        id=f"experiment-{piece.kind}",
        title=piece.page.title,
        words=piece.page.introduction,
        constant=_constant(piece),
        answers=answers(piece),
        expectations=expectations(piece),
        glossary=piece.page.glossary,
        heat=heat_tables(piece),
        pinned=pinned_views(piece),
        legend=tuple(Legend(name, slot) for slot, name in enumerate(order) if name in present),
        groups=bar_groups(piece, order),
        overhead=overhead(piece),
        table=table(piece, order),
    )


def _constant(piece: ExperimentSlice) -> str:
    """What all cells share, so that the table need not repeat it."""
    key = piece.keys[0]
    words = {
        "workload": key.workload,
        "jdk": key.jdk,
        "load": load_of(piece, key),
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": f"{work_words(key.burn_us)} of work per task" if key.burn_us else "",
        "wait_us": f"answers after {wait_words(key.wait_us)}" if key.wait_us else "",
    }
    return ", ".join(text for axis, text in words.items() if text and not piece.varies(axis))
