"""Apply the command line's selection to matrix.toml."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.executors import aa_arm, is_aa_arm
from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.stopping import FEWEST_BLOCKS
from jdkmatrix.validation import unknown

_OF_PROTOCOL = ("blocks", "max_blocks", "precision", "windows", "window_s", "protocol", "rounds")


@dataclass(frozen=True)
class Options:
    """`only` narrows axes; `aa` replaces the profile's executors by one, twice; what is None stays as the profile
    says. `blocks` alone fixes their number; without `stop_early` the profile's are measured, and none is added. `seed`:
    of the order of forks; None: one is to be drawn. `given`: the options of the command line that say all this."""

    profile: str
    only: Mapping[str, Sequence[str | int]]
    blocks: int | None = None
    max_blocks: int | None = None
    precision: float | None = None
    stop_early: bool = True
    windows: int | None = None
    window_s: float | None = None
    protocol: Literal["interleaved", "separate"] | None = None
    rounds: int | None = None
    seed: int | None = None
    aa: str | None = None
    scenario: str | None = None  # instead of a profile
    scale: Literal["auto", "article", "small"] = "auto"
    given: tuple[str, ...] = ()

    def apply(self, matrix: Matrix) -> Matrix:
        """The matrix with the protocol of the profile, and of those measured before it, replaced where asked.

        Raises:
            MatrixError: an unknown profile, or a value that is on no axis.
        """
        if self.profile not in matrix.profiles:
            raise MatrixError(f"--profile: {unknown(self.profile, matrix.profiles)}")
        for axis, values in self.only.items():
            allowed = getattr(matrix.axes, axis)
            for value in values:
                if value not in allowed:
                    raise MatrixError(f"--{axis.replace('_', '-')}: {unknown(value, allowed)}")
        stages = {name: matrix.profiles[name] for name in matrix.stages(self.profile)}
        axes = matrix.axes
        if self.aa is not None:
            arms = self._arms(matrix)
            axes = axes.model_copy(update={"executor": tuple(dict.fromkeys((*axes.executor, *arms)))})
            for name, profile in stages.items():
                select = profile.select.model_copy(update={"executor": arms})
                stages[name] = profile.model_copy(update={"select": select, "include": ()})
        stages = {name: self._protocol(profile) for name, profile in stages.items()}
        if self.rounds is not None and all(profile.protocol == "separate" for profile in stages.values()):
            raise MatrixError("--rounds is for forks that take turns: --protocol interleaved")
        return matrix.model_copy(update={"axes": axes, "profiles": {**matrix.profiles, **stages}})

    def order_seed(self) -> int:
        """The seed that was asked for, or a new one."""
        return secrets.randbits(32) if self.seed is None else self.seed

    def _protocol(self, profile: Profile) -> Profile:
        asked = {name: getattr(self, name) for name in _OF_PROTOCOL}
        changed = {name: value for name, value in asked.items() if value is not None}
        fixed = {"max_blocks": None} if "blocks" in changed and "max_blocks" not in changed else {}
        if "rounds" in changed:
            fixed["max_rounds"] = None
        if "blocks" in changed:
            everywhere = tuple(rule.model_copy(update={"blocks": None}) for rule in profile.include)
            profile = profile.model_copy(update={"include": everywhere})
        if not self.stop_early:
            if self.max_blocks is not None or self.precision is not None:
                raise MatrixError("--no-stopping adds no blocks, so --max-blocks and --precision have no meaning")
            fixed["max_blocks"] = None
        profile = profile.model_copy(update=fixed | changed)
        self._check_most(profile)
        if profile.max_blocks is None and self.precision is not None:
            raise MatrixError("--precision says when to stop adding blocks; --max-blocks must say how many at most")
        _ = profile.stopping
        return profile

    def _check_most(self, profile: Profile) -> None:
        """Raises: MatrixError, with the option to give instead."""
        least = max(profile.blocks, FEWEST_BLOCKS)
        if self.max_blocks is not None and self.max_blocks < least:
            raise MatrixError(
                f"--max-blocks {self.max_blocks}: blocks are added after the first {least}, so at least {least} "
                f"are needed; --blocks {self.max_blocks} alone measures exactly {self.max_blocks}"
            )

    def _arms(self, matrix: Matrix) -> tuple[str, str]:
        allowed = [executor for executor in matrix.axes.executor if not is_aa_arm(executor)]
        if "executor" in self.only:
            raise MatrixError("--aa measures one executor twice, so --executor has nothing to choose from")
        if self.aa not in allowed:
            raise MatrixError(f"--aa: {unknown(str(self.aa), allowed)}")
        return self.aa, aa_arm(self.aa)
