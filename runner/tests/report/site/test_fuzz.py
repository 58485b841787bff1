"""Whatever stands in the index that a site is put together from, the site is written, and text stays text."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jdkmatrix.report.site.build import build_site
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.store.runs import RunStore
from tests.support.pages import Elements
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import background, later, stored

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028'\"&"
TEXT = st.text(max_size=20) | st.sampled_from((HOSTILE, "../../../..", ""))
SAME_KIND: dict[type, st.SearchStrategy[Any]] = {str: TEXT, int: st.integers(), float: st.floats()}
SCALARS = st.one_of(st.none(), st.booleans(), *SAME_KIND.values())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
)
NAMES = ("a", "b")


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in `part` and every key or index of it."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inside:
        yield part, key
        yield from places(value)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[SiteRun, ...], Path]:
    """Two runs, and the site of them."""
    folder = tmp_path_factory.mktemp("fuzz")
    loaded = synthetic_run(folder / "made-up", replace(QUICK, blocks=2, windows=1))
    for name in NAMES:
        stored(folder / name, later(loaded, name, "2024-01-01"))
    stores = [RunStore(folder / name) for name in NAMES]
    runs = tuple(SiteRun(str(store.directory), store.load, store.stamp()) for store in stores)
    build_site(runs, folder / "site", background())
    return runs, folder / "site"


def put_together_again(made: tuple[tuple[SiteRun, ...], Path], again: Path, change: Callable[[Any], None]) -> None:
    """The site in `again`, beside one whose index of run `a` was changed."""
    runs, site = made
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(site, again, copy_function=os.link)
    digest = again / "runs" / "a" / "digest.json"
    kept = json.loads(digest.read_text())
    change(kept["run"])
    digest.unlink()  # another name of the file of the site that stays
    digest.write_text(json.dumps(kept))
    build_site(runs, again, background())


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_digest_with_anything_in_it_stops_no_site(
    data: st.DataObject, made: tuple[tuple[SiteRun, ...], Path], tmp_path: Path
) -> None:
    def change(run: Any) -> None:
        for _ in range(data.draw(st.integers(1, 3))):
            container, key = data.draw(st.sampled_from([*places(run)]))
            container[key] = data.draw(SAME_KIND.get(type(container[key]), VALUES) | VALUES)

    put_together_again(made, tmp_path / "site", change)
    for page in ("index.html", "claims/index.html", "history/index.html"):
        assert not {"img", "iframe", "object", "embed"} & set(Elements(tmp_path / "site" / page).tags)


@pytest.mark.parametrize("ratio", (-1.0, 0.0, 5e-324, 1e308, math.inf, math.nan))
def test_a_run_with_a_ratio_that_none_can_be_is_read_again(
    ratio: float, made: tuple[tuple[SiteRun, ...], Path], tmp_path: Path
) -> None:
    def change(run: Any) -> None:
        run["conditions"][0]["advice"][0]["ratio"] = ratio

    put_together_again(made, tmp_path / "site", change)
    assert (tmp_path / "site" / "data" / "runs.json").read_text() == (made[1] / "data" / "runs.json").read_text()
