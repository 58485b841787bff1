"""The summary that a run prints at its end, and `matrix summary`. Every figure is the one that the pages show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from jdkmatrix.cli import experiments, markdown
from jdkmatrix.cli.answer import answer_lines, next_step, trust_line
from jdkmatrix.cli.terminal import escape
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of, is_aa_arm
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import visible
from jdkmatrix.figures.metrics import CAPACITY, metrics_of
from jdkmatrix.loads.kinds import kind_of, loads_words
from jdkmatrix.project_files import program
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import of_forks
from jdkmatrix.report.cells.shown import ShownCell, failed_words
from jdkmatrix.report.claims.verdicts import verdict_lines
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import sessions
from jdkmatrix.report.run_page.facts import count_forks, repeating
from jdkmatrix.report.run_page.over_rate import remarks
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.report.words.sentences import condition, driven, marked_interval, not_judged_words
from jdkmatrix.stats.verdicts import Judged, Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun

# Reasons and the like in a job summary, which may have 1 MiB: a run of many forks that all fail has thousands.
_LISTED_AT_MOST = 50
_EXPERIMENT_CAPTION = "without a server: median, least and most over forks"
_INDENT = "  "


class ConditionRow(NamedTuple):
    """`columns`: in the order of the headings. `amber`: it needs a look."""

    amber: bool
    columns: tuple[str, ...]


def summary_table(run: JudgedRun) -> RenderableType:
    """Build a table with a row per cell; the last column pairs each executor with the server's own pool, block by
    block. It fits 80 columns of a terminal, so the rate that is held replaces p99 where it was searched for."""
    headings, conditions = _headings(run), tuple(_conditions(run))
    rows = [row for _, members in conditions for row in members]
    widths = [max(map(cell_len, column)) for column in zip(headings, *(row.columns for row in rows), strict=True)]
    parts: list[RenderableType] = [_grid(widths, [ConditionRow(amber=False, columns=headings)], style="bold")]
    parts.append(Text(_INDENT + "─" * (sum(widths) + 2 * (len(widths) - 1)), style="dim"))
    for words, members in conditions:
        parts += [Text(visible(words), style="bold"), _grid(widths, members)]
    return Group(*parts, Text(_caption(run), style="dim italic"))


def _grid(widths: Sequence[int], rows: Iterable[ConditionRow], style: str = "") -> Table:
    """Build a grid whose first column is text and whose others are figures."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for number, width in enumerate(widths):
        first = number == 0
        grid.add_column(justify="left" if first else "right", min_width=width + len(_INDENT) * first, style=style)
    for row in rows:
        first_text, *others = map(visible, row.columns)
        grid.add_row(Text(_INDENT + first_text), *map(Text, others), style="yellow" if row.amber else None)
    return grid


def print_summary(loaded: LoadedRun, console: Console, registry: Sequence[ClaimRecord] = ()) -> None:
    """Print the answer, how many forks can be used, the tables, what came of the forks, what could not be measured
    here, what went wrong, and what a reader must know. `registry`: as in JudgedRun."""
    run = JudgedRun(loaded, registry)
    for line in answer_lines(run):
        console.print(f"[bold]{escape(line)}", soft_wrap=True)
    amber = "[yellow]" if count_forks(loaded).amber else ""
    console.print(f"{amber}{escape(f'{loaded.run.run_id}: {trust_line(run)}')}", soft_wrap=True)
    if loaded.served or not loaded.experiments:
        console.print(summary_table(run))
    for title, rows in experiments.groups(run.experiments):
        console.print(f"[bold]{escape(title)}", soft_wrap=True)
        table = Table(box=box.SIMPLE_HEAD)
        for number, name in enumerate(experiments.HEADINGS):
            table.add_column(name, justify="left" if number in (0, 5) else "right", no_wrap=number == 0)
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)
    if loaded.experiments:
        console.print(_EXPERIMENT_CAPTION)
    for text in _measured_how(loaded):
        console.print(escape(text), soft_wrap=True)
    for text in verdict_lines(run.claims):
        console.print(escape(f"published (this run alone): {text}"), soft_wrap=True)
    for texts in (
        _outcomes(run),
        (f"not testable here: {text}" for text in _not_testable(loaded)),
        _problems(loaded),
        _warnings(run),
    ):
        for text in texts:
            console.print(f"[yellow]{escape(text)}", soft_wrap=True)
    for note in loaded.run.notes:
        console.print(f"note: {escape(note)}", soft_wrap=True)
    if run.cells.keys:
        console.print(f"next: {escape(next_step(run))}", soft_wrap=True)
    console.print(f"again: {escape(f'{program()} {repeating(loaded.run)}')}", soft_wrap=True)


