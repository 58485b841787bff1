"""The kinds of servers: what tables [servers.NAME] may say, and which executors each kind has. Pure.

The name of a server begins with the name of its kind: "open-liberty", "open-liberty-23.0.0.9".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

FeatureSet = Literal["restfulWS-3.1", "restfulWS-3.1-jsonb-3.0-servlet-6.0", "microProfile-6.1"]
FEATURE_SETS: tuple[FeatureSet, ...] = get_args(FeatureSet)


@dataclass(frozen=True)
class ServerKind:
    """`own_pool`: the executor that is the server's own; all others are compared with it. `executors`: all that it has,
    with N for any number. `has_features`: is it made of `FEATURE_SETS`, got from an artefact of toolchain.lock.json?
    One without has no Jakarta REST."""

    name: str
    title: str
    own_pool: str
    executors: tuple[str, ...]
    has_features: bool


OPEN_LIBERTY = ServerKind(
    name="open-liberty",
    title="Open Liberty",
    own_pool="liberty",
    executors=("liberty", "liberty-virtual", "virtual", "platform", "cached", "fixed-N"),
    has_features=True,
)
JETTY = ServerKind(
    name="jetty",
    title="Eclipse Jetty",
    own_pool="jetty",
    executors=("jetty", "virtual", "platform", "cached", "fixed-N"),
    has_features=False,
)
SERVER_KINDS: tuple[ServerKind, ...] = (OPEN_LIBERTY, JETTY)


@cache
def server_kind(server: str) -> ServerKind | None:
    """By the beginning of its name; None where no kind is called so."""
    return next((kind for kind in SERVER_KINDS if server == kind.name or server.startswith(f"{kind.name}-")), None)


def own_pool(server: str) -> str:
    """The executor that is this server's own; of a name from elsewhere, that of the first kind."""
    return (server_kind(server) or OPEN_LIBERTY).own_pool


def title_of(server: str) -> str:
    kind = server_kind(server)
    return kind.title if kind else server
