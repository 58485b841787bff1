"""Ask several places at the same time, and wait for none of them too long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def answers_in_time(jobs: Mapping[K, Callable[[], T]], limit_s: float) -> dict[K, T]:
    """Run all jobs at the same time. One that raises, or has not ended after `limit_s`, is not among the answers."""
    answers: dict[K, T] = {}

    def run(name: K, job: Callable[[], T]) -> None:
        answers[name] = job()

    # Daemon threads: looking up a name can hang for longer than anybody wants to wait at exit.
    threads = [threading.Thread(target=run, args=item, daemon=True) for item in jobs.items()]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit_s
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return dict(answers)