def summary_markdown(loaded: LoadedRun, registry: Sequence[ClaimRecord] = ()) -> str:
    """Return the same for the job summary of a CI service, with a heading that says how many forks can be used."""
    judged, run, cells = JudgedRun(loaded, registry), loaded.run, loaded.served
    parts = [
        f"### {markdown.escaped(f'{run.run_id}: {run.status}, {count_forks(loaded).text}')}",
        markdown.escaped(
            f"{_cells_words(loaded)}; {run.latest_session.host.cpu.model}, Linux "
            f"{run.latest_session.host.kernel}; order of forks: seed {run.seed}"
        ),
        *(f"**{markdown.escaped(line)}**" for line in answer_lines(judged)),
        *map(markdown.escaped, _measured_how(loaded)),
    ]
    if cells or not loaded.experiments:
        conditions = ((words, [row.columns for row in members]) for words, members in _conditions(judged))
        parts += [markdown.grouped(_headings(judged), conditions), markdown.escaped(_caption(judged))]
    if loaded.experiments:
        groups = experiments.groups(judged.experiments)
        parts += [markdown.grouped(experiments.HEADINGS, groups), markdown.escaped(_EXPERIMENT_CAPTION)]
    lists = {
        "Published, and measured here (this run alone)": verdict_lines(judged.claims),
        "Outcomes of forks, and what is not judged": tuple(_outcomes(judged)),
        "Not testable here": tuple(_not_testable(loaded)),
        "Failed, invalid, not steady, or without a figure": tuple(_problems(loaded)),
        "Notes": (*_warnings(judged), *run.notes),
    }
    for title, items in lists.items():
        parts += [f"**{title}**", markdown.listing(items, at_most=_LISTED_AT_MOST)] if items else []
    return "\n\n".join(parts)


def _warnings(run: JudgedRun) -> tuple[str, ...]:
    """Return findings that change how the ratios must be read."""
    finding = run.blocks.finding
    return (f"blocks are not independent, contrary to what intervals assume, {finding}",) if finding else ()


def has_failures(loaded: LoadedRun) -> bool:
    """Return whether a cell has no usable fork, any fork failed, or a result file is damaged or missing."""
    return bool(_unusable(loaded) or _failed_forks(loaded) or loaded.damaged)


def _cells_words(loaded: LoadedRun) -> str:
    cells = f"{len(loaded.cells)} of {plural(len(loaded.run.testable), 'cell')}"
    if loaded.cells and not has_failures(loaded):
        return f"{cells}, all with usable forks"
    return f"{cells}, {_unusable(loaded)} without a usable fork, {plural(_failed_forks(loaded), 'failed fork')}"


def _unusable(loaded: LoadedRun) -> int:
    return sum(not any(fork.conclusive for fork in cell.forks) for cell in loaded.cells)


def _failed_forks(loaded: LoadedRun) -> int:
    return sum(fork.status is Status.FAILED for cell in loaded.cells for fork in cell.forks)


def _measured_how(loaded: LoadedRun) -> Iterator[str]:
    """Yield the number of sessions, if there are several, and the number of attempts that do not count."""
    if told := sessions.line(loaded):
        yield told
    if attempts := sum(len(cell.attempts) for cell in loaded.cells):
        do_not = f"{plural(attempts, 'earlier attempt')} at forks {'does' if attempts == 1 else 'do'} not"
        yield f"{do_not} count: a fault of the host, or a block that was cut off"


def _not_testable(loaded: LoadedRun) -> Iterator[str]:
    return (f"{entry.key.cell_id}: {entry.reason}" for entry in loaded.run.not_testable)


def _problems(loaded: LoadedRun) -> Iterator[str]:
    yield from loaded.problems
    for cell in loaded.cells:
        for fork in cell.forks:
            for reason in fork.reasons:
                label = cell.key.fork_label(fork.fork, fork.attempt)
                yield f"{label} {fork.status.value}: {reason.message.splitlines()[0]}"
            if fork.valid_windows and not fork.usable and not fork.reasons:
                short = dict.fromkeys(reason.message for window in fork.windows for reason in window.shortfalls)
                yield f"{cell.key.fork_label(fork.fork, fork.attempt)} without a figure: {'; '.join(short)}"


def _outcomes(run: JudgedRun) -> Iterator[str]:
    """Yield conditions in which forks did not do what their load asks for, requests failed, or ratios are not
    judged."""
    for cell in chain.from_iterable(_by_condition(run.cells).values()):
        if told := list(_told(cell, run)):
            key = cell.key
            yield f"{key.jdk}, {key.served}, {condition(key.cpus, key.task)}, {key.load}: {'; '.join(told)}."


