"""Values of axes as people write them on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from jdkmatrix.errors import MatrixError

_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(us|µs|ms|s)?")
_US = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000}
_QUOTA = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m?)")
_PER_SECOND = re.compile(r"([1-9][0-9]{0,8}) */ *s")


def microseconds(option: str, texts: Iterable[str], most_us: int) -> tuple[int, ...]:
    """ "300us", "20ms", "1s" or a number of µs.

    Raises:
        MatrixError: anything else, or more than `most_us`.
    """
    return tuple(_microseconds(option, text, most_us) for text in texts)


def _microseconds(option: str, text: str, most_us: int) -> int:
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise MatrixError(f'{option}: "{text}" is no time (allowed: 300us, 20ms, 1s, or a number of µs)')
    us = Decimal(found[1]) * _US[found[2] or "us"]
    if us != int(us):
        raise MatrixError(f"{option}: {text} is {us:g} µs; whole µs are needed")
    if us > most_us:
        raise MatrixError(f"{option}: {text} is too long; at most {most_us // 1_000_000} s are allowed")
    return int(us)


def quotas(texts: Iterable[str]) -> tuple[float, ...]:
    """CPUs: "0.5" or "500m", as containers have it.

    Raises:
        MatrixError: anything else.
    """
    found = []
    for text in texts:
        match = _QUOTA.fullmatch(text.strip())
        cpus = float(match[1]) / (1000 if match[2] else 1) if match else 0.0
        if not 0.01 <= cpus <= 1024:
            raise MatrixError(f'--cpu-quota: "{text}" is no number of CPUs (allowed: 0.5, 2, 500m)')
        found.append(cpus)
    return tuple(found)


def load_names(texts: Iterable[str]) -> Sequence[str]:
    """With "5000/s" as what it is called in matrix.toml, "rate-5000"."""
    return tuple(f"rate-{found[1]}" if (found := _PER_SECOND.fullmatch(text.strip())) else text for text in texts)
