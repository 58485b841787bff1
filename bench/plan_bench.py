"""Measure how long planning 100,000 cells takes, beside 50,000 in the same run: twice as many may take twice as long,
and half a time more where the host is noisy.

    python bench/plan_bench.py [--cells N] [--repeats N]

Exit status: 0 both goals are met, 1 one is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.run.plan import make_plan, select_cells

ROOT = Path(__file__).parents[1]
GOAL_S = 2.0
GROWTH_MAX = 2.5  # of the time, from half of the cells to all
_EXECUTORS = ("liberty", "virtual", "platform", "cached")
_CPUS = 50
_JDKS = 5


def matrix_of(cells: int) -> Matrix:
    """Make a matrix with a profile of so many cells: 4 executors on 5 JDKs, on 1 to 50 CPUs, with ever longer tasks."""
    tasks = cells // (len(_EXECUTORS) * _CPUS * _JDKS)
    files = read_files(ROOT / "matrix.toml")
    data = next(iter(files.values()))
    data["axes"]["cpus"] = list(range(1, _CPUS + 1))
    data["axes"]["burn_us"] = [50 * task for task in range(tasks)]
    select = {
        **{"workload": ["mp-ping"], "server": ["open-liberty"], "jdk": data["axes"]["jdk"][:_JDKS]},
        **{"executor": list(_EXECUTORS), "wait_us": [0], "load": ["saturate-50"]},
    }
    data["profiles"]["p"] = {"description": "", "blocks": 2, "windows": 2, "window_s": 3, "select": select}
    return parse_files(files)


def planned_s(matrix: Matrix) -> tuple[int, float]:
    """Return how many cells there are, and how long it took to select them and to order their forks."""
    start_s = time.perf_counter()
    cells = select_cells(matrix, "p")
    make_plan(cells, matrix.profiles["p"], seed=1, impossible={})
    return len(cells), time.perf_counter() - start_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    medians = []
    for asked in (options.cells // 2, options.cells):
        matrix = matrix_of(asked)
        tries = [planned_s(matrix) for _ in range(options.repeats)]
        medians.append(statistics.median(seconds for _, seconds in tries))
        print(f"{tries[0][0]:,} cells: {medians[-1]:.2f} s, median of {options.repeats}")
    growth = medians[1] / medians[0]
    print(f"twice as many cells take {growth:.2f} times as long (at most {GROWTH_MAX:g}); the goal is {GOAL_S:g} s")
    return 0 if medians[1] <= GOAL_S and growth <= GROWTH_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
