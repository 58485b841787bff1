"""A run that measures on this host meanwhile, and another test, decide nothing here."""

from __future__ import annotations

from uuid import uuid4

import pytest

from jdkmatrix.cli import measuring_lock


@pytest.fixture(autouse=True)
def own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring_lock, "_NAME", f"jdk-matrix.test.{uuid4()}")
