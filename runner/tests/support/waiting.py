"""Waiting for what comes true by itself."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], otherwise: str = "it did not come true", timeout_s: float = 60) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, otherwise
        time.sleep(0.02)
