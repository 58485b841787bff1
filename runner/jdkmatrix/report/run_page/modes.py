"""Forks of one cell that fall into two groups, in words. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.words.numbers import apart, p_value
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.stats.modes import FEWEST, P_MAX, Modes, two_modes
from jdkmatrix.stats.verdicts import adjust

_NAMED_AT_MOST = 3


def modes_notices(cells: Cells) -> Iterator[Notice]:
    """For the leading figure of every cell with enough forks; all tests of a page are one family."""
    tested: dict[CellKey, Modes] = {}
    for cell in cells:
        figures = cell.by_block(cells.leading(cell.key)).values()
        if (found := two_modes([math.log(value) for value in figures if value > 0])) is not None:
            tested[cell.key] = found
    adjusted = adjust({key: one.p_value for key, one in tested.items()})
    seen = {key: one for key, one in tested.items() if adjusted[key] < P_MAX}
    if not seen:
        return
    named = [
        f"{cell_words(key)}: {one.lower} and {one.upper} forks, {apart(math.exp(one.apart))} apart, adjusted "
        f"{p_value(adjusted[key])}"
        for key, one in seen.items()
    ]
    more = [f"{len(named) - _NAMED_AT_MOST} more"] if len(named) > _NAMED_AT_MOST else []
    yield Notice(
        "warn",
        "Forks fall into two groups",
        f"In {len(seen)} of {plural(len(tested), 'cell')} with at least {FEWEST} forks "
        f"({'; '.join([*named[:_NAMED_AT_MOST], *more])}). Perhaps a start of the server ends up in one of two modes, "
        "or the host changed meanwhile. The mean lies between the groups, and its interval may be too narrow: see the "
        "dots in the charts, and measure more blocks.",
    )
