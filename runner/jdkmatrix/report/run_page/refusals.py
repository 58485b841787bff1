"""Gates that refused one arm more often than the other: what they took, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.figures.refusals import gated_figures
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.cells.refusals import Refusals
from jdkmatrix.report.words.numbers import p_value
from jdkmatrix.report.words.sentences import cell_words, refusals_words
from jdkmatrix.store.cells import CellRecord


def notices(refusals: Refusals, records: Sequence[CellRecord]) -> Iterator[Notice]:
    """One for each pair; the figures that were refused stand in it, beside those that count."""
    by_key = {record.key: record for record in records}
    for (key, base), told in refusals.items():
        pair = key.model_copy(update={"executor": f"{key.executor} / {base.executor}"})
        figures = [words for one in (key, base) if (words := _figures(by_key[one]))]
        yield Notice(
            "warn",
            "Gates refused one arm more often",
            f"{cell_words(pair)}: {refusals_words(told, key.executor, base.executor)}, earlier attempts "
            f"included (Fisher’s exact test, adjusted {p_value(told.p_value)}). A gate may answer to what is compared, "
            f"so what it left is no fair sample, and the two get no verdict. {' '.join(figures)}".rstrip(),
        )


def _figures(record: CellRecord) -> str | None:
    found = gated_figures(record)
    if found is None:
        return None
    parts = [
        f"{_spread(values)}{f' {found.unit}' if found.unit else ''} in the {plural(len(values), 'window')} that {did}"
        for values, did in ((found.refused, "they refused"), (found.passed, "passed"))
        if values
    ]
    return f"{record.key.executor}, {found.name}: {', '.join(parts)} (median, least to most)."


def _spread(values: Sequence[float]) -> str:
    middle, least, most = (digits(value, 3) for value in (median(values), min(values), max(values)))
    return f"{middle} ({least}–{most})"
