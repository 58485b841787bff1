"""Where the memory of the servers is, over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.domain.quantities import digits
from jdkmatrix.probes.attribution import DIRECT_BUFFERS
from jdkmatrix.probes.native_memory import Origin
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.comparisons import Slice
from jdkmatrix.report.charts.curves import Axis, stacked
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.line_charts import line_charts
from jdkmatrix.report.views import Chart, ChartGroup
from jdkmatrix.stats.forks import fork_readings_us

_MIB = 1024 * 1024
# From below; the palette of origins has eight colours.
HEAP, STACKS, DIRECT, CLASSES, CODE, FILES, MALLOC, REST = GROUPS = (
    "Java heap",
    "thread stacks",
    "direct buffers",
    "classes",
    "code and collector",
    "libraries and files",
    "other malloc",
    "not attributed",
)
_GROUP_OF = {
    Origin.JAVA_HEAP.value: HEAP,
    Origin.THREAD_STACKS.value: STACKS,
    DIRECT_BUFFERS: DIRECT,
    Origin.METASPACE.value: CLASSES,
    Origin.CLASS_SPACE.value: CLASSES,
    Origin.CLASS_ARCHIVE.value: CLASSES,
    Origin.CODE_CACHE.value: CODE,
    Origin.GARBAGE_COLLECTOR.value: CODE,
    "libjvm.so": FILES,
    "other libraries": FILES,
    "other files": FILES,
    UNATTRIBUTED: REST,
}


@dataclass(frozen=True)
class _Line:
    id: str
    title: str
    words: str
    axis: str
    of: Callable[[MemoryReading], float | None]


_LINES = (
    _Line("rss", "Resident memory", "RSS, as the kernel counts it.", "RSS in MiB", lambda one: one.rss_bytes / _MIB),
    _Line(
        "virt",
        "Virtual size",
        "Addresses and not memory: what top calls VIRT.",
        "virtual size in MiB",
        lambda one: one.virt_bytes / _MIB,
    ),
    _Line(
        "committed",
        "Heap committed",
        "What the collector has asked the kernel for.",
        "committed heap in MiB",
        lambda one: None if one.heap_committed_bytes is None else one.heap_committed_bytes / _MIB,
    ),
    _Line(
        "used",
        "Heap used",
        "Live objects and garbage that has not been collected yet.",
        "used heap in MiB",
        lambda one: None if one.heap_used_bytes is None else one.heap_used_bytes / _MIB,
    ),
)


def memory_groups(id_prefix: str, piece: Slice, order: Sequence[str]) -> tuple[ChartGroup, ...]:
    """The stack of every executor's last fork, then single figures of all forks; all on the same scales."""
    readings = [one for cell in piece.cells for fork in cell.usable for one in fork.memory]
    if not readings:
        return ()
    time = Axis("seconds since the server's start", 0, max(one.t_s for one in readings), number_format="~f")
    return (
        _stacks(id_prefix, piece, order, time, max(one.rss_bytes for one in readings) / _MIB),
        *(group for line in _LINES if (group := _line_group(id_prefix, piece, order, time, line, readings))),
    )


def readings_words(piece: Slice) -> str | None:
    """What CPU per request leaves out; None where nothing was read. That of a ramp is worked out from samples of the
    whole process, and leaves out nothing."""
    cells = [cell for cell in piece.cells if not cell.kind.cost_is_sampled]
    costs = [us for cell in cells for fork in cell.usable if (us := fork_readings_us(fork))]
    if not costs:
        return None
    low, high = (digits(us, 2) for us in (min(costs), max(costs)))
    how_much = low if low == high else f"{low} to {high}"
    return f"Without what our own readings of its memory took: {how_much} µs per request, fork by fork."


def grouped(reading: MemoryReading) -> dict[str, float]:
    """MiB by group; they sum to RSS."""
    found = dict.fromkeys(GROUPS, 0.0)
    for origin, size in reading.resident.items():
        found[_GROUP_OF.get(origin, MALLOC if origin.startswith("malloc") else REST)] += size / _MIB
    return found


def _stacks(id_prefix: str, piece: Slice, order: Sequence[str], time: Axis, highest_mib: float) -> ChartGroup:
    size = Axis("resident MiB", 0, highest_mib * 1.05)
    charts = []
    for number, (title, cells) in enumerate(piece.conditions(order)):
        for cell in cells:
            fork = next((fork for fork in reversed(cell.usable) if fork.memory), None)
            if fork is None:
                continue
            charts.append(
                Chart(
                    id=f"{id_prefix}-stack-{number}-{order.index(cell.key.executor)}",
                    title=f"{cell.key.executor} on {title}, fork {fork.fork}",
                    note=_note(fork.memory[-1]),
                    drawing=stacked(
                        list(_stack_rows(fork.memory)),
                        x=time,
                        y=size,
                        origins=GROUPS,
                        totals=[{"name": "PSS", "x": one.t_s, "y": one.pss_bytes / _MIB} for one in fork.memory],
                        description=f"Resident memory by origin over time: {cell.key.executor} on {title}",
                    ),
                )
            )
    return ChartGroup(
        "Where the memory is",
        "Resident memory by origin; the stack's height is RSS, the line PSS. Heap, stacks, code and files are counted "
        "page by page; what malloc holds is split by what the JVM says it has allocated there.",
        tuple(charts),
        by_executor=False,
        origins=GROUPS,
    )


def _stack_rows(readings: Iterable[MemoryReading]) -> Iterable[Row]:
    return (
        {"origin": group, "place": place, "x": one.t_s, "y": mib}
        for one in readings
        for place, (group, mib) in enumerate(grouped(one).items())
    )


def _note(last: MemoryReading) -> str:
    """The largest groups of the last reading, and what could not be told."""
    largest = sorted(grouped(last).items(), key=lambda pair: -pair[1])[:4]
    parts = ", ".join(f"{name} {digits(mib, 3)}" for name, mib in largest)
    missing = f" Not known: {'; '.join(last.missing)}." if last.missing else ""
    return f"At the end {digits(last.rss_bytes / _MIB, 3)} MiB: {parts}.{missing}"


def _line_group(
    id_prefix: str, piece: Slice, order: Sequence[str], time: Axis, line: _Line, readings: Sequence[MemoryReading]
) -> ChartGroup | None:
    values = [value for one in readings if (value := line.of(one)) is not None]
    if not values:
        return None
    charts = line_charts(
        f"{id_prefix}-{line.id}",
        f"{line.title} over time",
        piece,
        order,
        x=time,
        y=Axis(line.axis, 0, max(values) * 1.05),
        rows=partial(_line_rows, line),
        note=partial(_mean_at_end, line),
    )
    return ChartGroup(line.title, f"{line.words} Beside the chart: the mean over forks at the end.", charts)


def _line_rows(line: _Line, cell: CellStats) -> Iterable[Row]:
    return (
        {"executor": cell.key.executor, "fork": fork.fork, "x": one.t_s, "y": line.of(one)}
        for fork in cell.usable
        for one in fork.memory
    )


def _mean_at_end(line: _Line, cell: CellStats) -> str:
    ends = [value for fork in cell.usable if fork.memory and (value := line.of(fork.memory[-1])) is not None]
    return f"{cell.key.executor}: {digits(sum(ends) / len(ends), 3)} MiB" if ends else ""
