"""Where the memory of the servers is, over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from jdkmatrix.domain.quantities import digits
from jdkmatrix.probes.attribution import DIRECT_BUFFERS
from jdkmatrix.probes.native_memory import Origin
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading
from jdkmatrix.report.blocks.inline import fill, joined
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.slices import Slice
from jdkmatrix.report.charts.lines import Axis, stacked
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.charts import ChartPlace, LineFigure, Points, line_group
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


def _over_time(figure: str) -> Callable[[Fork], Points]:
    """In MiB."""

    def points(fork: Fork) -> Points:
        for one in fork.memory:
            value: float | None = getattr(one, figure)
            yield one.t_s, None if value is None else value / _MIB

    return points


_SINGLE = (
    ("rss", "Resident memory", "RSS", "rss_bytes", "RSS, as the kernel counts it."),
    ("virt", "Virtual size", "virtual size", "virt_bytes", "Addresses and not memory: what top calls VIRT."),
    (
        "committed",
        "Heap committed",
        "committed heap",
        "heap_committed_bytes",
        "What the collector has asked the kernel for.",
    ),
    ("used", "Heap used", "used heap", "heap_used_bytes", "Live objects and garbage that has not been collected yet."),
)
_END = "Beside the chart: the mean over forks at the end."
_FIGURES = tuple(
    LineFigure(name, title, f"{axis} in MiB", _over_time(figure), f"{words} {_END}")
    for name, title, axis, figure, words in _SINGLE
)


def memory_charts(place: ChartPlace) -> Iterator[Charts]:
    """The stack of every executor's last fork, then single figures of all forks; all on the same scales."""
    readings = [one for cell in place.piece.cells for fork in cell.usable for one in fork.memory]
    if not readings:
        return
    time = Axis("seconds since the server's start", 0, max(one.t_s for one in readings), number_format="~f")
    yield _stacks(place, time, max(one.rss_bytes for one in readings) / _MIB)
    yield from filter(None, (line_group(one, place, time, note=partial(_mean_at_end, one)) for one in _FIGURES))


def readings_words(piece: Slice) -> str | None:
    """The part that CPU per request leaves out; None where nothing was read. That of a ramp is worked out from samples
    of the whole process, and leaves out nothing."""
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


def _stacks(place: ChartPlace, time: Axis, highest_mib: float) -> Charts:
    size = Axis("resident MiB", 0, highest_mib * 1.05)
    charts = []
    for number, (title, cells) in enumerate(place.piece.conditions()):
        for cell in cells:
            fork = next((fork for fork in reversed(cell.usable) if fork.memory), None)
            if fork is None:
                continue
            rows: list[Row] = [
                {"origin": group, "place": slot, "x": one.t_s, "y": mib}
                for one in fork.memory
                for slot, (group, mib) in enumerate(grouped(one).items())
            ]
            charts.append(
                Chart(
                    id=f"{place.id_prefix}-stack-{number}-{place.piece.order.index(cell.key.executor)}",
                    title=f"{cell.key.executor} on {title}, fork {fork.fork}",
                    note=_note(fork.memory[-1]),
                    drawing=stacked(
                        rows,
                        x=time,
                        y=size,
                        origins=GROUPS,
                        totals=[{"name": "PSS", "x": one.t_s, "y": one.pss_bytes / _MIB} for one in fork.memory],
                        description=f"Resident memory by origin over time: {cell.key.executor} on {title}",
                    ),
                )
            )
    return Charts(
        "Where the memory is",
        "Resident memory by origin; the stack's height is RSS, the line PSS. Heap, stacks, code and files are counted "
        "page by page; what malloc holds is split by what the JVM says it has allocated there.",
        tuple(charts),
        tuple(joined(fill(f"o{slot}"), name) for slot, name in enumerate(GROUPS)),
        place.css,
    )


def _note(last: MemoryReading) -> str:
    """The largest groups of the last reading, and what could not be told."""
    largest = sorted(grouped(last).items(), key=lambda pair: -pair[1])[:4]
    parts = ", ".join(f"{name} {digits(mib, 3)}" for name, mib in largest)
    missing = f" Not known: {'; '.join(last.missing)}." if last.missing else ""
    return f"At the end {digits(last.rss_bytes / _MIB, 3)} MiB: {parts}.{missing}"


def _mean_at_end(figure: LineFigure, cell: CellStats) -> str:
    ends = [value for fork in cell.usable if fork.memory and (value := list(figure.points(fork))[-1][1]) is not None]
    return f"{cell.key.executor}: {digits(sum(ends) / len(ends), 3)} MiB" if ends else ""
