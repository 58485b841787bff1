"""One run measures at a time, and what would disturb it can ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.cli import measuring_lock
from jdkmatrix.errors import MatrixError


def test_while_one_run_measures_another_is_refused_and_the_site_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_lock, "cache_dir", lambda: tmp_path)
    assert not measuring_lock.is_measuring()
    with measuring_lock.alone_on_this_host():
        assert measuring_lock.is_measuring()
        with (
            pytest.raises(MatrixError, match="another run is measuring"),
            measuring_lock.alone_on_this_host(),
        ):
            pass
    assert not measuring_lock.is_measuring()
