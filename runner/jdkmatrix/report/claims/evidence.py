"""A run’s evidence on a published claim, before it is judged. Pure.

It is kept beside the run's pages, so that evidence of several runs can be put together without reading them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import NamedTuple

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural, range_words, wait_words, work_words
from jdkmatrix.figures.metrics import RSS_PEAK
from jdkmatrix.loads.base import Bound
from jdkmatrix.records.claims import ClaimCheck, ClaimRecord
from jdkmatrix.report.cells.cellstats import protocol_of
from jdkmatrix.report.claims.estimates import Results, compared_cells
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.pooling import pooled
from jdkmatrix.store.cells import digest_of

# Before that, each thread keeps back up to 64 pages of its own count (SPLIT_RSS_COUNTING, mm/memory.c).
_RSS_WHOLE_FROM = (6, 2)


def asks_for(check: ClaimCheck, key: CellKey) -> bool:
    """Return whether the check looks at such a cell."""
    if not fnmatchcase(key.executor, check.arm) or key.executor == check.versus:
        return False
    return all(
        patterns is None or any(fnmatchcase(str(getattr(key, axis)), str(pattern)) for pattern in patterns)
        for axis, patterns in check.where
    )


def words_of(check: ClaimCheck) -> str:
    """Say which cells the check looks at."""
    axes = check.where
    parts = [
        f"cell of {_either(axes.workload)}" if axes.workload else "cell",
        f"on {_either(axes.server)}" if axes.server else "",
        f"on {_either(axes.jdk)}" if axes.jdk else "",
        f"with {_either(axes.cpus)} {'CPU' if _either(axes.cpus) == '1' else 'CPUs'}" if axes.cpus else "",
        f"with {_either(map(work_words, axes.burn_us))} of work" if axes.burn_us else "",
        f"with answers after {_either(map(wait_words, axes.wait_us))}" if axes.wait_us else "",
        f"under {_either(axes.load)}" if axes.load else "",
        f"called {_either(axes.cell_id)}" if axes.cell_id else "",
        f"with {check.arm}",
    ]
    return " ".join(filter(None, parts))


def _either(values: Iterable[object]) -> str:
    return " or ".join(map(str, values))


def other_kernel(check: ClaimCheck, kernels: Iterable[str]) -> str | None:
    """Say why the check cannot be judged on these kernels; None where it can."""
    for kernel in kernels if check.metric == RSS_PEAK.id else ():
        if _version(kernel) < _RSS_WHOLE_FROM:
            since = ".".join(map(str, _RSS_WHOLE_FROM))
            return (
                f"the kernel is {next(iter(kernel.split()), 'not known')}; before {since} up to 256 KiB of each thread "
                "are not in RSS, which favours the executor with more threads"
            )
    low, below = check.kernel_from, check.kernel_below
    asked = " and ".join(filter(None, (low and f"from {low}", below and f"below {below}")))
    for kernel in kernels if asked else ():
        found = _version(kernel)
        if not found or (low and found < _version(low)) or (below and found >= _version(below)):
            return f"the kernel is {next(iter(kernel.split()), 'not known')}; the claim is about Linux {asked}"
    return None


def _version(text: str) -> tuple[int, ...]:
    found = re.match(r"[0-9]+(\.[0-9]+)*", text)
    return tuple(map(int, found.group().split("."))) if found else ()


@dataclass(frozen=True)
class SeenFigure:
    """A precondition, and the figure that was seen in `unit`; None where nothing was recorded. `bound`: of a figure
    of which forks give only a bound."""

    says: str
    name: str
    arm: str
    value: float | None
    unit: str
    holds: bool
    bound: Bound = Bound.NONE


def seen_words(seen: Iterable[SeenFigure]) -> tuple[str, ...]:
    """Put preconditions into words: parts of a sentence for those that were not met, or else one for what was seen."""
    found = grouped(((one.holds, one.says, one.name, one.arm), one) for one in seen)
    told = grouped(((holds, "" if holds else says), _range(same)) for (holds, says, *_), same in found.items())
    lacking = [f"needs {says} ({', '.join(ranges)})" for (holds, says), ranges in told.items() if not holds]
    if lacking:
        return tuple(lacking)
    return tuple(f"seen: {', '.join(dict.fromkeys(there))}" for there in told.values())


def _range(same: Sequence[SeenFigure]) -> str:
    """Say "virtual: CPU use 93.1 to 99.2 %", "liberty: p99 latency at least 1,010 ms"."""
    one, values = same[0], [seen.value for seen in same if seen.value is not None]
    bound = next((words for seen in same if (words := _BOUND_WORDS.get(seen.bound))), "")
    return f"{one.arm}: {one.name} {bound}{range_words(values, one.unit) if values else 'not recorded'}"


_BOUND_WORDS = {Bound.AT_LEAST: "at least ", Bound.BELOW: "below "}


class CellForks(NamedTuple):
    """How many forks of a cell can be used, and how many of these were not steady."""

    run_id: str
    cell_id: str
    forks: int
    not_steady: int


@dataclass(frozen=True)
class CellEvidence:
    """`estimate`: in the unit of its check; None where there is none, and `why` says why. `build`: the version of its
    JDK, where known; `driver`: the driver of its load, where it had one; `release`: of its server, where it has one;
    `protocol`: by which its usable forks were measured, where it has some; `settings`: those of Identity and the tables
    of the loads, of this cell and of what it is compared with. `alone`: where it is of several runs, what each of them
    says. `behind`: the cells whose forks it rests on, itself and those that it is compared with."""

    key: CellKey
    build: str | None
    estimate: Estimate | None
    why: str | None = None
    seen: tuple[SeenFigure, ...] = ()
    alone: tuple[Estimate, ...] = ()
    driver: str | None = None
    release: str | None = None
    protocol: str | None = None
    settings: str | None = None
    behind: tuple[CellForks, ...] = ()

    @property
    def absent(self) -> tuple[SeenFigure, ...]:
        """Preconditions that were not met, or for which nothing was recorded."""
        return tuple(one for one in self.seen if not one.holds)


@dataclass(frozen=True)
class CheckEvidence:
    """`unit`: "" for a ratio. `why`: why there is no cell to look at, where there is none."""

    unit: str
    cells: tuple[CellEvidence, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class ClaimEvidence:
    """`checks`: in the order of those of the claim."""

    id: str
    checks: tuple[CheckEvidence, ...]


def not_steady_words(cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Say "3 of 10 forks not steady", if any were not."""
    behind = {one for cell in cells for one in cell.behind}  # each once, however many were compared with it
    forks, not_steady = sum(one.forks for one in behind), sum(one.not_steady for one in behind)
    return (f"{not_steady} of {plural(forks, 'fork')} not steady",) if not_steady else ()


