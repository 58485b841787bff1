"""The safety net under everything that is computed from the files of a run."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jdkmatrix
from jdkmatrix.errors import MatrixError, visible

_PACKAGE = Path(jdkmatrix.__file__).parent
_OF_THE_HOST = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EPIPE),
}
_SHOWN_AT_MOST = 200


class UnreadableError(MatrixError):
    """A result file that is not what it should be; the message names it and the first fault."""

    exit_code = 3


@contextmanager
def readable(run: object) -> Iterator[None]:
    """Treat whatever goes wrong in the block as a fault of this run, unless it is one of the host.

    Raises:
        UnreadableError: names the run.
    """
    try:
        yield
    except UnreadableError:
        raise
    except MatrixError as error:
        raise UnreadableError(f"{run}: {error}") from error
    except Exception as error:
        if is_of_the_host(error):
            raise
        raise UnreadableError(f"{run}: cannot be shown: {fault(error)}") from error


def is_of_the_host(error: Exception) -> bool:
    """Return whether there is no space, descriptor or reader left: any write, of any run, would fail like this."""
    return isinstance(error, OSError) and error.errno in _OF_THE_HOST


def fault(error: Exception) -> str:
    """Describe an error and its place in the code in a line: "OverflowError in report/cells/heat.py:46: too large"."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [(path, frame.lineno) for frame in frames if (path := Path(frame.filename)).is_relative_to(_PACKAGE)]
    where = f" in {ours[-1][0].relative_to(_PACKAGE)}:{ours[-1][1]}" if ours else ""
    said = next(iter(str(error).splitlines()), "")[:_SHOWN_AT_MOST]
    return visible(f"{type(error).__name__}{where}: {said}")
