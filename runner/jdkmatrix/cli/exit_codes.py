"""Exit codes of the command, and the one message for whatever is refused. Only typer is imported here (see main)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from jdkmatrix.errors import MatrixError, visible

EXIT_CODES = """Exit codes: 0 done; 1 refused, or could not go on: a problem with the command, the input, the parts or
the host, reported in one message (`doctor`: this host is noisy); 2 `doctor`: this host is unfit; 3 the run is complete
but has failed forks or cells without a usable fork, or (also from `report`, `summary`, `export` and `compare`) a result
file is damaged, missing or cannot be shown; 4 `compare` found a regression; 5 `compare` cannot tell; 129, 130, 143
stopped by the end of the terminal, Ctrl-C or SIGTERM, finished work is kept."""


@contextmanager
def _told_once() -> Iterator[None]:
    """Turn refusals of typer, our own and those of the system into one message and one exit code."""
    try:
        yield
    except typer.TyperException as refused:
        refused.exit_code = MatrixError.exit_code
        raise
    except MatrixError as error:
        print(f"matrix: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:  # typer ends quietly
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"matrix: {visible(f'{where}{error.strerror or error}')}", file=sys.stderr)
        raise typer.Exit(1) from None


class Commands(TyperGroup):
    """Ends where typer refuses a command as where we do."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _told_once():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _told_once():
            return super().invoke(ctx)