def evidence(claim: ClaimRecord, results: Results) -> ClaimEvidence:
    return ClaimEvidence(claim.id, tuple(_check(check, results) for check in claim.checks))


def together(found: Sequence[ClaimEvidence]) -> ClaimEvidence:
    """Combine the evidence of several runs of one host under the same checks of one claim, the newest first: each cell
    has what all of them say that share its JDK build, release of the server, driver, protocol and settings. What must
    be seen was seen in each run that counts; a run in which it was not says nothing beside one in which it was."""
    return ClaimEvidence(found[0].id, tuple(map(_checks_together, zip(*(one.checks for one in found), strict=True))))


def _checks_together(found: Sequence[CheckEvidence]) -> CheckEvidence:
    every = [cell for check in found for cell in check.cells]
    # A cell without these, of which nothing was measured, goes with one that has them.
    known = [{_parts(cell): told for cell in reversed(every) if (told := of(cell))} for of in _MEASURED]

    def how(cell: CellEvidence) -> tuple[str | None, ...]:
        return tuple(of(cell) or there.get(_parts(cell)) for of, there in zip(_MEASURED, known, strict=True))

    cells = grouped(((_parts(cell), how(cell)), cell) for cell in every)
    if not cells:
        return found[0]
    unit = next((check.unit for check in found if check.cells and check.unit), "")
    return CheckEvidence(unit, tuple(map(_cells_together, cells.values())))


