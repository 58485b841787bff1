"""The written site of experiments without a server: its files, its links, and that text from results stays text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.store.cells import CellRecord
from tests.support.experiment_runs import experiments_run, mixed
from tests.support.hostile_runs import hostile_experiments
from tests.support.pages import Elements
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import site_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiments")
    return site_of([experiments_run(folder / "run", accidents=True)], folder / "site")


def test_every_cell_has_a_page_and_its_record(tmp_path: Path, site: Path) -> None:
    loaded = experiments_run(tmp_path, accidents=True)
    for record in loaded.experiments:
        page = site / "cells" / f"{record.key.cell_id}.html"
        assert f"{record.key.workload}, {record.key.executor} on {record.key.jdk}" in Elements(page).text
        assert CellRecord.model_validate_json(page.with_suffix(".json").read_bytes()) == record
        for fork in record.forks:
            copies = list((site / "cells" / f"{record.key.cell_id}.files").glob(f"fork-{fork.fork}-*"))
            assert [copy.read_text() for copy in copies] == ["SYNTHETIC line\n"]


def test_a_page_of_experiments_only_has_nothing_empty(site: Path) -> None:
    elements = Elements(site / "index.html")
    assert not {"answers", "cells", "cells-table", "precision"} & set(elements.ids)
    assert {*(f"experiment-{kind}" for kind in BY_NAME), "reading", "reproduce"} <= set(elements.ids)
    for words in ("0 of 0", "request executor", "per request", "Closed and open loop", "fresh server process"):
        assert words not in elements.text


def test_a_page_with_servers_only_says_nothing_of_experiments(tmp_path: Path) -> None:
    site = site_of([synthetic_run(tmp_path / "run", replace(QUICK, blocks=1))], tmp_path / "site")
    elements = Elements(site / "index.html")
    assert {"answers", "cells", "cells-table"} <= set(elements.ids)
    assert "ithout a server" not in elements.text and not any(one.startswith("alone") for one in elements.ids)


def test_a_page_of_both_has_both(tmp_path: Path) -> None:
    site = site_of([mixed(tmp_path / "run")], tmp_path / "site")
    elements = Elements(site / "index.html")
    assert {"answers", "cells-table", "experiment-pinning"} <= set(elements.ids)


def test_hostile_text_in_results_becomes_no_element(tmp_path: Path) -> None:
    index = site_of([hostile_experiments(tmp_path / "run")], tmp_path / "site") / "index.html"
    pages = [index, *(index.parent / "cells").glob("*.html")]
    assert len(pages) == 6
    for page in pages:
        elements = Elements(page)
        assert not {"img", "iframe", "object", "embed"} & set(elements.tags)
        assert elements.tags.count("script") == (3 if page == index else 1)
        assert not any(name.startswith("on") for name, _ in elements.attributes)
        assert not any("javascript:" in value for name, value in elements.attributes if name in ("href", "src"))
        assert "onerror" in elements.text and "{{ 7*7 }}" in elements.text
