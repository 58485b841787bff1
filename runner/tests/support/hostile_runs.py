"""Synthetic runs in which every text tries to become markup or a script."""

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

REASON = Reason(code=HOSTILE, message=HOSTILE, figures={HOSTILE: 1})
NAMED = {HOSTILE: HOSTILE}

Made = TypeVar("Made", bound=Record)


def _made(kind: type[Made], texts: str, **others: object) -> Made:
    """Make a record whose `texts` are hostile."""
    return kind.model_validate({**dict.fromkeys(texts.split(), HOSTILE), **others})


def _with(record: Made, texts: str, **others: object) -> Made:
    """Return a copy whose `texts` are hostile."""
    return record.model_copy(update={**dict.fromkeys(texts.split(), HOSTILE), **others})


def hostile_run(folder: Path) -> LoadedRun:
    """Return a run in which every text that a result file can bring to a page is hostile."""
    loaded = synthetic_run(folder, replace(QUICK, jdks=(HOSTILE,), executors=("liberty", HOSTILE, "virtual"), blocks=1))
    first = loaded.run.first_session
    bug = KnownBug(id=IMAGE, summary=SCRIPT, url="javascript:window.pwned=1")
    jdk = _with(
        loaded.run.jdks[0], "version_output notice", vendor=IMAGE, version=SCRIPT, release=NAMED, known_bugs=(bug,)
    )
    host = _with(first.host, "kernel virtualisation", cpu=_with(first.host.cpu, "model", mitigations=NAMED))
    other = _with(host, "kernel_command_line", kernel=f"{HOSTILE}2")
    session = first.model_copy(update={"command": ("matrix", HOSTILE), "host": host})
    later = _with(session, "git_commit boot_id", number=2, started_at=f"{HOSTILE}2", host=other)
    run = _with(
        loaded.run, "run_id profile", notes=(HOSTILE,), jdks=(jdk,), scenario=_scenario(), sessions=(session, later),
        servers=(_with(loaded.run.servers[0], "name version"),),
    )  # fmt: skip
    for log in folder.rglob("*.log"):
        log.write_text(f"{HOSTILE}\n")
    return LoadedRun(run=run, cells=tuple(map(_hostile_cell, loaded.cells)), problems=(HOSTILE,), directory=folder)


def _hostile_cell(cell: CellRecord) -> CellRecord:
    fork = cell.forks[0]
    assert fork.proof is not None
    fork = _with(
        fork, "started_at", status=Status.NOT_STEADY, reasons=(REASON,), command=("java", HOSTILE),
        proof=_with(fork.proof, "executor", thread_names=(HOSTILE,)),
        logs={HOSTILE: fork.logs["server console"], "outside": f"../../{HOSTILE}"},
    )  # fmt: skip
    aside = fork.model_copy(update={"attempt": 2, "session": 2})
    identity = _with(cell.identity, "digest", inputs=NAMED)
    return _with(cell, "", forks=(fork,), attempts=(aside,), identity=identity, jvm_flags=NAMED)


def _scenario() -> ScenarioRecord:
    figure = _made(PublishedFigure, "quantity arm baseline condition as_printed inference", value=1, unit="ratio")
    source = _made(ClaimSource, "title by no_url conditions inference", url="javascript:window.pwned=1")
    check = _made(ClaimCheck, "says inference", metric="throughput", arm="virtual", low=0)
    parts = {"figures": (figure,), "checks": (check,), "source": source}
    claim = _made(ClaimRecord, "id condition published note inference not_repeated", **parts)
    claims = {"published": (HOSTILE,), "claims": (claim,)}
    return _made(ScenarioRecord, "name scale_words description", scale="small", **claims)


def hostile_experiments(folder: Path) -> LoadedRun:
    """Return a run like hostile_run's of experiments: one cell each of four kinds, and one that failed."""
    loaded = experiments_run(folder, forks=1)
    jdk = _with(loaded.run.jdks[0], "id version_output", release=NAMED)
    wanted = ("burn", "spawn-sleep-boxed", "pinning-synchronized", "fanout-few-files", "spawn-print")
    found = {record.key.workload: record for record in reversed(loaded.experiments) if "21" in record.key.jdk}
    records = [_hostile_record(found[name]) for name in wanted]
    failed = altered(records[-1].forks[0], {"status": Status.FAILED, "result": None})
    records[-1] = records[-1].model_copy(update={"forks": (failed,)})
    keys = tuple(record.key for record in records)
    missing = NotTestable(key=keys[0].model_copy(update={"workload": f"{HOSTILE}2"}), reason=HOSTILE)
    session = loaded.run.first_session.model_copy(update={"command": ("matrix", HOSTILE)})
    run = _with(
        loaded.run, "run_id profile", sessions=(session,), notes=(HOSTILE,), jdks=(jdk,), cells=keys,
        not_testable=(missing,), order=tuple(key.cell_id for key in keys),
    )  # fmt: skip
    for log in folder.rglob("*.err"):
        log.write_text(f"{HOSTILE}\n")
    return LoadedRun(run=run, cells=tuple(records), problems=(HOSTILE,), directory=folder)


def _hostile_record(record: CellRecord) -> CellRecord:
    fork = record.forks[0]
    document = _with_hostile_text(fork.result.model_dump(mode="json"))
    confinement = _with(fork.confinement, "why_not_cgroup", method="sched_setaffinity", compromises=(HOSTILE,))
    changes = {
        "result": ProgramResult.model_validate(document), "reasons": (REASON,),
        "outcomes": (LimitHit(code="threads-limit", message=HOSTILE),), "command": ("java", HOSTILE),
        "remote_command": ("java", HOSTILE), "started_at": HOSTILE, "confinement": confinement,
        "logs": {HOSTILE: fork.logs["standalone.err"], "outside": f"../../{HOSTILE}"},
    }  # fmt: skip
    fork = altered(fork, changes)
    return _with(
        record, "", forks=(fork,), attempts=(fork.model_copy(update={"attempt": 2}),), jvm_flags=NAMED,
        key=_with(record.key, "jdk executor load", workload=record.key.workload + HOSTILE),
        identity=_with(record.identity, "digest", inputs=NAMED),
        parameters={**record.parameters, "inside": HOSTILE, HOSTILE: HOSTILE},
    )  # fmt: skip


# Words that the format fixes, so that it refuses others, and what is not text to a reader.
_FIXED = {"experiment", "outcome", "probe", "histogram_ns", "quantity"}


def _with_hostile_text(value: Any, name: str = "") -> Any:
    """Make every text hostile, and every key of what is counted by name."""
    if isinstance(value, dict):
        named_by_others = name in ("errors", "parks_by_blocker", "asked")
        return {(HOSTILE if named_by_others else key): _with_hostile_text(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_hostile_text(one, name) for one in value]
    return HOSTILE if isinstance(value, str) and name not in _FIXED else value
