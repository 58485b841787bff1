"""Cross-checks of published sources: what no single table can tell. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from jdkmatrix.claims.model import Claim, PublishedSource
from jdkmatrix.config.checks import unknown
from jdkmatrix.domain.executors import check_executor


def problems(sources: Mapping[str, PublishedSource], scenarios: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Every contradiction, with its file and the key that it is at. `sources`: by their files."""
    files: dict[str, str] = {}
    for file, source in sources.items():
        for name, claim in source.claims.items():
            yield from ((file, f"claims.{name}.{text}") for text in (*_arms(claim), *_scenarios(claim, scenarios)))
            if (other := files.setdefault(name, file)) != file:
                yield file, f"claims.{name}: stands in {other}, too"


def _arms(claim: Claim) -> Iterator[str]:
    for i, figure in enumerate(claim.figures):
        for key, executor in (("arm", figure.arm), ("versus", figure.versus)):
            try:
                check_executor(executor) if executor is not None else None
            except ValueError as error:
                yield f"figures[{i}].{key}: {error}"


def _scenarios(claim: Claim, names: Collection[str] | None) -> Iterator[str]:
    for i, name in enumerate(claim.scenarios):
        if names is not None and name not in names:
            yield f"scenarios[{i}]: {unknown(name, names)}"
