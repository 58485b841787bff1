"""The site's templates, with what all of its pages are made with."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import catalogue, server_kinds
from jdkmatrix.report.cell_page import logs
from jdkmatrix.report.html.names import METHOD_PAGE
from jdkmatrix.report.html.page import Pages
from jdkmatrix.report.words.states import State
from jdkmatrix.run.code_version import digest_of_files


def pages_of(templates: Path) -> Pages:
    """Compiled once, and again where a file of the folder has changed.

    Raises:
        MatrixError: a template is missing, or does not parse.
    """
    return _pages(templates.resolve(), digest_of_templates(templates))


def digest_of_templates(templates: Path) -> str:
    """Changes with all that pages are made of beside results and code; with what is told of servers, executors and
    applications, too."""
    files = digest_of_files(templates, sorted(path for path in templates.glob("*") if path.is_file()))
    return hashlib.sha256(f"{files}{catalogue()}{server_kinds()}{applications()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _pages(templates: Path, digest: str) -> Pages:
    statuses = tuple((state.value, state.meaning) for state in State)
    return Pages(
        templates,
        statuses=statuses,
        tail_lines=logs.TAIL_LINES,
        method_page=METHOD_PAGE,
        catalogue=catalogue(),
        servers=tuple(server_kinds().values()),
    )
