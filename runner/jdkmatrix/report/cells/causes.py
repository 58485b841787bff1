"""Measurements beside a ratio that may be why one executor is behind. Pure."""

from __future__ import annotations

import re

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.figures.metrics import CPU, SATURATED, SWITCHES, metrics_of
from jdkmatrix.loads.base import Bound
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.report.cells.cell_figures import of_metric
from jdkmatrix.report.cells.cellstats import CellStats

# Of a server's CPUs. One that is bounded by them uses nearly all; below half, it is not they.
_UNUSED_SHARE_MAX = 0.5
# So many times the switches of the other executor are worth a word.
_SWITCHES_TIMES_MIN = 2.0
_PINS_BELOW = 24  # the JDK since which a wait inside synchronized leaves the carrier free


def held_back(cell: CellStats) -> str | None:
    """ "saturated with 8 % of its CPUs in use, ...", of rising steps: where every fork that was saturated left its CPUs
    unused, with what to look for; None elsewhere."""
    if not isinstance(cell.load, StepsLoad):
        return None
    saturated = {block for block, figure in cell.figures(SATURATED).items() if figure.bound is Bound.NONE}
    shares = [best(fork).sut.cpu_share for fork in cell.usable if fork.fork in saturated]
    if not shares or max(shares) >= _UNUSED_SHARE_MAX:
        return None
    words = f"saturated with {_percent(min(shares), max(shares))} of its CPUs in use"
    version = re.search(r"[0-9]+", cell.key.jdk)
    if not is_virtual(cell.key.executor) or (version and int(version.group()) >= _PINS_BELOW):
        return f"{words}, so something else bounds it"
    return f"{words}: probably pinned carriers (before JDK {_PINS_BELOW}, waiting inside synchronized pins them)"


def more_switches(behind: CellStats, ahead: CellStats) -> tuple[str, str] | None:
    """Context switches per request of both, where the one that is behind has many more, and the CPU is what it is
    behind in: in CPU per request, or in what its busy CPUs allow."""
    in_cpu = metrics_of(behind.load)[0] is CPU
    one, other = (of_metric(SWITCHES, cell, why="") for cell in (behind, ahead))
    if one.sort is None or other.sort is None or not (in_cpu or _is_busy(behind)):
        return None
    return (one.text, other.text) if one.sort >= _SWITCHES_TIMES_MIN * other.sort else None


def _is_busy(cell: CellStats) -> bool:
    return all(best(fork).sut.cpu_share >= _UNUSED_SHARE_MAX for fork in cell.usable)


def best(fork: Fork) -> Window:
    """The window in which most was answered."""
    return max(fork.valid_windows, key=lambda window: window.load.succeeded_rps)


def _percent(low: float, high: float) -> str:
    ends = dict.fromkeys(f"{100 * share:.0f}" for share in (low, high))
    return f"{' to '.join(ends)} %"
