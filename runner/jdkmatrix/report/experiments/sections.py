"""The experiments of a run, a section for each kind: first what it came to, in sentences made of figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.experiments.base import CompleteCell, Sentences, at
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import element, joined, say, small
from jdkmatrix.report.blocks.kinds import AnswerBox, AnswerBoxes, Fact, FactList, PageBlock, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.slices import ExperimentSlice, of_kinds
from jdkmatrix.report.experiments.bars import bar_groups
from jdkmatrix.report.experiments.pinning import pinning_blocks, stacks_of_kind
from jdkmatrix.report.experiments.table import figures_table
from jdkmatrix.report.experiments.words import endings, expectation_of, given, load_of, place, seen_in
from jdkmatrix.report.words.numbers import Figure, missing


def answers(piece: ExperimentSlice) -> tuple[AnswerBox, ...]:
    """One per JDK. Figures are of forks that ran to their end; how others ended stands behind them."""
    found = []
    for jdk in piece.jdks:
        cells = [cell for cell in piece.cells if cell.key.jdk == jdk]
        complete = [_told(piece, cell) for cell in cells if _complete(cell)]
        sentences = (*BY_NAME[piece.kind].sentences(complete), *_ends(piece, cells))
        nothing = (("", "No cell of this JDK has a fork whose figures can be used."),)
        found.append(AnswerBox(jdk, sentences or nothing))
    return tuple(found)


def _told(piece: ExperimentSlice, cell: CellStats) -> CompleteCell:
    return CompleteCell(
        key=cell.key,
        load=given(cell),
        table=cell.table,
        place=place(piece, cell, without=("jdk",)),
        subject=piece.subject(cell.key),
        seen=seen_in(cell),
        spreads={one.name: one for one in cell.spreads},
    )


def _complete(cell: CellStats) -> bool:
    return bool(cell.usable) and all(result.outcome == "complete" for result in cell.usable_results)


def _ends(piece: ExperimentSlice, cells: Iterable[CellStats]) -> Sentences:
    """How cells ended that did not come to their end."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for outcome in endings(cell.record.forks):
            if outcome.css != "ok":
                ended = (outcome.word, ": ".join(filter(None, (outcome.where, outcome.message))))
                found.setdefault(ended, []).append(_name(piece, cell))
    for (word, why), names in found.items():
        yield word, f"{'; '.join(names)} ({why})." if why else f"{'; '.join(names)}."


def _name(piece: ExperimentSlice, cell: CellStats) -> str:
    if not piece.by_subject:
        return place(piece, cell, without=("jdk",))
    return ", ".join([piece.subject(cell.key), *filter(None, [place(piece, cell, without=("jdk", "workload"))])])


def expectations(piece: ExperimentSlice) -> Iterator[Fact]:
    """Each formula with its source once, and which cells it is for."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for cell in piece.cells:
        for fork in cell.record.forks:
            if fork.readings and (expected := expectation_of(fork)):
                about = (piece.subject(cell.key), cell.key.executor, cell.key.jdk)
                found.setdefault(expected, []).append(about)
    for (formula, source), cells in found.items():
        names = (", ".join(dict.fromkeys(column)) for column in zip(*cells, strict=True))
        yield Fact(formula, joined(source, small("; ".join(names))))


def overhead(piece: ExperimentSlice) -> Iterator[PageBlock]:
    """Ratios are taken inside blocks: median, and least to most."""
    rows: list[tuple[Cell, ...]] = []
    plain: dict[CellKey, list[CellStats]] = {}
    for cell in piece.cells:
        if cell.record.parameters.get("parks") is False:
            plain.setdefault(_condition(cell), []).append(cell)
    for watched in piece.cells:
        alike = (cell for cell in plain.get(_condition(watched), ()) if _rest(cell) == _rest(watched))
        if watched.record.parameters.get("parks") is True and (unwatched := next(alike, None)) is not None:
            condition = f"{watched.key.jdk}, {place(piece, watched, without=('workload', 'jdk'))}"
            rows.append((condition, *(_ratio(watched, unwatched, keys) for keys in ("throughput_per_s", "cpu_s"))))
    if rows:
        yield Prose(say("cost_of_recording"), "Cost of recording")
        yield DataTable("Cost of recording", columns("Condition", "Throughput|ratio#", "CPU time|ratio#"), rows)


def _condition(cell: CellStats) -> CellKey:
    return cell.key.model_copy(update={"workload": ""})


def _rest(cell: CellStats) -> dict[str, object]:
    """What it is asked beside being watched."""
    return {name: value for name, value in cell.record.parameters.items() if name != "parks"}


def _ratio(watched: CellStats, unwatched: CellStats, keys: str) -> Figure:
    below = {fork.fork: value for fork in unwatched.usable if (value := _value(fork, keys))}
    ratios = [
        above / below[fork.fork]
        for fork in watched.usable
        if fork.fork in below and (above := _value(fork, keys)) is not None
    ]
    if not ratios:
        return missing("no block has both usable")
    middle = median(ratios)
    under = f"{min(ratios):.2f}–{max(ratios):.2f}" if min(ratios) != max(ratios) else None
    return Figure(f"{middle:.2f}", middle, f"median of {plural(len(ratios), 'block')}", under)


def _value(fork: Fork, keys: str) -> float | None:
    found: float | None = at(fork.result.seen, keys) if fork.result else None
    return found


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
    if facts := tuple(expectations(piece)):
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
