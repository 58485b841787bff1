"""Synthetic runs whose every text tries to become markup or a script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from jdkmatrix.domain.record import Record
from jdkmatrix.records.claims import ClaimCheck, ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.limits import LimitHit
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import KnownBug, NotTestable, ScenarioRecord
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_run
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run

IMAGE = '"><img src=x onerror="window.pwned=1">'
SCRIPT = "</script><script>window.pwned=1</script><!--\u2028"
HOSTILE = f"{IMAGE}{SCRIPT}{{{{ 7*7 }}}}"

Made = TypeVar("Made", bound=Record)


def hostile_run(folder: Path) -> LoadedRun:
    """Every text that a result file can bring to a page, hostile."""
    loaded = synthetic_run(folder, replace(QUICK, jdks=(HOSTILE,), executors=("liberty", HOSTILE, "virtual"), blocks=1))
    run = loaded.run
    jdk = run.jdks[0].model_copy(
        update={
            "vendor": IMAGE,
            "version": SCRIPT,
            "version_output": HOSTILE,
            "release": {HOSTILE: HOSTILE},
            "notice": HOSTILE,
            "known_bugs": (KnownBug(id=IMAGE, summary=SCRIPT, url="javascript:window.pwned=1"),),
        }
    )
    first = run.first_session
    cpu = first.host.cpu.model_copy(update={"model": HOSTILE, "mitigations": {HOSTILE: HOSTILE}})
    server = run.servers[0].model_copy(update={"name": HOSTILE, "version": HOSTILE})
    run = run.model_copy(
        update={
            "run_id": HOSTILE,
            "profile": HOSTILE,
            "notes": (HOSTILE,),
            "jdks": (jdk,),
            "servers": (server,),
            "scenario": _scenario(),
        }
    )
    host = first.host.model_copy(update={"cpu": cpu, "kernel": HOSTILE, "virtualisation": HOSTILE})
    session = first.model_copy(update={"command": ("matrix", HOSTILE), "host": host})
    other = session.host.model_copy(update={"kernel": f"{HOSTILE}2", "kernel_command_line": HOSTILE})
    later = {"number": 2, "started_at": f"{HOSTILE}2", "host": other, "git_commit": HOSTILE, "boot_id": HOSTILE}
    run = run.model_copy(update={"sessions": (session, session.model_copy(update=later))})
    cells = []
    for cell in loaded.cells:
        reason = Reason(code=HOSTILE, message=HOSTILE, figures={HOSTILE: 1})
        fork = cell.forks[0]
        fork = altered(
            fork,
            {
                "status": Status.NOT_STEADY,
                "reasons": (reason,),
                "command": ("java", HOSTILE),
                "started_at": HOSTILE,
                "proof": fork.proof.model_copy(update={"executor": HOSTILE, "thread_names": (HOSTILE,)}),
                "logs": {HOSTILE: fork.logs["server console"], "outside": f"../../{HOSTILE}"},
            },
        )
        identity = cell.identity.model_copy(update={"inputs": {HOSTILE: HOSTILE}, "digest": HOSTILE})
        aside = fork.model_copy(update={"attempt": 2, "session": 2})
        update = {"forks": (fork,), "attempts": (aside,), "identity": identity, "jvm_flags": {HOSTILE: HOSTILE}}
        cells.append(cell.model_copy(update=update))
    for log in folder.rglob("*.log"):
        log.write_text(f"{HOSTILE}\n")
    return LoadedRun(run=run, cells=tuple(cells), problems=(HOSTILE,), directory=folder)


def _made(kind: type[Made], texts: str, **others: object) -> Made:
    """One whose `texts` are hostile."""
    return kind.model_validate({**dict.fromkeys(texts.split(), HOSTILE), **others})


def _scenario() -> ScenarioRecord:
    figure = _made(PublishedFigure, "quantity arm baseline condition as_printed inference", value=1, unit="ratio")
    source = _made(ClaimSource, "title by no_url conditions inference", url="javascript:window.pwned=1")
    check = _made(ClaimCheck, "says inference", metric="throughput", arm="virtual", low=0)
    parts = {"figures": (figure,), "checks": (check,), "source": source}
    claim = _made(ClaimRecord, "id condition published note inference not_repeated", **parts)
    claims = {"published": (HOSTILE,), "claims": (claim,), "not_repeated": (claim,)}
    return _made(ScenarioRecord, "name scale_words description", scale="small", **claims)


def hostile_experiments(folder: Path) -> LoadedRun:
    """As hostile_run, of experiments without a server: one cell of each kind, and one that failed."""
    loaded = experiments_run(folder, forks=1)
    jdk = loaded.run.jdks[0].model_copy(
        update={"id": HOSTILE, "version_output": HOSTILE, "release": {HOSTILE: HOSTILE}}
    )
    wanted = ("burn", "spawn-sleep-boxed", "pinning-synchronized", "fanout-few-files", "spawn-print")
    found = {record.key.workload: record for record in reversed(loaded.experiments) if "21" in record.key.jdk}
    records = [_hostile_record(found[name]) for name in wanted]
    failed = altered(records[-1].forks[0], {"status": Status.FAILED, "result": None})
    records[-1] = records[-1].model_copy(update={"forks": (failed,)})
    keys = tuple(record.key for record in records)
    missing = NotTestable(key=keys[0].model_copy(update={"workload": f"{HOSTILE}2"}), reason=HOSTILE)
    run = loaded.run.model_copy(
        update={
            "run_id": HOSTILE,
            "profile": HOSTILE,
            "sessions": (loaded.run.first_session.model_copy(update={"command": ("matrix", HOSTILE)}),),
            "notes": (HOSTILE,),
            "jdks": (jdk,),
            "cells": keys,
            "not_testable": (missing,),
            "order": tuple(key.cell_id for key in keys),
        }
    )
    for log in folder.rglob("*.err"):
        log.write_text(f"{HOSTILE}\n")
    return LoadedRun(run=run, cells=tuple(records), problems=(HOSTILE,), directory=folder)


def _hostile_record(record: CellRecord) -> CellRecord:
    key = record.key.model_copy(
        update={"workload": record.key.workload + HOSTILE, "jdk": HOSTILE, "executor": HOSTILE, "load": HOSTILE}
    )
    fork = record.forks[0]
    document = _with_hostile_text(fork.result.model_dump(mode="json"))
    reason = Reason(code=HOSTILE, message=HOSTILE, figures={HOSTILE: 1})
    hit = LimitHit(code="threads-limit", message=HOSTILE)
    fork = altered(
        fork,
        {
            "result": ProgramResult.model_validate(document),
            "reasons": (reason,),
            "outcomes": (hit,),
            "command": ("java", HOSTILE),
            "remote_command": ("java", HOSTILE),
            "started_at": HOSTILE,
            "confinement": fork.confinement.model_copy(
                update={"method": "sched_setaffinity", "why_not_cgroup": HOSTILE, "compromises": (HOSTILE,)}
            ),
            "logs": {HOSTILE: fork.logs["standalone.err"], "outside": f"../../{HOSTILE}"},
        },
    )
    return record.model_copy(
        update={
            "key": key,
            "identity": record.identity.model_copy(update={"inputs": {HOSTILE: HOSTILE}, "digest": HOSTILE}),
            "parameters": {**record.parameters, "inside": HOSTILE, HOSTILE: HOSTILE},
            "jvm_flags": {HOSTILE: HOSTILE},
            "forks": (fork,),
            "attempts": (fork.model_copy(update={"attempt": 2}),),
        }
    )


# Words of the format, of which others are refused; and what is no text to a reader.
_FIXED = {"experiment", "outcome", "probe", "histogram_ns", "quantity"}


def _with_hostile_text(value: Any, name: str = "") -> Any:
    """Every text hostile, and every key of what is counted by a name."""
    if isinstance(value, dict):
        named_by_others = name in ("errors", "parks_by_blocker", "asked")
        return {(HOSTILE if named_by_others else key): _with_hostile_text(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_hostile_text(one, name) for one in value]
    return HOSTILE if isinstance(value, str) and name not in _FIXED else value
