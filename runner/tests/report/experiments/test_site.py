"""The written site of experiments without a server: its files, its links, and that text from results stays text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jdkmatrix.experiments.kinds import BY_NAME
from tests.support.experiment_runs import experiments_run
from tests.support.hostile_runs import hostile_experiments
from tests.support.pages import Elements
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import site_of


def test_a_page_of_experiments_only_has_nothing_empty(tmp_path: Path) -> None:
    site = site_of([experiments_run(tmp_path / "run", accidents=True)], tmp_path / "site")
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
