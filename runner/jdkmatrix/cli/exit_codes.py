"""Exit codes of the command, and the one message for whatever is refused. Only typer is imported here (see main)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from jdkmatrix.errors import MatrixError, visible

EXIT_CODES = """Exit codes: 0 done; 1 refused, or could not go on: one message says what is wrong with the command, the
input, the parts or the host (`doctor`: this host is noisy); 2 `doctor`: this host is unfit; 3 the run is complete but
has failed forks or cells without a usable fork, or (also from `report`, `summary`, `export` and `compare`) a result
file is damaged, missing or cannot be shown; 4 `compare` found a regression; 5 `compare` cannot tell; 129, 130, 143
stopped because the terminal closed, by Ctrl-C or by SIGTERM: finished work is kept."""
# What all refusals by typer are; its name is another one in every few releases.
_REFUSAL: Any = next(one for one in typer.BadParameter.__mro__ if one.__base__ is Exception)


@contextmanager
def _told_once() -> Iterator[None]:
    """Turn refusals by typer, by this program and by the system into one message and one exit code."""
    try:
        with _written_out():
            yield
    except _REFUSAL as refused:
        refused.exit_code = MatrixError.exit_code
        raise
    except MatrixError as error:
        print(f"matrix: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:  # typer exits quietly
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"matrix: {visible(f'{where}{error.strerror or error}')}", file=sys.stderr)
        raise typer.Exit(1) from None


@contextmanager
def _written_out() -> Iterator[None]:
    """Flush what was printed, so that a failure to do so is an error of the command; otherwise Python would report it
    at exit in its own words."""
    try:
        yield
    finally:
        try:
            if sys.stdout is not None:  # None: closed before this program began
                sys.stdout.flush()
        except OSError:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            raise


class Commands(TyperGroup):
    """Exits in the same way whether typer refuses a command or this program does."""

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **kwargs: Any) -> Any:
        with _told_once():
            foreign = [word for word in args if word != word.encode("utf-8", "replace").decode("utf-8")]
            if foreign:
                raise MatrixError(f"{foreign[0]}: is not UTF-8, as the records of a run are")
            return super().make_context(info_name, args, *others, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _told_once():
            return super().invoke(ctx)
