"""`matrix doctor --tune` and `--restore`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.examining import this_host
from jdkmatrix.cli.measuring_lock import is_measuring
from jdkmatrix.cli.terminal import escape
from jdkmatrix.doctor.base import Host
from jdkmatrix.doctor.catalogue import proposed
from jdkmatrix.doctor.tuned import ARM_FILE, STATE_FILE
from jdkmatrix.doctor.tuning import Restored, Step, restore, settings, steps, still_set, tune
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.project_files import program

_STYLES = {"put back": "green", "already so": "green", "left": "yellow", "gone": "yellow", "failed": "red"}


def tune_host(*, yes: bool, host: Host | None = None, state: Path = STATE_FILE) -> int:
    """List the changes, ask, make them; return 1 if some could not be made.

    Raises:
        MatrixError: not root, a run is measuring or has left settings of an arm, nobody to ask, or the answer was no.
    """
    _need_root("--tune")
    here = host is None
    _refuse_beside_a_run(here)
    if not yes and not (sys.stdin and sys.stdin.isatty()):
        raise MatrixError("--tune asks before it changes anything, and there is no terminal to answer on: add --yes")
    host = host or this_host()
    if left := still_set(host, state.with_name(ARM_FILE.name)):
        raise MatrixError(
            f"a run that was killed has left what it had set for an arm, which --tune would take for what it found: "
            f"{', '.join(left)}; `matrix doctor --restore` puts the original values back"
        )
    planned = steps(host, proposed(host))
    console = console_here()
    if not planned:
        console.print("Nothing that --tune may change would make this host quieter.")
        return 0
    console.print(_table(planned))
    console.print(f"The current settings are kept in {state}; `matrix doctor --restore` puts them back.")
    if not yes and not _agreed():
        raise MatrixError("nothing was changed")
    _refuse_beside_a_run(here)  # again: one may have begun while it asked
    failed, whole = tune(host, planned, state), settings(planned)
    changed = sum(failed.keys().isdisjoint(files) for _, files in whole)
    console.print(f"{changed} of {plural(len(whole), 'setting')} changed.")
    unchanged = settings(Restored(file, "failed", error) for file, error in failed.items())
    _list(console, ((one, files, f"[red]not changed[/]: {escape(one.detail)}") for one, files in unchanged))
    return 1 if failed else 0


def restore_host(*, host: Host | None = None, states: Sequence[Path] = (ARM_FILE, STATE_FILE)) -> int:
    """Undo what a killed run had set for an arm of a comparison, then put back what --tune found; return 1 if something
    could not be put back.

    Raises:
        MatrixError: not root, a run is measuring, or a record that cannot be read.
    """
    _need_root("--restore")
    _refuse_beside_a_run(host is None)
    host = host or this_host()
    console = console_here()
    found = [restored for state in states if (restored := restore(host, state)) is not None]
    if not found:
        console.print(f"Nothing to restore: {' and '.join(map(str, states))} do not exist.")
        return 0
    endings = settings(ending for restored in found for ending in restored)
    unchanged = {"put back", "already so"}
    counts = {name: sum(ending.ending == name for ending, _ in endings) for name in _STYLES}
    console.print(", ".join(f"{count} {name}" for name, count in counts.items() if count) + ".")
    _list(console, ((one, files, _ending(one)) for one, files in endings if one.ending not in unchanged))
    if counts["failed"]:
        console.print("What failed is still recorded: run --restore again.")
    return 1 if counts["failed"] else 0


def _table(planned: tuple[Step, ...]) -> Table:
    table = Table()
    table.add_column("file, and why", overflow="fold")
    table.add_column("from", overflow="fold")
    table.add_column("to", overflow="fold")
    for step, files in settings(planned):
        named = f"{_named(step, files)}\n[dim]{escape(step.why)}[/]"
        table.add_row(named, escape(step.found), " ".join(step.new.split()))
    return table


def _named(one: Step | Restored, files: Sequence[str]) -> str:
    return escape(f"{one.file} ({len(files)} files)" if len(files) > 1 else one.file)


def _ending(ending: Restored) -> str:
    return f"[{_STYLES[ending.ending]}]{ending.ending}[/]: {escape(ending.detail)}"


def _list(console: Console, lines: Iterable[tuple[Restored, Sequence[str], str]]) -> None:
    for one, files, text in lines:
        console.print(f"  {_named(one, files)}: {text}")


def _agreed() -> bool:
    try:
        return input("Change these settings? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _refuse_beside_a_run(here: bool) -> None:
    if here and is_measuring():
        raise MatrixError(
            "a run is measuring on this host: what it measures would change, and nothing would record that; wait "
            "until it has ended"
        )


def _need_root(option: str) -> None:
    if os.geteuid() != 0:
        again = f"sudo {program()} doctor {option}"  # sudo has a PATH of its own
        raise MatrixError(f"{option} writes to /proc and /sys, which only root may do: {again}")
