"""The written site of experiments without a server: its files, its links, and that text from results stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jdkmatrix.records.cells import CellRecord
from jdkmatrix.report.site import build_site
from tests.support.experiment_runs import experiments_run
from tests.support.hostile_runs import hostile_experiments
from tests.support.mixed_runs import mixed
from tests.support.served_runs import QUICK, synthetic_run

TEMPLATES = Path(__file__).parents[2] / "report-templates"


class Elements(HTMLParser):
    """Every element and every attribute's value of a page, and its text outside of scripts and styles."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._hidden = False
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._hidden else data

    @property
    def ids(self) -> list[str]:
        return [value for name, value in self.attributes if name == "id"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    return build_site([experiments_run(folder / "run", accidents=True)], folder / "site", templates=TEMPLATES).parent


def test_every_cell_has_a_page_and_its_record(tmp_path: Path, site: Path) -> None:
    loaded = experiments_run(tmp_path, accidents=True)
    for record in loaded.experiments:
        page = site / "cells" / f"{record.key.cell_id}.html"
        assert f"{record.key.workload}, {record.key.executor} on {record.key.jdk}" in Elements(page).text
        assert CellRecord.model_validate_json(page.with_suffix(".json").read_bytes()) == record
        for fork in record.forks:
            copies = list((site / "cells" / f"{record.key.cell_id}.files").glob(f"fork-{fork.fork}-*"))
            assert [copy.read_text() for copy in copies] == ["SYNTHETIC line\n"]


def test_every_link_leads_somewhere_and_no_id_stands_twice(site: Path) -> None:
    pages = [site / "index.html", *(site / "cells").glob("*.html")]
    ids = {page.resolve(): Elements(page).ids for page in pages}
    assert len(pages) > 40
    for page in pages:
        elements = Elements(page)
        assert len(elements.ids) == len(set(elements.ids))
        for name, target in elements.attributes:
            if name not in ("href", "src") or target.startswith("data:"):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page.resolve()
            assert file.is_file(), f"{page.name}: {target}"
            if anchor:
                assert anchor in ids[file], f"{page.name}: {target}"


def test_a_page_of_experiments_only_has_nothing_empty(site: Path) -> None:
    elements = Elements(site / "index.html")
    assert not {"answers", "cells", "cells-table", "precision"} & set(elements.ids)
    assert {"alone-burn", "alone-spawn", "alone-pinning", "alone-fanout", "reading", "reproduce"} <= set(elements.ids)
    for words in ("0 of 0", "request executor", "per request", "Closed and open loop", "fresh server process"):
        assert words not in elements.text
    assert not re.search(r"\bNone\b|\bnan\b|\{\{|\}\}", elements.text)


def test_a_page_with_servers_only_says_nothing_of_experiments(tmp_path: Path) -> None:
    build_site([synthetic_run(tmp_path / "run", replace(QUICK, blocks=1))], tmp_path / "site", templates=TEMPLATES)
    elements = Elements(tmp_path / "site" / "index.html")
    assert {"answers", "cells", "cells-table"} <= set(elements.ids)
    assert "ithout a server" not in elements.text and not any(one.startswith("alone") for one in elements.ids)


def test_a_page_of_both_has_both(tmp_path: Path) -> None:
    build_site([mixed(tmp_path / "run")], tmp_path / "site", templates=TEMPLATES)
    elements = Elements(tmp_path / "site" / "index.html")
    assert {"answers", "cells-table", "alone-pinning"} <= set(elements.ids)
    assert len(list((tmp_path / "site" / "cells").glob("*.html"))) == 10 + 4


def test_hostile_text_in_results_becomes_no_element(tmp_path: Path) -> None:
    index = build_site([hostile_experiments(tmp_path / "run")], tmp_path / "site", templates=TEMPLATES)
    pages = [index, *(index.parent / "cells").glob("*.html")]
    assert len(pages) == 6
    for page in pages:
        elements = Elements(page)
        assert not {"img", "iframe", "object", "embed"} & set(elements.tags)
        assert elements.tags.count("script") == (3 if page == index else 1)
        assert not any(name.startswith("on") for name, _ in elements.attributes)
        assert not any("javascript:" in value for name, value in elements.attributes if name in ("href", "src"))
        assert "onerror" in elements.text and "{{ 7*7 }}" in elements.text
