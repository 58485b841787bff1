"""Records from flat values: what belongs inside a fork goes there by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.provenance import Provenance
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord, Session
from jdkmatrix.records.windows import ProgramWindow, Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.run_facts import host_facts

_OF_SESSION = ("tool_version", "git_commit", "git_dirty", "command", "started_at", "host")


def experiment_fork(**values: Any) -> Fork:
    """Make a fork from `values` of its own and of its program's window; its readings are those of `result`, and if it
    is invalid, the window has its reasons too."""
    envelope = {name: value for name, value in values.items() if name in Fork.model_fields}
    return altered(Fork(**envelope, program=ProgramWindow()), values)


def altered(fork: Fork, changes: Mapping[str, Any]) -> Fork:
    """Return a copy, as `model_copy` does; what belongs in the window of a program goes there."""
    inside = {name: value for name, value in changes.items() if name not in Fork.model_fields}
    changed = fork.model_copy(update={name: value for name, value in changes.items() if name not in inside})
    if fork.program is None:
        assert not inside
        return changed
    assert inside.keys() <= ProgramWindow.model_fields.keys()
    if "result" in inside:
        result = inside["result"]
        inside["readings"] = BY_NAME[result.experiment].readings(result) if result else ()
    inside["reasons"] = changed.reasons if changed.status is Status.INVALID else ()
    return changed.model_copy(update={"program": fork.program.model_copy(update=inside)})


def with_load(window: Window, load: Mapping[str, Any], **changes: Any) -> Window:
    """Return a copy with other driver figures, and other `changes`."""
    return window.model_copy(update={"load": window.load.model_copy(update=load), **changes})


def with_forks(loaded: LoadedRun, change: Callable[[CellRecord, Fork], Fork], **changes: Any) -> LoadedRun:
    """Return a copy with every fork changed, and `changes` in every cell."""

    def changed(cell: CellRecord) -> CellRecord:
        forks = tuple(change(cell, fork) for fork in cell.forks)
        return cell.model_copy(update={"forks": forks, **changes})

    return replace(loaded, cells=tuple(map(changed, loaded.cells)))


def with_forks_of(loaded: LoadedRun, executor: str, change: Callable[[Fork], Fork]) -> LoadedRun:
    """Return a copy with every fork of one executor changed."""
    return with_forks(loaded, lambda cell, fork: change(fork) if cell.key.executor == executor else fork)


def run_record(run_id: str, **changes: Any) -> RunRecord:
    """Return a complete run of `cells`, measured in one session, which holds the values that belong to a session."""
    values: dict[str, Any] = {
        "tool_version": "0.1.0", "git_commit": "0123456789abcdef0123456789abcdef01234567", "git_dirty": False,
        "profile": "synthetic", "selection": {}, "seed": 7, "started_at": "2025-01-01T12:00:00Z",
        "ended_at": "2025-01-01T13:07:00Z", "status": "complete", "matrix": {},
        "command": ("matrix", "run", "--profile", "synthetic"), "host": host_facts(), "servers": (), "drivers": (),
        "jdks": (), "calibrations": (), "not_testable": (), "promised_precision": 0.1,
        "provenance": Provenance(inputs=(), parts=()), **changes,
    }  # fmt: skip
    told = {name: values.pop(name) for name in _OF_SESSION}
    session = Session(
        number=1, ended_at=values["ended_at"], status=values["status"], boot_id=None, confinement="sched_setaffinity",
        **told,
    )  # fmt: skip
    return RunRecord(run_id=run_id, sessions=(session,), **values)


def altered_run(run: RunRecord, changes: Mapping[str, Any]) -> RunRecord:
    """Return a copy; values that belong to a session are changed in all of them."""
    told = {name: value for name, value in changes.items() if name in _OF_SESSION}
    of_run = {name: value for name, value in changes.items() if name not in told}
    assert of_run.keys() <= RunRecord.model_fields.keys()
    sessions = of_run.pop("sessions", run.sessions)
    return run.model_copy(update={**of_run, "sessions": tuple(session.model_copy(update=told) for session in sessions)})


def with_logs(loaded: LoadedRun, directory: Path, text: str) -> LoadedRun:
    """Write every log of its forks below `directory`, and return the run in it."""
    names = (name for cell in loaded.cells for fork in cell.forks for name in fork.logs.values())
    for path in (directory / name.removeprefix("../") for name in names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return replace(loaded, directory=directory)


def in_whole(loaded: LoadedRun) -> LoadedRun:
    """Return the run with all details of its cells."""
    return replace(loaded, cells=tuple(map(loaded.whole, loaded.cells)))
