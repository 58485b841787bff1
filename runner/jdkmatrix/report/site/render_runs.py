"""Make the pages of many runs: in this process, or several runs at a time where there is enough to do."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
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
from jdkmatrix.report.site.run_pages import IN_FULL, CellFiles, write_run
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


def make_all(
    runs: Sequence[SiteRun], folder: Path, templates: Path, registry: tuple[ClaimRecord, ...]
) -> Iterator[RenderedRun | str]:
    """Each run's pages, below a folder of its own in `folder`, or why there are none; in the order of `runs`.

    Raises:
        MatrixError: a process that made pages was killed.
    """
    jobs = [(run, folder / str(number)) for number, run in enumerate(runs)]
    make = partial(_make, templates=templates, registry=registry)
    count = processes(runs, len(os.sched_getaffinity(0)))
    if count == 1:
        yield from map(make, jobs)
        return
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(count, context, initializer=_begin) as pool:
        try:
            yield from pool.map(make, jobs)
        except BrokenProcessPool:
            message = "a process that was writing pages was killed; the kernel does so where memory runs out"
            raise MatrixError(message) from None


def processes(runs: Sequence[SiteRun], cpus: int) -> int:
    """How many are worth starting."""
    return max(1, min(cpus, PROCESSES_MAX, len(runs), sum(run.cells for run in runs) // CELLS_PER_PROCESS))


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the process that waits for this one
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """However that ends: this process is a child of the server that forks, which lives as long as its children."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _make(job: tuple[SiteRun, Path], *, templates: Path, registry: tuple[ClaimRecord, ...]) -> RenderedRun | str:
    run, root = job
    try:
        with readable(run.name):
            loaded = run.load()
            with frozen():
                return RenderedRun(root, write_run(loaded, root, pages_of(templates), registry, run.files))
    except UnreadableError as error:  # whatever is wrong with one run, the others are shown
        return str(error)
