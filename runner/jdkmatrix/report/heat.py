"""Ratio tables with a diverging colour scale around 1. Pure.

They are HTML tables and no charts: a reader can select the figures, follow a cell to its page, read them without
JavaScript and with a screen reader, and on a narrow screen they scroll in a box of their own with text at full size.
The scale is logarithmic (a factor of 2 and of 1/2 are equally far from 1), the same on every page whatever the data,
and blue to orange, which every common form of colour blindness tells apart. The colour says whom the figure favours,
so that "less CPU" and "more throughput" have one colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jdkmatrix.config.executors import BASELINE
from jdkmatrix.records import CellKey
from jdkmatrix.report.cellstats import METRICS, Cells, Metric
from jdkmatrix.report.numbers import ratio_interval, ratio_value
from jdkmatrix.report.wording import Finding, finding, work_words
from jdkmatrix.stats import Ratio

NUMERATOR, DENOMINATOR = "virtual", BASELINE

# A factor of so much away from 1 reaches the next colour.
EDGES = (1.02, 1.05, 1.1, 1.2, 1.4, 2.0)


@dataclass(frozen=True)
class HeatCell:
    """`tone` is a CSS class: "n1".."n6" favour the numerator, "d1".."d6" the denominator, "even" nobody, "none"."""

    value: str
    interval: str | None
    basis: str
    tone: str
    decided: bool
    title: str
    key: CellKey | None  # the numerator's cell


@dataclass(frozen=True)
class HeatTable:
    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


def tone(ratio: Ratio, metric: Metric) -> str:
    """The colour of a ratio; an interval that contains 1 takes the neutral one whatever its middle."""
    if finding(ratio, metric) is Finding.NO_DIFFERENCE_SEEN:
        return "even"
    favour = ratio.value if metric.more_is_better else 1 / ratio.value
    distance = math.exp(abs(math.log(favour)))
    # A hair of tolerance, so that 1 / (1 / 1.05) is as far from 1 as 1.05 is.
    level = sum(distance >= edge * (1 - 1e-9) for edge in EDGES)
    return "even" if level == 0 else f"{'n' if favour > 1 else 'd'}{level}"


def heat_cell(ratio: Ratio | None, metric: Metric, key: CellKey, why_missing: str) -> HeatCell:
    if ratio is None:
        return HeatCell("–", None, "no pair", "none", False, why_missing, None)
    found = finding(ratio, metric)
    interval = ratio_interval(ratio)
    verdict = {
        Finding.BETTER: f"{NUMERATOR} better",
        Finding.WORSE: f"{DENOMINATOR} better",
        Finding.NO_DIFFERENCE_SEEN: Finding.NO_DIFFERENCE_SEEN.value,
        Finding.ONE_BLOCK: "one block only: no interval, a hint and no more",
    }[found]
    return HeatCell(
        value=ratio_value(ratio),
        interval=interval,
        basis=f"n {ratio.blocks}",
        tone=tone(ratio, metric),
        decided=found in (Finding.BETTER, Finding.WORSE),
        title=f"{metric.title}, {NUMERATOR} / {DENOMINATOR}: {verdict}",
        key=key,
    )


def _cell(cells: Cells, metric: Metric, workload: str, jdk: str, cpus: int, burn_us: int, load: str) -> HeatCell:
    key = CellKey(workload=workload, jdk=jdk, executor=NUMERATOR, cpus=cpus, burn_us=burn_us, load=load)
    base = key.model_copy(update={"executor": DENOMINATOR})
    if key not in cells.keys or base not in cells.keys:
        return HeatCell("", None, "", "none", False, "not a condition of this run", None)
    absent = [k.executor for k in (key, base) if not ((c := cells.get(k)) and c.usable)]
    why = f"no usable fork of {' and '.join(absent)}" if absent else "no block has this figure for both executors"
    return heat_cell(cells.ratio(metric, key, DENOMINATOR), metric, key, why)


def scorecard(cells: Cells, workload: str, load: str, jdks: Sequence[str], cpus: int, burn_us: int) -> HeatTable:
    """For a single condition: JDKs down, figures across."""
    return HeatTable(
        title=f"{NUMERATOR} / {DENOMINATOR}",
        corner="JDK",
        columns=tuple(metric.title for metric in METRICS),
        rows=tuple(
            (jdk, tuple(_cell(cells, metric, workload, jdk, cpus, burn_us, load) for metric in METRICS)) for jdk in jdks
        ),
    )


def heat_map(
    cells: Cells, metric: Metric, workload: str, load: str, jdk: str, cpus: Sequence[int], burns: Sequence[int]
) -> HeatTable:
    """For one JDK: CPUs down, work per request across."""
    return HeatTable(
        title=metric.title,
        corner="CPUs",
        columns=tuple(work_words(burn) for burn in burns),
        rows=tuple((str(c), tuple(_cell(cells, metric, workload, jdk, c, burn, load) for burn in burns)) for c in cpus),
    )


@dataclass(frozen=True)
class LegendStep:
    tone: str
    text: str


def legend() -> tuple[LegendStep, ...]:
    """From "the denominator is far better" over even to "the numerator is far better"."""
    levels = range(len(EDGES), 0, -1)
    left = tuple(LegendStep(f"d{level}", f"{EDGES[level - 1]:g}") for level in levels)
    right = tuple(LegendStep(f"n{level}", f"{EDGES[level - 1]:g}") for level in reversed(levels))
    return (*left, LegendStep("even", "1"), *right)
