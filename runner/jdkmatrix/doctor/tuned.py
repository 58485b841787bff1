"""The record of what `--tune` found, kept until `--restore` has put it back.

It is in /var/lib, whoever asks and whatever their environment says: the settings belong to the host, not to a user,
and a restore in another shell, or after a reboot, must find it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.store.atomic import write_atomic

STATE_FILE = Path("/var/lib/jdk-matrix/tuned.json")
# The record of what a run set for one arm of a comparison.
ARM_FILE = STATE_FILE.with_name("arm.json")
_FORMAT = 1


@dataclass(frozen=True)
class Setting:
    """One file: the value `found`, every value that was or may have been written to it, and the outcome of the last
    write."""

    file: str
    found: str
    wrote: tuple[str, ...]
    outcome: str = "pending"  # or "written", or "failed: reason"

    def also_wrote(self, text: str | None) -> Setting:
        return self if text is None or text in self.wrote else replace(self, wrote=(*self.wrote, text))


@dataclass(frozen=True)
class Tuned:
    """The record. `boot_id`: that of the boot in which it was last written (proc_sys_kernel(5))."""

    boot_id: str
    settings: tuple[Setting, ...]

    def with_outcome(self, file: str, outcome: str, wrote: str | None = None) -> Tuned:
        """Return the record with the outcome of a write. `wrote`: what the file then holds, as the kernel spells it."""
        settings = tuple(
            replace(setting.also_wrote(wrote), outcome=outcome) if setting.file == file else setting
            for setting in self.settings
        )
        return replace(self, settings=settings)


def load(file: Path) -> Tuned | None:
    """Load the record, or return None if there is none.

    Raises:
        MatrixError: there is one that cannot be read.
    """
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if record["format"] != _FORMAT:
            raise ValueError(f"format {record['format']}; this program knows {_FORMAT}")
        settings = tuple(Setting(**{**each, "wrote": tuple(each["wrote"])}) for each in record["settings"])
        return Tuned(record["boot_id"], settings)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MatrixError(f"{file}: not a readable record of --tune ({error}); nothing was changed") from None


def save(file: Path, tuned: Tuned) -> None:
    """Save the record, which is complete and on disk on return. Raises: MatrixError: that cannot be done."""
    record = {"format": _FORMAT, "boot_id": tuned.boot_id, "settings": [asdict(each) for each in tuned.settings]}
    write_atomic(file, json.dumps(record, indent=2) + "\n")


def remove(file: Path) -> None:
    file.unlink(missing_ok=True)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Allow only one tune or restore at a time; makes the folder.

    Raises:
        MatrixError: another one is at work, or the folder cannot be made.
    """
    with refused(str(file.parent)):
        if not file.parent.is_dir():
            file.parent.mkdir(parents=True)
            file.parent.chmod(0o755)  # every run looks for the record, whoever started it
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise MatrixError("another `matrix doctor --tune` or `--restore` is running") from None
    finally:
        os.close(folder)
