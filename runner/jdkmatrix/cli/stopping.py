"""Ctrl-C, SIGTERM and the end of the terminal while something is measured, got or written."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType


class StoppedError(BaseException):
    """Ctrl-C, SIGTERM or SIGHUP; not an Exception, so that nothing on the way takes it for a failed measurement."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP, where nohup does not ignore it, end the work in order: `with` blocks stop processes
    and remove what is half made on the way out. Then the command ends, with 128 and the number of the signal."""

    terminals = [number for number in (1, 2) if os.isatty(number)]

    def stop(signal_number: int, frame: FrameType | None) -> None:
        if signal_number == signal.SIGHUP:
            _leave(terminals)
        raise StoppedError(signal_number)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    previous = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    except StoppedError as stopped:
        name = signal.Signals(stopped.exit_code - 128).name
        print(f"matrix: stopped by {name}; what had been finished is kept", file=sys.stderr)
        sys.exit(stopped.exit_code)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _leave(terminals: Iterable[int]) -> None:
    """They have gone, and what is still printed there would fail on the way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in terminals:
        os.dup2(nowhere, number)
    os.close(nowhere)
