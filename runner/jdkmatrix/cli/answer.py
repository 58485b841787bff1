"""The answer of a run in a few lines: what to take, whether to trust it, how to repeat it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import virtual_of
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.advice import Advice, advise
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.fork_counts import count_forks
from jdkmatrix.report.site.digest import aa_words
from jdkmatrix.report.site.overview import overview
from jdkmatrix.report.words.sentences import condition

_TOLD_ALONE = 3  # conditions; of more than these, who is ahead in how many


class _Advised(NamedTuple):
    burn_us: int
    wait_us: int
    advice: Sequence[Advice]


def answer_lines(run: JudgedRun) -> Iterator[str]:
    """As the front page answers, by the leading figure of each condition; none where nothing is compared."""
    found = {
        key: told
        for key in run.cells.keys
        if key.executor == virtual_of(key.server) and (told := advise(run.judgements, run.cells, key))
    }
    if len(found) > _TOLD_ALONE:
        yield overview([_Advised(*key.task, told) for key, told in found.items()]) or ""
        return
    for key, told in found.items():
        where = f"{key.jdk}, {condition(key.cpus, key.task)}, {key.served}, {key.load}: " if len(found) > 1 else ""
        yield f"{where}{told[0].sentence}"


def trust_line(run: JudgedRun) -> str:
    """How many forks can be used, what the A/A checks came to, and which forks were not steady."""
    forks = [fork for cell in run.loaded.cells for fork in cell.forks]
    unsteady = sum(fork.status is Status.NOT_STEADY for fork in forks)
    checks = aa_words(run.cells, run.judgements)
    parts = [
        count_forks(run.loaded).text,
        f"A/A checks: {checks}" if checks else "no A/A check",
        *([f"{plural(unsteady, 'fork')} not steady"] if unsteady else []),
    ]
    return "; ".join(parts)
