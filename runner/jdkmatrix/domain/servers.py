"""The servers of matrix.toml by name, which begins with the name of their kind: "open-liberty-23.0.0.9"."""

from __future__ import annotations

from functools import cache

from jdkmatrix.domain.catalogue import FeatureSet, ServerKind, server_kinds
from jdkmatrix.domain.cell_key import DEFAULT_SERVER

COMMAND = "command"  # the kind of server that is whatever a workload's own command starts


@cache
def server_kind(server: str) -> ServerKind | None:
    """Return the kind with the longest name that this one begins with; None if there is no such kind."""
    found = (kind for kind in server_kinds().values() if f"{server}-".startswith(f"{kind.name}-"))
    return max(found, key=lambda kind: len(kind.name), default=None)


def own_pool(server: str) -> str:
    """Return the executor that is this server's own; for a name from elsewhere, that of the usual server."""
    return (server_kind(server) or server_kinds()[DEFAULT_SERVER]).own_pool


def virtual_of(server: str) -> str:
    """Return the executor that stands for virtual threads on this server; for a name from elsewhere, the usual one."""
    return (server_kind(server) or server_kinds()[DEFAULT_SERVER]).virtual


def title_with_release(server: str, release: str) -> str:
    """Return "Spring Boot 3.5.6": a number that the title ends in is not repeated."""
    title = title_of(server)
    first, _, number = title.rpartition(" ")
    return f"{first if release.startswith(f'{number}.') else title} {release}".rstrip()


def title_of(server: str) -> str:
    kind = server_kind(server)
    return kind.title if kind else server


@cache
def feature_sets() -> dict[str, FeatureSet]:
    """Return the feature sets of all servers, by name."""
    return {name: one for kind in server_kinds().values() for name, one in kind.feature_sets.items()}
