"""This tool's threads go first while it watches, where that is permitted."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest

from jdkmatrix.host.priority import ahead_of_others


def nice_of(thread: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, thread)


@contextmanager
def another_thread() -> Iterator[int]:
    """Yield the id of a thread that waits until the block ends."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        yield thread.native_id or 0
    finally:
        end.set()
        thread.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may surely go first")
def test_every_thread_goes_first_and_is_put_back() -> None:
    usual = nice_of(0)
    with another_thread() as earlier, ahead_of_others(), another_thread() as later:
        assert [nice_of(one) for one in (0, earlier, later)] == [-20, -20, -20]
    with ExitStack() as until_the_end:
        with ahead_of_others():
            later = until_the_end.enter_context(another_thread())
        assert (nice_of(0), nice_of(later)) == (usual, usual)


def test_where_it_may_not_nothing_changes() -> None:
    usual = nice_of(0)
    with mock.patch("os.setpriority", side_effect=PermissionError), ahead_of_others():
        assert nice_of(0) == usual


def test_a_thread_that_ends_meanwhile_is_no_fault() -> None:
    gone = mock.Mock(side_effect=[0, ProcessLookupError, *[0] * 100])
    ended = mock.patch("os.setpriority", side_effect=ProcessLookupError)
    with ended, another_thread(), mock.patch("os.getpriority", gone), ahead_of_others():
        pass
    assert gone.call_count >= 4
