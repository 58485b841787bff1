"""Write the site of a run in progress: between two blocks, when no server is up and nothing is measured."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path

from jdkmatrix.cli.reporting import why_not_written, write_site
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.report.site.child_processes import end_child, wait_for, with_parent

SHARE_MAX = 0.05  # of a run's time


class SiteBetweenBlocks:
    """Calls `write` again as soon as that costs at most `SHARE_MAX` of the time since the last call, going by how long
    that call took. The first call does not count: it also makes the pages of all other runs, which are reused from then
    on. Whatever keeps the site from being written is reported once, and stops no run."""

    def __init__(
        self, write: Callable[[], None], say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._say, self._clock = write, say, clock
        self._ended_s: float | None = None  # None: not written yet
        self._took_s = 0.0
        self._told = ""

    def __call__(self) -> None:
        began_s, is_first = self._clock(), self._ended_s is None
        if self._ended_s is not None and began_s - self._ended_s < self._took_s / SHARE_MAX:
            return
        try:
            self._write()
        except (MatrixError, OSError) as error:
            why = why_not_written(error)
            if why != self._told:
                self._say(f"the site is not written: {why}")
            self._told = why
        self._ended_s = self._clock()
        self._took_s = 0.0 if is_first else self._ended_s - began_s


def write_site_apart(project: Project, runs: Sequence[Path], site: Path | None) -> None:
    """Write the site in a process of its own, which has ended when this returns. That keeps its imports and data out of
    the measuring process: free memory decides whether servers take turns.

    Raises:
        MatrixError: it failed, and has said why.
        OSError: it could not be started.
    """
    process = get_context("spawn").Process(target=_write, args=(project, runs, site))
    process.start()
    try:
        wait_for(process)
    finally:
        end_child(process)
    if process.exitcode:
        raise MatrixError(f"the process that writes it ended with {process.exitcode}")


def _write(project: Project, runs: Sequence[Path], site: Path | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one gets it, too
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # likewise
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))  # for an orderly end
    try:
        write_site(project, runs, site)
    except Exception as error:
        print(f"matrix: {why_not_written(error)}", file=sys.stderr)
        sys.exit(1)
