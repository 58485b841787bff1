"""Read files that people or programs write: as text, or as parsed TOML or JSON that is not validated yet."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jdkmatrix.errors import MatrixError

_DEPTH_MAX = 64
_INTEGERS = range(-(2**63), 2**63)  # what TOML 1.0 requires


class ConfigError(MatrixError):
    """matrix.toml or another such file cannot be used."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a file, not validated.

    Raises:
        ConfigError: it cannot be read, or is no TOML.
    """
    tables: dict[str, Any] = _parsed(read_text(path), str(path), "TOML", tomllib.loads)
    return tables


def read_text(path: Path, where: str | None = None) -> str:
    """Return the text. Raises: ConfigError: it cannot be read, or is not UTF-8. `where`: its name for messages."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{where or path}: cannot be read: {reason}") from None


def text_if_readable(path: Path) -> str | None:
    """Return the stripped text of a file that this kernel or another program may not have made; None if unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def parse_json(text: str, where: str) -> Any:
    """Parse JSON, not validated. Raises: ConfigError: it is no JSON."""
    return _parsed(text, where, "JSON", json.loads)


def _parsed(text: str, where: str, form: str, parse: Callable[[str], Any]) -> Any:
    try:
        value = parse(text)
        _check_bounds(value, "")
    except ValueError as error:  # the parsers' own errors are ValueErrors, too
        raise ConfigError(f"{where}: not valid {form}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: not valid {form}: nested too deeply") from None
    return value


def _check_bounds(value: object, key: str, depth: int = 0) -> None:
    """Raise ValueError for a value that nothing which reads or shows it later could handle."""
    if depth > _DEPTH_MAX:
        raise ValueError(f"{key.partition('.')[0]}: nested more than {_DEPTH_MAX} deep")
    if isinstance(value, int) and value not in _INTEGERS:
        raise ValueError(f"{key}: an integer of more than 64 bits")
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"{key}: a NUL character")
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in entries:
        _check_bounds(inner, f"{key}.{name}" if key else str(name), depth + 1)
