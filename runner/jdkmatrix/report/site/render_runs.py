"""Make the pages of many runs: in this process, or in several where there is enough to do, a large run in parts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

from jdkmatrix.domain.gc_pause import frozen
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.run_pages import IN_FULL, CellFiles, Part, write_run
from jdkmatrix.report.site.templates import pages_of
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.readable import UnreadableError, readable

CELLS_PER_PROCESS = 100  # a process takes a second to start, in which so many small cells are made
PROCESSES_MAX = 8


@dataclass(frozen=True)
class SiteRun:
    """A run to be shown; `name` is for messages. `stamp`: the same as long as its files are; None: its pages are always
    made anew. `cells`: about how many it has; `files`: what the site has of them."""

    name: str
    load: Callable[[], LoadedRun]
    stamp: str | None = None
    cells: int = 0
    files: CellFiles = IN_FULL


@dataclass(frozen=True)
class RenderedRun:
    """The pages of a run, in the folder `digest.folder` of `root`."""

    root: Path
    digest: RunDigest


_Job = tuple[SiteRun, Path, Part]


def make_all(
    runs: Sequence[SiteRun], folder: Path, templates: Path, registry: tuple[ClaimRecord, ...]
) -> Iterator[RenderedRun | str]:
    """Each run's pages, below a folder of its own in `folder`, or why there are none; in the order of `runs`.

    Raises:
        MatrixError: a process that made pages was killed.
    """
    count = processes(runs, len(os.sched_getaffinity(0)))
    jobs = [
        (run, folder / str(number), Part(part, of))
        for number, (run, of) in enumerate(zip(runs, parts(runs, count), strict=True))
        for part in range(of)
    ]
    make = partial(_make, templates=templates, registry=registry)
    if count == 1:
        yield from _whole(map(make, jobs), jobs)
        return
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(count, context, initializer=_begin) as pool:
        try:
            yield from _whole(pool.map(make, jobs), jobs)
        except BrokenProcessPool:
            message = "a process that was writing pages was killed; the kernel does so where memory runs out"
            raise MatrixError(message) from None


def _whole(made: Iterable[RunDigest | str | None], jobs: Iterable[_Job]) -> Iterator[RenderedRun | str]:
    """Of each run, once all of its parts are made. The first says what the run tells, or why it is not shown; so may
    another."""
    told: list[RunDigest | str | None] = []
    for found, (_, root, part) in zip(made, jobs, strict=True):
        told.append(found)
        if part.number == part.of - 1:
            why_not = next((one for one in told if isinstance(one, str)), None)
            digest = next((one for one in told if isinstance(one, RunDigest)), None)
            yield RenderedRun(root, digest) if digest and why_not is None else str(why_not)
            told = []


def processes(runs: Sequence[SiteRun], cpus: int) -> int:
    """How many are worth starting."""
    return max(1, min(cpus, PROCESSES_MAX, sum(run.cells for run in runs) // CELLS_PER_PROCESS))


def parts(runs: Sequence[SiteRun], count: int) -> list[int]:
    """In how many parts each run is made by so many processes: one that is a large share of all keeps none waiting."""
    every = sum(run.cells for run in runs)
    return [max(1, min(count, round(count * run.cells / every))) if every else 1 for run in runs]


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the process that waits for this one
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """However that ends: this process is a child of the server that forks, which lives as long as its children."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _make(job: _Job, *, templates: Path, registry: tuple[ClaimRecord, ...]) -> RunDigest | str | None:
    run, root, part = job
    try:
        with readable(run.name):
            loaded = run.load()
            with frozen():
                return write_run(loaded, root, pages_of(templates), registry, run.files, part)
    except UnreadableError as error:  # whatever is wrong with one run, the others are shown
        return str(error)
