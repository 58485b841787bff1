"""Read matrix.toml: from a file to a validated Matrix, or to one clear message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from jdkmatrix.config import checks
from jdkmatrix.config.explain import ConfigError, Tag, explain, message, read_toml
from jdkmatrix.config.model import AskedLoad, Matrix
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.experiments.kinds import BY_NAME


def _kinds(union: Any) -> tuple[str, ...]:
    loads, _ = get_args(union)
    return tuple(str(load.model_fields["kind"].default) for load in get_args(loads))


_TAGS = {
    "loads": Tag("kind", _kinds(AskedLoad)),
    "task_loads": Tag("kind", _kinds(TaskLoad)),
    "experiments": Tag("experiment", tuple(BY_NAME)),
}


def load_matrix(path: Path) -> Matrix:
    """Read and validate `path`.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    return parse_matrix(read_toml(path), str(path))


def parse_matrix(data: Mapping[str, Any], where: str) -> Matrix:
    """Validate already-parsed TOML; `where` is the file's name for messages."""
    try:
        matrix = Matrix.model_validate(data)
    except ValidationError as error:
        raise ConfigError(message(where, explain(error, Matrix, _TAGS))) from None
    found = checks.problems(matrix)
    if found:
        raise ConfigError(message(where, found))
    return matrix
