"""One workload under one load: answers, heat maps and charts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jdkmatrix.records import CellKey
from jdkmatrix.report import charts
from jdkmatrix.report.answers import answers
from jdkmatrix.report.cellstats import CPU, METRICS, THROUGHPUT, Cells, CellStats, Metric, summary_of
from jdkmatrix.report.heat import DENOMINATOR, NUMERATOR, heat_map, scorecard
from jdkmatrix.report.latency import KIND_WORDS, Pooled
from jdkmatrix.report.names import file_stem
from jdkmatrix.report.numbers import digits, plural
from jdkmatrix.report.views import Chart, JdkHeat, Legend, Section
from jdkmatrix.report.wording import condition, load_words, work_words

# Beyond this the curve's last points are single requests.
_LONGEST_TAIL = 100_000.0


@dataclass(frozen=True)
class Slice:
    """The cells of one workload and load, and the values they take on the other axes, in the order of the run."""

    workload: str
    load: str
    keys: tuple[CellKey, ...]
    cells: tuple[CellStats, ...]

    @property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @property
    def cpus(self) -> tuple[int, ...]:
        return tuple(sorted({key.cpus for key in self.keys}))

    @property
    def burns(self) -> tuple[int, ...]:
        return tuple(sorted({key.burn_us for key in self.keys}))

    @property
    def executors(self) -> frozenset[str]:
        return frozenset(key.executor for key in self.keys)


def slices(cells: Cells) -> tuple[Slice, ...]:
    found: dict[tuple[str, str], list[CellKey]] = {}
    for key in cells.keys:
        found.setdefault((key.workload, key.load), []).append(key)
    return tuple(
        Slice(workload, load, tuple(keys), tuple(cell for key in keys if (cell := cells.get(key))))
        for (workload, load), keys in found.items()
    )


def sections(cells: Cells, order: Sequence[str]) -> tuple[Section, ...]:
    return tuple(_section(number, part, cells, order) for number, part in enumerate(slices(cells), start=1))


def _section(number: int, part: Slice, cells: Cells, order: Sequence[str]) -> Section:
    single = len(part.cpus) == 1 and len(part.burns) == 1
    pair = {NUMERATOR, DENOMINATOR} <= part.executors
    load = part.cells[0].record.load if part.cells else None
    pools = {cell.key: pool for cell in part.cells if (pool := cell.latency)}
    kinds = list(dict.fromkeys(KIND_WORDS[pool.kind] for pool in pools.values()))
    ident = f"s{number}"
    return Section(
        id=f"{ident}-{file_stem(part.workload)}-{file_stem(part.load)}",
        workload=part.workload,
        load=part.load,
        load_words=load_words(load) if load else "no cell of this load has been measured",
        answers=answers(cells, part.workload, part.load, part.jdks, part.cpus, part.burns, load),
        scorecard=scorecard(cells, part.workload, part.load, part.jdks, part.cpus[0], part.burns[0])
        if single and pair
        else None,
        scorecard_condition=condition(part.cpus[0], part.burns[0]) if single else None,
        heat=tuple(_jdk_heat(part, cells, jdk) for jdk in part.jdks) if pair and not single else (),
        heat_note=None
        if pair
        else f"No heat map: it compares {NUMERATOR} with {DENOMINATOR}, and one is not in this run.",
        legend=tuple(Legend(name, slot) for slot, name in enumerate(order) if name in part.executors),
        throughput=_bars(f"{ident}-throughput", part, THROUGHPUT, "requests per second", 4, order),
        cpu=_bars(f"{ident}-cpu", part, CPU, "CPU µs per request", 3, order),
        latency=_curves(f"{ident}-latency", part, pools, order),
        latency_kind="; ".join(kinds) or None,
    )


def _jdk_heat(part: Slice, cells: Cells, jdk: str) -> JdkHeat:
    return JdkHeat(
        jdk=jdk,
        tables=tuple(
            heat_map(cells, metric, part.workload, part.load, jdk, part.cpus, part.burns) for metric in METRICS
        ),
    )


def _bars(
    ident: str, part: Slice, metric: Metric, axis: str, significant: int, order: Sequence[str]
) -> tuple[Chart, ...]:
    """One chart per JDK and number of CPUs; the same axis for all CPUs' charts of equal count."""
    found = []
    for number, (jdk, cpus) in enumerate((j, c) for c in part.cpus for j in part.jdks):
        chosen = [cell for cell in part.cells if (cell.key.jdk, cell.key.cpus) == (jdk, cpus) and cell.usable]
        chosen.sort(key=lambda cell: (cell.key.burn_us, order.index(cell.key.executor)))
        peers = [cell for cell in part.cells if cell.key.cpus == cpus]
        means, forks = [], []
        for cell in chosen:
            by_block = metric.by_block(cell)
            summary = summary_of(by_block)
            if summary is None:
                continue
            place = {"executor": cell.key.executor, "work": work_words(cell.key.burn_us)}
            means.append(
                {
                    **place,
                    "mean": summary.mean,
                    "low": summary.ci_low,
                    "high": summary.ci_high,
                    "label": digits(summary.mean, significant),
                }
            )
            forks += [{**place, "fork": block, "value": value} for block, value in sorted(by_block.items())]
        if not means:
            continue
        highest = max(value for cell in peers for value in metric.by_block(cell).values())
        words = "; ".join(f"{m['executor']} {m['label']}" for m in means[:6])
        title = f"{jdk}, {plural(cpus, 'CPU')}"
        found.append(
            Chart(
                id=f"{ident}-{number}",
                title=title,
                note=words if len(means) <= 6 else f"{words}; and {len(means) - 6} more",
                spec=charts.bars(
                    means,
                    forks,
                    order=order,
                    title=axis,
                    highest=highest,
                    description=f"{metric.title} of {title}: {axis}, bars of means, one point per fork",
                ),
            )
        )
    return tuple(found)


