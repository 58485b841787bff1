"""How long the site takes to write, as the number of its cells grows, and after one run has been added.

The cells are those of the reference runs, copied under other ids. Figures are of this host and this moment; what is
judged are ratios within one run of this program.

Beside them stands benchexec's table of the same cells and their figures: one HTML file with all of them, and a CSV. It
has no page for a cell, no charts and no comparisons; what the two share is that somebody waits for them after a run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

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
        table_rows, table_s, table = _benchexec(work / "large", work)
    growth = (large_s / large_cells) / (small_s / small_cells)
    rebuild = again_s / large_s
    print(f"{small_cells} cells: {small_s:.1f} s; {large_cells} cells: {large_s:.1f} s")
    print(f"time per cell grew by a factor of {growth:.2f} (at most {GROWTH_MAX})")
    print(f"one more run: {again_s:.1f} s, {rebuild:.0%} of all (at most {REBUILD_MAX:.0%})")
    print(f"front page: {len(front) / 1e3:.0f} kB, {len(gzip.compress(front)) / 1e3:.0f} kB compressed")
    print(
        f"benchexec's table of {table_rows} of these cells: {table_s:.1f} s, {len(table) / 1e3:.0f} kB, "
        f"{len(gzip.compress(table)) / 1e3:.0f} kB compressed"
    )
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


def _benchexec(site: Path, work: Path) -> tuple[int, float, bytes]:
    """Rows of the table, seconds for it as a process of its own, and its HTML."""
    figures: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(site.glob("runs/*/results.csv")):
        with path.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                figures[f"{row['run_id']}/{row['cell_id']}"][row["figure"]] = row["value"]
    names = dict.fromkeys(name for one in figures.values() for name in one)
    result = ElementTree.Element(
        "result",
        tool="matrix",
        toolmodule="jdkmatrix",
        version="1",
        benchmarkname="cells",
        name="cells",
        generator="BenchExec",
    )
    for cell, told in figures.items():
        run = ElementTree.SubElement(result, "run", name=cell, properties="")
        for title, value in (("status", "done"), *((name, told.get(name, "")) for name in names)):
            ElementTree.SubElement(run, "column", title=title, value=value)
    source = work / "cells.xml"
    ElementTree.ElementTree(result).write(source, encoding="utf-8", xml_declaration=True)
    program = Path(sys.executable).with_name("table-generator")
    started = time.perf_counter()
    subprocess.run([program, "--quiet", "--outputpath", work, "--name", "table", source], check=True)
    return len(figures), time.perf_counter() - started, (work / "table.html").read_bytes()


if __name__ == "__main__":
    sys.exit(main())
