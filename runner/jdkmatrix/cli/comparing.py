"""`matrix compare`: two runs, or two JDKs or executors of a run, as a table, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jdkmatrix.cli import markdown
from jdkmatrix.cli.reporting import run_folder
from jdkmatrix.errors import MatrixError
from jdkmatrix.report.cellstats import Cells
from jdkmatrix.report.compare import Change, Compared, Side, compare_sides
from jdkmatrix.report.numbers import p_value, ratio_interval, ratio_value
from jdkmatrix.store.runs import RunStore
from jdkmatrix.terms.quantities import per_cent, plural

EXIT_WITH_REGRESSIONS = 4
_HEADINGS = ("Figure", "Cell", "After / before", "95 % interval", "Adjusted p", "Verdict")


def compare(
    runs: Sequence[str], values: Mapping[str, Sequence[str]], threshold: float, *, as_json: bool, as_markdown: bool
) -> int:
    """`values`: by axis, the two values that are compared; returns the exit code.

    Raises:
        MatrixError: not two sides, a side that is not there, or nothing that both have.
    """
    found = compare_sides(*_sides(runs, values), threshold=threshold)
    if not found.changes:
        why = f": {found.why_not}, and no run has both virtual threads and a pool" if found.why_not else ""
        raise MatrixError(f"{found.before} and {found.after} have no figure in common{why}")
    if as_json:
        print(json.dumps(_as_json(found), indent=1, allow_nan=False))
    elif as_markdown:
        print(_as_markdown(found))
    else:
        _print(found, Console())
    return EXIT_WITH_REGRESSIONS if found.regressions else 0


def _sides(runs: Sequence[str], values: Mapping[str, Sequence[str]]) -> tuple[Side, Side]:
    if len(values) > 1:
        raise MatrixError(f"only one axis can be compared, and these were given: {', '.join(values)}")
    if not 1 <= len(runs) <= 2:
        raise MatrixError(f"compare takes one or two runs, found {len(runs)}")
    loaded = [RunStore(run_folder(run)).load() for run in runs]
    sides = [Side(one.run, Cells(one.run, one.cells)) for one in loaded]
    if not values:
        if len(sides) == 1:
            raise MatrixError("one run alone: name a second one, or two JDKs or executors of it")
        return sides[0], sides[1]
    ((axis, chosen),) = values.items()
    if len(chosen) != 2:
        raise MatrixError(f"--{axis}: give it twice, before and after; found {plural(len(chosen), 'value')}")
    for side, value in zip((sides[0], sides[-1]), chosen, strict=True):
        there = tuple(dict.fromkeys(str(getattr(key, axis)) for key in side.cells.keys))
        if value not in there:
            raise MatrixError(f"--{axis}: {side.run.run_id} has no {value}; it has {', '.join(there) or 'no server'}")
    before, after = chosen
    return (
        Side(sides[0].run, sides[0].cells, axis, before),
        Side(sides[-1].run, sides[-1].cells, axis, after),
    )


def _row(change: Change) -> tuple[str, ...]:
    ratio, adjusted = change.judged.ratio, change.judged.p_adjusted
    return (
        change.what,
        change.where,
        ratio_value(ratio),
        ratio_interval(ratio) or "one block",
        p_value(adjusted) if adjusted is not None else "none",
        change.word,
    )


def _ends(found: Compared) -> tuple[str, ...]:
    """What stands below the table."""
    limit = per_cent(found.threshold)
    number = len(found.regressions)
    verdict = (
        f"{plural(number, 'figure')} got worse by more than {limit}"
        if number
        else f"nothing got worse by more than {limit}"
    )
    skipped = (f"figures themselves are not compared, because {found.why_not}",) if found.why_not else ()
    return (*(f"also changed: {text}" for text in found.else_changed), *skipped, verdict)


def _print(found: Compared, console: Console) -> None:
    table = Table(title=escape(f"{found.after} over {found.before}"), title_justify="left")
    for name in _HEADINGS:
        table.add_column(name, overflow="fold")
    for change in found.changes:
        style = "[red]" if change.beyond else ""
        table.add_row(*(f"{style}{escape(text)}" for text in _row(change)))
    console.print(table)
    for text in _ends(found):
        console.print(escape(text), soft_wrap=True)


def _as_markdown(found: Compared) -> str:
    rows = [tuple(map(markdown.escaped, _row(change))) for change in found.changes]
    return "\n\n".join(
        [
            f"### {markdown.escaped(f'{found.after} over {found.before}')}",
            markdown.table(_HEADINGS, rows),
            markdown.listing(_ends(found), at_most=50),
        ]
    )


def _as_json(found: Compared) -> dict[str, Any]:
    return {
        "before": found.before,
        "after": found.after,
        "threshold": found.threshold,
        "also_changed": found.else_changed,
        "not_compared": found.why_not,
        "regressions": len(found.regressions),
        "changes": [
            {
                "cell_id": change.key.cell_id,
                "figure": change.metric.id,
                "over": "pool" if change.relative else None,
                "ratio": change.judged.ratio.value,
                "low": change.judged.ratio.ci_low,
                "high": change.judged.ratio.ci_high,
                "blocks": change.judged.ratio.blocks,
                "p_adjusted": change.judged.p_adjusted,
                "verdict": change.word,
                "regression": change.beyond,
            }
            for change in found.changes
        ],
    }
