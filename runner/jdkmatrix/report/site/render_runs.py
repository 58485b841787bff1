"""Make the pages of many runs: in this process, or on all CPUs where there is enough to do, several runs at a time and
the cells of a large run in several processes."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from pydantic import TypeAdapter

from jdkmatrix.domain.gc_pause import frozen
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.site.child_processes import LOOKED_UP_S, end_children, with_parent
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.run_pages import IN_FULL, CellFiles, RunWriter
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.readable import UnreadableError, readable

CELLS_PER_PROCESS = 100  # a process takes a second to start, in which this many small cells can be made
PROCESSES_MAX = 8
_CELLS_AT_A_TIME = 16
_doing: list[Callable[[Any], Any]] = []  # in a pool's process: what it does with each job
_DIGEST = "digest.json"
_DIGESTS = TypeAdapter(RunDigest)


@dataclass(frozen=True)
class SiteRun:
    """A run to show; `name` is for messages. `stamp`: unchanged as long as its files are; None: its pages are always
    made anew. `cells`: about how many it has; `files`: which of their files the site has."""

    name: str
    load: Callable[[], LoadedRun]
    stamp: str | None = None
    cells: int = 0
    files: CellFiles = IN_FULL


class RenderedRun(NamedTuple):
    """A run whose pages have been made. `folder`: where they are."""

    folder: Path
    digest: RunDigest


def rendered(site: Path) -> dict[str, RenderedRun]:
    """Read the runs of an existing site, by their stamps."""
    found: dict[str, RenderedRun] = {}
    for path in site.glob(f"runs/*/{_DIGEST}"):
        try:
            kept = json.loads(path.read_text("utf-8"))
            told = _DIGESTS.validate_python(kept["run"])
            found |= {kept["stamp"]: RenderedRun(path.parent, told)} if site / told.folder == path.parent else {}
        except Exception:  # whatever is in the file, the run's pages can be made anew
            continue
    return found


_Job = tuple[SiteRun, Path, int]  # the last: how many processes write its cells


def make_all(
    runs: Sequence[SiteRun], folder: Path, templates: Path, registry: tuple[ClaimRecord, ...]
) -> Iterator[RenderedRun | str]:
    """Make each run's pages below a folder of its own in `folder`, or yield why there are none; in the order of `runs`.

    Raises:
        MatrixError: a process that made pages was killed.
    """
    cpus = len(os.sched_getaffinity(0))
    shares = writers(runs, cpus)
    jobs = [(run, folder / str(number), share) for number, (run, share) in enumerate(zip(runs, shares, strict=True))]
    count = processes(runs, cpus)
    make = partial(_make, templates=templates, registry=registry)
    if max((count, *shares)) == 1:
        yield from map(make, jobs)
        return
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(make,)) as pool:
        try:
            yield from map(_outcome, [pool.submit(_do, job) for job in jobs])
        except BaseException as error:
            end_children()
            if not isinstance(error, BrokenProcessPool):
                raise
            message = "a process that was writing pages was killed; the kernel does so when memory runs out"
            raise MatrixError(message) from None


def processes(runs: Sequence[SiteRun], cpus: int) -> int:
    """Return how many processes are worth starting, each for one run at a time."""
    return max(1, min(cpus, PROCESSES_MAX, len(runs), sum(run.cells for run in runs) // CELLS_PER_PROCESS))


def writers(runs: Sequence[SiteRun], cpus: int) -> list[int]:
    """Return how many processes write the cells of each run: its share of the CPUs, if it has enough cells."""
    every = sum(run.cells for run in runs) or 1
    shares = (min(round(cpus * run.cells / every), run.cells // CELLS_PER_PROCESS) for run in runs)
    return [max(1, min(PROCESSES_MAX, share)) for share in shares]


def _begin(do: Callable[[Any], Any]) -> None:
    """Begin a process of a pool: what all jobs need is sent to it once, not with each job."""
    _doing[:] = [do]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the process that waits for this one
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # and so does this
    signal.signal(signal.SIGTERM, _end)
    with_parent(_end)


def _do(job: Any) -> Any:
    return _doing[0](job)


def _outcome(future: Future[RenderedRun | str]) -> RenderedRun | str:
    while not wait([future], LOOKED_UP_S).done:
        pass
    return future.result()


def _end(*_: object) -> None:
    end_children()
    os._exit(1)


def _make(job: _Job, *, templates: Path, registry: tuple[ClaimRecord, ...]) -> RenderedRun | str:
    run, root, count = job
    try:
        with readable(run.name):
            loaded = run.load()
        with frozen():
            with readable(run.name):
                writer = RunWriter(loaded, root, pages_of(templates), registry, run.files)
            told = _write(run.name, writer, count)
            with readable(run.name):
                kept = {"stamp": run.stamp, "run": _DIGESTS.dump_python(told, mode="json")}
                (root / told.folder / _DIGEST).write_text(json.dumps(kept, allow_nan=False) + "\n", "utf-8")
            return RenderedRun(root / told.folder, told)
    except UnreadableError as error:  # whatever is wrong with one run, the others are shown
        return str(error)


def _write(run: str, writer: RunWriter, count: int) -> RunDigest:
    """Write the cells in up to `count` processes, if memory allows, and the rest meanwhile: each may in time hold a
    copy of all that this one has in memory. The first cell is written here, so that none has to load what all need."""
    cells, index = readable(run)(writer.write_cells), readable(run)(writer.write_index)
    cells(range(1))
    count = min(count, psutil.virtual_memory().available // psutil.Process().memory_info().rss)
    if count < 2:
        cells(range(1, writer.cells))
        return index()
    parts = [range(first, first + _CELLS_AT_A_TIME) for first in range(1, writer.cells, _CELLS_AT_A_TIME)]
    gc.freeze()
    with ProcessPoolExecutor(count, get_context("fork"), initializer=_begin, initargs=(cells,)) as pool:
        written = pool.map(_do, parts)
        told = index()
        list(written)
        return told
