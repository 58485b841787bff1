"""The typed form of claims.toml. Cross-checks between its tables, and with matrix.toml, are in `checks`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from jdkmatrix.config.model import Name
from jdkmatrix.records import ClaimRecord, ClaimSource, PublishedResult, Record


class Claim(PublishedResult):
    """`source`: a name of [sources]."""

    source: Name


class Registry(Record):
    """claims.toml as a whole."""

    schema_: Literal[1] = Field(alias="schema")
    sources: dict[Name, ClaimSource]
    claims: dict[Name, Claim]

    def records(self, ids: Iterable[str]) -> tuple[ClaimRecord, ...]:
        """What a run that is compared with these claims writes down; every id must be one of `claims`."""
        return tuple(self._record(claim_id, self.claims[claim_id]) for claim_id in ids)

    def _record(self, claim_id: str, claim: Claim) -> ClaimRecord:
        return ClaimRecord(
            id=claim_id,
            condition=claim.condition,
            published=claim.published,
            figures=claim.figures,
            note=claim.note,
            source=self.sources[claim.source],
        )
