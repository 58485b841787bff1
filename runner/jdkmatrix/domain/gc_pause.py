"""Make thousands of values at a time: they form no cycles, and a search for some takes longer the more of them there
are."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the search for cycles: to look at many new objects again and again takes as long as to make them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def frozen() -> Iterator[None]:
    """Leave every object that exists now out of garbage collection until the end."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
