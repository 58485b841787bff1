"""The charting library, from the cache or without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jdkmatrix.report.html import library


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "_bundle", lambda: "(() => {})();")
    library.vega_library.cache_clear()
    yield tmp_path / "cache"
    library.vega_library.cache_clear()


def test_it_is_bundled_once_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert library.vega_library() == "(() => {})();"
    library.vega_library.cache_clear()
    monkeypatch.setattr(library, "_bundle", lambda: pytest.fail("it was kept"))
    (kept,) = (cache / "vega").glob(f"*/{library.NAME}")
    assert library.vega_library() == kept.read_text() == "(() => {})();"


def test_what_was_changed_in_the_cache_goes_into_no_site(cache: Path) -> None:
    library.vega_library()
    (kept,) = (cache / "vega").glob(f"*/{library.NAME}")
    with kept.open("a") as file:
        file.write("alert(1)")
    library.vega_library.cache_clear()
    assert library.vega_library() == "(() => {})();"


def test_without_a_cache_there_are_charts(cache: Path) -> None:
    cache.write_text("a file, where a folder should be")
    assert library.vega_library() == "(() => {})();"
