"""Keep the garbage collector out of the way while thousands of values are made: they form no cycles, and a search for
cycles takes longer the more values there are."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the search for cycles: examining many new objects again and again takes as long as making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def frozen() -> Iterator[None]:
    """Leave every object that exists now out of garbage collection until the block ends."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
