"""The experiments of a run, a section for each kind: first the results, in sentences made of figures, then charts,
and a table with a row for each cell. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import digits, measure, plural
from jdkmatrix.experiments.base import CompleteCell, Sentences, Spread, at
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.report.blocks.inline import cell_page, element, joined, say, small
from jdkmatrix.report.blocks.kinds import AnswerBox, AnswerBoxes, Fact, FactList, PageBlock, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Sorted, axis_column, columns
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.shown import named, state_badge
from jdkmatrix.report.cells.slices import ExperimentSlice, experiment_of, of_kinds
from jdkmatrix.report.experiments.bars import bar_groups
from jdkmatrix.report.experiments.pinning import pinning_blocks, stacks_of_kind
from jdkmatrix.report.experiments.words import ended, endings, expectation_of, spread_figure, titled
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.sentences import STATUS_WORDS, State, size_parts
from jdkmatrix.store.cells import CellRecord

_AXES = ("jdk", "workload", "load", "cpus", "burn_us", "wait_us")


def figures_table(piece: ExperimentSlice) -> DataTable:
    """Build the table of all figures, with `expected` and the ratio to it before the others."""
    axes = [axis for axis in _AXES if piece.varies(axis)]
    figures = _figures(piece)
    by_key = {cell.key: cell for cell in piece.cells}
    return DataTable(
        label=f"Table of {piece.page.title}",
        columns=(
            Column("Arm", head=True),
            *(Column("Experiment") if axis == "workload" else axis_column(axis) for axis in axes),
            Column("Outcome", "ends"),
            Column("Expected", "num"),
            Column(joined("Measured ", small("/ expected")), "num"),
            *(Column(titled(one.title, one.unit, "name"), "num") for one in figures.values()),
            Column(joined("Forks ", small("usable/ran"))),
        ),
        rows=[_row(piece, key, by_key.get(key), figures) for key in piece.keys],
        css="figures",
        sortable=True,
        tall=True,
    )


def _figures(piece: ExperimentSlice) -> dict[str, Spread]:
    """Return every figure that a cell has, by its name, in the order of the experiment."""
    found = {spread.name: spread for cell in piece.cells for spread in cell.spreads}
    return {one.id: found[one.id] for one in BY_NAME[piece.kind].METRICS if one.id in found}


def _row(piece: ExperimentSlice, key: CellKey, cell: CellStats | None, figures: Iterable[str]) -> tuple[Cell, ...]:
    state = cell.state if cell else State.NOT_MEASURED
    forks, usable = (cell.record.forks, cell.usable) if cell else ((), ())
    why = "this experiment has no such figure"
    if not usable:
        why = "no fork has a figure" if state is State.OK else f"{state.value}: no usable fork"
    spreads = {spread.name: spread for spread in cell.spreads} if cell else {}
    lost = ((fork.status, reason.message) for fork in forks if not fork.usable for reason in fork.reasons)
    reasons = dict.fromkeys(f"{STATUS_WORDS[of]}: {message}" for of, message in lost)
    counts = f"{sum(fork.conclusive for fork in forks)}/{len(forks)}"
    return (
        named(key.executor, piece.order, cell_page(key) if cell else None),
        *(_axis(piece, axis, key) for axis in _AXES if piece.varies(axis)),
        joined(*ended(forks), *(element("p", text, css="reason") for text in reasons)),
        *_against(cell),
        *(spread_figure(spreads[name]) if name in spreads else missing(why) for name in figures),
        Sorted(joined(state_badge(cell), " ", small(counts)), f"{state.value} {counts}"),
    )


def _axis(piece: ExperimentSlice, axis: str, key: CellKey) -> Cell:
    if axis == "load":
        return Sorted(element("span", piece.load_words(key), title=key.load), key.load)
    value = getattr(key, axis)
    return Figure(f"{value:,}", value) if isinstance(value, int) else str(value)


def _against(cell: CellStats | None) -> tuple[Figure, Figure]:
    """Return the expected value, with the name of its figure, and measured over expected."""
    spread = next((one for one in cell.spreads if one.expected is not None), None) if cell else None
    if spread is None or spread.expected is None:
        return (missing("no value is expected for its figures"),) * 2
    expected = Figure(measure(spread.expected, spread.unit), spread.expected, f"of {spread.name}", spread.name)
    if (ratio := spread.over_expected) is None:
        return expected, missing(f"0 is expected: {measure(spread.median, spread.unit)} was measured")
    return expected, Figure(digits(ratio, 3), ratio, f"{spread.name}: median over forks / expected")


def answers(piece: ExperimentSlice) -> Iterator[AnswerBox]:
    """Yield one answer per JDK. Figures are of forks that ran to their end; how others ended comes after them."""
    for jdk in piece.jdks:
        cells = [cell for cell in piece.cells if cell.key.jdk == jdk]
        complete = [
            CompleteCell(
                key=cell.key,
                load=cell.tasks,
                table=cell.table,
                place=piece.place(cell.key, without=("jdk",)),
                subject=piece.subject(cell.key),
                seen=cell.seen,
                spreads={one.name: one for one in cell.spreads},
            )
            for cell in cells
            if cell.usable and all(fork.result.outcome == "complete" for fork in cell.usable if fork.result)
        ]
        sentences = (*BY_NAME[piece.kind].sentences(complete), *_ends(piece, cells))
        nothing = (("", "No cell of this JDK has a usable fork."),)
        yield AnswerBox(jdk, sentences or nothing)


def _ends(piece: ExperimentSlice, cells: Iterable[CellStats]) -> Sentences:
    """Say how cells ended that were not complete."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        name = piece.place(cell.key, without=("jdk",))
        if piece.by_subject:
            parts = (piece.subject(cell.key), piece.place(cell.key, without=("jdk", "workload")))
            name = ", ".join(filter(None, parts))
        for outcome in endings(cell.record.forks):
            if outcome.css != "ok":
                ended = (outcome.word, ": ".join(filter(None, (outcome.where, outcome.message))))
                found.setdefault(ended, []).append(name)
    for (word, why), names in found.items():
        yield word, f"{'; '.join(names)} ({why})." if why else f"{'; '.join(names)}."


