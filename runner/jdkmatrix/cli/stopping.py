"""Ctrl-C and SIGTERM while something is measured, got or written."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StoppedError(BaseException):
    """Ctrl-C or SIGTERM; not an Exception, so that nothing on the way takes it for a failed measurement."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the work in order: `with` blocks stop processes and remove what is half made on the way
    out. Then the command ends, with 128 and the number of the signal."""

    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise StoppedError(signal_number)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except StoppedError as stopped:
        name = signal.Signals(stopped.exit_code - 128).name
        print(f"matrix: stopped by {name}; what had been finished is kept", file=sys.stderr)
        sys.exit(stopped.exit_code)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
