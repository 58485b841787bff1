"""Verdicts on whether evidence supports what was published, and their words for pages, terminal and Markdown. Pure.

Every check of a claim looks at some cells. An estimate whose interval lies inside the band reproduces what was
published, one whose interval lies outside contradicts it, and one across an edge is inconclusive (stats/bands.py). A
cell in which the published cause was not seen is not judged: neither the effect nor its absence would prove anything.

A claim about all cells is contradicted as soon as one of them contradicts it, with the error of each check, over all
of its cells, held at 5 %. It is reproduced when all that could be judged reproduce it; in part, where one of its checks
could not be judged. A claim that says only that there are such cells, or gives one example, is reproduced by one of
them; it is not seen here where all lie outside, and cannot be contradicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import Enum

from jdkmatrix.claims.words import between
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import MISSING, digits, plural, with_unit
from jdkmatrix.records.claims import BandOrigin, ClaimCheck, ClaimRecord
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence, not_steady_words, seen_words
from jdkmatrix.report.words.numbers import Figure, missing, with_interval
from jdkmatrix.stats.bands import Band, Estimate, Place, blocks_to_decide, can_decide, place, places

# Factors from the unit of a published figure to the one in which a figure is shown here.
_FACTORS = {
    ("min", "s"): 60.0,
    ("s", "ms"): 1e3,
    ("ms", "s"): 1e-3,
    ("MB", "MiB"): 1e6 / 2**20,
    ("GB", "MiB"): 1e9 / 2**20,
    ("GiB", "MiB"): 2.0**10,
    ("requests/s", "1/s"): 1.0,
}


class ClaimVerdict(Enum):
    """Verdicts on a claim, in the order in which pages show them."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_SEEN = "not seen here"
    CAUSE_ABSENT = "cause absent"
    NOT_MEASURED = "not measured"
    NOT_TESTABLE_HERE = "not testable here"
    NOT_TESTABLE = "not testable"


# The first of these that occurs decides.
_FIRST_THAT_IS = (
    *(ClaimVerdict.CONTRADICTED, ClaimVerdict.INCONCLUSIVE, ClaimVerdict.NOT_SEEN, ClaimVerdict.REPRODUCED),
    *(ClaimVerdict.CAUSE_ABSENT, ClaimVerdict.NOT_MEASURED, ClaimVerdict.NOT_TESTABLE_HERE),
)
# For a claim that says only that there are such cells: none of them can contradict it.
_FIRST_OF_ONE = (ClaimVerdict.REPRODUCED, *_FIRST_THAT_IS)
_JUDGED = frozenset((*_FIRST_THAT_IS[:5], ClaimVerdict.IN_PART))
_BLOCKS_TOLD = 1000  # nobody measures more; and forks that scatter so much are seldom of one kind


_NO_BAND = Band(None, None)


@dataclass(frozen=True, kw_only=True)
class JudgedCell(CellEvidence):
    """`band`: of its check. `blocks`: how many in all would decide it; None where it is decided, or that cannot be
    said. `why`: why there is no verdict, or no estimate."""

    verdict: ClaimVerdict
    band: Band = _NO_BAND
    blocks: int | None = None

    def remark(self, unit: str) -> str:
        """Say what each run found alone, why there is no verdict, how many blocks would decide; may be empty."""
        return "; ".join(filter(None, (self.said(unit), _to_decide(self.blocks))))

    def said(self, unit: str) -> str:
        alone = ", ".join(_value(run, unit) for run in self.alone)
        several = f"{len(self.alone)} runs: {alone}" if alone else None
        return "; ".join(filter(None, (several, self.why)))

    def measured(self, unit: str) -> Figure:
        """Return the estimate with its interval."""
        estimate = self.estimate
        if estimate is None:
            return missing(self.why or "not measured")
        low, high = estimate.low, estimate.high
        if low is not None and low == high:
            shown = digits(estimate.value, 4 if abs(estimate.value) >= 1000 else 3)
            text = f"{with_unit(shown, unit)} in every block"
        elif low is not None and high is not None:
            edges = [edge for edge in (self.band.low, self.band.high) if edge is not None]
            value, *ends = with_interval(estimate.value, low, high, edges)
            text = f"{with_unit(value, unit)} ({'–'.join(ends)})"
        else:
            text = _value(estimate, unit)
        return Figure(text, estimate.value)


def _value(estimate: Estimate, unit: str) -> str:
    """Format an estimate without its interval; where it is a bound, as one."""
    if not estimate.one_sided:
        return with_unit(digits(estimate.value, 3), unit)
    if estimate.low is not None:
        return with_unit(f"at least {_outward(estimate.low, ROUND_FLOOR)}", unit)
    return MISSING if estimate.high is None else with_unit(f"at most {_outward(estimate.high, ROUND_CEILING)}", unit)


def _outward(bound: float, rounding: str) -> str:
    """Format a bound with three digits so that it says no more than is known."""
    exact = Decimal(f"{bound:.9g}")
    return digits(float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding)), 3)


