"""Measured causes: figures beside a ratio that may explain why one executor is behind. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_virtual, size_of
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.experiments.base import at
from jdkmatrix.figures.metrics import CPU, CPU_USE, SATURATED, SWITCHES, THROUGHPUT, TIMEOUTS, Metric
from jdkmatrix.loads.base import Bound, Steps, best_window
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.shown import of_metric
from jdkmatrix.report.words.sentences import PairFinding, finding
from jdkmatrix.stats.verdicts import RELEVANT, Judged

# Share of a server's CPUs, or of its quota. A server bounded by them uses nearly all; below half, they do not bound it.
_UNUSED_SHARE_MAX = 0.5
# From this many times the switches of the other executor on, they are worth mentioning.
_SWITCHES_TIMES_MIN = 2.0
# A server that uses this share of its CPUs has next to none to spare.
_FULL_SHARE_MIN = 0.9
# In a closed loop a delay alone leaves CPUs unused; a server this far behind another waits for more than that.
_FAR_BEHIND_TIMES_MIN = 2.0
_DECIDED = (PairFinding.BETTER, PairFinding.WORSE)
_PINS_BELOW = 24  # since this JDK, waiting inside synchronized leaves the carrier free


def held_back(cell: CellStats, *, far_behind: bool = False) -> str | None:
    """Say "saturated with 8 % of its CPUs in use, ...", with what to look for, where every fork in question left its
    CPUs unused: under steps, those that were saturated; in a closed loop, those of a cell that is `far_behind` another.
    None elsewhere."""
    if isinstance(cell.kind, Steps):
        saturated = {block for block, figure in cell.figures(SATURATED).items() if figure.bound is Bound.NONE}
        state, forks = "saturated", [fork for fork in cell.usable if fork.fork in saturated]
    elif far_behind and isinstance(cell.load, SaturateLoad):
        state, forks = "held up", [*cell.usable]
    else:
        return None
    shares = [best_window(fork).sut.cpu_share for fork in forks]
    if not shares or max(shares) >= _UNUSED_SHARE_MAX:
        return None
    ends = dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    quota = any(fork.cpus_allowed < len(fork.confinement.sut_cpus) for fork in forks)
    of = "its quota of CPU time" if quota else "its CPUs"
    words = f"{state} with {' to '.join(ends)} % of {of} in use"
    version = re.search(r"[0-9]+", str(at(cell.record.identity.inputs, "jdk.version") or cell.key.jdk))
    executor, pins = cell.key.executor, version is not None and int(version.group()) < _PINS_BELOW
    if not (pins and is_virtual(executor) and size_of(executor) is None):
        return f"{words}, so something else limits it"
    return f"{words}: probably pinned carriers (before JDK {_PINS_BELOW}, waiting inside synchronized pins them)"


def likely_cause(arms: Mapping[str, CellStats], ahead: str | None, figure: str) -> str | None:
    """Say why the one of two arms, by name, that is not `ahead` in `figure` may be behind. First, that most of its
    requests fail. Then, if `figure` is CPU per request or all its forks used at least half of their CPUs: context
    switches per request, where it has many more and `_costs_it`; else the CPU that it leaves idle, where it lacks
    throughput and the other has next to no CPU to spare. None where nothing of this was seen."""
    if ahead is None:
        return None
    (name,) = arms.keys() - {ahead}
    behind, other = arms[name], arms[ahead]
    if failures := _failures(name, behind):
        return failures
    if figure != CPU.id and any(best_window(fork).sut.cpu_share < _UNUSED_SHARE_MAX for fork in behind.usable):
        return None
    if _costs_it(behind, other, figure):
        has_many = _times(SWITCHES, behind, other) >= _SWITCHES_TIMES_MIN
        return f"context switches per request: {_of_both(SWITCHES, arms)}" if has_many else None
    if figure == THROUGHPUT.id and (of_metric(CPU_USE, other, why="").sort or 0) >= _FULL_SHARE_MIN:
        return f"CPU left idle (in use: {_of_both(CPU_USE, arms, ' %')})"
    return None


def _failures(name: str, cell: CellStats) -> str | None:
    """Say how many requests failed; None where at least as many succeeded."""
    failed = cell.failed_requests
    succeeded = sum(window.load.succeeded for fork in cell.usable for window in fork.valid_windows)
    if failed <= succeeded:
        return None
    seen = ", and some waited too long for a connection" if of_metric(TIMEOUTS, cell, why="").sort else ""
    return f"with {name} {failed:,} of {failed + succeeded:,} requests failed{seen}"


def _costs_it(behind: CellStats, other: CellStats, figure: str) -> bool:
    """Return whether one arm is behind because a request costs it more CPU. Throughput is CPU use over CPU per request:
    at least half of what is lacking, on a log scale, must be due to the latter."""
    if figure == CPU.id:
        return True
    cost = _times(CPU, behind, other)
    return cost**2 * _times(THROUGHPUT, behind, other) >= 1 if figure == THROUGHPUT.id else cost >= 1 + RELEVANT


def _times(metric: Metric, one: CellStats, other: CellStats) -> float:
    """Return the figure of the one over that of the other; NaN where either has none, or the other's is 0."""
    above, below = (of_metric(metric, cell, why="").sort for cell in (one, other))
    return above / below if above is not None and below else math.nan


def _of_both(metric: Metric, arms: Mapping[str, CellStats], unit: str = "") -> str:
    return ", ".join(f"{of_metric(metric, cell, why='').text}{unit} with {name}" for name, cell in arms.items())


def cause_of(judgements: Judgements, key: CellKey) -> str | None:
    """Return what was measured beside the leading figure of a cell and may explain why it, or the one that it is
    compared with, is behind, by the names of their executors; None where nothing was."""
    metric = judgements.cells.leading(key)
    judged, compared = judgements.of(metric, key), judgements.comparison(metric, key)
    if judged is None or compared is None or (found := finding(judged, metric)) not in _DECIDED:
        return None
    arms = (compared.cell, compared.base)
    ahead, behind = arms if found is PairFinding.BETTER else arms[::-1]
    if cause := likely_cause({arm.key.executor: arm for arm in arms}, ahead.key.executor, metric.id):
        return cause
    why = held_back(behind, far_behind=True) if is_far_behind(metric, judged) else None
    return f"with {behind.key.executor} the server was {why}" if why else None


def is_far_behind(metric: Metric, judged: Judged) -> bool:
    """Return whether one of the two has many times the throughput of the other."""
    ratio = judged.ratio.value
    return metric is THROUGHPUT and max(ratio, 1 / ratio) >= _FAR_BEHIND_TIMES_MIN
