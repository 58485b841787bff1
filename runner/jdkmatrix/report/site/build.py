"""Write the site: a front page that answers, what was published, and a folder for every run.

A run whose files are those of last time, under the same code, templates and claims, is not read again: its pages are
taken over from the site that stands.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jdkmatrix.claims.model import Registry
from jdkmatrix.config.model import Matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.html.library import vega_library
from jdkmatrix.report.site.by_axis import FOLDER, view_axes
from jdkmatrix.report.site.claims_page import view_claims
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history import view_history
from jdkmatrix.report.site.home import view_home
from jdkmatrix.report.site.host_verdicts import HostVerdict, host_verdicts, verdicts
from jdkmatrix.report.site.making import Made, SiteRun, make_all
from jdkmatrix.report.site.offers import offers
from jdkmatrix.report.site.replace_folder import link_or_copy, replacing
from jdkmatrix.report.site.run_pages import LIBRARY
from jdkmatrix.report.site.templates import digest_of_templates, pages_of
from jdkmatrix.run.code_version import PACKAGE, digest_of_files

_DIGEST = "digest.json"
_MADE_WITH = ".made-with"
_DIGESTS = TypeAdapter(RunDigest)
_RUNS = TypeAdapter(tuple[RunDigest, ...])


@dataclass(frozen=True)
class Background:
    """What pages are made with besides runs."""

    templates: Path
    matrix: Matrix
    claims: Registry

    @property
    def scenarios(self) -> dict[str, tuple[str, ...]]:
        """By claim, those that repeat it."""
        named = self.matrix.scenarios
        return {claim: tuple(name for name in named if claim in named[name].published) for claim in self.claims.claims}

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
    """`runs`: newest first. `verdicts`: on each claim, by host. `unreadable`: runs that could not be shown, and why."""

    index: Path
    runs: tuple[RunDigest, ...]
    verdicts: dict[str, tuple[HostVerdict, ...]]
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
    with replacing(out_dir) as fresh:
        (fresh / LIBRARY).parent.mkdir()
        earlier = _Earlier(out_dir, fresh, background.stamp())
        if earlier.same_maker:
            link_or_copy(out_dir / LIBRARY, fresh / LIBRARY)
        else:
            _write(fresh / LIBRARY, vega_library())
        found, unreadable = _shown(runs, fresh, earlier, background.templates, registry)
        if not found:
            raise MatrixError("; ".join(unreadable) or "no run to report: give at least one")
        newest_first = tuple(sorted(found.values(), key=lambda run: (run.started_at, run.run_id), reverse=True))
        hosts = host_verdicts(registry, newest_first)
        said = verdicts(registry, hosts)
        offered = offers(background.matrix)
        home = pages.render(
            "home.html.j2",
            view=view_home(newest_first, said.values(), unreadable, offered),
            data={"offers": offered},
            scripts=("report.js", "home.js"),
        )
        scenarios = background.scenarios
        claims = pages.render("claims.html.j2", view=view_claims(registry, hosts, said, scenarios, "../"))
        history = pages.render("history.html.j2", view=view_history(newest_first, "../"))
        groups = view_axes(newest_first)
        for page in (page for group in groups for page in group.pages):
            _write(fresh / page.path, pages.render("by-axis.html.j2", page=page))
        _write(fresh / FOLDER / "index.html", pages.render("by.html.j2", groups=groups))
        _write(fresh / "index.html", home)
        _write(fresh / "claims" / "index.html", claims)
        _write(fresh / "history" / "index.html", history)
        _write(fresh / "data" / "runs.json", _RUNS.dump_json(newest_first, indent=1).decode())
    return Built(out_dir.resolve() / "index.html", newest_first, hosts, tuple(unreadable))


def _shown(
    runs: Sequence[SiteRun], site: Path, earlier: _Earlier, templates: Path, registry: tuple[ClaimRecord, ...]
) -> tuple[dict[str, RunDigest], list[str]]:
    """The pages of all runs, taken over or made: what they tell by their ids, and why others are not shown."""
    found: dict[str, RunDigest] = {}
    unreadable: list[str] = []
    known = [earlier.known(run.stamp) for run in runs]
    with tempfile.TemporaryDirectory(dir=site) as folder:
        new = [run for run, digest in zip(runs, known, strict=True) if digest is None]
        made = make_all(new, Path(folder), templates, registry)
        for run, digest in zip(runs, known, strict=True):
            one = next(made) if digest is None else digest
            if isinstance(one, str):
                unreadable.append(one)
                continue
            told = one.digest if isinstance(one, Made) else one
            if told.run_id in found:
                unreadable.append(
                    f"run {told.run_id} is there twice, and shown once: every run of a site needs an id of its own"
                )
                continue
            try:
                if isinstance(one, Made):
                    earlier.keep(one, run.stamp)
                else:
                    earlier.take(one)
            except (ValueError, OSError) as error:
                unreadable.append(f"{run.name}: {error}")
                continue
            found[told.run_id] = told
    return found, unreadable


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
        shutil.copytree(self._site / digest.folder, self._fresh / digest.folder, copy_function=link_or_copy)

    def keep(self, made: Made, stamp: str | None) -> None:
        """Put the run's pages into the site, so that they can be taken over next time."""
        folder = made.digest.folder
        kept: dict[str, Any] = {"stamp": None if stamp is None else self._stamp(stamp)}
        kept["run"] = _DIGESTS.dump_python(made.digest, mode="json")
        _write(made.root / folder / _DIGEST, json.dumps(kept, indent=1, allow_nan=False) + "\n")
        (self._fresh / folder).parent.mkdir(exist_ok=True)
        (made.root / folder).rename(self._fresh / folder)

    def _stamp(self, stamp: str) -> str:
        return hashlib.sha256(f"{self._made_with}{stamp}".encode()).hexdigest()


def _read(path: Path) -> tuple[str | None, RunDigest | None]:
    try:
        kept = json.loads(path.read_text("utf-8"))
        return kept["stamp"], _DIGESTS.validate_python(kept["run"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None, None