def _told(cell: CellStats, run: JudgedRun) -> Iterator[str]:
    key = cell.key
    base = run.cells.reference(key)
    judged = run.judgements.outcomes(key)
    if judged is not None and judged.worth_reporting:
        yield judged.sentence(key.executor, base)
    elif judged is None and cell.attained.no and not cell.question.is_sought:
        yield f"{key.executor} {cell.question.did} in {of_forks(cell.attained)}"
    for words in remarks(cell):
        yield f"{key.executor}: {words}"
    if failed_words(cell):
        counts = "counts" if cell.failed_requests == 1 else "count"
        yield f"{plural(cell.failed_requests, 'request')} failed with {key.executor} and {counts} towards no throughput"
    ratio = run.judgements.of(run.cells.leading(key), key)
    if ratio is not None and ratio.verdict is Verdict.NOT_JUDGED:
        compared = "A/A check" if is_aa_arm(key.executor) else "ratio"
        yield f"{compared} not judged, {not_judged_words(ratio, key.executor, base)}"


def _searched(cells: Iterable[CellRecord]) -> bool:
    return any(CAPACITY in metrics_of(cell.load) for cell in cells)


def _headings(run: JudgedRun) -> tuple[str, ...]:
    return (
        "executor",
        "forks",
        "req/s",
        "CPU µs/req",
        "holds req/s" if _searched(run.loaded.served) else "p99 ms",
        f"× {run.cells.references}",
    )


def _caption(run: JudgedRun) -> str:
    cells = run.loaded.served
    kinds = list(dict.fromkeys(kind_of(cell.load).ratio_of for cell in cells)) or ["of req/s"]
    by_name = grouped((cell.key.load, cell.load) for cell in cells)
    loads = "".join(f"{name}: {loads_words(loads)}; " for name, loads in by_name.items())
    caption = f"{loads}ratio: {', '.join(kinds)}; paired in blocks, with its 95 % interval (*: no evidence yet)"
    arms = [cell.key for cell in cells if not is_aa_arm(cell.key.executor)]
    if any(run.cells.reference(key) == base_of(key.executor) != key.executor for key in arms):
        caption += "; a tuned executor over itself without the tuning"
    if _searched(cells):
        return caption
    caption += "; p99: of all requests of the usable forks together"
    if any(kind_of(cell.load).load.in_windows.is_closed_loop for cell in cells):
        caption += "; in a closed loop it is service time, where a slow answer delays the next request"
    return caption


def _conditions(run: JudgedRun) -> Iterator[tuple[str, Sequence[ConditionRow]]]:
    """Yield each condition in words, with the rows of its cells."""
    searched = _searched(run.loaded.served)
    for key, cells in _by_condition(run.cells).items():
        drivers = " and ".join(dict.fromkeys(cell.driver for cell in cells if cell.driver))
        words = f"{key.jdk}: {key.served}, {condition(key.cpus, key.task)}, {driven(key.load, drivers or None)}"
        yield words, [_row(cell, run, searched=searched) for cell in cells]


def _row(cell: CellStats, run: JudgedRun, *, searched: bool) -> ConditionRow:
    """Build the row of a cell: amber if it lost forks, or its ratio is not judged."""
    key, shown = cell.key, ShownCell(cell.key, cell, run.judgements)
    ratio = run.judgements.of(run.cells.leading(key), key)
    amber = len(cell.usable) < cell.forks or (ratio is not None and ratio.verdict is Verdict.NOT_JUDGED)
    last = ratio_text(ratio) if ratio else "no pair" if run.judgements.outcomes(key) else ""
    if not cell.usable:
        return ConditionRow(amber, (key.executor, shown.forks, _why_no_figure(cell), "–", "–", last))
    cost = " ".join(filter(None, (shown.cpu.text, cell.kind.cpu_label)))
    held = shown.figure(CAPACITY) if searched else shown.percentile("99")
    return ConditionRow(amber, (key.executor, shown.forks, shown.throughput.text, cost, held.text, last))


def _why_no_figure(cell: CellStats) -> str:
    measured = (Status.OK, Status.NOT_STEADY)
    whys = {"no answers" if fork.status in measured else fork.status.value for fork in cell.record.forks}
    return ", ".join(sorted(whys)) or "not measured"


def _by_condition(cells: Cells) -> dict[CellKey, list[CellStats]]:
    """Group the cells that are compared with each other."""
    return grouped((cell.key.group, cell) for cell in cells)


def ratio_text(judged: Judged) -> str:
    """Format a ratio: "0.83 0.80–0.86"."""
    value = ratio_value(judged.ratio)
    if judged.verdict is Verdict.NOT_JUDGED:
        return f"{value} {judged.verdict.value}"
    return f"{value} {marked_interval(judged) or '(1 block)'}"
