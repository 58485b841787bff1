"""Keep runs as reference runs: their records without logs and without this machine's folders, compressed.

    python bench/keep_reference.py RUN [RUN ...]

What no figure of any page needs is left out:

- the points of distributions that have a histogram, and histograms of lateness, whose percentiles stay;
- the histogram of uncorrected latencies where there is one of corrected latencies;
- histograms that programs of experiments printed beside their percentiles;
- the histogram of each window of a fork that has several: the fork keeps one of all its valid windows together, from
  which its percentiles come, and each window keeps its percentiles;
- histograms of attempts that do not count, whose percentiles stay, and of loads whose rate or connections change, where
  only the percentiles of each step or second mean anything;
- digits of measured values after the tenth significant one, which no measurement repeats;
- what the driver and the server did second by second in the second and all later blocks, and the windows of their
  warm-up: the first block tells how long forks that took turns take to get warm.
  Of a load that rises, whose figures are read from these seconds, only what lies before its window is left out.

Each run goes to results/reference/ID, in place of one that is already there; those of a checkout with uncommitted
changes are refused. Afterwards

    matrix report results/reference --verdicts-into README.md

rewrites the table of verdicts.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdkmatrix.domain.loads import LoadOverTime
from jdkmatrix.figures.fork_figures import fork_latency
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.provision.project import find_project
from jdkmatrix.records.forks import Fork
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import REFERENCE, RunStore

DIGITS = 10  # significant ones; what may need more, such as nanoseconds, is a whole number and stays as it is


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--from", dest="checkout", type=Path, help="the checkout that measured; by default this one")
    options = parser.parse_args()
    project = find_project()
    checkout = (options.checkout or project.root).resolve()
    kept = project.results / REFERENCE
    for run in options.runs:
        if run.resolve().is_relative_to(kept.resolve()):
            parser.error(f"{run}: is a reference run already")
        if any(session.git_dirty for session in RunStore(run).read_run().sessions):
            parser.error(f"{run}: measured by a checkout with uncommitted changes")
    for run in options.runs:
        record = RunStore(run).read_run()
        target = kept / record.run_id
        hidden = {str(run.resolve()): f"results/{record.run_id}", str(checkout): ".", str(Path.home()): "~"}
        store = RunStore(run)
        cells = [cell for key in record.cells if (cell := store.read_cell(key)) is not None]
        texts = {f"cells/{cell.key.cell_id}.json": _kept(hidden, _shortened(cell)) for cell in cells}
        texts["run.json"] = _kept(hidden, record.model_dump(mode="json"))
        shutil.rmtree(target, ignore_errors=True)
        (target / "cells").mkdir(parents=True)
        for name, text in texts.items():
            (target / f"{name}.xz").write_bytes(lzma.compress(text.encode(), preset=9))
        RunStore(target).load()
        print(target.relative_to(project.root))
    return 0


def _kept(hidden: Mapping[str, str], record: Any) -> str:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
    # The longest folder first, so that one inside another gets its own name.
    for folder in sorted(hidden, key=len, reverse=True):
        text = text.replace(folder, hidden[folder])
    return text


def _shortened(cell: CellRecord) -> Any:
    record = _without_points(cell.model_dump(mode="json"))
    shorter = (*record["forks"], *record["attempts"])
    for fork, less in zip((*cell.forks, *cell.attempts), shorter, strict=True):
        over_time = isinstance(cell.load, LoadOverTime)
        if kind_of(cell.load).one_level:
            _merge_histograms(less, fork)
        else:
            less["windows"] = _without_histograms(less["windows"])
        if fork.fork > 1:
            _drop_series_before(less, fork) if over_time else _drop_series(less)
    measured = {"forks": record["forks"], "attempts": _without_histograms(record["attempts"])}
    return record | json.loads(json.dumps(measured), parse_float=_rounded)


def _rounded(figure: str) -> float:
    return float(f"{float(figure):.{DIGITS}g}")


def _without_histograms(part: Any) -> Any:
    if isinstance(part, list):
        return [_without_histograms(inside) for inside in part]
    if not isinstance(part, dict):
        return part
    return {key: None if key == "histogram" else _without_histograms(inside) for key, inside in part.items()}


def _without_points(part: Any, name: str = "") -> Any:
    if isinstance(part, list):
        return [_without_points(inside, name) for inside in part]
    if not isinstance(part, dict):
        return part
    less = {key: _without_points(inside, key) for key, inside in part.items() if key != "histogram_ns"}
    if less.get("histogram") is not None and "spectrum" in less:
        less["spectrum"] = []
        if name.endswith("lateness"):
            less["histogram"] = None
    if (less.get("corrected") or {}).get("histogram") and less.get("uncorrected"):
        less["uncorrected"] |= {"histogram": None, "spectrum": []}
    return less


def _merge_histograms(less: Any, fork: Fork) -> None:
    latency = fork_latency(fork)
    if latency is None or latency.histogram is None or len(fork.valid_windows) < 2:
        return
    less["latency"] = _without_points(latency.model_dump(mode="json"))
    less["windows"] = _without_histograms(less["windows"])


def _drop_series(fork: Any) -> None:
    fork["samples"] = []
    for window in fork["windows"]:
        window["load"]["intervals"] = []
    _drop_windows_of_warmup(fork)


def _drop_series_before(less: Any, fork: Fork) -> None:
    """Drop what lies before the window, but for the last reading before it begins."""
    before = [sample.t_s for sample in fork.samples if fork.windows and sample.t_s <= fork.windows[0].t_s]
    less["samples"] = [one for one in less["samples"] if not before or one["t_s"] >= before[-1]]
    _drop_windows_of_warmup(less)


def _drop_windows_of_warmup(fork: Any) -> None:
    if fork["warmup"]:
        fork["warmup"] |= {"windows": [], "settling": []}


if __name__ == "__main__":
    sys.exit(main())
