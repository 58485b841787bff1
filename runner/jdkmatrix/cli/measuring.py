"""The context in which every command measures."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from jdkmatrix.cli.measuring_lock import alone_on_this_host
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner, confinement
from jdkmatrix.host.cgroup_tree import probe
from jdkmatrix.host.limits import CONTROLLERS

# Eight servers in turns take about a hundred: pipes and connections.
_OPEN_FILES_MIN = 256


@contextmanager
def measuring() -> Iterator[Confiner]:
    """Nothing else measures on this host, threads stay on their CPUs, and Ctrl-C and SIGTERM end it in order.

    Raises:
        MatrixError: another run is measuring, or this process may open too few files.
    """
    open_files_max, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if open_files_max < _OPEN_FILES_MIN:
        raise MatrixError(
            f"this process may open {open_files_max} files (ulimit -n), and measuring takes up to {_OPEN_FILES_MIN}"
        )
    with (
        stoppable(),
        alone_on_this_host(),
        confinement(probe(), os.sched_getaffinity(0), also=CONTROLLERS) as confiner,
    ):
        yield confiner
