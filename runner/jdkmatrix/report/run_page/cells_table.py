"""The cells of a run: a table with a row for each, showing the axes that vary and the usual figures; and what is not
ok, and why: cells, with a line for each fork, and files. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, zip_longest

from markupsafe import Markup

from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import MISSING
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.figures.unsteady import COMPILING, why_not_steady
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.inline import badge, element, joined, link, paragraphs, say, small
from jdkmatrix.report.blocks.kinds import Items, PageBlock, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Sorted, TableRow, axis_column, columns
from jdkmatrix.report.cells.judgements import of_forks
from jdkmatrix.report.cells.shown import KIND_WORDS, ShownCell, columns_of, named, shown_cells, state_badge, state_text
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import numbered
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import State, cell_words, size_parts, without_log_prefix

_BEFORE = ("workload", "server", "jdk")  # the executor
_BEHIND = ("cpus", "burn_us", "wait_us", "load", "driver")
_AXES = (*_BEFORE, "executor", *_BEHIND)


def cells_section(judged: JudgedRun) -> Section:
    cells = judged.cells
    shown = tuple(shown_cells(cells, judged.judgements))
    varying = [axis for axis in _AXES if len(set(_values(axis, shown)) - {""}) > 1]
    counts = {state: number for state in State if (number := sum(one.state is state for one in shown))}
    badges = [badge(f"{number} {state.value}", state.css) for state, number in counts.items()]
    constant = _constant_words(shown, varying)
    kinds = {cell.latency.kind for cell in cells if cell.latency}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    service = ""
    if "uncorrected" in kinds:
        service = f"Percentiles {'' if kind else 'of closed loops '}are {KIND_WORDS['uncorrected']}."
    listed: list[tuple[Column, Callable[[ShownCell], Cell]]] = [
        *((axis_column(axis), partial(_axis, axis=axis)) for axis in _BEFORE if axis in varying),
        (Column("Executor", head=True), lambda one: named(one.key.executor, cells.order, one.href)),
        (Column(joined("Status ", small("usable forks"))), _status),
        *((axis_column(axis), partial(_axis, axis=axis)) for axis in _BEHIND if axis in varying),
        *((one.column(kind), one.of) for one in columns_of(cells, shown)),
    ]
    titles = {axis: Markup(axis_column(axis).title).striptags() for axis in varying}
    axes = [(axis, title, tuple(filter(None, _values(axis, shown)))) for axis, title in titles.items()]
    states = [("status", "Status", tuple(state.value for state in counts))] if len(counts) > 1 else []
    table = DataTable(
        label="Table of cells",
        columns=tuple(column for column, _ in listed),
        rows=[
            TableRow(
                [of(one) for _, of in listed],
                data=(*((axis, str(one.axis(axis))) for axis in (*AXES, "driver")), ("status", one.state.value)),
            )
            for one in shown
        ],
        id="cells-table",
        sortable=True,
        tall=True,
        filter=(*axes, *states),
    )
    words = joined(*(part for one in badges for part in (one, " ")), f"In every cell: {constant}." if constant else "")
    return Section("cells", "All cells", (table, Prose(say("all_cells", service=service))), words)


def _values(axis: str, shown: Iterable[ShownCell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one.axis(axis)) for one in shown))


def _constant_words(shown: Sequence[ShownCell], varying: Sequence[str]) -> str:
    """Return what all cells share, so that the table need not repeat it."""
    if not shown:
        return ""
    key, driver = shown[0].key, next(filter(None, _values("driver", shown)), "")
    kind = server_kind(key.server)
    words = {axis: str(shown[0].axis(axis)) for axis in _AXES} | {
        "server": "" if kind and kind.is_command else key.server,
        **size_parts(key),
        "driver": f"driven by {driver}" if driver else "",
    }
    return ", ".join(text for axis, text in words.items() if text and axis not in varying)


def _axis(one: ShownCell, axis: str) -> Cell:
    value = one.axis(axis)
    return Figure(str(value), value) if isinstance(value, int) else value or MISSING


def _status(one: ShownCell) -> Cell:
    number = element("small", one.forks, title="usable forks out of those planned")
    shown = joined(state_badge(one.cell), " ", number if state_text(one.cell) == one.state.value else "")
    return Sorted(shown, f"{one.state.value} {one.forks}")


_NO_REASON = "no reason was recorded"
# Addresses and versions, which have more than one dot, are not numbers.
_NUMBER = re.compile(r"(?<![0-9.])([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?!\.?[0-9])")


def fork_lines(forks: Iterable[Fork], *, shortfalls: bool) -> tuple[str, ...]:
    """Say why forks are not simply ok, and which windows they lost; forks with the same text share a line.
    `shortfalls`: also what the server did not do in usable forks."""
    told = grouped(("; ".join(_parts(fork, shortfalls=shortfalls or not fork.usable)), fork.fork) for fork in forks)
    return tuple(f"{numbered('fork', some)}: {line}" for line, some in told.items() if line)


def _parts(fork: Fork, *, shortfalls: bool) -> Iterable[str]:
    windows = fork.windows
    lost = {(reason.code, reason.message) for window in windows for reason in window.reasons}
    if own := [reason for reason in fork.reasons if (reason.code, reason.message) not in lost]:
        yield from merged(_message(reason, fork) for reason in own)
    if spoilt := [window for window in windows if window.reasons]:
        messages = merged(reason.message for window in spoilt for reason in window.reasons)
        yield f"{_named(fork, spoilt)} lost: {'; '.join(messages)}"
    short = [window for window in windows if window.shortfalls]
    if shortfalls and short:
        messages = merged(reason.message for window in short for reason in window.shortfalls)
        which = f"{_named(fork, short)}: " if len(windows) > 1 else ""
        yield f"{which}{'; '.join(messages)}"


def _message(reason: Reason, fork: Fork) -> str:
    """Return the reason in today's words, where the record has the facts behind it."""
    warmup = fork.warmup
    if reason.code == "not-steady" and warmup is not None and not all(series.warm for series in warmup.series):
        return why_not_steady(warmup, compiling=COMPILING in reason.message)
    return without_log_prefix(reason.message)


