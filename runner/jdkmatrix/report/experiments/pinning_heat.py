"""The heat map of pinning: what threads block in down, JDKs across. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from jdkmatrix.records.experiments import PinningResult
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.loads import CellKey, CountLoad
from jdkmatrix.report.experiments.cells import ExperimentCell, Part
from jdkmatrix.report.experiments.pinning_rule import CarrierCount, Held, held, tone
from jdkmatrix.report.experiments.views import PinCell, PinTable
from jdkmatrix.report.experiments.words import amount, load_of, outcome_views, outcome_words
from jdkmatrix.report.numbers import MISSING, plural
from jdkmatrix.report.wording import STATUS_WORDS

_INSIDE_WORDS = {
    "synchronized": "synchronized",
    "lock": "ReentrantLock",
    "object-wait": "Object.wait",
    "class-init": "class initialiser",
    "native": "native frame",
    "contended-monitor": "beside a contended monitor",
    "contended-lock": "beside a contended lock",
}


def construct(part: Part, key: CellKey) -> str:
    """What threads block in, in the words of Java; the name of the experiment where two have the same."""
    inside = _inside(part)
    mine = inside.get(key.workload, key.workload)
    return mine if list(inside.values()).count(mine) <= 1 else f"{mine}: {key.workload}"


def _inside(part: Part) -> dict[str, str]:
    found = {}
    for cell in part.cells:
        name = cell.record.parameters.get("inside")
        if isinstance(name, str):
            found[cell.key.workload] = _INSIDE_WORDS.get(name, name)
    return found


def fork_held(cell: ExperimentCell, fork: Fork) -> Held | None:
    """None where the fork has no figures, or the cell does not say what was asked for."""
    load, block_ms = cell.record.task_load, cell.parameter("block_ms")
    if not (fork.usable and isinstance(fork.experiment.result, PinningResult) and fork.experiment.result.seen):
        return None
    if not isinstance(load, CountLoad) or not block_ms or block_ms < 0:
        return None
    seen = fork.experiment.result.seen.carriers
    carriers = CarrierCount(seen.parallelism, seen.most) if seen and seen.parallelism > 0 else None
    return held(
        fork.experiment.result.seen.throughput_per_s, threads=load.count, block_s=block_ms / 1000, carriers=carriers
    )


def cell_held(cell: ExperimentCell) -> tuple[Held, ...]:
    """What each fork says."""
    return tuple(found for fork in cell.record.forks if (found := fork_held(cell, fork)) is not None)


def held_words(found: Sequence[Held]) -> str:
    """One verdict, or those between which forks differ."""
    by_holding: dict[str, Held] = {}
    for one in found:
        key = one.holding.value if not one.more else f"{one.holding.value} by more"
        if key not in by_holding or one.more > by_holding[key].more:
            by_holding[key] = one
    words = [one.words for one in by_holding.values()]
    return words[0] if len(words) == 1 else f"forks differ: {'; '.join(words)}"


def heat_tables(part: Part) -> tuple[PinTable, ...]:
    """One per number of CPUs, arm and number of threads, in the order of the run."""
    conditions = dict.fromkeys((key.cpus, key.executor, key.load) for key in part.keys)
    found = []
    for cpus, executor, load in conditions:
        keys = [key for key in part.keys if (key.cpus, key.executor, key.load) == (cpus, executor, load)]
        rows = []
        for workload in dict.fromkeys(key.workload for key in keys):
            by_jdk = {key.jdk: key for key in keys if key.workload == workload}
            cells = tuple(_cell(part, by_jdk.get(jdk)) for jdk in part.jdks)
            rows.append((construct(part, next(iter(by_jdk.values()))), cells))
        title = f"{executor}: {load_of(part, keys[0])}, {plural(cpus, 'CPU')}{_carriers(part, keys)}"
        found.append(PinTable(title, part.jdks, tuple(rows)))
    return tuple(found)


def _carriers(part: Part, keys: Sequence[CellKey]) -> str:
    seen = {
        result.seen.carriers.parallelism
        for cell in part.cells
        if cell.key in keys
        for result in cell.results
        if isinstance(result, PinningResult) and result.seen and result.seen.carriers
    }
    return f", {plural(min(seen), 'carrier')}" if len(seen) == 1 else ""


def _cell(part: Part, key: CellKey | None) -> PinCell:
    if key is None:
        return PinCell("", "", "", "none", "not a condition of this run", None)
    cell = next((cell for cell in part.cells if cell.key == key), None)
    if cell is None:
        return PinCell(MISSING, STATUS_WORDS[None], "", "none", "no fork of it has run", None)
    found = cell_held(cell)
    throughput = cell.spread("throughput")
    if not found or throughput is None:
        outcomes = outcome_views(cell.record.forks)
        if outcomes:
            title = "; ".join(filter(None, (outcomes[0].message, outcomes[0].advice)))
            return PinCell(MISSING, outcomes[0].word, "", "none", title, key)
        return PinCell(MISSING, STATUS_WORDS[cell.status], "", "none", "its page says why", key)
    share = median(one.share for one in found)
    ended = [outcome_words(r.outcome) for r in cell.results if r.outcome != "complete"]
    words = "; ".join(dict.fromkeys([held_words(found), *ended]))
    return PinCell(
        value=f"{amount(throughput.median, '1/s')}/s",
        verdict=words,
        basis=f"{share * 100:.0f} % of threads / D" if share >= 0.1 else f"{share * 100:.1f} % of threads / D",
        tone=tone(share),
        title=f"{construct(part, key)} on {key.jdk}: {words}; median of {plural(throughput.forks, 'fork')}",
        key=key,
    )
