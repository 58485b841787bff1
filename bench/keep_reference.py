"""Keep runs as reference runs: their records without logs, without this machine's folders, and without what takes room
and follows from the rest: indents, and the points of distributions that have a histogram.

    python bench/keep_reference.py RUN [RUN ...]

Each run goes to results/reference/ID, also one that is there already. Afterwards

    matrix report results/reference --verdicts-into README.md

writes the table of verdicts again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdkmatrix.provision.project import find_project
from jdkmatrix.store.runs import REFERENCE, RunStore


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--from", dest="checkout", type=Path, help="the checkout that measured; by default this one")
    options = parser.parse_args()
    project = find_project()
    checkout = (options.checkout or project.root).resolve()
    for run in options.runs:
        record = RunStore(run).read_run()
        target = project.results / REFERENCE / record.run_id
        hidden = {str(run.resolve()): f"results/{record.run_id}", str(checkout): ".", str(Path.home()): "~"}
        kept = {
            source.relative_to(run): _kept(_without(hidden, source.read_text("utf-8")))
            for source in (run / "run.json", *sorted((run / "cells").glob("*.json")))
        }
        shutil.rmtree(target, ignore_errors=True)
        (target / "cells").mkdir(parents=True)
        for name, text in kept.items():
            (target / name).write_text(text, "utf-8")
        RunStore(target).load()
        print(target.relative_to(project.root))
    return 0


def _kept(text: str) -> str:
    return json.dumps(_shortened(json.loads(text)), ensure_ascii=False, separators=(",", ":")) + "\n"


def _without(hidden: Mapping[str, str], text: str) -> str:
    """The longest folder first, so that what lies inside of another one is named by itself."""
    for folder in sorted(hidden, key=len, reverse=True):
        text = text.replace(folder, hidden[folder])
    return text


def _shortened(part: Any) -> Any:
    if isinstance(part, dict):
        follows = part.get("histogram") is not None and "spectrum" in part
        return {name: [] if follows and name == "spectrum" else _shortened(inside) for name, inside in part.items()}
    return [_shortened(inside) for inside in part] if isinstance(part, list) else part


if __name__ == "__main__":
    sys.exit(main())
