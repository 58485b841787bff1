"""Measure how often an A/A check finds a difference where there is none.

    python bench/aa_bench.py SERIES.json [SERIES.json …]
    python bench/aa_bench.py --measure SERIES.json [--jdk JDK] [--executor EXECUTOR] [--blocks N] [--rounds N]

Every three blocks of a series count as a run, since `quick` has three. In each run, every two arms of the same executor
are compared as on a run's page, and the 95 % interval of their ratio of requests per second should contain 1.

`--measure` lets four arms of one executor take turns, which makes six pairs for the price of four servers. Pairs with
an arm in common are partly redundant, so pairs without one are also counted separately: the first arm by name with the
second, and the third with the fourth. Whether 95 in 100 contain 1 is judged by these alone.

Exit status: 0 the share that contains 1 may be 95 % (exact binomial interval of 95 %); 1 it is lower; 2 an error.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest
from series import Series, measure, paired_logs, ratio_words, read, with_profile, write

from jdkmatrix.config.load import load_matrix
from jdkmatrix.config.model import Tuning
from jdkmatrix.domain.executors import first_arm
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import find_project
from jdkmatrix.stats.intervals import CONFIDENCE, mean_interval

BLOCKS = 3  # of a run
THROUGHPUT = 2  # the column of a window
# One CPU has one carrier thread, and at least one is to stay unblocked: what the JDK does anyway.
SAME = "same"
NO_TUNING = Tuning(description="nothing else", properties={"jdk.virtualThreadScheduler.minRunnable": "1"})


def arms_of(executor: str) -> tuple[str, ...]:
    same = f"{executor}+{SAME}"
    return executor, f"{executor}-aa", same, f"{same}-aa"


@dataclass(frozen=True)
class Pair:
    """Two arms of one executor, with the log ratio per block that has both. `disjoint`: shares no arm with others."""

    place: str
    arms: str
    logs: Sequence[float]
    disjoint: bool

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """The interval of every `BLOCKS` blocks."""
        starts = range(0, len(self.logs) - BLOCKS + 1, BLOCKS)
        runs = [self.logs[start : start + BLOCKS] for start in starts]
        return [interval for run in runs if (interval := mean_interval(run)) is not None]

    @property
    def right(self) -> int:
        return sum(low <= 0 <= high for low, high in self.intervals)


def pairs(series: Series) -> Iterator[Pair]:
    for place in dict.fromkeys(block["place"] for block in series.blocks):
        blocks: list[dict[str, Any]] = [block["arms"] for block in series.blocks if block["place"] == place]
        names = sorted({name for arms in blocks for name in arms})
        for _, same in itertools.groupby(names, key=lambda name: first_arm(name).removesuffix(f"+{SAME}")):
            for (i, one), (j, other) in itertools.combinations(enumerate(same), 2):
                both = [
                    paired_logs(arms[other], arms[one], THROUGHPUT) for arms in blocks if {one, other} <= arms.keys()
                ]
                logs = [statistics.fmean(rounds) for rounds in both if len(rounds) > 1]
                yield Pair(place, f"{other} / {one}", logs, disjoint=i // 2 == j // 2)


def show(found: Sequence[Pair], console: Console) -> bool:
    table = Table(title=f"95 % intervals of {BLOCKS} blocks of A/A arms")
    for name in ("where", "arms", "blocks", "ratio", "scatter between blocks", "contain 1"):
        table.add_column(name)
    for pair in found:
        if len(pair.logs) < BLOCKS:
            console.print(f"{pair.place}, {pair.arms}: {len(pair.logs)} blocks are too few")
            continue
        table.add_row(
            pair.place, pair.arms, str(len(pair.logs)), ratio_words(pair.logs),
            f"{statistics.stdev(pair.logs):.1%}", f"{pair.right} of {len(pair.intervals)}",
        )  # fmt: skip
    console.print(table)
    good = True
    for what, counted in (
        ("of all pairs", found),
        ("of pairs without an arm in common", [p for p in found if p.disjoint]),
    ):
        right, intervals = sum(pair.right for pair in counted), sum(len(pair.intervals) for pair in counted)
        if not intervals:
            console.print(f"{what}: none")
            return False
        text = f"{what}: {right} of {intervals} intervals contain 1 ({right / intervals:.1%})"
        if counted is not found:
            bounds = binomtest(right, intervals).proportion_ci(CONFIDENCE)
            text += f", so that the share is {bounds.low:.1%} to {bounds.high:.1%}"
            good = bool(bounds.high >= CONFIDENCE)
        console.print(text, highlight=False)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", nargs="*", type=Path)
    parser.add_argument("--measure", type=Path)
    parser.add_argument("--jdk", default="temurin-25")
    parser.add_argument("--executor", default="liberty")
    parser.add_argument("--blocks", type=int, default=6 * BLOCKS)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    console = Console(width=160)
    try:
        if options.measure:
            project = find_project()
            matrix = with_profile(
                load_matrix(project.matrix), "A/A arms", jdks=(options.jdk,), executors=arms_of(options.executor),
                blocks=options.blocks, rounds=options.rounds, tunings={SAME: NO_TUNING},
            )  # fmt: skip
            measure(project, matrix, partial(write, options.measure), seed=options.seed, console=console)
    except MatrixError as error:
        print(error, file=sys.stderr)
        return 2
    files = (*options.series, *([options.measure] if options.measure else []))
    return 0 if show([pair for path in files for pair in pairs(read(path))], console) else 1


if __name__ == "__main__":
    sys.exit(main())
