"""What a run prints at its end, and `matrix summary`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jdkmatrix.cli import alone, markdown
from jdkmatrix.config.executors import BASELINE, reference
from jdkmatrix.measure.windows import rate_words
from jdkmatrix.records import (
    CapacityLoad,
    CellKey,
    CellLoad,
    CellRecord,
    ExperimentRecord,
    Fork,
    RampedLoad,
    RateLoad,
    RunRecord,
    Status,
    StepsLoad,
    Window,
)
from jdkmatrix.report import sessions
from jdkmatrix.report.cellstats import Cells, CellStats
from jdkmatrix.report.dependence import check_blocks
from jdkmatrix.stats import Ratio, paired_ratio, summarise
from jdkmatrix.stats.forks import fork_capacity_rps, leading_by_block
from jdkmatrix.store.loaded import LoadedRun

# Of reasons and the like in a job summary, which may have 1 MiB: a run of many forks that all fail has thousands.
_LISTED_AT_MOST = 50


@dataclass(frozen=True)
class Row:
    """One cell in words: executor, forks, req/s, CPU, p99 or the rate that is held, ratio. `usable`: has any fork."""

    usable: bool
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Cells that are compared, below what they have in common: JDK, what was served, CPUs, task duration, load."""

    condition: tuple[str, ...]
    rows: tuple[Row, ...]


def summary_table(cells: Sequence[CellRecord], *, sequential: bool = False) -> Table:
    """One row per cell below a heading per condition; the last column pairs each executor with the server's own pool,
    block by block. Figures are geometric means over forks, as on the page. Fits on a terminal of 80 columns, so that
    the rate that is held stands in the place of p99 where it was searched for."""
    table = Table(caption=_caption(cells), caption_justify="left")
    first, *figures = _headings(cells)
    table.add_column(first, no_wrap=True)
    for name in figures:
        table.add_column(name, justify="right")
    for group in _groups(cells, sequential=sequential):
        jdk, *others = map(escape, group.condition)
        table.add_section()
        table.add_row(f"[bold]{jdk}[/]", "", *others)
        for row in group.rows:
            executor, forks, throughput, *rest = map(escape, row.columns)
            style = "" if row.usable else "[yellow]"
            table.add_row(f"{style}  {executor}", forks, f"{style}{throughput}", *rest)
    return table


def print_summary(loaded: LoadedRun, console: Console) -> None:
    """The tables, what could not be measured here, what went wrong, and what a reader must know."""
    if loaded.cells or not loaded.experiments:
        console.print(summary_table(loaded.cells, sequential=loaded.run.stopping is not None))
    for title, table in _alone_tables(loaded.experiments):
        console.print(f"[bold]{escape(title)}", soft_wrap=True)
        console.print(table)
    if loaded.experiments:
        console.print(_ALONE_CAPTION)
    for text in _measured_how(loaded):
        console.print(escape(text), soft_wrap=True)
    for text in _not_testable(loaded):
        console.print(f"[yellow]not testable here: {escape(text)}", soft_wrap=True)
    for problem in _problems(loaded):
        console.print(f"[yellow]{escape(problem)}", soft_wrap=True)
    for warning in _warnings(loaded):
        console.print(f"[yellow]{escape(warning)}", soft_wrap=True)
    for note in loaded.run.notes:
        console.print(f"note: {escape(note)}", soft_wrap=True)
    console.print(_seed_words(loaded.run), soft_wrap=True)


def _alone_tables(cells: Sequence[ExperimentRecord]) -> Iterator[tuple[str, Table]]:
    for title, rows in alone.groups(cells):
        table = Table(box=box.SIMPLE_HEAD)
        for number, name in enumerate(alone.HEADINGS):
            table.add_column(name, justify="left" if number in (0, 5) else "right", no_wrap=number == 0)
        for row in rows:
            table.add_row(*map(escape, row))
        yield title, table


_ALONE_CAPTION = "without a server: median, least and most over forks"


