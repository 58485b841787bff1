"""A file that people write, and what is wrong with it: the key, what was found, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jdkmatrix.config.checks import unknown
from jdkmatrix.reading import ConfigError


def explained(error: ValidationError, where: str) -> ConfigError:
    """The first thing that is wrong with a file that programs write."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"])) or "the file"
    return ConfigError(f"{where}: {key}: {first['msg']}, found {_shown(first['input'])}")


def told(problems: Iterable[tuple[str, str]]) -> ConfigError:
    """What is wrong with files, each problem behind its file."""
    by_file: dict[str, list[str]] = {}
    for file, problem in problems:
        by_file.setdefault(file, []).append(problem)
    return ConfigError("\n".join(message(file, found) for file, found in by_file.items()))


def message(where: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{where}: {problems[0]}"
    return f"{where}: {len(problems)} problems\n" + "\n".join(f"  {problem}" for problem in problems)


@dataclass(frozen=True)
class Tag:
    """The key that says which kind of table this is, and what it may be."""

    key: str
    allowed: tuple[str, ...]


def explain(error: ValidationError, model: type[BaseModel], tags: Mapping[str, Tag] | None = None) -> list[str]:
    """What is wrong with a file that should be a `model`, one line each. `tags`: by the table whose tables have one."""
    schema = _schema(model)
    return [_explain(one, schema, (tags or {}).get(str(one["loc"][0]))) for one in _relevant(error.errors())]


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


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


def _explain(error: ErrorDetails, schema: Any, tag: Tag | None) -> str:
    location, kind, found = list(error["loc"]), error["type"], error["input"]
    key = _key(location, tag)
    if kind == "extra_forbidden":
        return f"{key}: {unknown(location[-1], _siblings(location, schema))}"
    if kind == "missing":
        return f"{key}: missing"
    if kind == "value_error":
        return f"{key}: {error['ctx']['error']}"
    if kind in ("literal_error", "union_tag_invalid"):
        allowed = error["ctx"].get("expected") or error["ctx"].get("expected_tags", "")
        choices = [choice.strip(" '") for choice in str(allowed).replace(" or ", ", ").split(",")]
        shown = found.get(tag.key) if tag and isinstance(found, Mapping) else found
        return f"{key}: {unknown(shown, choices)}"
    if kind == "union_tag_not_found" and tag:
        return f"{key}: has no `{tag.key}` (allowed: {', '.join(tag.allowed)})"
    text = error["msg"].replace("tuple", "list")
    return f"{key}: found {_shown(found)}; {text[0].lower()}{text[1:]}"


def _key(location: Sequence[int | str], tag: Tag | None) -> str:
    """`profiles.quick.select.executor[0]`, without pydantic's names of union alternatives."""
    key = ""
    for place, part in enumerate(location):
        if isinstance(part, int):
            key += f"[{part}]"
        elif (tag and place == 2 and part in tag.allowed) or part == "[key]" or part.startswith(("tuple[", "literal[")):
            continue
        else:
            key += f".{part}" if key else part
    return key


def _siblings(location: Sequence[int | str], schema: Any) -> list[str]:
    """The keys that the table at `location` may have, from the schema itself."""
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
