"""Measure how long the site takes to write, as the number of its cells grows, and after one run has been added.

The cells are those of the reference runs, copied under other ids; one large run has nothing but cells of `quick`, with
five forks of ten rounds each. Figures hold for this host and this moment; only ratios within one run of this program
are judged.

Beside them stands benchexec's table of the same cells and their figures: one HTML file with all of them, and a CSV. It
has no page for a cell, no charts and no comparisons; what the two share is that somebody waits for them after a run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import lzma
import os
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
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.provision.project import find_project
from jdkmatrix.store.runs import REFERENCE, RunStore, all_runs

GROWTH_MAX = 1.3  # of the time per cell, from the small site to the large one
REBUILD_MAX = 0.5  # of the time of the large site, after one run of it has been added
SHARED_MAX = 0.85  # of the time that one CPU takes for one large run, by all of them
MEASURED = "20261127T001929Z-quick"  # five forks of ten rounds; the run of `--quick` repeats its cells


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=52, help="of every reference run in the large site")
    parser.add_argument("--quick", type=int, default=720, help="cells of the run that has nothing else")
    options = parser.parse_args(arguments)
    copies, cpus = options.copies, os.sched_getaffinity(0)
    project = find_project()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        originals = [_as_released(run, work / "originals") for run in all_runs(project.results / REFERENCE)]
        runs = [_copy(run, work / "runs", number) for number in range(copies) for run in originals]
        _written(runs[:1], work / "first")  # what is loaded and bundled once per process
        few = runs[: 2 * len(originals)]
        small_s, small_cells = _written(few, work / "small"), _cells(few)
        large_s, large_cells = _written(runs[:-1], work / "large"), _cells(runs[:-1])
        again_s = _written(runs, work / "large")
        front = (work / "large" / "index.html").read_bytes()
        table = _benchexec(work / "large", work)
        shutil.rmtree(work / "runs")
        quick = [_of_quick(project.results / REFERENCE / MEASURED, work / "runs" / "quick", options.quick)]
        quick_s = _written(quick, work / "quick")
        os.sched_setaffinity(0, {min(cpus)})
        alone_s = _written(quick, work / "alone")
        os.sched_setaffinity(0, cpus)
    growth = (large_s / large_cells) / (small_s / small_cells)
    rebuild, shared = again_s / large_s, quick_s / alone_s
    print(f"{small_cells} cells: {small_s:.1f} s; {large_cells} cells: {large_s:.1f} s")
    print(f"time per cell grew by a factor of {growth:.2f} (at most {GROWTH_MAX})")
    print(f"one more run: {again_s:.1f} s, {rebuild:.0%} of all (at most {REBUILD_MAX:.0%})")
    print(f"one run of {options.quick} cells of quick: {quick_s:.1f} s on {len(cpus)} CPUs, {alone_s:.1f} s on one")
    if len(cpus) > 1:
        print(f"all CPUs take {shared:.0%} of the time of one (at most {SHARED_MAX:.0%})")
    print(f"front page: {len(front) / 1e3:.0f} kB, {len(gzip.compress(front)) / 1e3:.0f} kB compressed")
    print(table)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak RSS, without the processes that make pages: {peak_mib:.0f} MiB")
    return 0 if growth <= GROWTH_MAX and rebuild <= REBUILD_MAX and (len(cpus) == 1 or shared <= SHARED_MAX) else 1


def _as_released(run: Path, folder: Path) -> Path:
    """Compress a run as the runs of all machines are kept, which a large site is made of."""
    target = folder / run.name
    (target / "cells").mkdir(parents=True)
    for path in run.rglob("*.xz"):
        packed = target / path.relative_to(run).with_suffix(".gz")
        packed.write_bytes(gzip.compress(lzma.decompress(path.read_bytes())))
    return target


def _copy(run: Path, folder: Path, number: int) -> Path:
    target = folder / f"{run.name}-{number}"
    shutil.copytree(run, target)
    RunStore(target).save_run(RunStore(run).read_run().model_copy(update={"run_id": target.name}))
    return target


def _of_quick(measured: Path, run: Path, cells: int) -> Path:
    """Make one run with this many cells, those of `measured` under one task duration after the other."""
    texts = [lzma.decompress(path.read_bytes()) for path in sorted((measured / "cells").iterdir())]
    (run / "cells").mkdir(parents=True)
    keys = []
    for number in range(cells):
        cell = json.loads(texts[number % len(texts)])
        cell["key"]["burn_us"] = number // len(texts)
        keys.append(cell["key"])
        (run / "cells" / f"{CellKey.model_validate(cell['key']).cell_id}.json").write_text(json.dumps(cell))
    told = RunStore(measured).read_run().model_dump(mode="json")
    (run / "run.json").write_text(json.dumps({**told, "run_id": run.name, "cells": keys, "order": []}))
    return run


def _cells(runs: Sequence[Path]) -> int:
    return sum(RunStore(run).count_cells() for run in runs)


def _written(runs: Sequence[Path], site: Path) -> float:
    started = time.perf_counter()
    write_site(find_project(), runs, site)
    return time.perf_counter() - started


def _benchexec(site: Path, work: Path) -> str:
    """Say what benchexec's table takes, made by a process of its own."""
    program = Path(sys.executable).with_name("table-generator")
    if not program.exists():
        return "benchexec is not installed here"
    figures: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(site.glob("runs/*/results.csv")):
        with path.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                if row["value"]:  # otherwise a line with a ratio only
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
    started = time.perf_counter()
    subprocess.run([program, "--quiet", "--outputpath", work, "--name", "table", source], check=True)
    took_s, table = time.perf_counter() - started, (work / "table.html").read_bytes()
    return (
        f"benchexec's table of {len(figures)} of these cells: {took_s:.1f} s, {len(table) / 1e3:.0f} kB, "
        f"{len(gzip.compress(table)) / 1e3:.0f} kB compressed"
    )


if __name__ == "__main__":
    sys.exit(main())
