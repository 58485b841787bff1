"""Read matrix.toml: from a file to a validated Matrix, or to one clear message."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jdkmatrix.config import checks
from jdkmatrix.config.experiments import ExperimentName
from jdkmatrix.config.model import Matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.records import CellLoad, TaskLoad

_LOADS, _TASK_LOADS = (get_args(get_args(union)[0]) for union in (CellLoad, TaskLoad))
_KINDS = tuple(str(load.model_fields["kind"].default) for load in _LOADS)
_TASK_KINDS = tuple(str(load.model_fields["kind"].default) for load in _TASK_LOADS)
_EXPERIMENTS = get_args(ExperimentName)
_TAGS = (*_KINDS, *_TASK_KINDS, *_EXPERIMENTS)


class ConfigError(MatrixError):
    """matrix.toml cannot be used."""


def load_matrix(path: Path) -> Matrix:
    """Read and validate `path`.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{path}: cannot be read: {reason}") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    return parse_matrix(data, str(path))


def parse_matrix(data: Mapping[str, Any], where: str) -> Matrix:
    """Validate already-parsed TOML; `where` is the file's name for messages."""
    try:
        matrix = Matrix.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_message(where, [_explain(e) for e in _relevant(error.errors())])) from None
    found = checks.problems(matrix)
    if found:
        raise ConfigError(_message(where, found))
    return matrix


def _message(where: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{where}: {problems[0]}"
    return f"{where}: {len(problems)} problems\n" + "\n".join(f"  {problem}" for problem in problems)


def _relevant(errors: Iterable[ErrorDetails]) -> list[ErrorDetails]:
    """Drop what only follows from another error.

    An axis value is a list or "all", and fails once per alternative: keep the one that was meant. A list whose
    elements are wrong also counts as too short.
    """
    kept = [e for e in errors if not _other_alternative(e)]
    deeper = {tuple(e["loc"][:-1]) for e in kept}
    return [e for e in kept if not (e["type"] == "too_short" and tuple(e["loc"]) in deeper)]


def _other_alternative(error: ErrorDetails) -> bool:
    alternative = error["loc"][-1] if error["loc"] else None
    is_text = isinstance(error["input"], str)
    if alternative == "literal['all']":
        return not is_text
    return isinstance(alternative, str) and alternative.startswith("tuple[") and is_text


def _explain(error: ErrorDetails) -> str:
    location, kind, found = list(error["loc"]), error["type"], error["input"]
    key = _key(location)
    if kind == "extra_forbidden":
        return f"{key}: {checks.unknown(location[-1], _siblings(location))}"
    if kind == "missing":
        return f"{key}: missing"
    if kind == "value_error":
        return f"{key}: {error['ctx']['error']}"
    if kind in ("literal_error", "union_tag_invalid"):
        allowed = error["ctx"].get("expected") or error["ctx"].get("expected_tags", "")
        choices = [choice.strip(" '") for choice in str(allowed).replace(" or ", ", ").split(",")]
        shown = found.get("kind", found.get("experiment")) if isinstance(found, Mapping) else found
        return f"{key}: {checks.unknown(shown, choices)}"
    if kind == "union_tag_not_found":
        return f"{key}: {_untagged(location)}"
    message = error["msg"].replace("tuple", "list")
    return f"{key}: found {_shown(found)}; {message[0].lower()}{message[1:]}"


def _untagged(location: Sequence[int | str]) -> str:
    match location[0]:
        case "experiments":
            return f"does not say which `experiment` it is (allowed: {', '.join(_EXPERIMENTS)})"
        case "task_loads":
            return f"has no `kind` (allowed: {', '.join(_TASK_KINDS)})"
    return f"has no `kind` (allowed: {', '.join(_KINDS)})"


def _key(location: Sequence[int | str]) -> str:
    """`profiles.quick.select.executor[0]`, without pydantic's names of union alternatives."""
    key = ""
    for index, part in enumerate(location):
        if isinstance(part, int):
            key += f"[{part}]"
        elif (index == 2 and part in _TAGS) or part.startswith(("tuple[", "literal[")):
            continue
        else:
            key += f".{part}" if key else part
    return key


def _siblings(location: Sequence[int | str]) -> list[str]:
    """The keys that the table at `location` may have, from the schema itself."""
    schema = Matrix.model_json_schema(by_alias=True)
    node: Any = schema
    for part in location[:-1]:
        node = _descend(schema, node, part)
    node = _resolve(schema, node)
    return list(node.get("properties", {}))


def _descend(schema: Any, node: Any, part: int | str) -> Any:
    node = _resolve(schema, node)
    if isinstance(part, int):
        return node.get("items", {})
    if "discriminator" in node:
        return {"$ref": node["discriminator"]["mapping"][part]}
    if part in node.get("properties", {}):
        return node["properties"][part]
    patterns = list(node.get("patternProperties", {}).values())
    return node.get("additionalProperties") or (patterns[0] if patterns else {})


def _resolve(schema: Any, node: Any) -> Any:
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return node


def _shown(found: object) -> str:
    text = repr(found)
    return text if len(text) <= 60 else text[:57] + "…"
