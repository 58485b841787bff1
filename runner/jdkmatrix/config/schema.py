"""The JSON Schema of matrix.toml, profiles and published scenarios, which editors use for completion. Pure."""

from __future__ import annotations

from typing import Any

from jdkmatrix.config.assemble import NAMED
from jdkmatrix.config.load import TABLES
from jdkmatrix.config.model import Matrix

_EXTENDS = {"type": "string", "description": "The table that this one changes."}


def file_schema() -> dict[str, Any]:
    """Return the schema of all files together, less what a variant or template may leave open, and derived axes."""
    schema = Matrix.model_json_schema(by_alias=True)
    definitions, seen = schema["$defs"], set[str]()

    def loosened(node: Any) -> Any:
        """Allow a placeholder for every number, and require nothing."""
        if isinstance(node, list):
            return [loosened(one) for one in node]
        if not isinstance(node, dict):
            return node
        if (name := _name(node)) and name not in seen:
            seen.add(name)
            definitions[name] = loosened(definitions[name])
        if node.get("type") in ("integer", "number"):
            node = node | {"type": [node["type"], "string"], "pattern": "^N%?$"}
        kept = {key: value for key, value in node.items() if key not in ("required", "discriminator")}
        return {"anyOf" if key == "oneOf" else key: loosened(value) for key, value in kept.items()}

    for table in NAMED:
        (entry,) = schema["properties"][table]["patternProperties"].values()
        schema["properties"][table] = loosened(schema["properties"][table])
        for one in entry.get("oneOf", [entry]):
            definitions[_name(one)]["properties"]["extends"] = _EXTENDS
    for axis in TABLES:
        del definitions["Axes"]["properties"][axis]
    del schema["required"]
    return schema


def _name(node: dict[str, Any]) -> str:
    """Return the name of the definition that a node refers to; empty for none."""
    return str(node.get("$ref", "")).rpartition("/")[2]
