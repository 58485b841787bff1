"""Do an executor's starts fall into two groups over all runs of a host? One run seldom has forks enough to tell. Pure.

Only forks of one build of the JDK and of one line of a history are looked at together. Where the groups are runs, the
host or something else that befell whole runs differed; where runs have forks of both, a start did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.site.history import MeasuredRun
from jdkmatrix.report.words.numbers import apart, p_value
from jdkmatrix.stats.modes import P_MAX, Modes, modes_of_family

_Place = tuple[str, str, str]  # executor, line, build of the JDK


def starts_told(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """A sentence for each place that has enough forks, of two runs at least; all of them are one family of tests."""
    places: dict[_Place, list[tuple[float, ...]]] = {}
    for run in runs:
        for executor, figures in run.condition.forks:
            if figures:
                places.setdefault((executor, run.line, run.jdk), []).append(figures)
    of_runs = {place: figures for place, figures in places.items() if len(figures) > 1}
    tested = modes_of_family({place: chain.from_iterable(figures) for place, figures in of_runs.items()})
    several = len({place[1:] for place in tested}) > 1
    for place, (modes, adjusted) in tested.items():
        executor, line, jdk = place
        where = f"{executor} on {line}, JDK {jdk}" if several else executor
        yield f"{where}: {_finding(of_runs[place], modes, adjusted)}."


def _finding(figures: Sequence[Sequence[float]], modes: Modes, adjusted: float) -> str:
    """`figures`: of each run, by fork."""
    ordered = sorted(chain.from_iterable(figures))
    counted = f"{len(ordered)} forks of {plural(len(figures), 'run')}"
    if adjusted >= P_MAX:
        return f"{counted} do not fall into two groups"
    border = ordered[modes.lower]
    both = sum(min(of_run) < border <= max(of_run) for of_run in figures)
    why = (
        f"{plural(both, 'run')} {'has' if both == 1 else 'have'} forks of both, so that a start seems to end up in one "
        "of two modes, and a run of few forks can miss one of them"
        if both
        else "no run has forks of both, so that whole runs differed rather than starts"
    )
    return (
        f"{counted} fall into two groups, {modes.lower} and {plural(modes.upper, 'fork')}, "
        f"{apart(math.exp(modes.apart))} apart (adjusted {p_value(adjusted)}); {why}"
    )
