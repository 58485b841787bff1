"""A comparison in words: its tables, its remarks, and the page that holds all of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from jdkmatrix.domain.quantities import per_cent, plural
from jdkmatrix.report.blocks.inline import joined, strong
from jdkmatrix.report.blocks.kinds import Items, Section, WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.compare.changes import Compared, SideChange
from jdkmatrix.report.compare.sides import IN_TIME
from jdkmatrix.report.words.numbers import Figure, p_figure
from jdkmatrix.report.words.sentences import capitalised, cell_words

_NAMED = 3


def headings(found: Compared) -> tuple[str, ...]:
    old, new = found.names
    pair, ratio = f"{old} → {new}", f"{new} / {old}"
    if found.names == IN_TIME:
        pair, ratio = pair.capitalize(), ratio.capitalize()
    return "Figure", pair, ratio, "95 % interval", "Adjusted p", "Verdict"


def by_cell(found: Compared) -> tuple[tuple[str, tuple[SideChange, ...]], ...]:
    """Group the changes by cell, each cell in words."""
    by_words = groupby(found.changes, key=lambda change: cell_words(change.key))
    return tuple((cell, tuple(changes)) for cell, changes in by_words)


def row(change: SideChange) -> tuple[str, ...]:
    """Return the cells of one row of the table, in the order of `headings`."""
    p_adjusted = "none" if change.p_adjusted is None else p_figure(change.p_adjusted)
    return change.what, change.values, change.shown, change.interval or "none", p_adjusted, change.word


def hosts(found: Compared) -> str:
    """Say whether the figures themselves can be compared."""
    if found.why_not is None:
        return "Both were measured on one host."
    return f"The figures themselves are not compared, because {found.why_not}."


def outcome(found: Compared) -> str:
    limit, number = per_cent(found.threshold), len(found.regressions)
    if number:
        in_forks = sum(change.ratio is None for change in found.regressions)
        told = [f"{number - in_forks} by more than {limit}"] if number > in_forks else []
        told += [f"{in_forks} in how many forks did what was asked"] if in_forks else []
        return f"{plural(number, 'regression')}, significantly worse: {' and '.join(told)}"
    if found.open or found.lost:
        open_ = [f"{cell_words(one.key)}, {one.what} ({one.shown}, {one.interval or one.word})" for one in found.open]
        said = [f"nothing is significantly worse by more than {limit}"]
        if open_:
            of = plural(len(found.changes), "figure")
            said.append(f"that is not excluded in {len(open_)} of {of}: {_named(open_)}")
        if found.lost:
            said.append(f"what was measured before has no figure to compare: {_named(found.lost)}")
        return f"cannot tell: {', but '.join(said)}"
    return f"no regression: for every figure, a change for the worse by more than {limit} is excluded"


def _named(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return f"{'; '.join(texts[:_NAMED])}{more}"


def remarks(found: Compared) -> tuple[str, ...]:
    """Return what else a reader has to know: what also changed, and what is not compared."""
    return (
        *(f"also changed: {text}" for text in found.else_changed),
        *(f"not compared: {text}" for text in found.left_out),
    )


def compare_page(found: Compared) -> WebPage:
    """Build a page that stands by itself, without a site. Regressions are shown in amber."""
    first, *others = headings(found)
    told, heads = remarks(found), columns(first, *(f"{name}~" for name in others))

    def table(cell: str, changes: Iterable[SideChange]) -> DataTable:
        rows: list[tuple[Cell, ...]] = []
        for change in changes:
            first, *others = row(change)
            rows.append((first, *(Figure(text, None, amber=change.regression) for text in others)))
        return DataTable(f"Table of {cell}", heads, rows, "wrap")

    numbered = enumerate(by_cell(found), start=1)
    tables = [Section(f"cell-{number}", cell, (table(cell, some),)) for number, (cell, some) in numbered]
    said = strong(f"{capitalised(outcome(found))}.", "warned" if found.regressions else None)
    return WebPage(
        heading=found.title,
        summary=joined(f"{hosts(found)} ", said),
        blocks=(*([Section("else", "What else differs", (Items(told),))] if told else []), *tables),
    )
