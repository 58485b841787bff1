"""Arms with options of their own: "virtual:-XX:+UseParallelGC". Pure."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable
from typing import Any

from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.errors import MatrixError

_NAME_LENGTH_MAX = 60  # it becomes a part of names of files
_PROPERTY = re.compile(r"-D(jdk\.[^=]+)=(.*)")


def arms(texts: Iterable[str]) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """The executors that these are, and the tables [tunings.NAME] that they need.

    Raises:
        MatrixError: no executor before the colon, no option behind it, or other options that have the same name.
    """
    executors: list[str] = []
    tunings: dict[str, dict[str, Any]] = {}
    for text in texts:
        executor, colon, given = text.partition(":")
        options = _split(text, given)
        if not executor or bool(colon) != bool(options):
            raise MatrixError(f'--arm: "{text}" is no EXECUTOR or EXECUTOR:OPTIONS, such as virtual:-XX:+UseParallelGC')
        if wrong := [option for option in options if not (option.startswith("-") and _name(option))]:
            raise MatrixError(f'--arm: "{wrong[0]}" is no option of a JVM; it must begin with a hyphen and have a name')
        name = _name_of_all(options)
        if options and tunings.setdefault(name, _tuning(options)) != _tuning(options):
            raise MatrixError(
                f"--arm: {tunings[name]['description']} and {' '.join(options)} would both be called {name}; a table "
                "[tunings.NAME] of matrix.toml gives one of them a name of its own"
            )
        executors.append(f"{executor}+{name}" if name else executor)
    return tuple(dict.fromkeys(executors)), tunings


def _split(text: str, options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise MatrixError(f'--arm: "{text}": {error}') from None


def _name_of_all(options: list[str]) -> str:
    name = "-".join(map(_name, options))
    if len(name) <= _NAME_LENGTH_MAX and not is_aa_arm(name):
        return name
    digest = hashlib.sha256(shlex.join(options).encode()).hexdigest()[:8]
    return f"{name[:_NAME_LENGTH_MAX].rstrip('-')}-{digest}"


def _name(option: str) -> str:
    """A name that a tuning may have: "-XX:-Foo" is "no-foo", "-Xmx2g" is "xmx2g"."""
    text = re.sub(r"^-XX:-", "no-", option)
    text = re.sub(r"^-(XX:\+?|D|-)?", "", text)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _tuning(options: list[str]) -> dict[str, Any]:
    """Properties of the JDK are properties, which it must know to have an effect."""
    found = [(option, _PROPERTY.fullmatch(option)) for option in options]
    return {
        "description": " ".join(options),
        "properties": {match[1]: match[2] for _, match in found if match},
        "jvm_options": [option for option, match in found if not match],
    }
