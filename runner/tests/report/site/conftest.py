"""Which pages a site takes over from the one that stands."""

from __future__ import annotations

import pytest

from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.run_pages import RunWriter


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose pages are made from now on, and not taken over."""
    ids: list[str] = []
    real = RunWriter.write_index

    def counting(writer: RunWriter) -> RunDigest:
        told = real(writer)
        ids.append(told.run_id)
        return told

    monkeypatch.setattr(RunWriter, "write_index", counting)
    return ids