def summary_markdown(loaded: LoadedRun) -> str:
    """The same for the job summary of a CI service, with a heading that says whether everything can be used."""
    run, cells = loaded.run, loaded.cells
    rows: list[Sequence[str]] = []
    for group in _groups(cells, sequential=run.stopping is not None):
        jdk, *others = map(markdown.escaped, group.condition)
        rows.append((f"**{jdk}**", "", *others))
        rows += [tuple(map(markdown.escaped, row.columns)) for row in group.rows]
    parts = [
        f"### {markdown.escaped(f'{run.run_id}: {run.status}, {_outcome(loaded)}')}",
        markdown.escaped(
            f"{run.latest_session.host.cpu.model}, Linux {run.latest_session.host.kernel}; {_seed_words(run)}"
        ),
        *map(markdown.escaped, _measured_how(loaded)),
    ]
    if cells or not loaded.experiments:
        parts += [
            markdown.table(tuple(map(markdown.escaped, _headings(cells))), rows),
            markdown.escaped(_caption(cells)),
        ]
    if loaded.experiments:
        parts += [_alone_markdown(loaded.experiments), markdown.escaped(_ALONE_CAPTION)]
    lists = {
        "Not testable here": tuple(_not_testable(loaded)),
        "Failed or invalid": tuple(_problems(loaded)),
        "Notes": (*_warnings(loaded), *run.notes),
    }
    for title, items in lists.items():
        parts += [f"**{title}**", markdown.listing(items, at_most=_LISTED_AT_MOST)] if items else []
    return "\n\n".join(parts)


def _alone_markdown(cells: Sequence[ExperimentRecord]) -> str:
    rows: list[Sequence[str]] = []
    for title, found in alone.groups(cells):
        rows.append((f"**{markdown.escaped(title)}**", *[""] * (len(alone.HEADINGS) - 1)))
        rows += [tuple(map(markdown.escaped, row)) for row in found]
    return markdown.table(tuple(map(markdown.escaped, alone.HEADINGS)), rows)


def _warnings(loaded: LoadedRun) -> tuple[str, ...]:
    """What changes how the ratios must be read."""
    finding = check_blocks(Cells(loaded.run, loaded.cells)).finding
    return (f"blocks are not independent, as intervals take them to be, {finding}",) if finding else ()


def _seed_words(run: RunRecord) -> str:
    return f"order of forks: seed {run.seed}"


def has_failures(loaded: LoadedRun) -> bool:
    """Has a cell no fork that can be used, or did any fork fail?"""
    return bool(_unusable(loaded) or _failed_forks(loaded))


def _outcome(loaded: LoadedRun) -> str:
    cells = f"{len(loaded.every_cell)} of {len(loaded.run.cells)} cells"
    if not has_failures(loaded):
        return f"{cells}, all with forks that can be used"
    return f"{cells}, {_unusable(loaded)} without a fork that can be used, {_failed_forks(loaded)} failed forks"


def _unusable(loaded: LoadedRun) -> int:
    """That an experiment came to nothing on a JDK which has not what it is about is no failure."""
    return sum(not any(fork.usable for fork in cell.forks) for cell in loaded.cells) + sum(
        not any(fork.status is Status.OK for fork in cell.forks) for cell in loaded.experiments
    )


def _failed_forks(loaded: LoadedRun) -> int:
    return sum(fork.status is Status.FAILED for cell in loaded.every_cell for fork in cell.forks)


def _measured_how(loaded: LoadedRun) -> Iterator[str]:
    """In how many sessions, where in several, and how many attempts do not count."""
    if told := sessions.line(loaded):
        yield told
    if attempts := sum(len(cell.attempts) for cell in loaded.every_cell):
        yield f"{attempts} earlier attempts at forks do not count: a fault of the host, or a block that was cut off"


def _not_testable(loaded: LoadedRun) -> Iterator[str]:
    return (f"{entry.key.cell_id}: {entry.reason}" for entry in loaded.run.not_testable)


def _problems(loaded: LoadedRun) -> Iterator[str]:
    yield from loaded.problems
    for cell in loaded.every_cell:
        for fork in cell.forks:
            for reason in fork.reasons:
                label = cell.key.fork_label(fork.fork, fork.attempt)
                yield f"{label} {fork.status.value}: {reason.message.splitlines()[0]}"


def _searched(cells: Iterable[CellRecord]) -> bool:
    return any(isinstance(cell.load, CapacityLoad) for cell in cells)


def _headings(cells: Sequence[CellRecord]) -> tuple[str, ...]:
    return (
        "executor",
        "forks",
        "req/s",
        "CPU µs/req",
        "holds req/s" if _searched(cells) else "p99 ms",
        f"× {BASELINE}",
    )


