"""Watch a server for what would harm the host and every later cell: flooding logs and a disk that fills up."""

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
# A histogram of each second of the load; and what a JVM was told to record, which is of no use without its middle.
_NO_LOGS = (".hlog", ".hprof", ".jfr")


class FloodError(MatrixError):
    """The server wrote more than it may, and was ended for it."""


class DiskFullError(FloodError):
    """The disk was full, whoever filled it, and the server or program was ended for it."""


class Watchdog(Pace):
    """A watch that looks twice a second between enter and exit, and calls `end` at a breach; `check` then raises it.

    Only ending the server stops a flood at once: waiting for the driver's phase to be over may take minutes.
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
            log_bytes=sum(size for path, size in file_sizes(self._log_dir) if not path.endswith(_NO_LOGS)),
            free_bytes=shutil.disk_usage(self._log_dir).free,
            rules=self._rules,
        )
        if self._breach is not None:
            self._end()
            raise SutGoneError(str(self._breach))


def breach(*, log_bytes: int, free_bytes: int, rules: Server) -> FloodError | None:
    """Return the error that these figures show, in words; None: there is none."""
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
    """Yield the path of every file below the folder and its size in bytes, except those that disappear meanwhile.
    Raises: OSError: the folder itself cannot be read.

    Paths are strings: the watchdogs of a block in turns look at a hundred files each while another server is measured,
    and a Path for each made this more than twice as expensive."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    yield from file_sizes(entry.path)
                elif entry.is_file():
                    yield entry.path, entry.stat().st_size


def shorten_logs(log_dir: Path) -> None:
    """Keep the beginning and the end of every long log, and say between them how much is missing."""
    for path, size in list(file_sizes(log_dir)):
        if size <= 4 * _KEEP_BYTES or path.endswith(_NO_LOGS):
            continue
        with Path(path).open("r+b") as file:
            head = file.read(_KEEP_BYTES)
            file.seek(-_KEEP_BYTES, 2)
            tail = file.read()
            file.seek(0)
            file.write(head + b"\n[... %d bytes left out ...]\n" % (size - len(head) - len(tail)) + tail)
            file.truncate()
