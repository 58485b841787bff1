"""Cross-checks of claims.toml: what no single table can tell. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.claims.model import Registry
from jdkmatrix.config.checks import unknown
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.executors import check_executor


def problems(registry: Registry) -> list[str]:
    """Every contradiction, each with the key it is at; an empty list when there is none."""
    return [*_sources(registry), *_arms(registry)]


def against_scenarios(matrix: Matrix, registry: Registry) -> list[str]:
    """Every id that a scenario of matrix.toml names, each with its key, where claims.toml does not have it or says that
    no scenario repeats it."""
    return [
        f"scenarios.{name}.published[{i}]: {problem}"
        for name, scenario in matrix.scenarios.items()
        for i, claim_id in enumerate(scenario.published)
        if (problem := _cannot_be_named(claim_id, registry))
    ]


def _cannot_be_named(claim_id: str, registry: Registry) -> str | None:
    if claim_id not in registry.claims:
        return f"{unknown(claim_id, registry.claims)}; it is not in claims.toml"
    if registry.claims[claim_id].not_repeated is not None:
        return f'"{claim_id}" has a `not_repeated` in claims.toml, which says why no scenario repeats it; take one out'
    return None


def _sources(registry: Registry) -> Iterator[str]:
    for name, claim in registry.claims.items():
        if claim.source not in registry.sources:
            yield f"claims.{name}.source: {unknown(claim.source, registry.sources)}"
    used = {claim.source for claim in registry.claims.values()}
    for name in registry.sources:
        if name not in used and used <= set(registry.sources):  # else it may be the one that was meant
            yield f"sources.{name}: no claim is from it; take it out"


def _arms(registry: Registry) -> Iterator[str]:
    for name, claim in registry.claims.items():
        for i, figure in enumerate(claim.figures):
            for key, executor in (("arm", figure.arm), ("versus", figure.versus)):
                try:
                    check_executor(executor) if executor is not None else None
                except ValueError as error:
                    yield f"claims.{name}.figures[{i}].{key}: {error}"
