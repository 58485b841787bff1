"""One workload under one load: answers, heat maps and charts. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.figures.metrics import CAPACITY, CPU, THROUGHPUT, Metric, metrics_of
from jdkmatrix.report import ramps, steps
from jdkmatrix.report.answers import answers
from jdkmatrix.report.cellstats import Cells
from jdkmatrix.report.comparisons import Slice, slices
from jdkmatrix.report.heat import heat_map, outcome_map, outcomes_asked, scorecard
from jdkmatrix.report.judgements import NUMERATOR, Judgements
from jdkmatrix.report.latency import KIND_WORDS
from jdkmatrix.report.memory import memory_groups, readings_words
from jdkmatrix.report.names import file_stem
from jdkmatrix.report.search import search_charts
from jdkmatrix.report.section_charts import bar_charts, latency_charts
from jdkmatrix.report.views import JdkHeat, Legend, Section
from jdkmatrix.report.wording import condition, cpu_of, loads_words, throughput_of


def sections(cells: Cells, judgements: Judgements, order: Sequence[str]) -> tuple[Section, ...]:
    return tuple(_section(number, part, cells, judgements, order) for number, part in enumerate(slices(cells), start=1))


def _section(number: int, part: Slice, cells: Cells, judgements: Judgements, order: Sequence[str]) -> Section:
    single = len(part.cpus) == 1 and len(part.tasks) == 1
    pair = {NUMERATOR, part.own_pool} <= part.executors
    load = part.cells[0].load if part.cells else None
    pools = {cell.key: pool for cell in part.cells if (pool := cell.latency)}
    kinds = list(dict.fromkeys(KIND_WORDS[pool.kind] for pool in pools.values()))
    ident = f"s{number}"
    single_condition = condition(part.cpus[0], part.tasks[0]) if single else None
    metrics = metrics_of(load) if load else ()
    score = scorecard(cells, judgements, metrics, part) if single else None
    heat = () if single else tuple(_jdk_heat(part, cells, judgements, metrics, jdk) for jdk in part.jdks)
    tables = [score] if score else [table for one in heat for table in one.tables]
    # Without a single ratio there is nothing to colour: the answers say why.
    compared = any(cell.key for table in tables for _, row in table.rows for cell in row)
    return Section(
        id=f"{ident}-{file_stem(part.keys[0].served)}-{file_stem(part.load)}",
        served=part.keys[0].served,
        own_pool=part.own_pool,
        load=part.load,
        load_words=loads_words([cell.load for cell in part.cells])
        if part.cells
        else "no cell of this load has been measured",
        answers=answers(judgements, part, metrics, ramps.observed(part, order) or steps.observed(part, order)),
        scorecard=score if compared else None,
        scorecard_condition=single_condition,
        heat=heat if compared else (),
        heat_note=None
        if pair
        else f"No heat map: it compares {NUMERATOR} with {part.own_pool}, and one is not in this run.",
        legend=tuple(Legend(name, slot) for slot, name in enumerate(order) if name in part.executors),
        capacity=bar_charts(f"{ident}-capacity", part, CAPACITY, "requests per second", order),
        search=search_charts(f"{ident}-search", part, order),
        experiment=(
            *steps.steps_groups(f"{ident}-steps", part, order),
            *ramps.ramp_groups(f"{ident}-ramp", part, order),
            *memory_groups(f"{ident}-memory", part, order),
        ),
        throughput=bar_charts(f"{ident}-throughput", part, THROUGHPUT, "requests per second", order),
        throughput_of=throughput_of(load) if load else None,
        cpu_of=" ".join(filter(None, (cpu_of(load) if load else None, readings_words(part)))) or None,
        cpu=bar_charts(f"{ident}-cpu", part, CPU, "CPU µs per request", order),
        latency=latency_charts(f"{ident}-latency", part, pools, order),
        columns=min(len(part.jdks), 3),
        shares=len(part.tasks) > 1,
        latency_kind="; ".join(kinds) or None,
    )


def _jdk_heat(part: Slice, cells: Cells, judgements: Judgements, metrics: Sequence[Metric], jdk: str) -> JdkHeat:
    asked = outcomes_asked(judgements, part)
    first = (outcome_map(cells, judgements, asked, part, jdk),) if asked else ()
    return JdkHeat(jdk, (*first, *(heat_map(cells, judgements, metric, part, jdk) for metric in metrics)))
