"""Values by the thousand are made and kept without searches for cycles among them."""

from __future__ import annotations

import gc

import pytest

from jdkmatrix.domain.gc_pause import frozen, gc_paused


def test_the_search_goes_on_afterwards_whatever_happened() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="in between"), gc_paused():
        assert not gc.isenabled()
        raise ValueError("in between")
    assert gc.isenabled()


def test_where_it_was_off_it_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused(), gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_frozen_is_looked_at_again_in_the_end() -> None:
    values: list[list[int]] = [[] for _ in range(100)]
    with pytest.raises(ValueError, match="in between"), frozen():
        assert gc.get_freeze_count() > len(values)
        raise ValueError("in between")
    assert gc.get_freeze_count() == 0
