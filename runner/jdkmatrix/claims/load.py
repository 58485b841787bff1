"""Read what was published: turn the files of the sources into a validated Registry, or into one clear message."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.claims.model import PublishedSource, Registry
from jdkmatrix.config.assemble import Assembled, Tables, merged
from jdkmatrix.reading import read_toml
from jdkmatrix.validation import explain, told, unknown

_REFERENCE = re.compile(r".*\.checks\[\d+]\.requires\[\d+]")


def load_claims(published: Path, scenarios: Collection[str] | None = None) -> Registry:
    """Read and validate every folder of `published`, all its files except those of scenarios. `scenarios`: those that
    claims may name; None: any.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    files = sorted(file for file in published.glob("*/*.toml") if not file.name.startswith("scenarios"))
    return parse_claims({str(file): read_toml(file) for file in files}, scenarios)


def parse_claims(files: Mapping[str, Tables], scenarios: Collection[str] | None = None) -> Registry:
    """Validate what sources say, given by file name (for messages)."""
    folders: dict[Path, dict[str, Tables]] = {}
    for file, tables in files.items():
        folders.setdefault(Path(file).parent, {})[file] = tables
    allowed = tuple(PublishedSource.model_fields)
    found = [merged(folder, named=("requires", "claims"), of_others=allowed) for folder in folders.values()]
    sources = tuple(map(_source, found))
    problems: list[tuple[str, str]] = []
    seen: dict[str, str] = {}
    for one, source in zip(found, sources, strict=True):
        for name, claim in source.claims.items():
            file = one.files[f"claims.{name}"]
            if (other := seen.setdefault(name, file)) != file:
                problems.append((file, f"claims.{name}: is also in {other}"))
            for i, scenario in enumerate(claim.scenarios):
                if scenarios is not None and scenario not in scenarios:
                    problems.append((file, f"claims.{name}.scenarios[{i}]: {unknown(scenario, scenarios)}"))
    if problems:
        raise told(problems)
    return Registry(sources=sources)


def _source(found: Assembled) -> PublishedSource:
    """Validate one source. Raises: ConfigError: as load_claims."""
    if found.problems:
        raise told(found.problems)
    named, used = found.tables.get("requires"), set[str]()
    wrong: list[str] = []

    def spelled(node: Any, key: str) -> Any:
        """Replace the names of preconditions that checks refer to by the preconditions."""
        if isinstance(node, dict):
            return {name: spelled(value, f"{key}.{name}") for name, value in node.items()}
        if isinstance(node, list):
            return [spelled(value, f"{key}[{i}]") for i, value in enumerate(node)]
        if not (isinstance(node, str) and isinstance(named, dict) and _REFERENCE.fullmatch(key)):
            return node
        if node not in named:
            wrong.append(f"{key}: {unknown(node, named)}")
        used.add(node)
        return named.get(node)

    tables = {name: spelled(table, name) if name == "claims" else table for name, table in found.tables.items()}
    if wrong:
        raise found.error(wrong)
    try:
        source = PublishedSource.model_validate(tables)
    except ValidationError as error:
        raise found.error(explain(error, PublishedSource)) from None
    if unused := source.requires.keys() - used:
        raise found.error(f"requires.{name}: no check of this source refers to it" for name in sorted(unused))
    return source
