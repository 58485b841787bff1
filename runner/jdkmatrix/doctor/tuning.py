"""Change what makes the host noisy, and restore exactly that.

The values found are on disk before the first write, so that a crash at any moment leaves a record of everything that
may have been changed. A restore decides by what it finds: a file that still holds what was written gets back the value
found before; any other value was set by somebody else, or by a reboot, and stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from jdkmatrix.doctor.base import Host, HostChange
from jdkmatrix.doctor.tuned import Setting, Tuned, load, locked, remove, save
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.errors import refused
from jdkmatrix.host.facts import chosen

Ending = Literal["put back", "already so", "left", "gone", "failed"]


@dataclass(frozen=True)
class Step:
    """A change, with what the file holds now."""

    file: str
    found: str
    new: str
    why: str


@dataclass(frozen=True)
class Restored:
    """The outcome for one file. `detail` says more for whoever has to follow it up."""

    file: str
    ending: Ending
    detail: str


Of = TypeVar("Of", Step, Restored)


def settings(each: Iterable[Of]) -> tuple[tuple[Of, tuple[str, ...]], ...]:
    """Return each setting once, with the files that have it: entries that differ only in the number of a CPU or
    interrupt become one, with * for the number, since 64 CPUs have 64 governors. Pure."""
    patterns = ((re.sub(r"(/cpu|/policy|/irq/)\d+/", r"\1*/", one.file), one) for one in each)
    alike = grouped((replace(one, file=pattern), one) for pattern, one in patterns)
    return tuple(
        (pattern if len(found) > 1 else found[0], tuple(one.file for one in found)) for pattern, found in alike.items()
    )


def steps(host: Host, changes: Iterable[HostChange]) -> tuple[Step, ...]:
    """Return the changes that would change something, each with the current value."""
    known = ((change, current(host, change.file)) for change in changes)
    return tuple(
        Step(change.file, found, change.new, change.why)
        for change, found in known
        if found is not None and found != chosen(change.new)
    )


def tune(host: Host, planned: Iterable[Step], state: Path) -> dict[str, str]:
    """Save the record, then write one file after another; a write that fails does not stop the others. Returns the
    files that failed, with what went wrong.

    Raises:
        MatrixError: what was found cannot be kept, or another tune is at work.
    """
    planned = tuple(planned)
    failed: dict[str, str] = {}
    with locked(state):
        tuned = merged(load(state), planned, boot_id(host))
        save(state, tuned)
        for step in planned:
            error, now = _write(host, step.file, step.new), current(host, step.file)
            if not error and now == step.found:
                error = "the kernel accepted it but kept the old value"
            if error:
                failed[step.file] = error
            tuned = tuned.with_outcome(step.file, f"failed: {error}" if error else "written", None if error else now)
            save(state, tuned)
    return failed


def merged(earlier: Tuned | None, planned: Iterable[Step], boot: str) -> Tuned:
    """Combine new steps with those of an earlier record, if there is one. Pure.

    The value found first remains the one to put back. Only if a file holds, after a reboot, neither what was found nor
    what was written does the value of the new boot replace it: the earlier ones are history.
    """
    settings = {setting.file: setting for setting in earlier.settings} if earlier else {}
    rebooted = earlier is not None and earlier.boot_id != boot
    for step in planned:
        known = settings.get(step.file)
        if known is None or (rebooted and step.found not in (known.found, *known.wrote)):
            settings[step.file] = Setting(step.file, step.found, (chosen(step.new),))
        else:
            settings[step.file] = replace(known.also_wrote(chosen(step.new)), outcome="pending")
    return Tuned(boot, tuple(settings.values()))


def restore(host: Host, state: Path) -> tuple[Restored, ...] | None:
    """Put back what --tune found, last change first; None if there is no record.

    The record is removed once no file has failed.

    Raises:
        MatrixError: the record cannot be read, or another tune or restore is at work.
    """
    with refused(str(state)):
        try:
            state.stat()
        except FileNotFoundError:
            return None
    with locked(state):
        tuned = load(state)
        if tuned is None:
            return None
        rebooted = tuned.boot_id != boot_id(host)
        endings = tuple(_put_back(host, setting, rebooted=rebooted) for setting in reversed(tuned.settings))
        failed = {ending.file for ending in endings if ending.ending == "failed"}
        if failed:
            left = tuple(
                setting.also_wrote(current(host, setting.file)) for setting in tuned.settings if setting.file in failed
            )
            save(state, replace(tuned, settings=left))
        else:
            remove(state)
        return endings


def still_set(host: Host, state: Path) -> tuple[str, ...]:
    """Return the files that hold what a recorded change wrote. Raises: MatrixError: the record cannot be read."""
    tuned = load(state)
    now = {setting: current(host, setting.file) for setting in tuned.settings} if tuned else {}
    return tuple(one.file for one, value in now.items() if value != one.found and value in one.wrote)


def current(host: Host, file: str) -> str | None:
    """Return the text of a file as it could be written: of several choices, the chosen one."""
    text = host.text(file)
    return None if text is None else chosen(text)


def boot_id(host: Host) -> str:
    return host.text("/proc/sys/kernel/random/boot_id") or ""


def _put_back(host: Host, setting: Setting, *, rebooted: bool) -> Restored:
    now = current(host, setting.file)
    if now is None:
        return Restored(setting.file, "gone", "there is no such file any more")
    if now == setting.found:
        return Restored(setting.file, "already so", now)
    if now not in setting.wrote:
        who = "a reboot or somebody" if rebooted else "somebody else"
        return Restored(setting.file, "left", f"{who} set {now}; --tune had found {setting.found}")
    error, after = _write(host, setting.file, setting.found), current(host, setting.file)
    if error or after != setting.found:
        return Restored(setting.file, "failed", f"{error or f'it stays {after}'}; --tune had found {setting.found}")
    return Restored(setting.file, "put back", setting.found)


def _write(host: Host, file: str, text: str) -> str:
    """Write, and return the error in words, empty on success. A single write, since the kernel takes each for a whole
    value; no file is created."""
    try:
        opened = os.open(host.at(file), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(opened, text.encode())
        finally:
            os.close(opened)
    except OSError as error:
        return error.strerror or str(error)
    return ""
