"""Read matrix.toml and what published sources add to it: from files to a validated Matrix, or to one clear message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.config import checks
from jdkmatrix.config.assemble import Tables, assembled
from jdkmatrix.config.axes import axes_of
from jdkmatrix.config.explain import Tag, explain, told
from jdkmatrix.config.model import Matrix
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.loads.kinds import KINDS
from jdkmatrix.reading import read_toml

_TAGS = {
    "loads": Tag("kind", tuple(str(load.model_fields["kind"].default) for load in KINDS)),
    "experiments": Tag("experiment", tuple(BY_NAME)),
}


def load_matrix(path: Path) -> Matrix:
    """Read and validate `path`, and the scenarios of the published sources beside it.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    return parse_files(read_files(path))


def read_files(path: Path) -> dict[str, Tables]:
    """What matrix.toml and the published sources beside it say, by file; not validated.

    Raises:
        ConfigError: as read_toml.
    """
    sources = sorted(path.parent.glob("published/*/scenarios.toml"))
    return {str(file): read_toml(file) for file in (path, *sources)}


def parse_matrix(data: Mapping[str, Any], where: str) -> Matrix:
    """Validate what one file says, or what a run recorded; `where` is its name for messages."""
    return parse_files({where: dict(data)})


def parse_files(
    files: Mapping[str, Tables],
    also: Mapping[str, Sequence[str | int]] | None = None,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> Matrix:
    """Validate what files say together; `files`: by their names for messages, that of matrix.toml first. `also`: values
    that shall be on an axis, by axis, though no file says so; `tables`: entries, by table, likewise."""
    first, *others = files
    added = {table: {**files[first].get(table, {}), **entries} for table, entries in (tables or {}).items() if entries}
    files = {first: {**files[first], **added}, **{name: files[name] for name in others}}
    found = assembled(files, also or {})

    def located(problems: Iterable[str]) -> list[tuple[str, str]]:
        return [(_file_of(problem, found.files) or next(iter(files)), problem) for problem in problems]

    if found.problems:
        raise told(dict.fromkeys(found.problems))
    try:
        matrix = Matrix.model_validate(found.tables)
    except ValidationError as error:
        raise told(located(explain(error, Matrix, _TAGS))) from None
    axes = axes_of(matrix)
    problems = [*checks.of_axes(matrix.axes, axes), *checks.problems(whole := matrix.model_copy(update={"axes": axes}))]
    if problems:
        raise told(located(problems))
    return whole


def _file_of(problem: str, files: Mapping[str, str]) -> str | None:
    """Names may have dots in them, so the longest that fits is meant."""
    places = [place for place in files if problem.startswith((f"{place}.", f"{place}:", f"{place}["))]
    return files[max(places, key=len)] if places else None
