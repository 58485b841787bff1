"""Watch a server for what would harm the host and every later cell: a log that floods, a disk that fills."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from jdkmatrix.config.model import Server
from jdkmatrix.errors import MatrixError
from jdkmatrix.probes.pace import Pace
from jdkmatrix.probes.process import SutGoneError

_EVERY_S = 0.5
_LOOK_AT_MOST_S = 5.0
_KEEP_BYTES = 256 * 1024
_OF_DRIVER = ".hlog"  # a histogram of each second of the load


class FloodError(MatrixError):
    """The server wrote more than it may, and was ended for it."""


class DiskFullError(FloodError):
    """The disk was full, whoever filled it, and the server or program ended for it."""


class Watchdog(Pace):
    """Between enter and exit, looks twice a second and calls `end` at the first breach; `check` then raises.

    Ending the server is the only thing that stops a flood at once: whoever waits for the driver's phase to be over may
    wait for minutes.
    """

    def __init__(self, log_dir: Path, rules: Server, end: Callable[[], None]) -> None:
        super().__init__("watchdog", self._check_disk, every_s=_EVERY_S, look_at_most_s=_LOOK_AT_MOST_S)
        self._log_dir = log_dir
        self._rules = rules
        self._end = end
        self._breach: FloodError | None = None

    def check(self) -> None:
        """Raises: FloodError when there was a breach."""
        if self._breach is not None:
            raise self._breach

    def _check_disk(self) -> None:
        self._breach = breach(
            log_bytes=sum(size for path, size in file_sizes(self._log_dir) if not path.endswith(_OF_DRIVER)),
            free_bytes=shutil.disk_usage(self._log_dir).free,
            rules=self._rules,
        )
        if self._breach is not None:
            self._end()
            raise SutGoneError(str(self._breach))


def breach(*, log_bytes: int, free_bytes: int, rules: Server) -> FloodError | None:
    """The error that these figures show, in words; None: there is none."""
    if log_bytes > rules.log_bytes_max:
        return FloodError(
            f"the logs of this fork have reached {log_bytes / 1e6:,.0f} MB, and "
            f"server.log_bytes_max is {rules.log_bytes_max / 1e6:,.0f} MB: the server was ended"
        )
    if free_bytes < rules.free_disk_bytes_min:
        return DiskFullError(
            f"only {free_bytes / 1e6:,.0f} MB of disk are left for results, and "
            f"server.free_disk_bytes_min is {rules.free_disk_bytes_min / 1e6:,.0f} MB: the server was ended"
        )
    return None


def file_sizes(folder: str | Path) -> Iterator[tuple[str, int]]:
    """The path of every file below the folder and its size in bytes, but for those that go meanwhile. Raises: OSError:
    the folder itself cannot be read.

    Paths are texts: watchdogs of a block in turns look at a hundred files each while another server is measured, and a
    Path for each made this more than twice as dear."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    yield from file_sizes(entry.path)
                elif entry.is_file():
                    yield entry.path, entry.stat().st_size


def shorten_logs(log_dir: Path) -> None:
    """Leave the beginning and the end of every long file, and say between them what is missing."""
    for path, size in list(file_sizes(log_dir)):
        if size <= 4 * _KEEP_BYTES:
            continue
        with Path(path).open("r+b") as file:
            head = file.read(_KEEP_BYTES)
            file.seek(-_KEEP_BYTES, 2)
            tail = file.read()
            file.seek(0)
            file.write(head + b"\n[... %d bytes left out ...]\n" % (size - len(head) - len(tail)) + tail)
            file.truncate()
