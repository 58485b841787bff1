"""A run's answer in a few lines: which executor to use, whether to trust it, how to repeat it. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from pathlib import Path

from jdkmatrix.cli.so_far import BLOCKS_TOLD_MAX, blocks_ahead, plus_minus
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.quantities import plural
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.project_files import program
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.advice import Side, advised
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import count_forks, own_applications
from jdkmatrix.report.site.conditions import overview
from jdkmatrix.report.site.digest import aa_words
from jdkmatrix.report.words.sentences import condition
from jdkmatrix.stats.stopping import half_width_that_tells
from jdkmatrix.stats.verdicts import Verdict

_TOLD_ALONE = 3  # conditions; of more than these, only who is ahead in how many is told


def answer_lines(run: JudgedRun) -> Iterator[str]:
    """Yield the front page's answer in lines, by the leading figure of each condition; none where nothing is
    compared."""
    found, conditions = advised(run.judgements), len({key.group for key in run.cells.keys})
    if len(found) > _TOLD_ALONE:
        without = conditions - len(found)
        rest = f" {plural(without, 'more condition')} {'has' if without == 1 else 'have'} no answer." if without else ""
        yield f"{overview([(key.task, told) for key, told in found.items()])}{rest}"
        return
    for key, told in found.items():
        where = f"{key.jdk}, {condition(key.cpus, key.task)}, {key.served}, {key.load}: " if conditions > 1 else ""
        yield f"{where}{told[0].sentence}"


def trust_line(run: JudgedRun) -> str:
    """Say how many forks can be used, what the A/A checks came to, and how many forks were not steady."""
    forks = [fork for cell in run.loaded.cells for fork in cell.forks]
    unsteady = sum(fork.status is Status.NOT_STEADY for fork in forks)
    checks = aa_words(run.judgements)
    parts = [
        count_forks(run.loaded).text,
        f"A/A checks: {checks}" if checks else "no A/A check",
        *([f"{plural(unsteady, 'fork')} not steady"] if unsteady else []),
    ]
    return "; ".join(parts)


def going_on(directory: Path) -> str:
    """Return the command that continues the run in this folder, wherever it is kept."""
    return f"{program()} run --resume --run {shlex.quote(str(directory))}"


def next_step(run: JudgedRun) -> str:
    """Suggest a quieter host, if what else it did left no fork usable, or more CPUs for the driver, if it measured
    itself in all of them; more blocks, if they would settle what these have not; the ratio of two JDKs; else another
    question."""
    forks = [fork for cell in run.loaded.cells for fork in cell.forks]
    if forks and all(fork.status is Status.INVALID for fork in forks):
        if all(any(reason.code == "driver-saturated" for reason in fork.window_reasons) for fork in forks):
            longer = "" if any(own_applications(run.run)) else ", or with longer tasks (--burn 100us)"
            other = f"repeat with more CPUs for it (`cpus` below [driver] in matrix.toml){longer}"
            return f"the driver measured itself: {other}"
        again = going_on(run.loaded.directory)
        return f"{program()} doctor shows what disturbs this host; to measure again: {again}"
    precision, sequential = run.run.promised_precision, run.run.stopping is not None
    told = advised(run.judgements)
    undecided = [key for key, advice in told.items() if advice[0].side is Side.OPEN]
    if not told:  # such as a tuned executor over itself
        undecided = [cell.key for cell in run.cells if not is_aa_arm(cell.key.executor)]
    judged = [(key, found) for key in undecided if (found := run.judgements.of(run.cells.leading(key), key))]
    needed = [
        (_blocks_run(run, key) + more, half_width_that_tells(one.ratio.value, precision))
        for key, one in judged
        if one.verdict not in (Verdict.NOT_JUDGED, Verdict.DIFFERENT)
        and (more := blocks_ahead(one.ratio, precision, sequential=sequential))
    ]
    if needed and (most := max(needed))[0] <= BLOCKS_TOLD_MAX:
        share, option = plus_minus(math.expm1(most[1])), "--max-blocks" if sequential else "--blocks"
        return f"{option} {most[0]} would give the ratio to {share}, if blocks scatter as these did"
    jdks = tuple(dict.fromkeys(cell.key.jdk for cell in run.cells if cell.usable))
    if len(jdks) == 2:
        words = (str(run.loaded.directory), "--jdk", jdks[0], "--jdk", jdks[1])
        return f"{program()} compare {shlex.join(words)} compares the JDKs"
    if any(own_applications(run.run)):
        return _next_of_own(run)
    return f"{program()} ask measures your own CPUs, task and remote delay"


def _blocks_run(run: JudgedRun, key: CellKey) -> int:
    """Return how many blocks were run; those that both arms of the ratio lost count, too."""
    return max(run.cell(one).forks for one in (key, key.model_copy(update={"executor": run.cells.reference(key)})))


def _next_of_own(run: JudgedRun) -> str:
    """Suggest another load or path, since no work can be added to its requests."""
    loops = {kind_of(cell.load).load.in_windows.is_closed_loop for cell in run.loaded.served}
    if len(loops) > 1:
        return "the same command with another --path measures another of its requests"
    if False not in loops:
        return "the same command with --load share-50 shows p99 and CPU per request at half of what the pool can serve"
    return "the same command with --load saturate-50 shows how many requests it can serve"