_MEASURED: tuple[Callable[[CellEvidence], str | None], ...] = tuple(map(attrgetter, ("driver", "protocol", "settings")))


def _parts(cell: CellEvidence) -> tuple[CellKey, str | None, str | None]:
    return cell.key, cell.build, cell.release


def _cells_together(found: Sequence[CellEvidence]) -> CellEvidence:
    judged = [cell for cell in found if cell.estimate and not cell.absent]
    # Beside others, one of a single block says nothing (stats/pooling.py).
    judged = [cell for cell in judged if cell.estimate and cell.estimate.has_end] or judged
    if len(judged) < 2:
        return next((cell for cell in (*judged, *found) if cell.estimate), found[0])
    estimates = tuple(cell.estimate for cell in judged if cell.estimate)
    behind = tuple(one for cell in judged for one in cell.behind)
    return replace(judged[0], estimate=pooled(estimates), alone=estimates, behind=behind)


def _check(check: ClaimCheck, results: Results) -> CheckEvidence:
    keys = [key for key in results.keys if asks_for(check, key)]
    compares = check.versus or check.versus_load or check.versus_workload
    unit = "" if compares and not check.difference else results.unit(check, keys)
    if why := other_kernel(check, results.kernels):
        return CheckEvidence(unit, why=why)
    if not keys:
        refused = (one.reason for one in results.run.not_testable if asks_for(check, one.key))
        return CheckEvidence(unit, why=next(refused, f"this run has no {words_of(check)}"))
    return CheckEvidence(unit, tuple(_cell(key, check, results) for key in keys))


def _cell(key: CellKey, check: ClaimCheck, results: Results) -> CellEvidence:
    found, cell = results.estimate(check, key), results.cell(key)
    estimate, why = (None, found) if isinstance(found, str) else (found, None)
    behind = [told for one in compared_cells(check, key) if (told := results.cell(one))]
    loads = dict.fromkeys(digest_of({"load": results.run.load_table(one.key.load)}) for one in behind)
    return CellEvidence(
        *(key, results.builds.get(key.jdk), estimate, why),
        seen=tuple(_seen(check, key, estimate, results)) if estimate else (),
        driver=cell.driver if cell else None,
        release=results.releases.get(key.server),
        protocol=protocol_of([cell]) if cell and cell.usable else None,
        settings=" ".join((*(one.record.identity.settings for one in behind), *loads)) if cell else None,
        behind=tuple(CellForks(results.run.run_id, one.key.cell_id, len(one.usable), one.not_steady) for one in behind),
    )


def _seen(check: ClaimCheck, key: CellKey, estimate: Estimate, results: Results) -> Iterable[SeenFigure]:
    both = compared_cells(check, key)
    for needed in check.requires:
        if needed.of_bounds and not estimate.one_sided:
            continue
        # Where another vendor's JDK is compared, the same arm is looked at on both.
        of_arm = both if check.versus_vendor else (key,)
        arms = dict.fromkeys(one.model_copy(update={"executor": needed.arm}) for one in of_arm) if needed.arm else both
        for cell in arms:
            name, value, unit, bounds = results.seen(needed, cell, check.metric)
            enough = needed.low is None or (value is not None and value >= needed.low and Bound.BELOW not in bounds)
            few = needed.high is None or (value is not None and value <= needed.high and Bound.AT_LEAST not in bounds)
            holds = value is not None and enough and few
            bound = next(iter(bounds - {Bound.NONE}), Bound.NONE)
            yield SeenFigure(needed.says, name, _told_apart(cell, both), value, unit, holds, bound)


def _told_apart(cell: CellKey, both: Sequence[CellKey]) -> str:
    """Return its executor, and whatever else distinguishes it from the cell that it is compared with."""
    axes = ("jdk", "workload", "load")
    differing = [axis for axis in axes if len({getattr(one, axis) for one in both}) > 1]
    return " ".join([cell.executor, *(getattr(cell, axis) for axis in differing)])
