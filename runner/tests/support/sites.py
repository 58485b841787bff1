"""Sites of runs that a test has in memory, and these runs on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from jdkmatrix.report.blocks.inline import file_stem
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.report.site.build import Background, Built, build_site
from jdkmatrix.report.site.conditions import Answering, answering
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest, digest
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT
from tests.support.records import altered_run
from tests.support.shipped import JDKS, LOADS, MATRIX, REGISTRY, TEMPLATES


@cache
def background(templates: Path = TEMPLATES) -> Background:
    return Background(templates, MATRIX, REGISTRY, JDKS, LOADS)


def stored(folder: Path, run: LoadedRun) -> RunStore:
    """Store the run's records on disk."""
    store = RunStore.create(folder)
    store.save_run(run.run)
    for cell in run.cells:
        store.save_cell(cell)
    return store


def site_of(runs: Sequence[LoadedRun], site: Path, *, templates: Path = TEMPLATES) -> Path:
    """Write the site of these runs, and return the folder of the first one's pages."""
    built(runs, site, templates=templates)
    return site / "runs" / file_stem(runs[0].run.run_id)


def built(runs: Sequence[LoadedRun], site: Path, *, templates: Path = TEMPLATES) -> Built:
    return build_site([SiteRun(run.run.run_id, partial(_same, run)) for run in runs], site, background(templates))


def digest_of(loaded: LoadedRun) -> RunDigest:
    """Return what pages of all runs are told of this one, except for claims that it did not set out to judge."""
    judged = JudgedRun(loaded)
    return digest(judged, run_notices(judged))


@cache
def reference(run: str) -> LoadedRun:
    return RunStore(ROOT / "results" / "reference" / run).load()


@cache
def conditions_of(
    run: str, changed: Callable[[CellRecord], CellRecord] = lambda cell: cell
) -> tuple[MeasuredCondition, ...]:
    """Return what the front page is told of a reference run, whose cells may be `changed`."""
    loaded = reference(run)
    return digest_of(replace(loaded, cells=tuple(map(changed, loaded.cells)))).conditions


def later(loaded: LoadedRun, run_id: str, day: str, host: str | None = None) -> LoadedRun:
    """Return the same results as if from another run: on that day, and on that host."""
    changes: dict[str, object] = {"run_id": run_id, "started_at": f"{day}T00:00:00Z"}
    if host is not None:
        changes["host"] = loaded.run.latest_session.host.model_copy(update={"hostname_hash": host})
    return replace(loaded, run=altered_run(loaded.run, changes))


def _same(run: LoadedRun) -> LoadedRun:
    return run


def saying(run: RunDigest, run_id: str, low: float, value: float, high: float) -> RunDigest:
    """Return a run whose first condition has this leading ratio."""
    condition = run.conditions[0]
    lead = replace(condition.advice[0], ratio=value, low=low, high=high)
    told = replace(condition, advice=(lead, *condition.advice[1:]))
    return replace(run, run_id=run_id, conditions=(told,))


def first_of(*runs: RunDigest) -> Answering:
    """Answer from the first condition of each run."""
    return answering([(run, run.conditions[0]) for run in runs])