def _curves(ident: str, part: Slice, pools: dict[CellKey, Pooled], order: Sequence[str]) -> tuple[Chart, ...]:
    points = {key: _curve_points(pool) for key, pool in pools.items()}
    every = [point for curve in points.values() for point in curve]
    if not every:
        return ()
    lowest, highest = charts.log_domain([ms for _, ms, _ in every])
    longest = min(max(x for x, _, _ in every), _LONGEST_TAIL)
    found = []
    for number, (jdk, cpus, burn) in enumerate((j, c, b) for c in part.cpus for b in part.burns for j in part.jdks):
        here = [key for key in points if (key.jdk, key.cpus, key.burn_us) == (jdk, cpus, burn)]
        here.sort(key=lambda key: order.index(key.executor))
        if not here:
            continue
        title = f"{jdk}, {condition(cpus, burn)}"
        p99 = [(key.executor, pools[key].percentiles_us["99"]) for key in here]
        found.append(
            Chart(
                id=f"{ident}-{number}",
                title=title,
                note="p99: " + "; ".join(f"{name} {digits(us / 1000, 3)} ms" for name, us in p99 if us is not None),
                spec=charts.latency_curves(
                    [
                        {"executor": key.executor, "x": x, "ms": ms, "quantile": quantile}
                        for key in here
                        for x, ms, quantile in points[key]
                    ],
                    order=order,
                    lowest_ms=lowest,
                    highest_ms=highest,
                    longest=longest,
                    description=f"Latency by percentile of {title}, one line per executor",
                ),
            )
        )
    return tuple(found)


def _curve_points(pool: Pooled) -> list[tuple[float, float, str]]:
    """(1 / (1 - quantile), ms, quantile in words); the maximum, at infinity, has no place on the axis."""
    return [
        (1 / (1 - p.quantile), p.value_us / 1000, f"{p.quantile * 100:.6g} %")
        for p in pool.spectrum
        if p.quantile < 1 - 0.5 / pool.count and p.value_us > 0 and 1 / (1 - p.quantile) <= _LONGEST_TAIL
    ]
