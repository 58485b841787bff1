"""The heat map of pinning: what threads block in down, JDKs across. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import MISSING, amount, plural
from jdkmatrix.experiments.base import at
from jdkmatrix.experiments.pinning import cell_held
from jdkmatrix.experiments.pinning_rule import TOLERANCE, held_words
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.report.blocks.kinds import ColourScale, HeatCell, HeatMap, PageBlock, Prose
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.experiments.words import endings, given, load_of, outcome_words, seen_in
from jdkmatrix.report.words.sentences import State

RULE = (
    f"D is how long a thread blocks each time. “free”: at least {1 - TOLERANCE:.0%} of threads / D, so that all of "
    "them blocked at once; “by N more carriers”: so many that every blocked thread can have kept one. “keeps its "
    f"carrier”: within {TOLERANCE:.0%} of carriers / D, so that only as many threads as carriers blocked at once. "
    "“finds no carrier”: no thread blocked even once, since others kept all carriers. "
    "“between” is neither; with about as many carriers as threads the two look the same. Each cell: how often "
    "threads blocked per second (median of forks), what that says, and its share of threads / D, which the colour "
    "shows."
).replace("%", " %")

# From a share of threads / D on, a class of the heat map; the text says the same as the colour.
_STEPS = ((0.85, "p1", "85 % and more"), (0.5, "p2", "50–85 %"), (0.25, "p3", "25–50 %"), (0.1, "p4", "10–25 %"))
_LOWEST = ("p5", "below 10 %")


def tone(share: float) -> str:
    return next((css for edge, css, _ in _STEPS if share >= edge), _LOWEST[0])


# Class and text of each colour, the smallest share first.
LEGEND = (_LOWEST, *((css, text) for _, css, text in reversed(_STEPS)))


def pinning_blocks(piece: ExperimentSlice) -> Iterator[PageBlock]:
    """A map per number of CPUs, arm and number of threads, in the order of the run; nothing of other experiments."""
    if piece.kind != "pinning":
        return
    yield Prose(RULE, "Who keeps its carrier")
    for cpus, executor, load in dict.fromkeys((key.cpus, key.executor, key.load) for key in piece.keys):
        keys = [key for key in piece.keys if (key.cpus, key.executor, key.load) == (cpus, executor, load)]
        rows = []
        for workload in dict.fromkeys(key.workload for key in keys):
            by_jdk = {key.jdk: key for key in keys if key.workload == workload}
            cells = tuple(_cell(piece, by_jdk.get(jdk)) for jdk in piece.jdks)
            rows.append((piece.subject(next(iter(by_jdk.values()))), cells))
        title = f"{executor}: {load_of(piece, keys[0])}, {plural(cpus, 'CPU')}{_carriers(piece, keys)}"
        yield Prose(heading=title, level=4)
        yield HeatMap(f"Heat map, {title}", "Blocks in", piece.jdks, tuple(rows), css="pins")
    yield ColourScale(LEGEND, "share of threads / D", css="wide")


def _carriers(piece: ExperimentSlice, keys: Sequence[CellKey]) -> str:
    seen = {
        carriers
        for cell in piece.cells
        if cell.key in keys
        for result in cell.results
        if (carriers := at(result.seen, "carriers.parallelism")) is not None
    }
    return f", {plural(min(seen), 'carrier')}" if len(seen) == 1 else ""


def _cell(piece: ExperimentSlice, key: CellKey | None) -> HeatCell:
    if key is None:
        return HeatCell("", "", "", "none", True, "not a condition of this run", None)
    cell = next((cell for cell in piece.cells if cell.key == key), None)
    if cell is None:
        return HeatCell(MISSING, State.NOT_MEASURED.value, "", "none", True, "no fork of it has run", None)
    found = cell_held(cell.table, seen_in(cell), given(cell))
    throughput = cell.spread("throughput")
    if not found or throughput is None:
        word, title = cell.state.value, "its page says why"
        for one in endings(cell.record.forks)[:1]:
            word, title = one.word, "; ".join(filter(None, (one.message, one.advice)))
        return HeatCell(MISSING, word, "", "none", True, title, cell_page(key))
    share = median(one.share for one in found)
    ended = [outcome_words(r.outcome) for r in cell.results if r.outcome != "complete"]
    words = "; ".join(dict.fromkeys([held_words(found), *ended]))
    return HeatCell(
        value=f"{amount(throughput.median, '1/s')}/s",
        interval=words,
        basis=f"{share * 100:.0f} % of threads / D" if share >= 0.1 else f"{share * 100:.1f} % of threads / D",
        tone=tone(share),
        decided=True,
        title=f"{piece.subject(key)} on {key.jdk}: {words}; median of {plural(throughput.forks, 'fork')}",
        href=cell_page(key),
    )
