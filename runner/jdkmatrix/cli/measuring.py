"""What everything that measures is done inside of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from jdkmatrix.cli.measuring_lock import alone_on_this_host
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.fork.confinement import Confiner, confinement
from jdkmatrix.host.cgroup_tree import probe
from jdkmatrix.host.limits import CONTROLLERS


@contextmanager
def measuring() -> Iterator[Confiner]:
    """Nothing else measures on this host, threads stay on their CPUs, and Ctrl-C and SIGTERM end it in order.

    Raises:
        MatrixError: another run is measuring.
    """
    with (
        stoppable(),
        alone_on_this_host(),
        confinement(probe(), os.sched_getaffinity(0), also=CONTROLLERS) as confiner,
    ):
        yield confiner
