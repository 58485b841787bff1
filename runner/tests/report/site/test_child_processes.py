"""Processes that this one starts are ended, whatever they do."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context

import pytest

from jdkmatrix.report.site import child_processes
from jdkmatrix.report.site.child_processes import end_child


def ignore_sigterm(ready: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(ready, b"z")
    signal.pause()


def test_a_child_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_processes, "LOOKED_UP_S", 0.0)
    reading, writing = os.pipe()
    child = get_context("fork").Process(target=ignore_sigterm, args=(writing,))
    child.start()
    assert os.read(reading, 1) == b"z"
    end_child(child)
    assert child.exitcode == -signal.SIGKILL
    os.close(reading)
    os.close(writing)
