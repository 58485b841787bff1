"""Pages of a run are taken over from the site that stands, unless anything that they are made of is another."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import catalogue
from jdkmatrix.report.html import page
from jdkmatrix.report.site import build
from jdkmatrix.report.site.build import Background, build_site
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.report.site.run_pages import CellFiles
from jdkmatrix.store.loaded import LoadedRun
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import MATRIX, REGISTRY, TEMPLATES
from tests.support.sites import stored


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("made-up"), replace(QUICK, blocks=1, windows=1))


class Site:
    """A run, and its site in a folder of its own."""

    def __init__(self, folder: Path, loaded: LoadedRun, made: list[str], patch: pytest.MonkeyPatch) -> None:
        self.loaded, self.made, self.patch = loaded, made, patch
        self.store = stored(folder / "run", loaded)
        self.log = folder / "run" / "logs" / "messages.log"
        self.log.write_text("one")
        self.folder, self.templates = folder / "site", folder / "templates"
        shutil.copytree(TEMPLATES, self.templates)
        self.background = Background(self.templates, MATRIX, REGISTRY)

    def is_made(self, files: str = "") -> bool:
        """Write it; are the run's pages made, and not taken over?"""
        self.made.clear()
        run = SiteRun("run", self.store.load, f"{self.store.stamp()} {files}")
        build_site([run], self.folder, self.background)
        return bool(self.made)

    def other_library(self) -> None:
        self.patch.setattr(f"{build.__name__}.version", lambda name: "0" if name == "scipy" else version(name))

    def other_catalogue(self) -> None:
        others = {**catalogue(), "virtual": catalogue()["virtual"].model_copy(update={"words": "other words"})}
        self.patch.setattr(page, "catalogue", lambda: others)

    def other_application(self) -> None:
        others = {**applications(), "banking": applications()["banking"].model_copy(update={"ready_path": "/other"})}
        self.patch.setattr(page, "applications", lambda: others)

    def other_claims(self) -> None:
        first, *others = REGISTRY.sources
        name, claim = next(iter(first.claims.items()))
        said = {**first.claims, name: claim.model_copy(update={"published": "something else"})}
        changed = (first.model_copy(update={"claims": said}), *others)
        self.background = replace(self.background, claims=REGISTRY.model_copy(update={"sources": changed}))


CHANGES: dict[str, Callable[[Site], object]] = {
    "a record": lambda site: site.store.save_cell(site.loaded.cells[0]),
    "a record that is gone": lambda site: site.store.cell_path(site.loaded.cells[0].key).unlink(),
    "the run": lambda site: site.store.save_run(site.loaded.run),
    "a log": lambda site: site.log.write_text("two"),
    "a log that is gone": lambda site: site.log.unlink(),
    "the code": lambda site: site.patch.setattr(build, "_code", lambda: "another"),
    "a library": Site.other_library,
    "an application": Site.other_application,
    "Python": lambda site: site.patch.setattr(sys, "version", f"{sys.version} of another build"),
    "a template": lambda site: (site.templates / "reading.html.j2").write_text("other words", "utf-8"),
    "the style": lambda site: (site.templates / "report.css").write_text("", "utf-8"),
    "executors": Site.other_catalogue,
    "claims": Site.other_claims,
}


@pytest.fixture
def site(tmp_path: Path, loaded: LoadedRun, made: list[str], monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, loaded, made, monkeypatch)


def test_what_pages_are_made_of_changed(site: Site) -> None:
    assert site.is_made() and not site.is_made()
    for name, change in CHANGES.items():
        change(site)
        assert site.is_made() and not site.is_made(), name


def test_other_files_of_the_cells_are_asked_for(site: Site) -> None:
    asked = [str(CellFiles(pages, at)) for pages in (True, False) for at in (None, "https://example.org/")]
    assert [site.is_made(files) for files in asked] == [True] * 4
    assert not site.is_made(asked[-1])


def test_what_matrix_toml_says_is_on_pages_that_are_always_made(site: Site) -> None:
    site.is_made()
    assert "another-jdk" not in (site.folder / "index.html").read_text("utf-8")
    axes = MATRIX.axes.model_copy(update={"jdk": (*MATRIX.axes.jdk, "another-jdk")})
    site.background = replace(site.background, matrix=MATRIX.model_copy(update={"axes": axes}))
    assert not site.is_made()
    assert "another-jdk" in (site.folder / "index.html").read_text("utf-8")
