"""The latency of a fork: which distribution stands for it."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.percentiles import merge_latencies

Kind = Literal["corrected", "uncorrected"]


def distribution_of(window: Window) -> Kind:
    """Which of its distributions stands for this window: the corrected one wherever there is a schedule."""
    return "uncorrected" if window.load.load.is_closed_loop else "corrected"


def chosen(window: Window) -> Latency | None:
    return window.load.corrected if distribution_of(window) == "corrected" else window.load.uncorrected


def fork_latency(fork: Fork) -> Latency | None:
    """The latency over all valid windows; None where none of them has the distribution that its load asks for, or
    nothing was answered."""
    if fork.latency is not None:
        return fork.latency
    found = [latency for window in fork.valid_windows if (latency := chosen(window)) is not None and latency.count]
    return merge_latencies(found) if found else None
