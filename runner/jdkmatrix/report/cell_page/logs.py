"""Log files of forks: found only inside the run, shown by their last lines, copied whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from os.path import realpath
from pathlib import Path

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import file_stem
from jdkmatrix.report.blocks.kinds import TAIL_LINES, Log
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.readable import is_of_the_host

Logs = Mapping[tuple[int, int], Sequence[Log]]  # by number and attempt of a fork
_TAIL_BYTES = 512 * 1024
_NUMBER = re.compile(r"[0-9]+")
# Characters that no browser shows well; tabs and line ends stay.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _real(path: Path) -> Path:
    return Path(realpath(path))  # unlike Path.resolve, it raises nothing where links form a loop


def _resolve(root: Path, relative: str, real: Callable[[Path], Path]) -> Path | str:
    """Return the file that a cell record means, or why it is not shown. `root`: the run's folder, without symbolic
    links; `real` resolves any folder likewise.

    Paths are relative to the run's `cells` folder. A record may come from elsewhere: nothing outside the run's own
    folder is read, whether by dots, by an absolute path or by a symbolic link.
    """
    try:
        given = root / "cells" / relative
        path = real(given.parent) / given.name
        if given.name == ".." or "\0" in given.name or path.is_symlink():
            path = real(path)
        if not str(path).startswith(f"{root}/"):  # thousands of logs: is_relative_to takes several times as long
            return f"{relative}: not shown, it is outside the run's folder"
        if not path.is_file():
            return f"{relative}: there is no such file"
    except (OSError, ValueError):
        return f"{relative}: cannot be read"
    return path


def tail(path: Path) -> tuple[str, bool]:
    """Return the last TAIL_LINES lines without control characters, and whether there are more.

    Only the last half megabyte is read; a line cut by that is dropped if others follow.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _TAIL_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    lines = text.splitlines()
    cut = size > _TAIL_BYTES
    if cut and len(lines) > 1:
        lines = lines[1:]
    return _CONTROL.sub("", "\n".join(lines[-TAIL_LINES:])), cut or len(lines) > TAIL_LINES


def publish_all(loaded: LoadedRun, cell: CellRecord, page_dir: Path) -> Logs:
    """Publish the logs of every fork and every earlier attempt, by number and attempt."""
    root = loaded.directory.resolve()
    return {(fork.fork, fork.attempt): publish(root, cell, fork, page_dir) for fork in (*cell.attempts, *cell.forks)}


def publish(root: Path, cell: CellRecord, fork: Fork, page_dir: Path) -> tuple[Log, ...]:
    """Copy the fork's logs and interval histograms below `page_dir`, and return what the page shows of them.

    `root`: the run's folder, without symbolic links.
    """
    stem = file_stem(cell.key.cell_id)
    which = f"fork-{fork.fork}" + (f".attempt-{fork.attempt}" if fork.attempt > 1 else "")
    by_interval = {w.load.hlog: f"latency by interval, window {w.index}" for w in fork.windows if w.load.hlog}
    named = [(by_interval.pop(path, title), path) for title, path in fork.logs.items()]
    named += [(title, path) for path, title in by_interval.items()]
    real = cache(_real)  # most of its files lie in one folder
    return tuple(
        _publish_one(_resolve(root, relative, real), title, relative, page_dir, f"{stem}.files/{which}-{number}")
        for number, (title, relative) in enumerate(_in_order(named), start=1)
    )


def _in_order(named: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Order logs so that titles that differ only in a number are together, by that number."""
    kinds = grouped((_NUMBER.sub("", title), (title, path)) for title, path in named)
    return [log for some in kinds.values() for log in sorted(some, key=_by_number)]


def _by_number(log: tuple[str, str]) -> list[int]:
    return [*map(int, _NUMBER.findall(log[0]))]


def _publish_one(found: Path | str, title: str, relative: str, page_dir: Path, target: str) -> Log:
    if isinstance(found, str):
        return Log(title, None, False, None, found)
    # As text whatever the log is called: a browser must never render it.
    suffix = ".hlog" if found.suffix == ".hlog" else ".txt"
    href = f"{target}-{file_stem(found.stem)}{suffix}"
    copy = page_dir / href
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, copy)
        text, cut = (None, False) if suffix == ".hlog" else tail(found)
    except OSError as error:
        if is_of_the_host(error):
            raise
        return Log(title, None, False, None, f"{relative}: cannot be copied: {error.strerror}")
    return Log(title, text, cut, href, None)
