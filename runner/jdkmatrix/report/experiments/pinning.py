"""The page’s section on pinning: a heat map of which virtual threads keep their carriers, by what they block in (down)
and JDK (across), and the stacks that forks saw. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import MISSING, amount, per_cent, plural
from jdkmatrix.experiments.base import at
from jdkmatrix.experiments.pinning import cell_held
from jdkmatrix.experiments.pinning_rule import TOLERANCE, held_words
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.report.blocks.kinds import ColourScale, Disclosure, HeatCell, HeatMap, PageBlock, Pre, Prose
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.experiments.words import endings, outcome_words
from jdkmatrix.report.words.sentences import State

RULE = (
    f"D is how long a thread blocks each time. “free”: at least {1 - TOLERANCE:.0%} of threads / D, so that all of "
    "them blocked at once; “by N more carriers”: enough for every blocked thread to have kept one. “keeps its "
    f"carrier”: within {TOLERANCE:.0%} of carriers / D, so that only as many threads as carriers blocked at once. "
    "“finds no carrier”: no thread blocked even once, since others kept all carriers. "
    "“between” is neither; with about as many carriers as threads the two look the same. Each cell: how often "
    "threads blocked per second (median of forks), what that says, and its share of threads / D, which the colour "
    "shows."
).replace("%", " %")

# The class of the heat map from each share of threads / D on; the text says the same as the colour.
_STEPS = (
    *((0.85, "p1", "85 % and more"), (0.5, "p2", "50–85 %"), (0.25, "p3", "25–50 %"), (0.1, "p4", "10–25 %")),
    (0, "p5", "below 10 %"),
)
# Class and text of each colour, the smallest share first.
LEGEND = tuple((css, text) for _, css, text in reversed(_STEPS))


def tone(share: float) -> str:
    return next(css for edge, css, _ in _STEPS if share >= edge)


def pinning_blocks(piece: ExperimentSlice) -> Iterator[PageBlock]:
    """Build a map per number of CPUs, arm and number of threads, in the order of the run; none of other experiments."""
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
        title = f"{executor}: {piece.load_words(keys[0])}, {plural(cpus, 'CPU')}{_carriers(piece, keys)}"
        yield Prose(heading=title, level=4)
        yield HeatMap(f"Heat map, {title}", "Blocks in", piece.jdks, tuple(rows), css="pins")
    yield ColourScale(LEGEND, "share of threads / D", css="wide")


def _carriers(piece: ExperimentSlice, keys: Sequence[CellKey]) -> str:
    results = (result for cell in piece.cells if cell.key in keys for result in cell.results)
    seen = {at(result.seen, "carriers.parallelism") for result in results} - {None}
    return f", {plural(min(seen), 'carrier')}" if len(seen) == 1 else ""


def _cell(piece: ExperimentSlice, key: CellKey | None) -> HeatCell:
    if key is None:
        return HeatCell("", "", title="not a condition of this run")
    cell = next((cell for cell in piece.cells if cell.key == key), None)
    if cell is None:
        return HeatCell(MISSING, State.NOT_MEASURED.value, title="no fork of it has run")
    found = cell_held(cell.table, cell.seen, cell.tasks)
    throughput = cell.spread("throughput")
    if not found or throughput is None:
        word, title = cell.state.value, "its page says why"
        for one in endings(cell.record.forks)[:1] if cell.state is State.OK else ():
            word, title = one.word, "; ".join(filter(None, (one.message, one.advice)))
        return HeatCell(MISSING, word, title=title, href=cell_page(key))
    share = median(one.share for one in found)
    ended = [outcome_words(r.outcome) for r in cell.results if r.outcome != "complete"]
    words = "; ".join(dict.fromkeys([held_words(found), *ended]))
    return HeatCell(
        value=f"{amount(throughput.median, '1/s')}/s",
        interval=words,
        basis=f"{per_cent(share)} of threads / D",
        tone=tone(share),
        decided=True,
        title=f"{piece.subject(key)} on {key.jdk}: {words}; median of {plural(throughput.forks, 'fork')}",
        href=cell_page(key),
    )


MOST_STACKS = 3
# A hidden class gets a new name each time it is defined: "Name/0x00007f…" or, in JFR, "Name.1324371348".
_HIDDEN = re.compile(r"[/.](?:0x[0-9a-f]+|\d+)(?=\.)")


def plain_frame(frame: str) -> str:
    """Strip the number of a hidden class, and an unknown line, for which JFR writes -1."""
    return _HIDDEN.sub("", frame).removesuffix(":-1")


def pinned_stacks(forks: Iterable[Fork]) -> tuple[int, tuple[PageBlock, ...]]:
    """Return how many events the forks saw, and their stacks, the most frequent first. Stacks that differ only in the
    names of hidden classes are one."""
    events = 0
    found: dict[tuple[str | None, str], int] = {}
    for fork in forks:
        pinned = at(fork.result.seen, "pinned") if fork.result else None
        events += at(pinned, "count") or 0
        for stack in at(pinned, "stacks") or ():
            same = (stack["reason"], "\n".join(map(plain_frame, stack["frames"])))
            found[same] = found.get(same, 0) + stack["count"]
    stacks = sorted(found.items(), key=lambda item: -item[1])[:MOST_STACKS]
    blocks: list[PageBlock] = []
    for (reason, frames), count in stacks if events else ():
        of = plural(events, "event")
        blocks += [Prose(f"{count:,} of {of}{f': {reason}' if reason else ''}"), Pre(frames)]
    if (left_out := events - sum(count for _, count in stacks)) > 0:
        blocks.append(Prose(f"{plural(left_out, 'event')} with other stacks."))
    return events, tuple(blocks)


def stacks_of_kind(piece: ExperimentSlice) -> Iterator[Disclosure]:
    """Show the stacks of every cell whose usable forks saw events, below one heading."""
    seen = [(cell.key, *told) for cell in piece.cells if (told := pinned_stacks(cell.usable))[0]]
    if not seen:
        return
    blocks: list[PageBlock] = []
    for key, _, stacks in seen:
        more = [key.executor] if piece.varies("executor") else []
        more += [plural(key.cpus, "CPU")] if piece.varies("cpus") else []
        blocks += [Prose(heading=", ".join([f"{piece.subject(key)} on {key.jdk}", *more]), level=4), *stacks]
    events = plural(sum(number for _, number, _ in seen), "jdk.VirtualThreadPinned event")
    yield Disclosure(f"Stacks that pin: {events} in {plural(len(seen), 'cell')}", blocks)
