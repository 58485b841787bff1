"""One workload under one load: answers, heat maps and charts. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.figures.metrics import CAPACITY, CPU, THROUGHPUT, Metric, metrics_of
from jdkmatrix.loads.kinds import kind_of, loads_words
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.comparisons import Slice, slices
from jdkmatrix.report.cells.heat import heat_map, outcome_map, outcomes_asked, scorecard
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.latency import KIND_WORDS
from jdkmatrix.report.html.names import file_stem
from jdkmatrix.report.run_page import ramps, steps
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.run_page.memory import memory_groups, readings_words
from jdkmatrix.report.run_page.search import search_charts
from jdkmatrix.report.run_page.section_charts import bar_charts, latency_charts
from jdkmatrix.report.views import JdkHeat, Legend, Section
from jdkmatrix.report.words.sentences import condition, driven


def sections(cells: Cells, judgements: Judgements, order: Sequence[str]) -> tuple[Section, ...]:
    return tuple(
        _section(number, piece, cells, judgements, order) for number, piece in enumerate(slices(cells), start=1)
    )


def _section(number: int, piece: Slice, cells: Cells, judgements: Judgements, order: Sequence[str]) -> Section:
    single = len(piece.cpus) == 1 and len(piece.tasks) == 1
    pair = {*piece.pair} <= {*piece.executors}
    measured = {cell.key.executor for cell in piece.cells}
    load = piece.cells[0].load if piece.cells else None
    pools = {cell.key: pool for cell in piece.cells if (pool := cell.latency)}
    kinds = list(dict.fromkeys(KIND_WORDS[pool.kind] for pool in pools.values()))
    id_prefix = f"s{number}"
    single_condition = condition(piece.cpus[0], piece.tasks[0]) if single else None
    metrics = metrics_of(load) if load else ()
    score = scorecard(cells, judgements, metrics, piece) if single else None
    heat = () if single else tuple(_jdk_heat(piece, cells, judgements, metrics, jdk) for jdk in piece.jdks)
    tables = [score] if score else [table for one in heat for table in one.tables]
    # Without a single ratio there is nothing to colour: the answers say why.
    compared = any(cell.key for table in tables for _, row in table.rows for cell in row)
    return Section(
        id=f"{id_prefix}-{file_stem(piece.keys[0].served)}-{file_stem(piece.load)}",
        served=piece.keys[0].served,
        pair=piece.pair,
        load=piece.load,
        load_words=driven(loads_words([cell.load for cell in piece.cells]), piece.driver)
        if piece.cells
        else "no cell of this load has been measured",
        answers=answers(judgements, piece, metrics, ramps.observed(piece, order) or steps.observed(piece, order)),
        scorecard=score if compared else None,
        scorecard_condition=single_condition,
        heat=heat if compared else (),
        heat_note=None
        if pair
        else f"No heat map: it compares {piece.pair.numerator} with {piece.pair.base}, and one is not in this run.",
        legend=tuple(Legend(name, slot) for slot, name in enumerate(order) if name in measured),
        capacity=bar_charts(f"{id_prefix}-capacity", piece, CAPACITY, "requests per second", order),
        search=search_charts(f"{id_prefix}-search", piece, order),
        experiment=(
            *steps.steps_groups(f"{id_prefix}-steps", piece, order),
            *ramps.ramp_groups(f"{id_prefix}-ramp", piece, order),
            *memory_groups(f"{id_prefix}-memory", piece, order),
        ),
        throughput=bar_charts(f"{id_prefix}-throughput", piece, THROUGHPUT, "requests per second", order),
        throughput_of=kind_of(load).throughput_of if load else None,
        cpu_scope=" ".join(filter(None, (kind_of(load).cpu_scope if load else None, readings_words(piece)))) or None,
        cpu=bar_charts(f"{id_prefix}-cpu", piece, CPU, "CPU µs per request", order),
        latency=latency_charts(f"{id_prefix}-latency", piece, pools, order),
        columns=min(len(piece.jdks), 3),
        shares=len(piece.tasks) > 1,
        latency_kind="; ".join(kinds) or None,
    )


def _jdk_heat(piece: Slice, cells: Cells, judgements: Judgements, metrics: Sequence[Metric], jdk: str) -> JdkHeat:
    asked = outcomes_asked(judgements, piece)
    first = (outcome_map(cells, judgements, asked, piece, jdk),) if asked else ()
    return JdkHeat(jdk, (*first, *(heat_map(cells, judgements, metric, piece, jdk) for metric in metrics)))
