"""Waiting for a condition to come true, and for one's turn."""

from __future__ import annotations

import fcntl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

# What takes longer hangs: many times what it takes where a tenth of a CPU is left for it. Pytest's own limit is longer:
# it would leave the process behind.
HANGS_S: Final = 600


def wait_until(condition: Callable[[], object], otherwise: str = "it did not come true") -> None:
    deadline_s = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < deadline_s, otherwise
        time.sleep(0.02)


def has_ended(pid: int) -> bool:
    """Return True also for a process whose status nobody has asked for yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def one_run_on_this_host() -> Iterator[None]:
    """Take turns with tests in other processes: `matrix run` is refused while another one measures."""
    with (Path(tempfile.gettempdir()) / "jdk-matrix-tests.lock").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
