"""Values of axes as people write them on the command line."""

from __future__ import annotations

import re
from decimal import Decimal

from jdkmatrix.errors import MatrixError

_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(us|µs|ms|s)?")
_US = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000}
_QUOTA = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m?)")
_NUMBER = r"-?[0-9][0-9.,]*"
_PER_SECOND = re.compile(rf"({_NUMBER}) */ *s")


def microseconds(option: str, most_us: int, text: str) -> int:
    """ "300us", "20ms", "1s" or a number of µs.

    Raises:
        MatrixError: anything else, or more than `most_us`.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise MatrixError(f'{option}: "{text}" is no valid time (allowed: 300us, 20ms, 1s, or a number of µs)')
    us = Decimal(found[1]) * _US[found[2] or "us"]
    if us != int(us):
        raise MatrixError(f"{option}: {text} is {us:g} µs; whole µs are needed")
    if us > most_us:
        raise MatrixError(f"{option}: {text} is too long; at most {most_us // 1_000_000} s are allowed")
    return int(us)


def quota_cpus(text: str) -> float:
    """ "0.5" or "500m", as containers have it. Raises: MatrixError: anything else."""
    match = _QUOTA.fullmatch(text.strip())
    if match is None:
        raise MatrixError(f'--cpu-quota: "{text}" is no valid number of CPUs (allowed: 0.5, 2, 500m)')
    thousandths = Decimal(match[1]) * (1 if match[2] else 1000)
    if not 10 <= thousandths <= 1_024_000 or thousandths != int(thousandths):
        raise MatrixError(
            f"--cpu-quota: {text} is {thousandths.normalize():f}m; whole thousandths of a CPU are needed, from 10m "
            "to 1024000m (0.01 to 1024 CPUs)"
        )
    return int(thousandths) / 1000


def load_name(text: str) -> str:
    """ "5000/s" as what it is called in matrix.toml, "rate-5000". Raises: MatrixError: a number alone."""
    if found := _PER_SECOND.fullmatch(text.strip()):
        return f"rate-{found[1]}"
    if re.fullmatch(_NUMBER, text.strip()):
        raise MatrixError(
            f'--load: "{text}" has no unit; did you mean "{text}/s", which is a rate, or "saturate-{text}", a closed '
            "loop of so many connections?"
        )
    return text