def _to_decide(blocks: int | None) -> str | None:
    if not blocks:
        return None
    told = f"{plural(min(blocks, _BLOCKS_TOLD), 'block')} would decide it"
    return f"not even {told}" if blocks > _BLOCKS_TOLD else told


@dataclass(frozen=True)
class JudgedCheck:
    """`band`: in `unit`, "" for a ratio; `origin`: who drew it. `why`: why no cell could be judged, if so."""

    check: ClaimCheck
    band: Band
    origin: BandOrigin
    unit: str
    verdict: ClaimVerdict
    cells: tuple[JudgedCell, ...] = ()
    why: str | None = None

    @property
    def blocks(self) -> int | None:
        """The number in all that would decide it: of the cell that needs the most, or where one is enough, the fewest
        of those that would reproduce it. None: that cannot be said."""
        if self.verdict is not ClaimVerdict.INCONCLUSIVE:
            return None
        undecided = [cell for cell in self.cells if cell.verdict is ClaimVerdict.INCONCLUSIVE]
        inside = [cell for cell in undecided if cell.estimate and self.band.has(cell.estimate.value)]
        if self.check.one_is_enough and (some := [cell.blocks for cell in inside if cell.blocks]):
            return min(some)
        needed = [cell.blocks or 0 for cell in undecided]
        return max(needed) if all(needed) else None

    @property
    def band_words(self) -> str:
        return with_unit(between(self.band.low, self.band.high), self.unit)


@dataclass(frozen=True)
class JudgedClaim:
    claim: ClaimRecord
    verdict: ClaimVerdict
    checks: tuple[JudgedCheck, ...] = ()
    why: str | None = None

    @property
    def decided(self) -> bool:
        """True if it could be judged at all."""
        return self.verdict in _JUDGED

    @property
    def asked(self) -> tuple[JudgedCheck, ...]:
        """The checks without those of the other size of an experiment, where those of one size found their cells."""
        sizes = {one.check.scale for one in self.checks if one.cells} - {None}
        return tuple(one for one in self.checks if not sizes or one.check.scale in (None, *sizes))


def judge(claim: ClaimRecord, found: ClaimEvidence) -> JudgedClaim:
    """Judge a claim. `found`: the evidence under its checks."""
    if not claim.checks:
        why = claim.not_checked or claim.not_repeated or "the run recorded this claim without a check"
        return JudgedClaim(claim, ClaimVerdict.NOT_TESTABLE, why=why)
    checks = tuple(_check(claim, check, of_it) for check, of_it in zip(claim.checks, found.checks, strict=True))
    judged = JudgedClaim(claim, _first(checks, _FIRST_THAT_IS), checks)
    if judged.verdict is ClaimVerdict.REPRODUCED and any(one.verdict is not judged.verdict for one in judged.asked):
        return replace(judged, verdict=ClaimVerdict.IN_PART)
    return judged


def _first(judged: Iterable[JudgedCheck | JudgedCell], order: Sequence[ClaimVerdict]) -> ClaimVerdict:
    found = {one.verdict for one in judged}
    return next((verdict for verdict in order if verdict in found), ClaimVerdict.NOT_TESTABLE)


def _check(claim: ClaimRecord, check: ClaimCheck, found: CheckEvidence) -> JudgedCheck:
    unit, origin = found.unit, claim.origin(check)
    published = claim.figures[check.figure - 1].unit if check.figure else unit
    if not found.cells and not unit and published != "ratio":  # nothing was measured that would have one
        unit = published
    if unit and factor(published, unit) is None:
        band, why = _band(check, claim, published), f"published in {published}, measured in {unit}"
        return JudgedCheck(check, band, origin, published, ClaimVerdict.NOT_TESTABLE, why=why)
    band = _band(check, claim, unit)
    if not found.cells:
        return JudgedCheck(check, band, origin, unit, ClaimVerdict.NOT_TESTABLE_HERE, why=found.why)
    family = [cell.estimate for cell in found.cells if cell.estimate and not cell.absent]
    placed = iter(places(family, band, one_is_enough=check.one_is_enough))
    cells = tuple(
        _cell(check, band, cell, next(placed) if cell.estimate and not cell.absent else None, family)
        for cell in found.cells
    )
    order = _FIRST_OF_ONE if check.one_is_enough else _FIRST_THAT_IS
    return JudgedCheck(check, band, origin, unit, _first(cells, order), cells)


def _cell(
    check: ClaimCheck, band: Band, cell: CellEvidence, placed: Place | None, family: Sequence[Estimate]
) -> JudgedCell:
    def judged(verdict: ClaimVerdict, why: str | None = None, blocks: int | None = None) -> JudgedCell:
        return JudgedCell(**{**vars(cell), "verdict": verdict, "band": band, "why": why, "blocks": blocks})

    if cell.estimate is None:
        return judged(ClaimVerdict.NOT_MEASURED, cell.why)
    if cell.absent:
        unknown = all(one.value is None for one in cell.absent)
        return judged(ClaimVerdict.NOT_MEASURED if unknown else ClaimVerdict.CAUSE_ABSENT)
    if placed is Place.INSIDE:
        return judged(ClaimVerdict.REPRODUCED)
    if placed is Place.OUTSIDE:
        return judged(ClaimVerdict.NOT_SEEN if check.one_is_enough else ClaimVerdict.CONTRADICTED)
    why = None
    if cell.estimate.low is None and cell.estimate.high is None:
        why = "bounds that exclude each other" if cell.estimate.one_sided else "one block, no interval"
    elif cell.estimate.blocks < 2:
        why = "one block"
    elif (alone := place(cell.estimate, band)) is not Place.OPEN:
        why = f"by itself it lies {alone.value} the band, but one of {sum(map(can_decide, family))} may do so by chance"
    needed = blocks_to_decide(cell.estimate, band, family=len(family), one_is_enough=check.one_is_enough)
    return judged(ClaimVerdict.INCONCLUSIVE, why, needed)


