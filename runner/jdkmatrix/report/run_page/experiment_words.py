"""A run’s experiments without a server as a whole, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.kinds import Notice, Trouble
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.experiment_cells import of_kinds
from jdkmatrix.report.html.names import cell_page
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.troubles import alike
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS


def title(run: RunRecord, experiments: Cells) -> str:
    """The title of a run that has nothing else."""
    kinds = ", ".join(piece.page.title.lower() for piece in of_kinds(experiments))
    about = run.scenario.name if run.scenario else kinds or "experiments"
    return f"Without a server: {about}"


def summary(experiments: Cells) -> str:
    """How much of what there is; empty where there is nothing."""
    keys = experiments.keys
    if not keys:
        return ""

    def number(axis: str, noun: str) -> str:
        return plural(len({getattr(key, axis) for key in keys}), noun)

    kinds = ", ".join(piece.page.title.lower() for piece in of_kinds(experiments))
    measured = sum(1 for cell in experiments if cell.best_status is Status.OK)
    forks = sum(len(cell.record.forks) for cell in experiments)
    return (
        f"Without a server{f' ({kinds})' if kinds else ''}: {number('executor', 'arm')} on {number('jdk', 'JDK')}, "
        f"{measured} of {plural(len(keys), 'cell')} ran to an outcome, from {plural(forks, 'fork')}, each a fresh "
        "process."
    )


def troubles(experiments: Cells, why_not_measured: str) -> Iterable[Trouble]:
    """Cells with a fork that is not ok. How an experiment ended is a finding, and limits that it hit belong to that."""
    for key in experiments.keys:
        cell = experiments.get(key)
        if cell is None or cell.best_status is None:
            status, reasons = None, [why_not_measured]
        else:
            status = cell.best_status
            reasons = _reasons(cell)
            if status is Status.OK and not reasons:
                continue
        yield Trouble(
            label=cell_words(key),
            href=cell_page(key) if cell else None,
            status=STATUS_WORDS[status] if status is not Status.OK else "some forks",
            status_class=STATUS_CLASS[status] if status is not Status.OK else "not-steady",
            reasons=tuple(reasons) or ("no reason was recorded",),
        )


def _reasons(cell: CellStats) -> list[str]:
    forks = [fork for fork in cell.record.forks if fork.status is not Status.OK]
    told = ((message, fork.fork) for fork in forks for message in _messages(fork))
    return [f"{'fork' if len(some) == 1 else 'forks'} {facts.ranges(some)}: {words}" for words, some in alike(told)]


def _messages(fork: Fork) -> list[str]:
    return [reason.message for reason in fork.reasons] or ["no reason was recorded"]


def notices(experiments: Cells) -> Iterable[Notice]:
    forks = [fork for cell in experiments for fork in cell.record.forks]
    shared = [fork for fork in forks if set(fork.confinement.sut_cpus) & set(fork.confinement.remote_cpus)]
    if shared:
        yield Notice(
            "warn",
            "Program and remote system share CPUs",
            f"In {facts.share_of(shared, forks)} without a server the host had too few CPUs to keep them apart: CPU "
            "time that the remote system used was not left for the program.",
        )
    if loose := facts.by_affinity(forks):
        where, why = loose
        yield Notice(
            "info",
            "Without a server: kept on its CPUs by affinity alone",
            f"In {where} the program was kept on its CPUs by sched_setaffinity, which a thread can "
            f"undo for itself. Cgroup cpusets were not used: {why}.",
        )
