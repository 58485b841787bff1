"""The watch over a process that has limits, and over one that has none."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest

from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork import resource_limits
from jdkmatrix.fork.resource_limits import limited
from jdkmatrix.host.limits import read_limit_host


def test_only_a_process_with_limits_is_watched_for_them() -> None:
    """Servers that take turns are all up while one is measured; each look at the others counts as this tool's work."""
    watchers = {}
    for threads_max in (None, 10**6):
        with limited(Limits(threads_max=threads_max), None) as box, box.watch(os.getpid(), os.abort, started_ns=0):
            watchers[threads_max] = [one.name for one in threading.enumerate() if one.name == "limit watch"]
            assert not box.ended_it
        assert box.outcomes("the server", ()) == ()
    assert watchers == {None: [], 10**6: ["limit watch"]}


def test_a_limit_that_was_hit_is_told_as_it_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this host permits less than was asked for, the lesser limit is told."""
    host = replace(read_limit_host(None), open_files_max=64)
    monkeypatch.setattr(resource_limits, "read_limit_host", lambda _: host)
    with limited(Limits(open_files_max=10**6), None) as box, box.watch(os.getpid(), os.abort, started_ns=0):
        pass
    (found,) = box.outcomes("the program", ["Too many open files"])
    assert found.figures["limit"] == 64 and "its limit of 64 open files" in found.message
