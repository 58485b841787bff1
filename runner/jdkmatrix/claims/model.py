"""The typed form of claims.toml. Cross-checks between its tables, and with matrix.toml, are in `checks`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.claims.address import is_web_address
from jdkmatrix.config.model import Name
from jdkmatrix.domain.record import Record
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedResult


class Source(ClaimSource):
    """Has its `url`, or says in `no_url` why none is known. Results hold what older registries left open."""

    @model_validator(mode="after")
    def _has_an_address_or_says_why_not(self) -> Self:
        if (self.url is None) == (self.no_url is None):
            raise ValueError("give either url, or no_url: why no address is known")
        if self.url is not None and not is_web_address(self.url):
            raise ValueError(f'url: found "{self.url}"; only https:// and http:// with a host are allowed')
        return self


class Claim(PublishedResult):
    """`source`: a name of [sources]. Has figures, or says in `only` what there is instead."""

    source: Name

    @model_validator(mode="after")
    def _says_what_there_is_without_figures(self) -> Self:
        if not self.figures and self.only is None:
            raise ValueError('has no figures; say what there is instead: only = "graph" or only = "words"')
        return self

    @model_validator(mode="after")
    def _is_checked_or_says_why_not(self) -> Self:
        told = [bool(self.checks), self.not_checked is not None, self.not_repeated is not None]
        if sum(told) != 1:
            raise ValueError("give one of these: checks; not_checked, why there are none; or not_repeated")
        return self


class Registry(Record):
    """claims.toml as a whole."""

    schema_: Literal[1] = Field(alias="schema")
    sources: dict[Name, Source]
    claims: dict[Name, Claim]

    def records(self, ids: Iterable[str]) -> tuple[ClaimRecord, ...]:
        """What a run that is compared with these claims writes down; every id must be one of `claims`."""
        return tuple(self._record(claim_id, self.claims[claim_id]) for claim_id in ids)

    def not_repeated(self) -> tuple[ClaimRecord, ...]:
        """The claims that say why no scenario repeats them."""
        return self.records(claim_id for claim_id, claim in self.claims.items() if claim.not_repeated is not None)

    def _record(self, claim_id: str, claim: Claim) -> ClaimRecord:
        source = self.sources[claim.source].model_dump()
        return ClaimRecord.model_validate({**claim.model_dump(), "id": claim_id, "source": source})
