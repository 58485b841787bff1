"""The directory of one run."""

from __future__ import annotations

import errno
import gzip
import hashlib
import itertools
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.gc_pause import gc_paused
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.run import RunRecord
from jdkmatrix.store.atomic import StoreError, write_atomic
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun, of_earlier
from jdkmatrix.store.outline import outline
from jdkmatrix.store.readable import UnreadableError, readable
from jdkmatrix.store.removal import remove_tree

# Out of descriptors or memory just now, or a file server that has lost it.
_FOR_A_MOMENT = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}

Model = TypeVar("Model", bound=BaseModel)


def _from_xz(data: bytes) -> bytes:
    import lzma  # noqa: PLC0415 - a Python that was built without it can do all else

    return lzma.decompress(data)


# How the files of runs that are kept for long are compressed: those of a release, and the project's own.
_COMPRESSED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": _from_xz}

RUN_FILE = "run.json"
_CELLS = "cells"
_WHOLE_MAX = 50  # cells of a run that is kept whole in memory, at some 3 MB each, and not read a second time
REFERENCE = "reference"  # below the results: runs that the project itself shows


@dataclass(frozen=True)
class RunStore:
    """The files of one run; every write is atomic."""

    directory: Path

    @classmethod
    def create(cls, directory: Path) -> RunStore:
        """Make the folder of a new run. Raises: MatrixError when that is not possible."""
        try:
            (directory / _CELLS).mkdir(parents=True, exist_ok=True)
            (directory / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise MatrixError(f"{directory}: cannot be made: {error.strerror}") from None
        return cls(directory)

    def remove_empty(self) -> None:
        """Remove the run's folder if there is no file in it."""
        if any(path.is_file() for path in self.directory.rglob("*")):
            return
        with suppress(OSError):
            for folder in sorted((path for path in self.directory.rglob("*") if path.is_dir()), reverse=True):
                folder.rmdir()
            self.directory.rmdir()

    def remove_leftovers(self) -> None:
        """Remove what a killed runner had begun: files of servers, and records that were not written whole."""
        for folder in self.directory.glob("scratch-[0-9]*"):
            remove_tree(folder)
        for path in (*self.directory.glob(".*.tmp"), *(self.directory / _CELLS).glob(".*.tmp")):
            path.unlink(missing_ok=True)

    def new_log_dir(self, key: CellKey, fork: int, attempt: int) -> Path:
        """Make an empty folder for the logs of one attempt at a fork: "fork-2", of a later attempt "fork-2.attempt-2".

        What is already there no longer belongs to any record (it was killed in the middle, or its cell was set aside)
        and is kept beside it: with the old log of a server, a new one would seem to be ready before it is.

        Raises:
            StoreError: it cannot be made.
        """
        name = f"fork-{fork}" + (f".attempt-{attempt}" if attempt > 1 else "")
        folder = self.directory / "logs" / key.cell_id / name
        try:
            if folder.exists():
                folder.rename(_unused(folder.with_name(f"{name}.unfinished-or-superseded")))
            folder.mkdir(parents=True)
        except OSError as error:
            raise StoreError(f"{folder} cannot be made: {error.strerror}") from None
        return folder

    def cell_path(self, key: CellKey) -> Path:
        return self.directory / _CELLS / f"{key.cell_id}.json"

    def save_run(self, run: RunRecord) -> None:
        write_atomic(self.directory / RUN_FILE, run.model_dump_json(indent=1))

    def save_cell(self, cell: CellRecord) -> None:
        """Raises: StoreError."""
        with suppress(OSError):  # somebody may have removed the folder
            self.cell_path(cell.key).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self.cell_path(cell.key), cell.model_dump_json(indent=1))

    def read_run(self) -> RunRecord:
        """Raises: UnreadableError."""
        return _read(_kept(self.directory / RUN_FILE), RunRecord)

    def read_cell(self, key: CellKey) -> CellRecord | None:
        """Return the cell's record, or None if it has none. Raises: UnreadableError."""
        path = _kept(self.cell_path(key))
        if not path.exists():
            return None
        cell = _read(path, CellRecord)
        if cell.key != key:
            raise UnreadableError(f"{path}: not a readable result: its key is that of another cell")
        return cell

    def stamp(self) -> str:
        """Return a digest that changes as soon as one of its files, a record or a log, is written or replaced."""
        digest = hashlib.sha256()
        for folder, below, names in os.walk(self.directory.resolve()):
            below.sort()
            for path in (Path(folder, name) for name in sorted(names)):
                with suppress(OSError):
                    facts = path.stat()
                    told = f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\0{facts.st_ino}\n"
                    digest.update(os.fsencode(told))
        return digest.hexdigest()

    def count_cells(self) -> int:
        """Return how many cells have a file, whether it can be read or not."""
        paths = [path for suffix in ("", *_COMPRESSED) for path in (self.directory / _CELLS).glob(f"*.json{suffix}")]
        return len({path.name.partition(".json")[0] for path in paths})  # one may lie beside its compressed form

    def set_aside(self, key: CellKey, why: Literal["unreadable", "superseded"]) -> Path:
        """Rename a cell file that cannot stand, so that nothing measured is lost; return its new name."""
        plain = self.cell_path(key)
        # A compressed one may lie beside it, which would be read in its place.
        paths = [path for suffix in ("", *_COMPRESSED) if (path := plain.with_name(plain.name + suffix)).exists()]
        first, *_ = [path.rename(_unused(path.with_name(f"{path.name}.{why}"))) for path in paths]
        return first

    def load(self) -> LoadedRun:
        """Load everything that can be read, cells in outline if there are many; what cannot is named in `problems`.

        Raises:
            UnreadableError: run.json itself, or it has what no run can have.
        """
        with readable(self.directory):
            return self._load()

    def _load(self) -> LoadedRun:
        run = self.read_run()
        is_large = len(run.cells) > _WHOLE_MAX
        cells: list[CellRecord] = []
        earlier: list[CellRecord] = []
        damaged: list[str] = []
        left: list[str] = []
        refused = run.refused
        with gc_paused():
            for key in run.cells:
                try:
                    cell = self.read_cell(key)
                except UnreadableError as error:
                    damaged.append(str(error))
                    continue
                if cell is not None and (why := of_earlier(run, cell, refused)):
                    name = self.cell_path(key).name
                    left.append(f"{name}: from an earlier session, and left out of all figures: {why}")
                    earlier.append(cell)
                elif cell is not None:
                    cells.append(outline(cell) if is_large else cell)
                elif run.status == "complete" and key not in refused:
                    damaged.append(f"{self.cell_path(key)}: missing, although the run is complete")
        set_aside = [
            f"{path.name}: was unreadable and set aside; measured again, or continued without its series"
            for path in sorted((self.directory / _CELLS).glob("*.unreadable-*"))
        ]
        return LoadedRun(
            run=run,
            cells=tuple(cells),
            problems=(*damaged, *left, *set_aside),
            earlier=tuple(earlier),
            directory=self.directory,
            damaged=tuple(damaged),
            **({"whole": self._whole} if is_large else {}),
        )

    def _whole(self, cell: CellRecord) -> CellRecord:
        found = self.read_cell(cell.key)
        if found is None:
            raise UnreadableError(f"{self.cell_path(cell.key)}: it has just disappeared")
        return found


