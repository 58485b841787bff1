"""Arms with options of their own: "virtual:-XX:+UseParallelGC". Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

from jdkmatrix.errors import MatrixError

_PROPERTY = re.compile(r"-D(jdk\.[^=]+)=(.*)")


def arms(texts: Iterable[str]) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """The executors that these are, and the tables [tunings.NAME] that they need.

    Raises:
        MatrixError: no executor before the colon, or no option behind it.
    """
    executors: list[str] = []
    tunings: dict[str, dict[str, Any]] = {}
    for text in texts:
        executor, colon, given = text.partition(":")
        options = _split(text, given)
        if not executor or bool(colon) != bool(options):
            raise MatrixError(f'--arm: "{text}" is no EXECUTOR or EXECUTOR:OPTIONS, such as virtual:-XX:+UseParallelGC')
        if wrong := [option for option in options if not option.startswith("-")]:
            raise MatrixError(f'--arm: "{wrong[0]}" is no option of a JVM; it must begin with a hyphen')
        name = "-".join(map(_name, options))
        if options:
            tunings[name] = _tuning(options)
        executors.append(f"{executor}+{name}" if name else executor)
    return tuple(dict.fromkeys(executors)), tunings


def _split(text: str, options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise MatrixError(f'--arm: "{text}": {error}') from None


def _name(option: str) -> str:
    """As a tuning may be called: "-XX:-Foo" is "no-foo", "-Xmx2g" is "xmx2g"."""
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
