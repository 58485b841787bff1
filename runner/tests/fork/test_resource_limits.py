"""What watches a process that has limits, and one that has none."""

from __future__ import annotations

import os
import threading

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.resource_limits import limited


def test_only_a_process_with_limits_is_watched_for_them() -> None:
    """Servers in turns are all there while one is measured, and every look at the others counts as this tool's work."""
    watchers = {}
    for threads_max in (None, 10**6):
        with limited(Limits(threads_max=threads_max), None) as box, box.watch(os.getpid(), os.abort, started_ns=0):
            watchers[threads_max] = [one.name for one in threading.enumerate() if one.name == "limit watch"]
            assert not box.ended_it
        assert box.outcomes("the server", ()) == ()
    assert watchers == {None: [], 10**6: ["limit watch"]}
