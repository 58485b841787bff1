"""Parse values of axes, and arms with options of their own, as people write them on the command line. Pure."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from jdkmatrix.config.model import Tuning
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.provision.own import WITH_FILE, placed
from jdkmatrix.validation import validated

_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(us|µs|ms|s)?")
_US = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000}
_QUOTA = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m?)")
_NUMBER = r"-?[0-9][0-9.,]*"
_PER_SECOND = re.compile(rf"({_NUMBER}) */ *s")
_NAME_LENGTH_MAX = 60  # it becomes part of file names
_PROPERTY = re.compile(r"-D(jdk\.[^=]+)=(.*)")


def microseconds(option: str, most_us: int, text: str) -> int:
    """Parse "300us", "20ms", "1s" or a number of µs.

    Raises:
        MatrixError: anything else, or more than `most_us`.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise MatrixError(f'{option}: "{text}" is not a valid time (allowed: 300us, 20ms, 1s, or a number of µs)')
    us = Decimal(found[1]) * _US[found[2] or "us"]
    if us != int(us):
        raise MatrixError(f"{option}: {text} is {us:g} µs; whole µs are needed")
    if us > most_us:
        raise MatrixError(f"{option}: {text} is too long; at most {most_us // 1_000_000} s are allowed")
    return int(us)


def quota_cpus(text: str) -> float:
    """Parse "0.5" or "500m", as for containers. Raises: MatrixError: anything else."""
    match = _QUOTA.fullmatch(text.strip())
    if match is None:
        raise MatrixError(f'--cpu-quota: "{text}" is not a valid number of CPUs (allowed: 0.5, 2, 500m)')
    thousandths = Decimal(match[1]) * (1 if match[2] else 1000)
    if not 10 <= thousandths <= 1_024_000 or thousandths != int(thousandths):
        raise MatrixError(
            f"--cpu-quota: {text} is {thousandths.normalize():f}m; whole thousandths of a CPU are needed, from 10m "
            "to 1024000m (0.01 to 1024 CPUs)"
        )
    return int(thousandths) / 1000


def load_name(text: str) -> str:
    """Turn "5000/s" into its name in matrix.toml, "rate-5000". Raises: MatrixError: a number alone."""
    if found := _PER_SECOND.fullmatch(text.strip()):
        return f"rate-{found[1]}"
    if re.fullmatch(_NUMBER, text.strip()):
        raise MatrixError(
            f'--load: "{text}" has no unit; did you mean "{text}/s", which is a rate, or "saturate-{text}", a closed '
            "loop of that many connections?"
        )
    return text


def arms(texts: Iterable[str]) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """Return the executors that arms like "virtual:-XX:+UseParallelGC" mean, and the tables [tunings.NAME] they need.

    Raises:
        MatrixError: no executor before the colon, no option behind it, or other options that have the same name.
    """
    executors: list[str] = []
    tunings: dict[str, dict[str, Any]] = {}
    for text in texts:
        executor, colon, given = text.partition(":")
        with refused(f'--arm: "{text}"', of=ValueError):
            options = shlex.split(given)
        if not executor or bool(colon) != bool(options):
            raise MatrixError(
                f'--arm: "{text}" is not EXECUTOR or EXECUTOR:OPTIONS, such as virtual:-XX:+UseParallelGC'
            )
        if wrong := [option for option in options if not (option.startswith("-") and _name(option))]:
            raise MatrixError(f'--arm: "{wrong[0]}" is not a JVM option; it must begin with a hyphen and have a name')
        name = _name_of_all(options)
        if options and tunings.setdefault(name, _tuning(options)) != _tuning(options):
            raise MatrixError(
                f"--arm: {tunings[name]['description']} and {' '.join(options)} would both be called {name}; give one "
                "of them a name of its own, with a table [tunings.NAME] in matrix.toml"
            )
        validated(Tuning, tunings.get(name, _tuning(options)), f'--arm: "{text}"')
        executors.append(f"{executor}+{name}" if name else executor)
    return tuple(dict.fromkeys(executors)), tunings


def _name_of_all(options: list[str]) -> str:
    name = "-".join(map(_name, options))
    if len(name) <= _NAME_LENGTH_MAX and not is_aa_arm(name):
        return name
    digest = hashlib.sha256(shlex.join(options).encode()).hexdigest()[:8]
    return f"{name[:_NAME_LENGTH_MAX].rstrip('-')}-{digest}"


def _name(option: str) -> str:
    """Make a name that a tuning may have: "-XX:-Foo" becomes "no-foo", "-Xmx2g" becomes "xmx2g". Of a file in it, use
    the name alone, whatever its path."""
    if with_file := WITH_FILE.fullmatch(option):
        option = f"{with_file[1]}{Path(with_file[2]).name}{with_file[3]}"
    text = re.sub(r"^-XX:-", "no-", option)
    text = re.sub(r"^-(XX:\+?|D|-)?", "", text)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _tuning(options: list[str]) -> dict[str, Any]:
    """Make a tuning. JDK properties are kept as properties, which the JDK must know for them to have an effect; files
    that options name are relative to the folder in which they were typed, not to that of each server."""
    found = [(option, _PROPERTY.fullmatch(option)) for option in options]
    return {
        "description": " ".join(options),
        "properties": {match[1]: match[2] for _, match in found if match},
        "jvm_options": placed([option for option, match in found if not match], Path.cwd()),
    }
