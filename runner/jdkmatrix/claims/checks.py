"""Cross-checks of claims.toml: what no single value can tell. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.claims.model import Registry
from jdkmatrix.config.checks import unknown
from jdkmatrix.config.executors import check_executor
from jdkmatrix.config.model import Matrix


def problems(registry: Registry) -> list[str]:
    """Every contradiction, each with the key it is at; an empty list when there is none."""
    return [*_sources(registry), *_arms(registry)]


def not_in_registry(matrix: Matrix, registry: Registry) -> list[str]:
    """Every id that a scenario of matrix.toml names and claims.toml does not have, each with its key."""
    return [
        f"scenarios.{name}.published[{i}]: {unknown(claim_id, registry.claims)}"
        for name, scenario in matrix.scenarios.items()
        for i, claim_id in enumerate(scenario.published)
        if claim_id not in registry.claims
    ]


def _sources(registry: Registry) -> Iterator[str]:
    for name, claim in registry.claims.items():
        if claim.source not in registry.sources:
            yield f"claims.{name}.source: {unknown(claim.source, registry.sources)}"
    used = {claim.source for claim in registry.claims.values()}
    for name, source in registry.sources.items():
        if name not in used and used <= set(registry.sources):  # else it may be the one that was meant
            yield f"sources.{name}: no claim is from it; take it out"
        if source.url is not None and not source.url.startswith(("https://", "http://")):
            yield f'sources.{name}.url: found "{source.url}"; only https:// and http:// are allowed'


def _arms(registry: Registry) -> Iterator[str]:
    for name, claim in registry.claims.items():
        for i, figure in enumerate(claim.figures):
            for key, executor in (("arm", figure.arm), ("versus", figure.versus)):
                try:
                    check_executor(executor) if executor is not None else None
                except ValueError as error:
                    yield f"claims.{name}.figures[{i}].{key}: {error}"
