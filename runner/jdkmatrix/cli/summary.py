"""The table that a run prints at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median

from rich.markup import escape
from rich.table import Table

from jdkmatrix.config.executors import BASELINE, reference
from jdkmatrix.records import (
    CapacityLoad,
    CellKey,
    CellLoad,
    CellRecord,
    Fork,
    RampedLoad,
    RateLoad,
    StepsLoad,
    Window,
)
from jdkmatrix.report.cellstats import CellStats
from jdkmatrix.stats import Ratio, paired_ratio, summarise
from jdkmatrix.stats.forks import fork_capacity_rps, leading_by_block


def summary_table(cells: Sequence[CellRecord], *, sequential: bool = False) -> Table:
    """One row per cell below a heading per condition; the last column pairs each executor with the server's own pool,
    block by block. Figures are geometric means over forks, as on the page. Fits on a terminal of 80 columns, so that
    the rate that is held stands in the place of p99 where it was searched for."""
    searched = any(isinstance(cell.load, CapacityLoad) for cell in cells)
    table = Table(caption=_caption(cells, searched=searched), caption_justify="left")
    table.add_column("executor", no_wrap=True)
    for name in ("forks", "req/s", "CPU µs/req", "holds req/s" if searched else "p99 ms", f"× {BASELINE}"):
        table.add_column(name, justify="right")
    by_key = {cell.key: cell for cell in cells}
    for _, group in groupby(cells_by_condition(cells), key=lambda cell: cell.key.group):
        members = list(group)
        key = members[0].key
        table.add_section()
        cpus = f"{key.cpus} CPU" + ("s" if key.cpus > 1 else "")
        heading = ("", escape(key.served), cpus, f"{key.burn_us} µs", key.load)
        table.add_row(f"[bold]{escape(key.jdk)}[/]", *heading)
        for cell in members:
            ratio = escape(ratio_text(ratio_to_baseline(cell, by_key, sequential=sequential)))
            table.add_row(*_row(cell), _held(cell) if searched else p99_ms(cell.forks), ratio)
    return table


def _caption(cells: Sequence[CellRecord], *, searched: bool) -> str:
    kinds = list(dict.fromkeys(_ratio_of(cell.load) for cell in cells)) or ["of req/s"]
    p99 = "" if searched else "; p99: median over windows"
    return f"ratio: {', '.join(kinds)}; paired in blocks, with its 95 % interval{p99}"


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


def _row(cell: CellRecord) -> tuple[str, ...]:
    """Executor, forks, throughput, CPU per request."""
    figures = CellStats(cell)
    usable = figures.usable
    name = f"  {escape(cell.key.executor)}"
    forks = f"{len(usable)}/{len(cell.forks)}"
    if not usable:
        statuses = sorted({fork.status.value for fork in cell.forks}) or ["not measured"]
        return (f"[yellow]{name}", forks, f"[yellow]{', '.join(statuses)}", "")
    return (
        name,
        forks,
        _geomean(figures.throughput_rps, ",.0f"),
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
