"""Measure how long `matrix --help` takes, beside Python's own start.

    python bench/help_bench.py [--repeats N]

Exit status: 0 the goal is met, 1 it is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

GOAL_S = 0.10
_HELP = (sys.executable, "-m", "jdkmatrix.cli.main", "--help")
_PYTHON = (sys.executable, "-c", "pass")


def fastest_s(command: Sequence[str], repeats: int) -> float:
    times_s = []
    for _ in range(repeats):
        start_s = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times_s.append(time.perf_counter() - start_s)
    return min(times_s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    help_s, python_s = fastest_s(_HELP, repeats), fastest_s(_PYTHON, repeats)
    print(
        f"matrix --help: {help_s:.3f} s, of which {python_s:.3f} s are Python itself; fastest of {repeats}; the goal "
        f"is {GOAL_S:g} s"
    )
    return 0 if help_s <= GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())
