"""`matrix compare`: two runs, or two JDKs or executors of a run, as a table, Markdown or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from jdkmatrix.cli import markdown
from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES, load_run, tell_damage
from jdkmatrix.cli.terminal import escape
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.provision.project import find_project
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.compare import page as words
from jdkmatrix.report.compare.changes import Compared, compare_sides
from jdkmatrix.report.compare.sides import ComparedSide, is_one_run
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.store.readable import UnreadableError, readable

EXIT_WITH_REGRESSIONS = 4
EXIT_CANNOT_TELL = 5


def compare(
    runs: Sequence[str],
    values: Mapping[str, Sequence[str]],
    threshold: float,
    *,
    as_json: bool,
    as_markdown: bool,
    html: Path | None = None,
) -> int:
    """Compare, print, and return the exit code. `values`: by axis, the two values to compare; `html`: where to write a
    page of it, too.

    Raises:
        MatrixError: not two sides, a side that is not there, or nothing that both have.
    """
    if not math.isfinite(threshold):
        raise MatrixError(f"--threshold: must be a share from 0 to 1, found {threshold}")
    loaded = [load_run(run) for run in runs]
    names = " or ".join(str(run.directory) for run in loaded)
    with readable(names):
        sides = [ComparedSide(run.run, Cells(run.run, run.cells)) for run in loaded]
    before, after = _chosen(sides, values)
    damaged = tell_damage([text for run in loaded for text in run.damaged])
    with readable(names):
        found = compare_sides(before, after, threshold=threshold)
    if not found.changes and not found.lost:
        why = f": {found.why_not}, and no executor has a ratio over the same one in both" if found.why_not else ""
        kind = UnreadableError if damaged else MatrixError
        raise kind(f"{found.before} and {found.after} have no figure in common{why}")
    if html is not None:  # before the table, whose reader may go away
        write_page(found, html, find_project().templates, names=names)
    with readable(names):
        if as_json:
            print(json.dumps(_as_json(found), indent=1, allow_nan=False))
        elif as_markdown:
            print(_as_markdown(found))
        else:
            _print(found, console_here())
    if found.regressions:
        return EXIT_WITH_REGRESSIONS
    if damaged:
        return EXIT_WITH_FAILURES
    return EXIT_CANNOT_TELL if found.open or found.lost else 0


def _chosen(sides: Sequence[ComparedSide], values: Mapping[str, Sequence[str]]) -> tuple[ComparedSide, ComparedSide]:
    if len(values) > 1:
        raise MatrixError(f"only one axis can be compared; found {' and '.join(values)}")
    if not 1 <= len(sides) <= 2:
        raise MatrixError(f"compare takes one or two runs, found {len(sides)}")
    if len(sides) == 2 and is_one_run(sides[0].run, sides[1].run):
        raise MatrixError(f"both are run {sides[0].run.run_id}: there is nothing to compare in two copies of one run")
    if not values:
        if len(sides) == 1:
            raise MatrixError("only one run is given: add a second one, or two JDKs or executors of this run")
        return sides[0], sides[1]
    ((axis, chosen),) = values.items()
    if len(chosen) != 2:
        raise MatrixError(f"--{axis}: give it twice, before and after; found {plural(len(chosen), 'value')}")
    for side, value in zip((sides[0], sides[-1]), chosen, strict=True):
        there = tuple(dict.fromkeys(str(getattr(key, axis)) for key in side.cells.keys))
        if value not in there:
            raise MatrixError(f"--{axis}: {side.run.run_id} has no {value}; it has {', '.join(there) or 'no server'}")
    before, after = chosen
    if before == after and len(sides) == 1:
        raise MatrixError(f"--{axis} {before} is given twice: one run’s figures would be compared with themselves")
    return replace(sides[0], axis=axis, value=before), replace(sides[-1], axis=axis, value=after)


def _verdict(found: Compared) -> tuple[str, ...]:
    """Return what came out, preceded by why figures themselves are not compared, if they are not."""
    skipped = (words.hosts(found),) if found.why_not else ()
    return (*skipped, words.outcome(found))


def _print(found: Compared, console: Console) -> None:
    console.print(f"[bold]{escape(found.title)}", soft_wrap=True)
    for cell, changes in words.by_cell(found):
        table = Table(box=box.SIMPLE_HEAD)
        for place, name in enumerate(words.headings(found)):
            table.add_column(name, min_width=None if place else len("Throughput,"), overflow="fold")
        for change in changes:
            style = "[red]" if change.regression else ""
            table.add_row(*(f"{style}{escape(text)}" for text in words.row(change)))
        console.print(escape(cell), soft_wrap=True)
        console.print(table)
    for text in (*words.remarks(found), *_verdict(found)):
        console.print(escape(text), soft_wrap=True)


def _as_markdown(found: Compared) -> str:
    """Format as Markdown, the verdict first: of many remarks, only some are listed."""
    rows = [tuple(map(markdown.escaped, (cell_words(one.key), *words.row(one)))) for one in found.changes]
    remarks = words.remarks(found)
    return "\n\n".join(
        [
            f"### {markdown.escaped(found.title)}",
            *(f"**{markdown.escaped(text)}**" for text in _verdict(found)),
            markdown.table(("Cell", *words.headings(found)), rows),
            *([markdown.listing(remarks, at_most=50)] if remarks else []),
        ]
    )


def write_page(found: Compared, target: Path, templates: Path, *, names: str) -> None:
    """Write the comparison as one self-contained file. `names`: those of the runs, for messages.

    Raises:
        MatrixError: it cannot be written, or a template is missing.
        UnreadableError: what the runs say cannot be shown.
    """
    pages = pages_of(templates)
    with readable(names):
        page = pages.render(words.compare_page(found))
    with refused(f"{target}: the comparison cannot be written there"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, "utf-8")


def _as_json(found: Compared) -> dict[str, Any]:
    return {
        "before": found.before,
        "after": found.after,
        "names": found.names,
        "threshold": found.threshold,
        "also_changed": found.else_changed,
        "not_compared": found.why_not,
        "left_out": found.left_out,
        "lost": found.lost,
        "regressions": len(found.regressions),
        "not_excluded": len(found.open),
        "changes": [
            {
                "cell_id": change.key.cell_id,
                "figure": change.figure,
                "over": change.over,
                "values": change.values,
                "shown": change.shown,
                "ratio": change.ratio.value if change.ratio else None,
                "low": change.ratio.ci_low if change.ratio else None,
                "high": _finite(change.ratio.ci_high) if change.ratio else None,
                "blocks": change.ratio.blocks if change.ratio else None,
                "p_adjusted": change.p_adjusted,
                "verdict": change.word,
                "regression": change.regression,
                "regression_not_excluded": change.open,
            }
            for change in found.changes
        ],
    }


def _finite(end: float | None) -> float | None:
    """Replace floats that JSON cannot express by null."""
    return None if end is None or math.isinf(end) else end