def _kept(plain: Path) -> Path:
    """Return the file, or a compressed one if only that exists."""
    with suppress(OSError):  # whoever reads it says what is wrong
        if not plain.exists():
            return next(filter(Path.exists, (plain.with_name(plain.name + suffix) for suffix in _COMPRESSED)), plain)
    return plain


def _unused(path: Path) -> Path:
    """Return `path` with the first free number appended."""
    return next(free for number in itertools.count(1) if not (free := path.with_name(f"{path.name}-{number}")).exists())


def _read(path: Path, model: type[Model]) -> Model:
    try:
        return model.model_validate_json(_COMPRESSED.get(path.suffix, bytes)(path.read_bytes()))
    except OSError as error:
        # What stands there may be whole: it is neither set aside nor measured again.
        kind = MatrixError if error.errno in _FOR_A_MOMENT else UnreadableError
        raise kind(f"{path}: cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise MatrixError(f"{path}: cannot be read: not enough memory") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UnreadableError(f"{path}: not a readable result: {where}: {first['msg']}") from None
    except ValueError as error:
        raise UnreadableError(f"{path}: not a readable result: {error}") from None
    except Exception as error:
        raise UnreadableError(f"{path}: not a readable result: {error}") from None


def all_runs(results: Path) -> tuple[Path, ...]:
    """Return the runs below `results`, and those of its folder `reference`.

    Raises:
        MatrixError: there is none.
    """
    runs = runs_of(results)
    if not runs:
        raise MatrixError(f"{results}: no run there yet; `matrix run` makes one")
    return runs


def runs_of(results: Path) -> tuple[Path, ...]:
    """Return the folders of all runs below `results`, the project’s own last; empty if there are none."""
    return (*_runs(results), *_runs(results / REFERENCE))


def is_run(folder: Path) -> bool:
    """Return whether the folder has a run.json."""
    try:
        return _kept(folder / RUN_FILE).is_file()
    except OSError:  # a name that no file can have
        return False


def has_begun(folder: Path) -> bool:
    """Return whether the folder was made for a run, even one that has no run.json yet."""
    return (folder / _CELLS).is_dir()


def unrecorded(folder: Path) -> str:
    """Return why a folder in which a run began is not a run."""
    return (
        f"{folder}: stopped before it had a {RUN_FILE}, so nothing says what it was to measure. Repeat its command "
        f"with --run {folder}, which keeps what it has"
    )


def check_recorded(folder: Path) -> None:
    """Raises: MatrixError: a run began there, and was stopped before it had a run.json."""
    with suppress(OSError):  # a name that no file can have
        if (folder / _CELLS).is_dir() and not is_run(folder):
            raise MatrixError(unrecorded(folder))


def latest_run(results: Path) -> Path:
    """Return the run below `results` that began last, without the project's own.

    Raises:
        MatrixError: there is none.
    """
    return _latest(results, _runs(results))


def latest_begun(results: Path) -> Path:
    """Return the run below `results` that began last, including one that was stopped before it had a run.json.

    Raises:
        MatrixError: there is none.
    """
    return _latest(results, {*_runs(results), *(path.parent for path in results.glob(f"*/{_CELLS}"))})


def _latest(results: Path, runs: Iterable[Path]) -> Path:
    latest = max(runs, key=lambda folder: (began(folder), folder.name), default=None)
    if latest is None:
        raise MatrixError(f"{results}: no run there yet; `matrix run` makes one")
    return latest


def began(folder: Path) -> datetime:
    """Return when the run began: by its record, or if that cannot be read, by the last change of its folder."""
    try:
        began = datetime.fromisoformat(RunStore(folder).read_run().started_at)
    except (UnreadableError, ValueError):
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    return began if began.tzinfo else began.replace(tzinfo=UTC)


def _runs(folder: Path) -> tuple[Path, ...]:
    names = (RUN_FILE + suffix for suffix in ("", *_COMPRESSED))
    return tuple(sorted({path.parent for name in names for path in folder.glob(f"*/{name}")}))
