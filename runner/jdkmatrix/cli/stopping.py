"""Handle Ctrl-C, SIGTERM and the end of the terminal while something is measured, fetched or written."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType


class StoppedError(BaseException):
    """Ctrl-C, SIGTERM or SIGHUP; not an Exception, so that nothing on its way mistakes it for a failed measurement."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number


@contextmanager
def stoppable() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP, unless nohup ignores it, end the work in order: `with` blocks stop processes and
    remove what is half made on the way out. Then the command exits with 128 plus the number of the signal."""

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
        print(f"matrix: stopped by {name}; finished work is kept", file=sys.stderr)
        sys.exit(stopped.exit_code)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _leave(terminals: Iterable[int]) -> None:
    """Redirect what is still printed on these terminals: they are gone, and it would fail on the way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in terminals:
        os.dup2(nowhere, number)
    os.close(nowhere)
