"""The names of request executors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache

from jdkmatrix.domain.catalogue import SIZE, OwnExecutor, catalogue, executor_kinds, server_kinds
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.validation import wrong_size

_SIZE_MAX = 99_999
_ANY_NUMBER = re.compile(r"-{1,2}[0-9][0-9.,]*\Z")

# "liberty-aa" is "liberty" measured as if it were another executor: any difference between the two is chance.
_AGAIN = "-aa"
# "virtual+carriers-1" is "virtual" with the options of [tunings.carriers-1].
_TUNED = "+"
_TUNING = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


def check_executor(name: str) -> str:
    """Return `name` if it is an executor; otherwise a ValueError says what is allowed."""
    base, tuning = base_of(name), tuning_of(name)
    if unsized(base) in executor_kinds() and not base.endswith("-N"):
        if tuning is None or _TUNING.fullmatch(tuning):
            return name
        raise ValueError(
            f'"{name}": "{tuning}" is not the name of a tuning (allowed: lower-case letters and digits, - and . inside)'
        )
    if (template := _ANY_NUMBER.sub("-N", base)) != base and template in executor_kinds():
        raise ValueError(wrong_size(base, template, _SIZE_MAX))
    names = [kind.replace("-N", "-50") for kind in executor_kinds()]
    guess = "fixed-50" if base.startswith("fixed") else next(iter(difflib.get_close_matches(base, names)), None)
    hint = f'; did you mean "{guess}{_AGAIN if is_aa_arm(name) else ""}"?' if guess else ""
    raise ValueError(
        f'"{name}" is not an executor{hint} (allowed: {", ".join(executor_kinds())} with N in 1..99999, '
        f"each optionally followed by {_TUNED}NAME of a [tunings.NAME], and by {_AGAIN} at the end as the second arm "
        "of an A/A check)"
    )


def aa_arm(name: str) -> str:
    """Return the second arm of an A/A check of executor `name`."""
    return f"{first_arm(name)}{_AGAIN}"


def is_aa_arm(name: str) -> bool:
    return name.endswith(_AGAIN)


def first_arm(name: str) -> str:
    """Return the executor that the second arm of an A/A check repeats; any other executor itself."""
    return name.removesuffix(_AGAIN)


def base_of(name: str) -> str:
    """Return the executor that a server is really started with."""
    return first_arm(name).partition(_TUNED)[0]


def tuning_of(name: str) -> str | None:
    """Return the tuning that it is started with, if any."""
    return first_arm(name).partition(_TUNED)[2] if _TUNED in name else None


def reference(name: str, server: str) -> str:
    """Return the executor that this one is compared with: the server's own pool; for the second arm of an A/A check,
    the first; for an executor with a tuning, the same without it."""
    if is_aa_arm(name):
        return first_arm(name)
    return own_pool(server) if tuning_of(name) is None else base_of(name)


def references(names: Iterable[str], server: str) -> dict[str, str]:
    """Return by executor the one that it is compared with among these arms of one condition: its `reference`. If
    virtual threads and a pool both lack theirs, and there is only one such pool, it is the reference of both."""
    found = {name: reference(name, server) for name in names}
    own = [name for name, base in found.items() if not is_aa_arm(name) and base not in found.keys() - {name}]
    pools = [name for name in own if not is_virtual(name)]
    if len(pools) != 1 or len(own) == 1:
        return found
    return found | dict.fromkeys(own, pools[0])


@cache
def unsized(name: str) -> str:
    """Return the executor that a server is started with, with N for any number."""
    return SIZE.sub("-N", base_of(name))


@cache
def row_of(name: str) -> str:
    """Return the catalogue row of an executor; old names lead to today's row."""
    row = catalogue().get(unsized(name))
    return (row and row.same_as) or unsized(name)


def size_of(name: str) -> int | None:
    """Return how many tasks it runs at once, if its name says so."""
    found = SIZE.search(base_of(name))
    return int(found[1]) if found else None


def usual_executors() -> tuple[str, ...]:
    """Return the executors without a size that the usual server has."""
    usual = next(iter(server_kinds().values()))
    return tuple(name for name in executor_kinds() if not name.endswith("-N") and usual.has(name))


def has_own_threads(name: str) -> bool:
    """Return whether its requests run on threads that a server makes. Ours make those of every other executor."""
    kind = executor_kinds().get(row_of(name))
    return isinstance(kind, OwnExecutor) and kind.threads is not None


def is_virtual(name: str) -> bool:
    """Return whether its request threads are virtual. Every other executor must serve from platform threads."""
    kind = executor_kinds().get(row_of(name))
    return kind is not None and kind.virtual


def is_per_request(name: str) -> bool:
    """Return whether it starts a thread for each request."""
    kind = executor_kinds().get(row_of(name))
    return kind is not None and kind.per_request
