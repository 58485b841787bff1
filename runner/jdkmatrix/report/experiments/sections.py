"""The experiments of a run, a section for each kind. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.report.blocks.inline import element, joined, say
from jdkmatrix.report.blocks.kinds import AnswerBoxes, FactList, PageBlock, Prose, Section
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice, of_kinds
from jdkmatrix.report.experiments.answers import answers
from jdkmatrix.report.experiments.bar_groups import bar_groups
from jdkmatrix.report.experiments.expectations import expectations
from jdkmatrix.report.experiments.overhead import overhead
from jdkmatrix.report.experiments.pinning_heat import pinning_blocks
from jdkmatrix.report.experiments.stacks import stacks_of_kind
from jdkmatrix.report.experiments.table import figures_table
from jdkmatrix.report.experiments.words import load_of


def experiment_sections(experiments: Cells, order: Sequence[str]) -> tuple[Section, ...]:
    """`order`: of executors, for their colours."""
    return tuple(
        Section(
            f"experiment-{piece.kind}",
            joined(f"{piece.page.title} ", element("span", "without a server", css="under")),
            tuple(_blocks(piece, order)),
            f"{piece.page.introduction}{_shared(piece)}",
        )
        for piece in of_kinds(experiments)
    )


def _blocks(piece: ExperimentSlice, order: Sequence[str]) -> Iterator[PageBlock]:
    yield AnswerBoxes(answers(piece))
    if facts := expectations(piece):
        yield from (Prose(heading="What is expected"), FactList(facts, "expected"))
        yield Prose(f"The program writes each down before it measures. {piece.page.glossary}")
    yield from pinning_blocks(piece)
    yield from stacks_of_kind(piece)
    yield from bar_groups(piece, order)
    yield from overhead(piece)
    yield from (Prose(heading="All figures"), figures_table(piece, order), Prose(say("medians")))


def _shared(piece: ExperimentSlice) -> str:
    """By all cells, so that the table need not repeat it."""
    key = piece.keys[0]
    words = {
        "workload": key.workload,
        "jdk": key.jdk,
        "load": load_of(piece, key),
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": f"{work_words(key.burn_us)} of work per task" if key.burn_us else "",
        "wait_us": f"answers after {wait_words(key.wait_us)}" if key.wait_us else "",
    }
    told = ", ".join(text for axis, text in words.items() if text and not piece.varies(axis))
    return f" In every cell: {told}." if told else ""