def _named(fork: Fork, some: Sequence[Window]) -> str:
    """ "windows 3, 10 of 10"."""
    which = numbered("round" if fork.together else "window", [window.index for window in some])
    return f"{which.replace(',', ', ')} of {len(fork.windows)}"


def merged(messages: Iterable[str]) -> list[str]:
    """Merge messages that differ only in numbers, with the least and the most of each: "used 9.1 to 41.0 % of"."""
    split = map(_NUMBER.split, messages)  # words, and a number after each but the last
    found = grouped((tuple(parts[::2]), parts[1::2]) for parts in split)
    return [_filled(words, zip(*numbers, strict=True)) for words, numbers in found.items()]


def _filled(words: Sequence[str], columns: Iterable[Sequence[str]]) -> str:
    numbers = (sorted(set(column), key=lambda text: float(text.replace(",", ""))) for column in columns)
    ends = (some[0] if len(some) == 1 else f"{some[0]} to {some[-1]}" for some in numbers)
    text = "".join(chain.from_iterable(zip_longest(words, ends, fillvalue="")))
    return re.sub(r"(?<=[0-9])%", " %", text)


def troubles_section(judged: JudgedRun) -> Iterator[Section]:
    run, loaded = judged.run, judged.loaded
    shown = (one for cells in (judged.cells, judged.experiments) for one in shown_cells(cells, judged.judgements))
    heads = columns("Cell", "State", "Why=")
    blocks: list[PageBlock] = []
    if not_ok := [row for one in shown if (row := _not_ok(one, run))]:
        blocks.append(DataTable("Cells that are not ok", heads, not_ok, "wrap stack said"))
    if unfit := [_row(n.key, None, "not testable", "none", (n.reason,)) for n in run.not_testable]:
        title = "Not testable here"
        blocks += [Prose(heading=title), DataTable(title, heads, unfit, "wrap stack said")]
    if loaded.problems:
        blocks += [Prose(heading="Result files"), Items(loaded.problems)]
    if blocks:
        yield Section("troubles", "What is not ok, and why", blocks)


_WHY_NOT_MEASURED = {
    "complete": "the run is complete and has no readable record of this cell: see the files that could not be read",
    "interrupted": "the run ended before this cell had its turn",
    "running": "this cell has had no turn: the run has not ended, or was killed",
}


def _not_ok(one: ShownCell, run: RunRecord) -> tuple[Cell, ...] | None:
    if one.cell is None or one.state is State.NOT_MEASURED:
        reasons: tuple[str, ...] = (_WHY_NOT_MEASURED[run.status],)
    else:
        # A limit that a program ran into is a finding: only what spoilt its forks stands here.
        spoilt = [fork for fork in one.cell.record.forks if not (one.cell.is_program and fork.status is Status.OK)]
        reasons = fork_lines(spoilt, shortfalls=one.cell.fell_short)
        if one.state is State.OK and not (reasons or (one.cell.is_program and spoilt)):
            return None
        if one.cell.fell_short and not reasons:
            reasons = (f"{one.cell.question.title} in {of_forks(one.cell.attained)}",)
    status, css = ("some forks", "not-steady") if one.state is State.OK else (state_text(one.cell), one.state.css)
    return _row(one.key, one.href, status, css, reasons or (_NO_REASON,))


def _row(key: CellKey, href: str | None, status: str, css: str, reasons: tuple[str, ...]) -> tuple[Cell, ...]:
    return link(cell_words(key), href), badge(status, css), paragraphs(reasons)