def _caption(cells: Sequence[CellRecord]) -> str:
    kinds = list(dict.fromkeys(_ratio_of(cell.load) for cell in cells)) or ["of req/s"]
    p99 = "" if _searched(cells) else "; p99: median over windows"
    return f"ratio: {', '.join(kinds)}; paired in blocks, with its 95 % interval{p99}"


def _groups(cells: Sequence[CellRecord], *, sequential: bool) -> Iterator[Group]:
    searched = _searched(cells)
    by_key = {cell.key: cell for cell in cells}
    for key, members in groupby(cells_by_condition(cells), key=lambda cell: cell.key.group):
        cpus = f"{key.cpus} CPU" + ("s" if key.cpus > 1 else "")
        rows = []
        for cell in members:
            ratio = ratio_text(ratio_to_baseline(cell, by_key, sequential=sequential))
            latency = _held(cell) if searched else p99_ms(cell.forks)
            rows.append(Row(bool(CellStats(cell).usable), (*_figures(cell), latency, ratio)))
        yield Group((key.jdk, key.served, cpus, f"{key.burn_us} µs", key.load), tuple(rows))


def _ratio_of(load: CellLoad) -> str:
    match load:
        case RateLoad():
            return "of CPU per request where the rate is constant"
        case CapacityLoad():
            return "of the rate that is held where it was searched for"
        case StepsLoad():
            return "of the most req/s in rising steps"
        case RampedLoad(ends_level=True):
            return "of the time to peak of a ramp"
        case RampedLoad():
            return "of the rate at the knee of a ramp"
        case _:
            return "of req/s"


def cells_by_condition(cells: Sequence[CellRecord]) -> list[CellRecord]:
    """Cells that are compared stand together; otherwise their order stays."""
    first = {cell.key.group: index for index, cell in reversed(list(enumerate(cells)))}
    return sorted(cells, key=lambda cell: first[cell.key.group])


def _figures(cell: CellRecord) -> tuple[str, ...]:
    """Executor, forks, throughput or why there is none, CPU per request."""
    figures = CellStats(cell)
    usable = figures.usable
    name, forks = cell.key.executor, f"{len(usable)}/{len(cell.forks)}"
    if not usable:
        statuses = sorted({fork.status.value for fork in cell.forks}) or ["not measured"]
        return (name, forks, ", ".join(statuses), "")
    return (
        name,
        forks,
        rate_words(summarise(list(figures.throughput_rps.values())).geomean) if figures.throughput_rps else "–",
        _geomean(figures.cpu_us_per_request, ".1f"),
    )


def _geomean(by_block: Mapping[int, float], number_format: str) -> str:
    return format(summarise(list(by_block.values())).geomean, number_format) if by_block else "–"


def _held(cell: CellRecord) -> str:
    """The highest rate that held, over the forks whose search came to its end."""
    found = [held for fork in cell.forks if fork.usable and (held := fork_capacity_rps(fork))]
    return f"{summarise(found).geomean:,.0f}" if found else "–"


def ratio_to_baseline(
    cell: CellRecord, cells: Mapping[CellKey, CellRecord], *, sequential: bool = False
) -> Ratio | None:
    """The leading figure of `cell` over that of what it is compared with; None for the baseline itself or without
    pairs."""
    if cell.key.executor == BASELINE:
        return None
    other = cells.get(cell.key.model_copy(update={"executor": reference(cell.key.executor)}))
    return paired_ratio(leading_by_block(cell), leading_by_block(other), sequential=sequential) if other else None


def ratio_text(ratio: Ratio | None) -> str:
    if ratio is None:
        return ""
    if ratio.ci_low is None or ratio.ci_high is None:
        return f"{ratio.value:.2f} (1 block)"
    return f"{ratio.value:.2f} [{ratio.ci_low:.2f}, {ratio.ci_high:.2f}]"


def p99_ms(forks: Iterable[Fork]) -> str:
    """The median over all valid windows."""
    values = [p99 for fork in forks for window in fork.valid_windows for p99 in _p99_us(window)]
    return f"{median(values) / 1000:.2f}" if values else "–"


def _p99_us(window: Window) -> tuple[float, ...]:
    latency = window.load.corrected or window.load.uncorrected
    return (latency.percentiles_us["99"],) if latency else ()
