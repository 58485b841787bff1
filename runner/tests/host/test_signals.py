"""Signals that wait until what was measured is kept."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from jdkmatrix.host.signals import held_back


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """Record the numbers of the signals that come through; SIGHUP is ignored, as under nohup."""
    found: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        found.append(number)

    handlers: dict[signal.Signals, Any] = {signal.SIGINT: hear, signal.SIGTERM: hear, signal.SIGHUP: signal.SIG_IGN}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_first_waits_and_is_heard_once(heard: list[int], capfd: pytest.CaptureFixture[str]) -> None:
    """Whoever sees nothing happen would insist, and lose what was measured."""
    with held_back():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        assert heard == []
    assert heard == [signal.SIGTERM]
    assert capfd.readouterr().err == "stopping as soon as what was measured is kept; once more: at once, without it\n"
    signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGTERM, signal.SIGINT]


def test_a_second_one_is_heard_at_once(heard: list[int]) -> None:
    with held_back():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        signal.raise_signal(signal.SIGINT)
        assert heard == [signal.SIGTERM, signal.SIGINT]
    assert heard == [signal.SIGTERM, signal.SIGINT]


def test_nothing_is_heard_where_nothing_came(heard: list[int]) -> None:
    with held_back():
        pass
    assert heard == []
