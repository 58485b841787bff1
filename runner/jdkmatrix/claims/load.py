"""Read claims.toml: from a file to a validated Registry, or to one clear message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.claims import checks
from jdkmatrix.claims.model import Registry
from jdkmatrix.config.explain import ConfigError, explain, message, read_toml
from jdkmatrix.config.model import Matrix


def load_claims(path: Path) -> Registry:
    """Read and validate `path`.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    return parse_claims(read_toml(path), str(path))


def parse_claims(data: Mapping[str, Any], where: str) -> Registry:
    """Validate already-parsed TOML; `where` is the file's name for messages."""
    try:
        registry = Registry.model_validate(data)
    except ValidationError as error:
        raise ConfigError(message(where, explain(error, Registry))) from None
    found = checks.problems(registry)
    if found:
        raise ConfigError(message(where, found))
    return registry


def load_claims_of(matrix: Matrix, path: Path, *, matrix_toml: Path) -> Registry:
    """Read and validate `path`, which must have everything that the scenarios of `matrix` name, as repeated by one.

    Raises:
        ConfigError: as load_claims; or names matrix.toml, the scenario, what it names, and what there is.
    """
    registry = load_claims(path)
    found = checks.against_scenarios(matrix, registry)
    if found:
        raise ConfigError(message(str(matrix_toml), found))
    return registry
