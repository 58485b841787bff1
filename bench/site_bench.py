"""How long the site takes to write, as the number of its cells grows, and after one run has been added.

The cells are those of the reference runs, copied under other ids. Figures are of this host and this moment; what is
judged are ratios within one run of this program.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from jdkmatrix.cli.reporting import write_site
from jdkmatrix.provision.project import find_project
from jdkmatrix.store.runs import REFERENCE, all_runs

GROWTH_MAX = 1.3  # of the time per cell, from the small site to the large one
REBUILD_MAX = 0.5  # of the time of the large site, after one run of it has been added


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=8, help="of every reference run in the large site")
    copies = parser.parse_args(arguments).copies
    project = find_project()
    originals = all_runs(project.results / REFERENCE)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        runs = [_copy(run, work / "runs", number) for number in range(copies) for run in originals]
        _written(runs[:1], work / "first")  # what is loaded and bundled once per process
        few = runs[: 2 * len(originals)]
        small_s, small_cells = _written(few, work / "small"), _cells(few)
        large_s, large_cells = _written(runs[:-1], work / "large"), _cells(runs[:-1])
        again_s = _written(runs, work / "large")
        front = (work / "large" / "index.html").read_bytes()
    growth = (large_s / large_cells) / (small_s / small_cells)
    rebuild = again_s / large_s
    print(f"{small_cells} cells: {small_s:.1f} s; {large_cells} cells: {large_s:.1f} s")
    print(f"time per cell grew by a factor of {growth:.2f} (at most {GROWTH_MAX})")
    print(f"one more run: {again_s:.1f} s, {rebuild:.0%} of all (at most {REBUILD_MAX:.0%})")
    print(f"front page: {len(front) / 1e3:.0f} kB, {len(gzip.compress(front)) / 1e3:.0f} kB compressed")
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak RSS, without the processes that make pages: {peak_mib:.0f} MiB")
    return 0 if growth <= GROWTH_MAX and rebuild <= REBUILD_MAX else 1


def _copy(run: Path, folder: Path, number: int) -> Path:
    target = folder / f"{run.name}-{number}"
    shutil.copytree(run, target)
    record = target / "run.json"
    told = json.loads(record.read_bytes())
    record.write_text(json.dumps({**told, "run_id": target.name}))
    return target


def _cells(runs: Sequence[Path]) -> int:
    return sum(1 for run in runs for _ in (run / "cells").glob("*.json"))


def _written(runs: Sequence[Path], site: Path) -> float:
    started = time.perf_counter()
    write_site(find_project(), runs, site)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