def _band(check: ClaimCheck, claim: ClaimRecord, unit: str) -> Band:
    if check.figure is None:
        return Band(check.low, check.high)
    figure = claim.figures[check.figure - 1]
    by = factor(figure.unit, unit) or 1.0
    if figure.value is not None:
        away = abs(figure.value) * (check.tolerance or 0.0)
        return Band(_end(figure.value - away, by), _end(figure.value + away, by))
    low, high = (None if end is None else _end(end, by) for end in (figure.low, figure.high))
    return Band(low, high)


def _end(value: float, by: float) -> float:
    """Convert an end, without what binary fractions leave behind: 1,210 and not 1,210.0000000000002. A figure in
    another unit keeps the four digits that it can carry."""
    return float(f"{value * by:.{9 if by == 1 else 4}g}")


def factor(published: str, shown: str) -> float | None:
    """Return the factor between two units; None where they do not measure the same."""
    return 1.0 if published in ("ratio", shown) else _FACTORS.get((published, shown))


VERDICT_CLASS = dict.fromkeys(ClaimVerdict, "none") | {
    ClaimVerdict.REPRODUCED: "ok",
    ClaimVerdict.IN_PART: "partly",
    ClaimVerdict.CONTRADICTED: "failed",
    ClaimVerdict.INCONCLUSIVE: "not-steady",
    ClaimVerdict.NOT_SEEN: "partly",
}


def verdict_lines(judged: Iterable[JudgedClaim]) -> tuple[str, ...]:
    """Write a line for each claim: its verdict, and what it rests on."""
    told = ((one, (one.why.rstrip("."),) if one.why else rests_on(one)) for one in judged)
    return tuple(f"{one.claim.id}: {one.verdict.value} ({'; '.join(rest)})" for one, rest in told)


def rests_on(one: JudgedClaim) -> tuple[str, ...]:
    """Write a line for each check: first those that came to the claim's verdict, then the others with their own."""
    deciding = ClaimVerdict.REPRODUCED if one.verdict is ClaimVerdict.IN_PART else one.verdict
    lines = [_line(check) for check in one.asked if check.verdict is deciding]
    others = (check for check in one.asked if check.verdict is not deciding)
    beside = (f"{check.verdict.value}: {_line(check) if check.cells else check.check.says}" for check in others)
    return tuple(dict.fromkeys((*lines, *beside)))


def _line(check: JudgedCheck) -> str:
    cells = [cell for cell in check.cells if cell.verdict is check.verdict]
    measured = [cell.measured(check.unit) for cell in cells if cell.estimate]
    remarks = list(dict.fromkeys(words for cell in cells if (words := cell.said(check.unit))))
    if not measured:
        return f"{check.check.says}: {check.why or next(iter(remarks), 'not measured')}"
    seen = seen_words([one for cell in cells for one in cell.seen])
    told = f"{check.check.says}: {_together(measured, len(check.cells))}{_elsewhere(check)}"
    band = f"{check.band_words} would reproduce it ({check.origin})"
    to_decide = _to_decide(check.blocks)
    return "; ".join((told, band, *seen, *not_steady_words(cells), *remarks[:1], *([to_decide] if to_decide else [])))


def _elsewhere(check: JudgedCheck) -> str:
    """Say, for a check that one cell is enough for, what the others came to, and what was not seen in them."""
    others = [cell for cell in check.cells if cell.estimate and cell.verdict is not check.verdict]
    if not check.check.one_is_enough or check.verdict is not ClaimVerdict.REPRODUCED or not others:
        return ""
    told = (
        (
            _together([cell.measured(check.unit) for cell in cells], len(cells)),
            *seen_words([one for cell in cells for one in cell.absent]),
        )
        for cells in grouped((cell.verdict, cell) for cell in others).values()
    )
    return f" (elsewhere {'; elsewhere '.join(map(', '.join, told))})"


def _together(measured: Sequence[Figure], of: int) -> str:
    """Join up to two figures as they are, of more the ends; and say in how many cells, for more than two or not all."""
    ordered = sorted(measured, key=lambda one: one.sort or 0.0)
    few = len(ordered) <= 2
    ends = dict.fromkeys((ordered[0].text, ordered[-1].text))
    text = " and ".join(one.text for one in ordered) if few else " to ".join(ends)
    if len(ordered) < of:
        return f"{text} in {len(ordered)} of {of} cells"
    return text if few else f"{text} in {of} cells"
