"""Write the site: a front page with the answer, what was published, and a folder for every run.

A run whose files are unchanged since last time, under the same code, templates and claims, is not read again: its pages
are taken over from the existing site.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from pydantic import TypeAdapter

from jdkmatrix.claims.model import Registry
from jdkmatrix.config.assemble import is_made
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.gc_pause import gc_paused
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.seal import digest_of_files
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.html.page import DRAWS, LIBRARY, Pages, digest_of_templates, pages_of
from jdkmatrix.report.site.by_axis import axis_pages
from jdkmatrix.report.site.claims_page import claims_page, host_verdicts, verdicts
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history_page import history_pages
from jdkmatrix.report.site.home import home_page, offered
from jdkmatrix.report.site.render_runs import SiteRun, make_all, rendered
from jdkmatrix.report.site.replace_folder import link_tree, replacing
from jdkmatrix.run.code_version import PACKAGE
from jdkmatrix.store.readable import UnreadableError, readable

_BUILT_ON = ("altair", "hdrhistogram", "jinja2", "markupsafe", "numpy", "pydantic", "scipy")
_RUNS = TypeAdapter(tuple[RunDigest, ...])


@dataclass(frozen=True)
class Background:
    """Everything besides runs that pages are made from. `jdks`, `loads`: those that can be asked for today; for loads
    that are made by number, what makes them ("saturate-N")."""

    templates: Path
    matrix: Matrix
    claims: Registry
    jdks: frozenset[str]
    loads: frozenset[str]

    def stamp(self) -> str:
        """Return a digest that changes with code, Python, libraries, templates, catalogues and claims."""
        code = (sys.version, *map(version, _BUILT_ON), _code())
        parts = (*code, digest_of_templates(self.templates), self.claims.model_dump_json())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _code() -> str:
    return digest_of_files(PACKAGE, sorted(PACKAGE.rglob("*.py")))


@dataclass(frozen=True)
class Built:
    """A site that was written. `runs`: newest first. `unreadable`: runs that could not be shown, and why."""

    index: Path
    runs: tuple[RunDigest, ...]
    unreadable: tuple[str, ...]


def build_site(runs: Sequence[SiteRun], out_dir: Path, background: Background) -> Built:
    """Write the site of these runs to `out_dir`. The front page names any run that cannot be read, or has the id of
    another.

    The folder takes its place in one step: until then an existing site stays.

    Raises:
        MatrixError: no run that can be read, `out_dir` is something else than a site, or a template is missing.
    """
    pages, maker = pages_of(background.templates), background.stamp()
    stamped = [
        replace(run, stamp=None if run.stamp is None else hashlib.sha256(f"{maker}{run.stamp}".encode()).hexdigest())
        for run in runs
    ]
    registry = background.claims.records(background.claims.claims)
    with replacing(out_dir) as fresh:
        (fresh / LIBRARY).parent.mkdir()
        shutil.copyfile(background.templates / DRAWS, fresh / LIBRARY)
        found, unreadable = _shown(stamped, fresh, out_dir, background.templates, registry)
        if not found:
            raise UnreadableError("; ".join(unreadable)) if unreadable else MatrixError("no run to report: give one")
        newest_first = tuple(sorted(found.values(), key=lambda run: (run.started_at, run.run_id), reverse=True))
        together = partial(_pages_of_all, pages=pages, registry=registry, background=background)
        try:
            texts = together(newest_first, unreadable)
        except Exception:
            odd = _that_fit_with_none_before(newest_first, together)
            unreadable += odd.values()
            newest_first = tuple(run for run in newest_first if run not in odd)
            if not newest_first:
                raise UnreadableError("; ".join(unreadable)) from None
            for run in odd:
                shutil.rmtree(fresh / run.folder)
            texts = together(newest_first, unreadable)
        for path, text in texts.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_text(text, "utf-8")
    return Built(out_dir.resolve() / "index.html", newest_first, tuple(unreadable))


@gc_paused()
def _pages_of_all(
    runs: tuple[RunDigest, ...],
    unreadable: Sequence[str],
    *,
    pages: Pages,
    registry: tuple[ClaimRecord, ...],
    background: Background,
) -> dict[str, str]:
    """Render, by path, what is written about all runs together. `runs`: newest first."""
    hosts = host_verdicts(registry, runs)
    can_be = offered(background.matrix)
    scenarios = {name: claim.scenarios for name, claim in background.claims.claims.items()}
    shown = axis_pages(runs) | history_pages(runs)
    shown["claims/index.html"] = claims_page(registry, hosts, scenarios)
    front = home_page(runs, verdicts(registry, hosts).values(), unreadable, can_be)
    loads = {one.load for run in runs for one in run.conditions}
    data = {
        "served": can_be.served,
        "own": sorted({name for run in runs for name, _ in run.own}),
        "other_jdks": sorted({one.jdk for run in runs for one in run.conditions} - background.jdks),
        "other_loads": sorted(name for name in loads if not is_made(name, background.loads)),
    }
    return {
        **{path: pages.render(page) for path, page in shown.items()},
        "index.html": pages.render(front, data=data, scripts=("report.js", "home.js")),
        "data/runs.json": _RUNS.dump_json(runs, indent=1).decode(),
    }


def _that_fit_with_none_before(
    runs: tuple[RunDigest, ...], together: Callable[[tuple[RunDigest, ...], Sequence[str]], object]
) -> dict[RunDigest, str]:
    """Return the runs that make the pages of all runs impossible, and why."""
    kept: tuple[RunDigest, ...] = ()
    odd: dict[RunDigest, str] = {}
    for run in runs:
        try:
            with readable(f"run {run.run_id}"):
                together((*kept, run), ())
            kept = (*kept, run)
        except UnreadableError as error:
            odd[run] = str(error)
    return odd


def _shown(
    runs: Sequence[SiteRun], fresh: Path, site: Path, templates: Path, registry: tuple[ClaimRecord, ...]
) -> tuple[dict[str, RunDigest], list[str]]:
    """Take the pages of each run over from `site`, or make them; return the digests by run id, and why other runs are
    not shown."""
    found: dict[str, RunDigest] = {}
    unreadable: list[str] = []
    earlier = rendered(site)
    known = [None if run.stamp is None else earlier.get(run.stamp) for run in runs]
    (fresh / "runs").mkdir()
    with tempfile.TemporaryDirectory(dir=fresh) as folder:
        new = [run for run, one in zip(runs, known, strict=True) if one is None]
        made = make_all(new, Path(folder), templates, registry)
        for run, taken in zip(runs, known, strict=True):
            one = taken or next(made)
            if isinstance(one, str):
                unreadable.append(one)
                continue
            told = one.digest
            if told.run_id in found:
                unreadable.append(
                    f"run {told.run_id} occurs twice and is shown once: every run of a site needs an id of its own"
                )
                continue
            try:
                with readable(run.name):
                    if taken:
                        link_tree(one.folder, fresh / told.folder)
                    else:
                        one.folder.rename(fresh / told.folder)
            except UnreadableError as error:
                shutil.rmtree(fresh / told.folder, ignore_errors=True)  # else the next site would take a part for all
                unreadable.append(str(error))
                continue
            found[told.run_id] = told
    return found, unreadable
