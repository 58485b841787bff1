"""One workload under one load: answers, heat maps and charts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.figures.metrics import CAPACITY, CPU, THROUGHPUT, Metric, metrics_of
from jdkmatrix.loads.kinds import kind_of, loads_words
from jdkmatrix.report.blocks.inline import Wording, element, file_stem, fill, joined, say, swatch
from jdkmatrix.report.blocks.kinds import (
    AnswerBoxes,
    Charts,
    ColourScale,
    Container,
    PageBlock,
    Prose,
    Section,
)
from jdkmatrix.report.cells.heat import heat_map, legend, mapped, scorecard
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.shown import KIND_WORDS
from jdkmatrix.report.cells.slices import Slice, slices
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.run_page.charts import ChartPlace, bar_charts, latency_charts
from jdkmatrix.report.run_page.memory import memory_charts, readings_words
from jdkmatrix.report.run_page.over_rate import remarks, search_charts, steps_charts
from jdkmatrix.report.run_page.ramps import became, ramp_charts
from jdkmatrix.report.words.sentences import capitalised, driven, served_words

_LATENCIES_MAX = 8  # charts that stand unfolded


def sections(judgements: Judgements) -> tuple[Section, ...]:
    return tuple(
        _section(f"s{number}", piece, judgements) for number, piece in enumerate(slices(judgements.cells), start=1)
    )


def _section(prefix: str, piece: Slice, judgements: Judgements) -> Section:
    load = piece.first_load
    metrics = metrics_of(load) if load else ()
    seen: dict[str, list[tuple[str, str]]] = {}
    for cell in piece.in_order(piece.cells):
        for words in (*became(cell), *(f"{remark}." for remark in remarks(cell))):
            seen.setdefault(cell.key.jdk, []).append((cell.key.executor, words))
    served = served_words(piece.keys[0])
    words = "no cell of this load has been measured"
    if piece.cells:
        words = driven(loads_words([cell.load for cell in piece.cells]), piece.driver)
        words += f"; {piece.single}" if piece.single else ""
    figures = tuple(_figures(prefix, piece))
    shown = any(group.title in ("Throughput", *_OF_LOADS) for group in figures)
    return Section(
        id=f"{prefix}-{file_stem(piece.keys[0].served)}-{file_stem(piece.keys[0].load)}",
        title=joined(f"{served} ", element("span", "under", css="under"), f" {piece.keys[0].load}"),
        words=words,
        blocks=(
            AnswerBoxes(answers(judgements, piece, metrics, seen)),
            *_maps(piece, judgements, metrics),
            *figures,
            *(() if shown else (Prose(say("no_usable_fork")),)),
        ),
    )


def _maps(piece: Slice, judgements: Judgements, metrics: Sequence[Metric]) -> Iterator[PageBlock]:
    """A map for each JDK, or one of all JDKs where there is one condition only."""
    pair, of, single = piece.pair, f"{served_words(piece.keys[0])} under {piece.keys[0].load}", piece.single
    figures = mapped(judgements, piece, metrics)
    by_jdk = {
        jdk: tuple(heat_map(judgements, figure, piece, jdk, f"{jdk}, {of}") for figure in figures)
        for jdk in (() if single else piece.jdks)
    }
    if single:
        by_jdk[""] = (scorecard(judgements, figures, piece, of),)
    # Without a single ratio there is nothing to colour: the answers say why.
    if any(cell.href for maps in by_jdk.values() for one in maps for _, row in one.rows for cell in row):
        paired = "Every ratio is paired within blocks and shown with its 95 % interval."
        rows = "" if single else "Rows: CPUs of the server; columns: the task. "
        yield Prose(f"{rows}{paired}", pair.words)
        for jdk, maps in by_jdk.items():
            if single:
                yield Container(maps, "score")
            else:
                beside = [Container((Prose(heading=one.title, level=5), one)) for one in maps]
                yield Container((Prose(heading=jdk, level=4), Container(beside, "heats")), "jdk-heat")
        yield ColourScale(legend(), f"{pair.base} better", f"{pair.numerator} better")
        yield Prose(say("colours", relevant=f"{judgements.cells.relevant * 100:g} %"))
    elif not {*pair} <= {*piece.executors}:
        yield Prose(f"No heat map: it compares {pair.numerator} with {pair.base}, and one is not in this run.")


_OF_LOADS = ("What was asked for", "Throughput over offered load", "Where the memory is")  # the first of their charts


def _figures(prefix: str, piece: Slice) -> Iterator[Charts]:
    measured = {cell.key.executor for cell in piece.cells}
    lines = tuple(joined(swatch(slot), name) for slot, name in enumerate(piece.order) if name in measured)
    filled = tuple(joined(fill(f"e{slot % 8}"), name) for slot, name in enumerate(piece.order) if name in measured)
    css = f"by-{min(len(piece.jdks), 3)}"
    load = piece.first_load
    shares = len(piece.tasks) > 1

    def place(name: str) -> ChartPlace:
        return ChartPlace(f"{prefix}-{name}", piece, lines, css)

    def bars(name: str, title: str, metric: Metric, axis: str, words: Wording) -> Iterator[Charts]:
        if charts := bar_charts(place(name), metric, axis):
            yield Charts(title, words, charts, filled, css, repeats=True)

    rps = "requests per second"
    yield from bars("capacity", "Rate held", CAPACITY, rps, say("rate_held", shares=shares))
    yield from search_charts(place("search"))
    yield from steps_charts(place("steps"))
    yield from ramp_charts(place("ramp"))
    yield from memory_charts(place("memory"))
    of = kind_of(load).throughput_of if load else None
    yield from bars("throughput", "Throughput", THROUGHPUT, rps, say("throughput", of=of, shares=shares))
    cost = say("cpu_cost", scope=cpu_scope(piece), shares=shares)
    yield from bars("cpu", "CPU per request", CPU, "CPU µs per request", cost)
    pools = {cell.key: pool for cell in piece.cells if (pool := cell.latency)}
    if latency := latency_charts(place("latency"), pools):
        kinds = "; ".join(dict.fromkeys(KIND_WORDS[pool.kind] for pool in pools.values()))
        words = f"{capitalised(kinds)}. All usable forks of a cell together; both axes are logarithmic."
        yield Charts("Latency by percentile", words, latency, lines, css, unfolded_max=_LATENCIES_MAX)


def cpu_scope(piece: Slice) -> str | None:
    """Which part of the load CPU per request is of, and what it leaves out."""
    load = piece.first_load
    return " ".join(filter(None, (kind_of(load).cpu_scope if load else None, readings_words(piece)))) or None
