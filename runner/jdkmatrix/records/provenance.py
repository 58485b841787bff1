"""The origin of the parts of a run, and what pins them."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.domain.record import Record


class FlakeInput(Record):
    """One input of the flake; "self" is the source. `locked`: true if it is the one of flake.lock.

    `nar_hash`: "sha256-…", of the unpacked tree; None if Nix has not computed it.
    """

    name: str
    rev: str | None
    nar_hash: str | None
    locked: bool


class PartOrigin(Record):
    """`nix`: built by the flake; `hash`: fetched from elsewhere and verified by our hash; `host`: already there."""

    part: str
    origin: Literal["nix", "hash", "host"]
    detail: str


class Provenance(Record):
    """`inputs`: empty if the run did not come from the flake."""

    inputs: tuple[FlakeInput, ...]
    parts: tuple[PartOrigin, ...]

    def not_pinned(self, *, source_dirty: bool | None) -> tuple[str, ...]:
        """Return, in words, the parts that another machine would not get again; empty: fully pinned, except for kernel
        and hardware."""
        return (
            *(f"{part.part}: {part.detail}" for part in self.parts if part.origin != "nix"),
            *(f"{one.name} is not the one in flake.lock" for one in self.inputs if not one.locked),
            *(("the source has uncommitted changes",) if source_dirty else ()),
            *(("the commit of the source is not known",) if source_dirty is None else ()),
        )
