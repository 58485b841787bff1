"""What the command ends with, and the same code for what typer refuses as for what we do. Only typer is imported here
(see main)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from jdkmatrix.errors import MatrixError

EXIT_CODES = """Exit codes: 0 done; 1 refused, or could not go on: a problem with the command, the input, the parts or
the host, reported in one message (`doctor`: this host is noisy); 2 `doctor`: this host is unfit; 3 the run is complete
but has failed forks or cells without a usable fork, or (also from `report`, `summary`, `export` and `compare`) a result
file is damaged, missing or cannot be shown; 4 `compare` found a regression; 5 `compare` cannot tell; 129, 130, 143
stopped by the end of the terminal, Ctrl-C or SIGTERM, finished work is kept."""


@contextmanager
def _our_exit_code() -> Iterator[None]:
    try:
        yield
    except typer.TyperException as refused:
        refused.exit_code = MatrixError.exit_code
        raise


class Commands(TyperGroup):
    """Ends where typer refuses a command as where we do."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _our_exit_code():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _our_exit_code():
            return super().invoke(ctx)
