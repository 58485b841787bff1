"""A synthetic run whose every text tries to become markup or a script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jdkmatrix.records import (
    ClaimRecord,
    ClaimSource,
    KnownBug,
    PublishedFigure,
    Reason,
    ScenarioRecord,
    Status,
)
from jdkmatrix.store.loaded import LoadedRun
from tests.report_fixtures import QUICK, synthetic_run

IMAGE = '"><img src=x onerror="window.pwned=1">'
SCRIPT = "</script><script>window.pwned=1</script><!--\u2028"
HOSTILE = f"{IMAGE}{SCRIPT}{{{{ 7*7 }}}}"


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
    cpu = run.host.cpu.model_copy(update={"model": HOSTILE, "mitigations": {HOSTILE: HOSTILE}})
    server = run.server.model_copy(update={"name": HOSTILE, "version": HOSTILE})
    run = run.model_copy(
        update={
            "run_id": HOSTILE,
            "profile": HOSTILE,
            "command": ("matrix", HOSTILE),
            "notes": (HOSTILE,),
            "jdks": (jdk,),
            "host": run.host.model_copy(update={"cpu": cpu, "kernel": HOSTILE, "virtualisation": HOSTILE}),
            "server": server,
            "scenario": _scenario(),
        }
    )
    cells = []
    for cell in loaded.cells:
        reason = Reason(code=HOSTILE, message=HOSTILE, figures={HOSTILE: 1})
        fork = cell.forks[0]
        assert fork.proof is not None
        fork = fork.model_copy(
            update={
                "status": Status.NOT_STEADY,
                "reasons": (reason,),
                "sut_command": ("java", HOSTILE),
                "started_at": HOSTILE,
                "proof": fork.proof.model_copy(update={"executor": HOSTILE, "thread_names": (HOSTILE,)}),
                "logs": {HOSTILE: fork.logs["server console"], "outside": f"../../{HOSTILE}"},
            }
        )
        identity = cell.identity.model_copy(update={"inputs": {HOSTILE: HOSTILE}, "digest": HOSTILE})
        update = {"forks": (fork,), "identity": identity, "jvm_flags": {HOSTILE: HOSTILE}}
        cells.append(cell.model_copy(update=update))
    for log in folder.rglob("*.log"):
        log.write_text(f"{HOSTILE}\n")
    return LoadedRun(run=run, cells=tuple(cells), problems=(HOSTILE,), directory=folder)


def _scenario() -> ScenarioRecord:
    figure = PublishedFigure(
        quantity=HOSTILE, arm=HOSTILE, baseline=HOSTILE, condition=HOSTILE, value=1, unit="ratio", as_printed=HOSTILE
    )
    source = ClaimSource(title=HOSTILE, by=HOSTILE, url="javascript:window.pwned=1", conditions=HOSTILE)
    claim = ClaimRecord(
        id=HOSTILE, condition=HOSTILE, published=HOSTILE, figures=(figure,), note=HOSTILE, source=source
    )
    return ScenarioRecord(
        name=HOSTILE, scale="small", scale_words=HOSTILE, description=HOSTILE, published=(HOSTILE,), claims=(claim,)
    )
