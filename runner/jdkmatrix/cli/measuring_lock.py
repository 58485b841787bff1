"""Only one run measures at a time on a host. Whatever would disturb it can ask, and wait or refuse.

The lock is a name among the kernel's abstract sockets (unix(7)): all processes of a host see the same one, whichever
cache they use and whoever runs them, and it disappears with the process that holds it. A container with its own network
has its own names.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.doctor.base import Host
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner, confinement
from jdkmatrix.fork.kernel import put_back_leftovers
from jdkmatrix.host.cgroup_tree import probe
from jdkmatrix.host.limits import CONTROLLERS
from jdkmatrix.reading import text_if_readable

_NAME = "jdk-matrix.measuring"
_NAMES = Path("/proc/net/unix")
# Eight servers in turns take about a hundred: pipes and connections.
_OPEN_FILES_MIN = 256


@contextmanager
def alone_on_this_host() -> Iterator[None]:
    """Hold the lock in the block: two runs at once would measure each other.

    Raises:
        MatrixError: another one is measuring, or nobody knows.
    """
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            lock.bind(f"\0{_NAME}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise MatrixError(f"whether another run measures on this host is not known: {error.strerror}") from None
            raise MatrixError("another run is measuring on this host; two at once would measure each other") from None
        yield


def is_measuring() -> bool:
    """Ask the kernel whether a run is measuring: trying the lock would turn away a run that starts at that moment."""
    names = (text_if_readable(_NAMES) or "").splitlines()
    return any(name.endswith(f" @{_NAME}") for name in names)


@contextmanager
def measuring() -> Iterator[Confiner]:
    """Measure in the block: alone on this host, with threads kept on their CPUs and an orderly end on Ctrl-C and
    SIGTERM. What a killed run has left set is put back first, before anything reads how the host is set.

    Raises:
        MatrixError: another run is measuring, this process may open too few files, or something cannot be put back.
    """
    open_files_max, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if open_files_max < _OPEN_FILES_MIN:
        raise MatrixError(
            f"this process may open only {open_files_max} files (ulimit -n); measuring takes up to {_OPEN_FILES_MIN}"
        )
    with (
        stoppable(),
        alone_on_this_host(),
        confinement(probe(), os.sched_getaffinity(0), also=CONTROLLERS) as confiner,
    ):
        put_back_leftovers(Host(root=Path("/"), results=Path("/")))
        yield confiner
