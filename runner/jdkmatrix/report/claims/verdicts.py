"""Do the results of a run speak for what was published? A pure function of both.

Every check of a claim looks at some cells. An estimate whose interval lies inside the published band reproduces it, one
whose interval lies outside contradicts it, and one across an edge is inconclusive (stats/bands.py). A claim is
contradicted as soon as one of its checks is, and reproduced when all that could be judged reproduce it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

from jdkmatrix.records.claims import ClaimCheck, ClaimRecord
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.experiment_cells import Experiments
from jdkmatrix.report.claims.estimates import Results
from jdkmatrix.stats.bands import Band, Estimate, Place, blocks_to_decide, place
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.quantities import wait_words, work_words

# From the unit of a published figure to the one that a figure here is shown in.
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
    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_MEASURED = "not measured"
    NOT_TESTABLE_HERE = "not testable here"
    NOT_TESTABLE = "not testable"


_OF_PLACE = {
    Place.INSIDE: ClaimVerdict.REPRODUCED,
    Place.OUTSIDE: ClaimVerdict.CONTRADICTED,
    Place.OPEN: ClaimVerdict.INCONCLUSIVE,
}


@dataclass(frozen=True)
class JudgedCell:
    """`estimate`: in the unit of the check; None where there is none, and `why` says why. `blocks`: how many in all
    would decide it; None where it is decided, or that cannot be said."""

    key: CellKey
    estimate: Estimate | None
    verdict: ClaimVerdict
    why: str | None = None
    blocks: int | None = None


@dataclass(frozen=True)
class JudgedCheck:
    """`band`: in `unit`, "" for a ratio. `why`: where no cell could be judged."""

    check: ClaimCheck
    band: Band
    unit: str
    verdict: ClaimVerdict
    cells: tuple[JudgedCell, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class JudgedClaim:
    claim: ClaimRecord
    verdict: ClaimVerdict
    checks: tuple[JudgedCheck, ...] = ()
    why: str | None = None


def judge_claims(
    claims: Iterable[ClaimRecord], run: RunRecord, cells: Cells, experiments: Experiments
) -> tuple[JudgedClaim, ...]:
    """In their order."""
    results = Results(run, cells, experiments)
    return tuple(_claim(claim, results) for claim in claims)


def _claim(claim: ClaimRecord, results: Results) -> JudgedClaim:
    if not claim.checks:
        why = claim.not_checked or claim.not_repeated or "the run recorded this claim without a check"
        return JudgedClaim(claim, ClaimVerdict.NOT_TESTABLE, why=why)
    checks = tuple(_check(check, claim, results) for check in claim.checks)
    return JudgedClaim(claim, _all_together(check.verdict for check in checks), checks)


def _all_together(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    found = set(verdicts)
    order = (
        *(ClaimVerdict.CONTRADICTED, ClaimVerdict.INCONCLUSIVE, ClaimVerdict.REPRODUCED),
        *(ClaimVerdict.NOT_MEASURED, ClaimVerdict.NOT_TESTABLE_HERE),
    )
    return next((one for one in order if one in found), ClaimVerdict.NOT_TESTABLE)


def _check(check: ClaimCheck, claim: ClaimRecord, results: Results) -> JudgedCheck:
    keys = [key for key in results.keys if asks_for(check, key)]
    unit = "" if _is_ratio(check) else results.unit(check, keys)
    published = claim.figures[check.figure - 1].unit if check.figure else unit
    if unit and _factor(published, unit) is None:
        told = f"published in {published}, measured in {unit}"
        return JudgedCheck(check, _band(check, claim, published), published, ClaimVerdict.NOT_TESTABLE, why=told)
    band = _band(check, claim, unit)
    if why := _other_kernel(check, results.kernels):
        return JudgedCheck(check, band, unit, ClaimVerdict.NOT_TESTABLE_HERE, why=why)
    if not keys:
        for refused in results.run.not_testable:
            if asks_for(check, refused.key):
                return JudgedCheck(check, band, unit, ClaimVerdict.NOT_TESTABLE_HERE, why=refused.reason)
        return JudgedCheck(check, band, unit, ClaimVerdict.NOT_TESTABLE_HERE, why=f"this run has no {words_of(check)}")
    judged = tuple(_cell(key, check, band, results) for key in keys)
    return JudgedCheck(check, band, unit, _of_cells(check, judged), judged)


def _of_cells(check: ClaimCheck, cells: Sequence[JudgedCell]) -> ClaimVerdict:
    verdicts = [cell.verdict for cell in cells]
    if check.one_is_enough and ClaimVerdict.REPRODUCED in verdicts:
        return ClaimVerdict.REPRODUCED
    if check.one_is_enough and set(verdicts) & {ClaimVerdict.INCONCLUSIVE, ClaimVerdict.NOT_MEASURED}:
        return ClaimVerdict.INCONCLUSIVE if ClaimVerdict.INCONCLUSIVE in verdicts else ClaimVerdict.NOT_MEASURED
    return _all_together(verdicts)


def _cell(key: CellKey, check: ClaimCheck, band: Band, results: Results) -> JudgedCell:
    estimate = results.estimate(check, key)
    if isinstance(estimate, str):
        return JudgedCell(key, None, ClaimVerdict.NOT_MEASURED, why=estimate)
    verdict = _OF_PLACE[place(estimate, band)]
    if verdict is not ClaimVerdict.INCONCLUSIVE:
        return JudgedCell(key, estimate, verdict)
    why = "one block, no interval" if estimate.low is None else None
    return JudgedCell(key, estimate, verdict, why, blocks_to_decide(estimate, band))


# ----------------------------------------------------------------------------------------------------- what is asked
def _is_ratio(check: ClaimCheck) -> bool:
    return (check.versus is not None and not check.difference) or check.versus_load is not None


def _band(check: ClaimCheck, claim: ClaimRecord, unit: str) -> Band:
    if check.figure is None:
        return Band(check.low, check.high)
    figure = claim.figures[check.figure - 1]
    factor = _factor(figure.unit, unit) or 1.0
    if figure.value is not None:
        away = abs(figure.value) * (check.tolerance or 0.0)
        return Band(_end(figure.value - away, factor), _end(figure.value + away, factor))
    low, high = (None if end is None else _end(end, factor) for end in (figure.low, figure.high))
    return Band(low, high)


def _end(value: float, factor: float) -> float:
    """Without what binary fractions leave behind: 1,210 and not 1,210.0000000000002. Of a figure in another unit, the
    four digits that it can carry."""
    return float(f"{value * factor:.{9 if factor == 1 else 4}g}")


def _factor(published: str, shown: str) -> float | None:
    """None where the one is no other measure of the same."""
    return 1.0 if published in ("ratio", shown) else _FACTORS.get((published, shown))


def asks_for(check: ClaimCheck, key: CellKey) -> bool:
    """Does it look at such a cell?"""
    if not fnmatchcase(key.executor, check.arm):
        return False
    if check.versus is not None and key.executor == check.versus:
        return False
    return all(patterns is None or _is_among(getattr(key, axis), patterns) for axis, patterns in check.where)


def _is_among(value: str | int, patterns: Iterable[str | int]) -> bool:
    return any(
        fnmatchcase(value, pattern) if isinstance(value, str) and isinstance(pattern, str) else value == pattern
        for pattern in patterns
    )


def words_of(check: ClaimCheck) -> str:
    """Which cells it looks at."""
    axes = check.where
    parts = [
        f"cell of {_either(axes.workload)}" if axes.workload else "cell",
        f"on {_either(axes.server)}" if axes.server else "",
        f"on {_either(axes.jdk)}" if axes.jdk else "",
        f"with {_either(axes.cpus)} CPUs" if axes.cpus else "",
        f"with {_either(work_words(int(us)) for us in axes.burn_us)} of work" if axes.burn_us else "",
        f"with answers after {_either(wait_words(int(us)) for us in axes.wait_us)}" if axes.wait_us else "",
        f"under {_either(axes.load)}" if axes.load else "",
        f"with {check.arm}",
    ]
    return " ".join(filter(None, parts))


def _either(values: Iterable[object]) -> str:
    return " or ".join(map(str, values))


def _other_kernel(check: ClaimCheck, kernels: Iterable[str]) -> str | None:
    """Why it cannot be judged on these."""
    low, below = check.kernel_from, check.kernel_below
    asked = " and ".join(filter(None, (low and f"from {low}", below and f"below {below}")))
    other = next((kernel for kernel in kernels if not _is_between(_version(kernel), low, below)), None)
    if not asked or other is None:
        return None
    return f"the kernel is {next(iter(other.split()), 'not known')}; the claim is about {asked}"


def _is_between(found: tuple[int, ...], low: str | None, below: str | None) -> bool:
    return bool(found) and (low is None or found >= _version(low)) and (below is None or found < _version(below))


def _version(text: str) -> tuple[int, ...]:
    found = re.match(r"[0-9]+(\.[0-9]+)*", text)
    return tuple(map(int, found.group().split("."))) if found else ()
