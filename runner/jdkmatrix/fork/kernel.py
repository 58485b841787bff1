"""Kernel settings that one arm of a comparison has while its forks run, put back after each.

They apply to the whole host: server, driver and remote system alike. The values found are saved to disk before the
first write, as `doctor --tune` does, so that a killed run leaves a record; the next run, or `doctor --restore`, puts
them back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.doctor.base import Host, HostChange
from jdkmatrix.doctor.tuned import ARM_FILE
from jdkmatrix.doctor.tuning import restore, steps, still_set, tune
from jdkmatrix.errors import MatrixError, refused


class KernelError(MatrixError):
    """A setting could not be made or put back."""


def cannot_set(host: Host, files: Mapping[str, str]) -> str | None:
    """Say why these files cannot be written here; None where they can."""
    if missing := [file for file in files if host.text(file) is None]:
        return f"this host does not show {', '.join(missing)}"
    if files and os.geteuid() != 0:
        return f"only root may write {', '.join(files)}"
    if locked := [file for file in files if not os.access(host.at(file), os.W_OK)]:
        return f"here even root may not write {', '.join(locked)}, as in most containers"
    if files and not steps(host, _changes(files)):
        return f"this host has that already ({', '.join(f'{file}: {value}' for file, value in files.items())})"
    return None


def _changes(files: Mapping[str, str]) -> list[HostChange]:
    return [HostChange(file, value, "an arm of the comparison") for file, value in files.items()]


@contextmanager
def kernel_settings(host: Host, files: Mapping[str, str], state: Path = ARM_FILE) -> Iterator[None]:
    """Hold `files` at these values, after putting back what an earlier run left behind.

    Raises:
        KernelError: a value was refused; or one could not be put back, and the record of it stays.
    """
    put_back_leftovers(host, state)
    if not files:
        yield
        return
    try:
        if failed := tune(host, steps(host, _changes(files)), state):
            raise KernelError("; ".join(f"{file}: {error}" for file, error in failed.items()))
        yield
    finally:
        _put_back(host, state, "settings of this arm")


def put_back_leftovers(host: Host, state: Path = ARM_FILE) -> None:
    """Put back what a killed run left set. Raises: KernelError: not all of it can be put back, or by root alone."""
    if os.geteuid() == 0:
        _put_back(host, state, "settings of an earlier run")
        return
    with refused("settings of an earlier run", KernelError, of=MatrixError):
        left = still_set(host, state)
    if left:
        files = ", ".join(left)
        raise KernelError(
            f"settings of an earlier run, by root, are still in place: {files}; `matrix doctor --restore`, as root, "
            "puts the original values back"
        )


def _put_back(host: Host, state: Path, what: str) -> None:
    with refused(what, KernelError, of=MatrixError):
        endings = restore(host, state) or ()
    if failed := [ending for ending in endings if ending.ending == "failed"]:
        raise KernelError("; ".join(f"{ending.file}: {ending.detail}" for ending in failed))