def expectations(piece: ExperimentSlice) -> Iterator[Fact]:
    """Yield each formula once, with its source and the cells that it is for."""
    found = grouped(
        (expected, (piece.subject(cell.key), cell.key.executor, cell.key.jdk))
        for cell in piece.cells
        for fork in cell.record.forks
        if fork.readings and (expected := expectation_of(fork))
    )
    for (formula, source), cells in found.items():
        names = (", ".join(dict.fromkeys(column)) for column in zip(*cells, strict=True))
        yield Fact(formula, joined(source, small("; ".join(names))))


def overhead(piece: ExperimentSlice) -> Iterator[PageBlock]:
    """Show the cost of recording. Ratios are taken inside blocks: median, and least to most."""
    rows: list[tuple[Cell, ...]] = []
    plain = [cell for cell in piece.cells if cell.record.parameters.get("parks") is False]
    for watched in piece.cells:
        unwatched = next((cell for cell in plain if _asked(cell) == _asked(watched)), None)
        if watched.record.parameters.get("parks") is True and unwatched is not None:
            condition = f"{watched.key.jdk}, {piece.place(watched.key, without=('workload', 'jdk'))}"
            rows.append((condition, *(_ratio(watched, unwatched, keys) for keys in ("throughput_per_s", "cpu_s"))))
    if rows:
        yield Prose(say("cost_of_recording"), "Cost of recording")
        yield DataTable("Cost of recording", columns("Condition", "Throughput|ratio#", "CPU time|ratio#"), rows)


def _asked(cell: CellStats) -> tuple[CellKey, dict[str, object]]:
    """Return its condition, and what it is asked besides being watched."""
    rest = {name: value for name, value in cell.record.parameters.items() if name != "parks"}
    return cell.key.model_copy(update={"workload": ""}), rest


def _ratio(watched: CellStats, unwatched: CellStats, keys: str) -> Figure:
    above, below = (
        {fork.fork: value for fork in one.usable if (value := at(fork.result and fork.result.seen, keys)) is not None}
        for one in (watched, unwatched)
    )
    ratios = [value / below[block] for block, value in above.items() if below.get(block)]
    if not ratios:
        return missing("no block has a usable fork of both")
    middle = median(ratios)
    under = f"{min(ratios):.2f}–{max(ratios):.2f}" if min(ratios) != max(ratios) else None
    return Figure(f"{middle:.2f}", middle, f"median of {plural(len(ratios), 'block')}", under)


def experiment_sections(experiments: Cells) -> tuple[Section, ...]:
    return tuple(
        Section(
            f"experiment-{piece.kind}",
            joined(f"{piece.page.title} ", element("span", "without a server", css="under")),
            tuple(_blocks(piece)),
            f"{piece.page.introduction}{_shared(piece)}",
        )
        for piece in of_kinds(experiments)
    )


def _blocks(piece: ExperimentSlice) -> Iterator[PageBlock]:
    yield AnswerBoxes(tuple(answers(piece)))
    if facts := tuple(expectations(piece)):
        yield from (Prose(heading="What is expected"), FactList(facts, "expected"))
        yield Prose(f"The program writes each down before it measures. {piece.page.glossary}")
    yield from pinning_blocks(piece)
    yield from stacks_of_kind(piece)
    yield from bar_groups(piece)
    yield from overhead(piece)
    yield from (Prose(heading="All figures"), figures_table(piece), Prose(say("medians")))


def _shared(piece: ExperimentSlice) -> str:
    """Say what all cells share, so that the table need not repeat it."""
    key = piece.keys[0]
    words = {"workload": key.workload, "jdk": key.jdk, "load": piece.load_words(key), **size_parts(key)}
    told = ", ".join(text for axis, text in words.items() if text and not piece.varies(axis))
    return f" In every cell: {told}." if told else ""


def asked_section(record: CellRecord) -> Section:
    """Show its table of matrix.toml, less what is not set."""
    kind = experiment_of(record.parameters)
    asked = [
        Fact(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in record.parameters.items()
        if value is not None
    ]
    return Section("asked", "What was asked", (FactList(asked),), BY_NAME[kind].PAGE.introduction if kind else "")
