"""Check that a file is the record that it should be; report every wrong key, what was found and what is allowed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jdkmatrix.reading import ConfigError

Model = TypeVar("Model", bound=BaseModel)
_LAST_NUMBER = re.compile(r"(.*\D)([0-9]{1,18})")


def validated(model: type[Model], data: Any, where: str | Path) -> Model:
    """Return `data`, parsed from TOML or JSON, as a `model`.

    Raises:
        ConfigError: names `where` and all that is wrong there.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise told((str(where), problem) for problem in explain(error, model)) from None


def unknown(found: object, allowed: Iterable[object]) -> str:
    """Say in one phrase that `found` is none of `allowed`, and what it should have been."""
    names = list(dict.fromkeys(map(str, allowed)))
    close = _next_number(str(found), names) or difflib.get_close_matches(str(found), names, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return f'"{found}" is not known{hint} (allowed: {", ".join(names)})'


def _next_number(found: str, names: Sequence[str]) -> list[str]:
    """Find the name that differs in its last number alone, and by the least."""
    asked = _LAST_NUMBER.fullmatch(found)
    alike = [one for one in map(_LAST_NUMBER.fullmatch, names) if asked and one and one[1] == asked[1]]
    return [min(alike, key=lambda one: abs(int(one[2]) - int(asked[2])))[0]] if asked and alike else []


def wrong_size(found: str, template: str, most: int) -> str:
    """Say that `found` fits this template except for its number."""
    return f'"{found}": N of {template} is a whole number from 1 to {most:,}'


def told(problems: Iterable[tuple[str, str]]) -> ConfigError:
    """Build the error that lists each problem after its file."""
    by_file: dict[str, list[str]] = {}
    for file, problem in problems:
        by_file.setdefault(file, []).append(problem)
    return ConfigError("\n".join(_message(file, found) for file, found in by_file.items()))


def _message(where: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{where}: {problems[0]}"
    return f"{where}: {len(problems)} problems\n" + "\n".join(f"  {problem}" for problem in problems)


def explain(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Describe what is wrong with data that should be a `model`, one line per problem."""
    schema = _schema(model)
    return [_explained(one, schema) for one in _relevant(error.errors())]


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _relevant(errors: Iterable[ErrorDetails]) -> list[ErrorDetails]:
    """Drop errors that only follow from another one.

    An axis value is a list or "all", and fails once per alternative: keep the one that was meant. A list whose
    elements are wrong also counts as too short.
    """
    kept = [e for e in errors if not _other_alternative(e)]
    deeper = {tuple(e["loc"][:length]) for e in kept for length in range(len(e["loc"]))}
    return [e for e in kept if not (e["type"] == "too_short" and tuple(e["loc"]) in deeper)]


def _other_alternative(error: ErrorDetails) -> bool:
    alternative = error["loc"][-1] if error["loc"] else None
    is_text = isinstance(error["input"], str)
    if alternative == "literal['all']":
        return not is_text
    return isinstance(alternative, str) and alternative.startswith("tuple[") and is_text


def _explained(error: ErrorDetails, schema: Any) -> str:
    location, kind, found = error["loc"], error["type"], error["input"]
    key, table, node = _place(schema, location)
    tag = node.get("discriminator")
    if kind == "extra_forbidden":
        problem = unknown(location[-1], table.get("properties", {}))
    elif kind == "missing":
        problem = "missing"
    elif kind == "value_error":
        problem = str(error["ctx"]["error"])
        if key and problem.partition(":")[0] in node.get("properties", {}):
            return f"{key}.{problem}"
    elif kind in ("literal_error", "union_tag_invalid"):
        allowed = str(error["ctx"].get("expected") or error["ctx"].get("expected_tags"))
        choices = [choice.strip(" '") for choice in allowed.replace(" or ", ", ").split(",")]
        problem = unknown(found[tag["propertyName"]] if tag and isinstance(found, Mapping) else found, choices)
    elif kind == "union_tag_not_found" and tag:
        problem = f"has no `{tag['propertyName']}` (allowed: {', '.join(tag['mapping'])})"
    elif kind == "string_pattern_mismatch":
        problem = f"found {shown(found)}; must match {error['ctx']['pattern']}"
    elif kind in ("model_type", "model_attributes_type", "dict_type"):
        problem = f"found {shown(found)}; it should be a table"
    else:
        text = error["msg"].replace("tuple", "list").replace("Tuple", "List").partition(" after validation")[0]
        text = f"it{text[5:]}" if text.startswith("Input ") else f"{text[0].lower()}{text[1:]}"
        problem = f"found {shown(found)}; {text}"
    return f"{key}: {problem}" if key else problem


def _place(schema: Any, location: Sequence[int | str]) -> tuple[str, Any, Any]:
    """Return the key as people write it, `profiles.quick.select.executor[0]`, without pydantic's names for
    alternatives; the schema of the table that it is in; and its own schema."""
    key, node = "", _resolved(schema, schema)
    table: Any = {}
    for part in location:
        tags = node.get("discriminator", {}).get("mapping", {})
        if isinstance(part, int):
            key, node = f"{key}[{part}]", node.get("items", {})
        elif part in tags:
            node = {"$ref": tags[part]}
        elif part != "[key]" and _is_table(node):
            key = f"{key}.{part}" if key else part
            table, node = node, _entry(node, part)
        node = _resolved(schema, node)
    return key, table, node


def _is_table(node: Any) -> bool:
    return node.get("type") == "object" or "discriminator" in node


def _entry(table: Any, key: str) -> Any:
    others = (*table.get("patternProperties", {}).values(), table.get("additionalProperties"))
    return table.get("properties", {}).get(key) or next((one for one in others if isinstance(one, dict)), {})


def _resolved(schema: Any, node: Any) -> Any:
    """Return the schema that a node refers to: the first alternative; others are "all", or that it may be absent."""
    while "$ref" in node or "anyOf" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node["anyOf"][0]
    return node


def shown(found: object) -> str:
    """Return a value for a message, truncated if it is long."""
    text = repr(found)
    return text if len(text) <= 60 else text[:57] + "…"
