"""Two sides compared, in words: the same on the terminal, in Markdown and on a page. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from jdkmatrix.domain.quantities import per_cent, plural
from jdkmatrix.report.blocks.inline import joined, strong
from jdkmatrix.report.blocks.kinds import Items, Section
from jdkmatrix.report.blocks.page import WebPage
from jdkmatrix.report.blocks.tables import Column, DataTable
from jdkmatrix.report.compare.sides import Compared, SideChange
from jdkmatrix.report.words.numbers import Figure, p_figure
from jdkmatrix.report.words.sentences import capitalised

HEADINGS = ("Figure", "After / before", "95 % interval", "Adjusted p", "Verdict")


_NAMED = 3


@dataclass(frozen=True)
class ComparedCell:
    """`rows`: as `HEADINGS`, and whether it is a regression."""

    cell_id: str
    rows: tuple[tuple[tuple[str, ...], bool], ...]


def title(found: Compared) -> str:
    return f"{found.after} over {found.before}"


def cells(found: Compared) -> tuple[ComparedCell, ...]:
    by_cell = groupby(found.changes, key=lambda change: change.key.cell_id)
    return tuple(
        ComparedCell(cell_id, tuple((_row(change), change.regression) for change in changes))
        for cell_id, changes in by_cell
    )


def _row(change: SideChange) -> tuple[str, ...]:
    return (
        change.what,
        change.shown,
        change.interval or "none",
        p_figure(change.p_adjusted) if change.p_adjusted is not None else "none",
        change.word,
    )


def hosts(found: Compared) -> str:
    """Says whether figures themselves can be compared."""
    if found.why_not is None:
        return "Both were measured on one host."
    return f"Figures themselves are not compared, because {found.why_not}."


def outcome(found: Compared) -> str:
    limit, number = per_cent(found.threshold), len(found.regressions)
    if number:
        return f"{plural(number, 'regression')}: significantly worse, and by more than {limit}"
    if found.open:
        named = [
            f"{change.key.cell_id}, {change.what} ({change.shown}, {change.interval or change.word})"
            for change in found.open
        ]
        more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return (
            f"cannot tell: nothing is significantly worse by more than {limit}, but in {len(named)} of "
            f"{plural(len(found.changes), 'figure')} that is not excluded: {'; '.join(named[:_NAMED])}{more}"
        )
    return f"no regression: for every figure, a change for the worse by more than {limit} is excluded"


def remarks(found: Compared) -> tuple[str, ...]:
    """All else that has to be known."""
    return (
        *(f"also changed: {text}" for text in found.else_changed),
        *(f"not compared: {text}" for text in found.left_out),
    )


def compare_page(found: Compared) -> WebPage:
    """By itself, without a site."""
    told = remarks(found)
    columns = (Column(HEADINGS[0], head=True), *(Column(name, "ends") for name in HEADINGS[1:]))
    return WebPage(
        title=f"{title(found)} · jdk-matrix",
        heading=title(found),
        summary=joined(
            f"{hosts(found)} ", strong(f"{capitalised(outcome(found))}.", "warned" if found.regressions else None)
        ),
        blocks=(
            *([Section("else", "What else differs", (Items(told),))] if told else []),
            *(
                Section(
                    f"cell-{number}",
                    cell.cell_id,
                    (DataTable(f"Table of {cell.cell_id}", columns, _shown(cell), "wrap"),),
                )
                for number, cell in enumerate(cells(found), start=1)
            ),
        ),
        short=True,
    )


def _shown(cell: ComparedCell) -> list[tuple[Figure | str, ...]]:
    """Regressions in amber."""
    return [(row[0], *(Figure(text, None, amber=regression) for text in row[1:])) for row, regression in cell.rows]
