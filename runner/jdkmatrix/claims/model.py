"""The typed form of what a published source says. Cross-checks, also with the scenarios, are in `load`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from jdkmatrix.claims.address import is_web_address
from jdkmatrix.config.model import Executor, Name
from jdkmatrix.domain.record import Record
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, Precondition, PublishedFigure, PublishedResult


class Source(ClaimSource):
    """A source that has a `url`, or says in `no_url` why none is known. Results hold what old registries left open."""

    @model_validator(mode="after")
    def _has_an_address_or_says_why_not(self) -> Self:
        if (self.url is None) == (self.no_url is None):
            raise ValueError("give either url, or no_url: why no address is known")
        if self.url is not None and not is_web_address(self.url):
            raise ValueError(f'url: found "{self.url}"; only https:// and http:// with a host are allowed')
        return self


class PrintedFigure(PublishedFigure):
    arm: Executor | None = None
    versus: Executor | None = None


class Claim(PublishedResult):
    """A claim that has figures, or says in `only` what there is instead. `scenarios`: those that repeat it."""

    figures: tuple[PrintedFigure, ...] = ()
    scenarios: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _says_why_it_lacks_something(self) -> Self:
        if not self.figures and self.only is None:
            raise ValueError('has no figures; say what there is instead: only = "graph" or only = "words"')
        told = [bool(self.checks), self.not_checked is not None, self.not_repeated is not None]
        if sum(told) != 1:
            raise ValueError("give one of these: checks; not_checked, why there are none; or not_repeated")
        if bool(self.scenarios) == (self.not_repeated is not None):
            raise ValueError("give either scenarios that repeat it, or not_repeated: why none does")
        return self


class PublishedSource(Record):
    """A folder of published. `requires`: preconditions that checks refer to by name."""

    source: Source
    requires: dict[Name, Precondition] = {}
    claims: Annotated[dict[Name, Claim], Field(min_length=1)]


class Registry(Record):
    """All published sources with their claims."""

    sources: tuple[PublishedSource, ...]

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by id, source by source."""
        return {name: claim for source in self.sources for name, claim in source.claims.items()}

    def records(self, ids: Iterable[str]) -> tuple[ClaimRecord, ...]:
        """Return the records of a run that is compared with these claims; every id must be one of `claims`."""
        made = {
            name: ClaimRecord.model_validate(
                {**claim.model_dump(exclude={"scenarios"}), "id": name, "source": one.source.model_dump()}
            )
            for one in self.sources
            for name, claim in one.claims.items()
        }
        return tuple(made[name] for name in ids)

    def repeated_by(self, scenario: str) -> tuple[str, ...]:
        """Return the ids of the claims that a scenario repeats."""
        return tuple(name for name, claim in self.claims.items() if scenario in claim.scenarios)

    def not_repeated(self) -> tuple[ClaimRecord, ...]:
        """Return the claims that say why no scenario repeats them."""
        return self.records(name for name, claim in self.claims.items() if claim.not_repeated is not None)
