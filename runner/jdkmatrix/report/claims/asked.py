"""Which cells a check of a claim looks at, and on which hosts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import wait_words, work_words
from jdkmatrix.records.claims import ClaimCheck


def asks_for(check: ClaimCheck, key: CellKey) -> bool:
    """Does it look at such a cell?"""
    if not fnmatchcase(key.executor, check.arm):
        return False
    if check.versus is not None and key.executor == check.versus:
        return False
    return all(patterns is None or _is_among(getattr(key, axis), patterns) for axis, patterns in check.where)


def _is_among(value: str | int, patterns: Iterable[str | int]) -> bool:
    return any(
        fnmatchcase(value, pattern) if isinstance(value, str) and isinstance(pattern, str) else value == pattern
        for pattern in patterns
    )


def words_of(check: ClaimCheck) -> str:
    """Which cells it looks at."""
    axes = check.where
    parts = [
        f"cell of {_either(axes.workload)}" if axes.workload else "cell",
        f"on {_either(axes.server)}" if axes.server else "",
        f"on {_either(axes.jdk)}" if axes.jdk else "",
        f"with {_either(axes.cpus)} CPUs" if axes.cpus else "",
        f"with {_either(work_words(int(us)) for us in axes.burn_us)} of work" if axes.burn_us else "",
        f"with answers after {_either(wait_words(int(us)) for us in axes.wait_us)}" if axes.wait_us else "",
        f"under {_either(axes.load)}" if axes.load else "",
        f"with {check.arm}",
    ]
    return " ".join(filter(None, parts))


def _either(values: Iterable[object]) -> str:
    return " or ".join(map(str, values))


def other_kernel(check: ClaimCheck, kernels: Iterable[str]) -> str | None:
    """Why it cannot be judged on these."""
    low, below = check.kernel_from, check.kernel_below
    asked = " and ".join(filter(None, (low and f"from {low}", below and f"below {below}")))
    other = next((kernel for kernel in kernels if not _is_between(_version(kernel), low, below)), None)
    if not asked or other is None:
        return None
    return f"the kernel is {next(iter(other.split()), 'not known')}; the claim is about {asked}"


def _is_between(found: tuple[int, ...], low: str | None, below: str | None) -> bool:
    return bool(found) and (low is None or found >= _version(low)) and (below is None or found < _version(below))


def _version(text: str) -> tuple[int, ...]:
    found = re.match(r"[0-9]+(\.[0-9]+)*", text)
    return tuple(map(int, found.group().split("."))) if found else ()
