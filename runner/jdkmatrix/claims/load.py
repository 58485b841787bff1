"""Read what was published: from the files of the sources to a validated Registry, or to one clear message."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.claims import checks
from jdkmatrix.claims.model import PublishedSource, Registry
from jdkmatrix.config.checks import unknown
from jdkmatrix.config.explain import explain, told
from jdkmatrix.reading import read_toml

_REFERENCE = re.compile(r".*\.checks\[\d+]\.requires\[\d+]")


def load_claims(published: Path, scenarios: Collection[str] | None = None) -> Registry:
    """Read and validate source.toml in every folder of `published`. `scenarios`: all that claims may name; None:
    any.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    files = sorted(published.glob("*/source.toml"))
    return parse_claims({str(file): read_toml(file) for file in files}, scenarios)


def parse_claims(files: Mapping[str, Mapping[str, Any]], scenarios: Collection[str] | None = None) -> Registry:
    """Validate what sources say, by the names of their files for messages."""
    sources = {file: _source(file, data) for file, data in files.items()}
    if problems := list(checks.problems(sources, scenarios)):
        raise told(problems)
    return Registry(sources=tuple(sources.values()))


def _source(file: str, data: Mapping[str, Any]) -> PublishedSource:
    named = data.get("requires")
    wrong: list[str] = []

    def spelled(node: Any, key: str) -> Any:
        """With the preconditions that checks refer to in the place of their names."""
        if isinstance(node, dict):
            return {name: spelled(value, f"{key}.{name}") for name, value in node.items()}
        if isinstance(node, list):
            return [spelled(value, f"{key}[{i}]") for i, value in enumerate(node)]
        if not (isinstance(node, str) and isinstance(named, dict) and _REFERENCE.fullmatch(key)):
            return node
        if node not in named:
            wrong.append(f"{key}: {unknown(node, named)}")
        return named.get(node)

    claims = spelled(data.get("claims"), "claims")
    if wrong:
        raise told((file, problem) for problem in wrong)
    try:
        return PublishedSource.model_validate({**data, "claims": claims} if "claims" in data else data)
    except ValidationError as error:
        raise told((file, problem) for problem in explain(error, PublishedSource)) from None
