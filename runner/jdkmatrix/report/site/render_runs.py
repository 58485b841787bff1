"""Make the pages of many runs: in this process, or by all CPUs where there is enough to do, several runs at a time and
the cells of a large one by several processes."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread

import psutil
from pydantic import TypeAdapter

from jdkmatrix.domain.gc_pause import frozen
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.html.page import Pages, pages_of
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.run_pages import IN_FULL, CellFiles, RunWriter
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.readable import UnreadableError, readable

CELLS_PER_PROCESS = 100  # a process takes a second to start, in which so many small cells are made
PROCESSES_MAX = 8
_CELLS_AT_A_TIME = 16
_forked_with: list[Callable[[range], None]] = []  # in a process that was forked to write cells of a run: what does so
_made_by: list[Callable[[_Job], RenderedRun | str]] = []  # in a process that makes runs: what does so
_DIGEST = "digest.json"
_DIGESTS = TypeAdapter(RunDigest)


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

    @property
    def folder(self) -> Path:
        return self.root / self.digest.folder


def rendered(site: Path) -> dict[str, RenderedRun]:
    """The runs of a site that stands, by their stamps."""
    found: dict[str, RenderedRun] = {}
    for path in site.glob(f"runs/*/{_DIGEST}"):
        try:
            kept = json.loads(path.read_text("utf-8"))
            one = RenderedRun(site, _DIGESTS.validate_python(kept["run"]))
            found |= {kept["stamp"]: one} if one.folder == path.parent else {}
        except Exception:  # whatever stands there, the run's pages can be made anew
            continue
    return found


_Job = tuple[SiteRun, Path, int]  # the last: how many processes write its cells


def make_all(
    runs: Sequence[SiteRun], folder: Path, templates: Path, registry: tuple[ClaimRecord, ...]
) -> Iterator[RenderedRun | str]:
    """Each run's pages, below a folder of its own in `folder`, or why there are none; in the order of `runs`.

    Raises:
        MatrixError: a process that made pages was killed.
    """
    cpus = len(os.sched_getaffinity(0))
    shares = writers(runs, cpus)
    jobs = [(run, folder / str(number), share) for number, (run, share) in enumerate(zip(runs, shares, strict=True))]
    count = processes(runs, cpus)
    if max((count, *shares)) == 1:
        yield from map(_maker(templates, registry), jobs)
        return
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(count, context, initializer=_begin_to_make, initargs=(templates, registry)) as pool:
        try:
            yield from pool.map(_make_next, jobs)
        except BaseException as error:
            _end_children()
            if not isinstance(error, BrokenProcessPool):
                raise
            message = "a process that was writing pages was killed; the kernel does so where memory runs out"
            raise MatrixError(message) from None


def processes(runs: Sequence[SiteRun], cpus: int) -> int:
    """How many are worth starting, each for a run at a time."""
    return max(1, min(cpus, PROCESSES_MAX, len(runs), sum(run.cells for run in runs) // CELLS_PER_PROCESS))


def writers(runs: Sequence[SiteRun], cpus: int) -> list[int]:
    """By how many processes the cells of each run are written: by its share of the CPUs, where it has so many."""
    every = sum(run.cells for run in runs) or 1
    shares = (min(round(cpus * run.cells / every), run.cells // CELLS_PER_PROCESS) for run in runs)
    return [max(1, min(PROCESSES_MAX, share)) for share in shares]


def _maker(templates: Path, registry: tuple[ClaimRecord, ...]) -> Callable[[_Job], RenderedRun | str]:
    """Templates are looked at once, by the first run: that takes as long as some runs do."""
    return partial(_make, pages=cache(partial(pages_of, templates)), registry=registry)


def _begin_to_make(templates: Path, registry: tuple[ClaimRecord, ...]) -> None:
    """Begin a process: what every run takes is sent to it once, and not with each run."""
    _begin()
    _made_by.append(_maker(templates, registry))


def _make_next(job: _Job) -> RenderedRun | str:
    return _made_by[0](job)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the process that waits for this one
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # and so does this
    signal.signal(signal.SIGTERM, _end)
    with_parent(_end)


def with_parent(end: Callable[[], object]) -> None:
    """Have `end` called, in a thread of its own, when the parent of this process ends, however that is: a process for
    runs is a child of the server that forks, which lives as long as they do."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
        end()

    Thread(target=watch, daemon=True).start()


def _end(*_: object) -> None:
    _end_children()
    os._exit(1)


def _end_children() -> None:
    for process in active_children():
        process.terminate()
        process.join()


def _make(job: _Job, *, pages: Callable[[], Pages], registry: tuple[ClaimRecord, ...]) -> RenderedRun | str:
    run, root, count = job
    try:
        with readable(run.name):
            loaded = run.load()
        with frozen():
            with readable(run.name):
                writer = RunWriter(loaded, root, pages(), registry, run.files)
            made = RenderedRun(root, _write(run.name, writer, count))
            with readable(run.name):
                kept = {"stamp": run.stamp, "run": _DIGESTS.dump_python(made.digest, mode="json")}
                (made.folder / _DIGEST).write_text(json.dumps(kept, allow_nan=False) + "\n", "utf-8")
            return made
    except UnreadableError as error:  # whatever is wrong with one run, the others are shown
        return str(error)


def _write(run: str, writer: RunWriter, count: int) -> RunDigest:
    """Cells by so many processes, if there is room, and meanwhile the rest: each may in time have a copy of all that
    this one has in memory. The first cell is written here, so that none of them has to load what all need."""
    cells, index = readable(run)(writer.write_cells), readable(run)(writer.write_index)
    cells(range(1))
    count = min(count, psutil.virtual_memory().available // psutil.Process().memory_info().rss)
    if count < 2:
        cells(range(1, writer.cells))
        return index()
    parts = [range(first, first + _CELLS_AT_A_TIME) for first in range(1, writer.cells, _CELLS_AT_A_TIME)]
    gc.freeze()
    _forked_with.append(cells)
    try:
        with ProcessPoolExecutor(count, get_context("fork"), initializer=_begin) as pool:
            written = pool.map(_write_forked, parts)
            told = index()
            list(written)
            return told
    finally:
        _forked_with.clear()


def _write_forked(places: range) -> None:
    _forked_with[0](places)
