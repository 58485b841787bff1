"""Write the site: a front page that answers, what was published, and a folder for every run.

A run whose files are those of last time, under the same code, templates and claims, is not read again: its pages are
taken over from the site that stands.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from altair.utils import schemapi
from pydantic import TypeAdapter, ValidationError

from jdkmatrix.claims.model import Registry
from jdkmatrix.config.model import Matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.library import vega_library
from jdkmatrix.report.page import Pages
from jdkmatrix.report.replace_folder import replacing
from jdkmatrix.report.site.by_axis import FOLDER, view_axes
from jdkmatrix.report.site.claims_page import verdicts_of, view_claims
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history import view_history
from jdkmatrix.report.site.home import view_home
from jdkmatrix.report.site.offers import offers
from jdkmatrix.report.site.run_pages import LIBRARY, run_folder, write_run
from jdkmatrix.report.site.templates import digest_of_templates, pages_of
from jdkmatrix.run.code_version import PACKAGE, digest_of_files
from jdkmatrix.store.loaded import LoadedRun

_DIGEST = "digest.json"
_MADE_WITH = ".made-with"
_DIGESTS = TypeAdapter(RunDigest)
_RUNS = TypeAdapter(tuple[RunDigest, ...])


@dataclass(frozen=True)
class SiteRun:
    """A run to be shown; `name` is for messages. `stamp`: the same as long as its files are; None: its pages are always
    made anew."""

    name: str
    load: Callable[[], LoadedRun]
    stamp: str | None = None


@dataclass(frozen=True)
class Background:
    """What pages are made with besides runs."""

    templates: Path
    matrix: Matrix
    claims: Registry

    def stamp(self) -> str:
        """Of the code, what draws, the templates and the claims."""
        parts = (
            _code(),
            LIBRARY,
            version("altair"),
            digest_of_templates(self.templates),
            self.claims.model_dump_json(),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _code() -> str:
    return digest_of_files(PACKAGE, sorted(PACKAGE.rglob("*.py")))


@dataclass(frozen=True)
class Built:
    """`runs`: newest first. `unreadable`: runs that could not be shown, and why."""

    index: Path
    runs: tuple[RunDigest, ...]
    unreadable: tuple[str, ...]


def build_site(runs: Sequence[SiteRun], out_dir: Path, background: Background) -> Built:
    """Write the site of these runs to `out_dir`. One that cannot be read, or has the id of another, is told on the
    front page.

    The folder takes its place in one step: until then a site that stood there stays.

    Raises:
        MatrixError: no run that can be read, `out_dir` is something else than a site, or a template is missing.
    """
    pages = pages_of(background.templates)
    registry = background.claims.records(background.claims.claims)
    # The tests draw every kind of chart: that its specification is valid need not be found out again for each.
    with replacing(out_dir) as fresh, schemapi.debug_mode(arg=False):
        (fresh / LIBRARY).parent.mkdir()
        earlier = _Earlier(out_dir, fresh, background.stamp())
        if earlier.same_maker:
            _link_or_copy(str(out_dir / LIBRARY), str(fresh / LIBRARY))
        else:
            _write(fresh / LIBRARY, vega_library())
        found: dict[str, RunDigest] = {}
        unreadable = []
        for run in runs:
            try:
                digest = _one(run, found, fresh, pages, registry, earlier)
            except (MatrixError, ValueError, OSError) as error:
                # Whatever is wrong with one run, the others are shown.
                unreadable.append(str(error) if isinstance(error, MatrixError) else f"{run.name}: {error}")
                continue
            found[digest.run_id] = digest
        if not found:
            raise MatrixError("; ".join(unreadable) or "no run to report: give at least one")
        newest_first = tuple(sorted(found.values(), key=lambda run: (run.started_at, run.run_id), reverse=True))
        verdicts = verdicts_of(registry, newest_first)
        offered = offers(background.matrix)
        home = pages.render(
            "home.html.j2",
            view=view_home(newest_first, verdicts.values(), unreadable, offered),
            data={"offers": offered},
            scripts=("report.js", "home.js"),
            specs={},
        )
        claims = pages.render("claims.html.j2", view=view_claims(registry, newest_first, verdicts, "../"), specs={})
        history = pages.render("history.html.j2", view=view_history(newest_first, "../"), specs={})
        groups = view_axes(newest_first)
        for page in (page for group in groups for page in group.pages):
            _write(fresh / page.path, pages.render("by-axis.html.j2", page=page, specs={}))
        _write(fresh / FOLDER / "index.html", pages.render("by.html.j2", groups=groups, specs={}))
        _write(fresh / "index.html", home)
        _write(fresh / "claims" / "index.html", claims)
        _write(fresh / "history" / "index.html", history)
        _write(fresh / "data" / "runs.json", _RUNS.dump_json(newest_first, indent=1).decode())
    return Built(out_dir.resolve() / "index.html", newest_first, tuple(unreadable))


def _one(
    run: SiteRun,
    found: Collection[str],
    site: Path,
    pages: Pages,
    registry: Sequence[ClaimRecord],
    earlier: _Earlier,
) -> RunDigest:
    known = earlier.known(run.stamp)
    if known is not None:
        _refuse_twice(known.run_id, found)
        earlier.take(known)
        return known
    loaded = run.load()
    _refuse_twice(loaded.run.run_id, found)
    try:
        made = write_run(loaded, site, pages, registry)
    except BaseException:
        shutil.rmtree(site / run_folder(loaded.run.run_id), ignore_errors=True)
        raise
    earlier.keep(made, run.stamp)
    return made


def _refuse_twice(run_id: str, found: Collection[str]) -> None:
    if run_id in found:
        raise MatrixError(f"run {run_id} is there twice, and shown once: every run of a site needs an id of its own")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


class _Earlier:
    """The runs of the site that stands."""

    def __init__(self, site: Path, fresh: Path, made_with: str) -> None:
        self._site, self._fresh = site, fresh
        self._made_with = made_with
        self._by_stamp: dict[str, RunDigest] = {}
        for path in site.glob(f"runs/*/{_DIGEST}"):
            stamp, digest = _read(path)
            if stamp is not None and digest is not None and site / digest.folder == path.parent:
                self._by_stamp[stamp] = digest
        marker = site / _MADE_WITH
        self.same_maker = (site / LIBRARY).is_file() and marker.is_file() and marker.read_text("utf-8") == made_with
        (fresh / _MADE_WITH).write_text(made_with, "utf-8")

    def known(self, stamp: str | None) -> RunDigest | None:
        """None where the run's pages have to be made."""
        return None if stamp is None else self._by_stamp.get(self._stamp(stamp))

    def take(self, digest: RunDigest) -> None:
        """Take the run's pages over."""
        shutil.copytree(self._site / digest.folder, self._fresh / digest.folder, copy_function=_link_or_copy)

    def keep(self, digest: RunDigest, stamp: str | None) -> None:
        """So that it can be taken over next time."""
        kept: dict[str, Any] = {"stamp": None if stamp is None else self._stamp(stamp)}
        kept["run"] = _DIGESTS.dump_python(digest, mode="json")
        _write(self._fresh / digest.folder / _DIGEST, json.dumps(kept, indent=1, allow_nan=False) + "\n")

    def _stamp(self, stamp: str) -> str:
        return hashlib.sha256(f"{self._made_with}{stamp}".encode()).hexdigest()


def _read(path: Path) -> tuple[str | None, RunDigest | None]:
    try:
        kept = json.loads(path.read_text("utf-8"))
        return kept["stamp"], _DIGESTS.validate_python(kept["run"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None, None


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
