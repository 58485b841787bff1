"""What the command line asks for, applied to matrix.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.config.checks import unknown
from jdkmatrix.config.executors import again, is_again
from jdkmatrix.config.model import Matrix
from jdkmatrix.errors import MatrixError


@dataclass(frozen=True)
class Options:
    """`only` narrows axes; `aa` replaces the profile's executors by one, twice; what is None stays as the profile
    says."""

    profile: str
    only: Mapping[str, Sequence[str | int]]
    blocks: int | None
    windows: int | None
    window_s: float | None
    seed: int | None
    aa: str | None = None

    def apply(self, matrix: Matrix) -> Matrix:
        """The matrix with the profile's protocol and the seed replaced where asked.

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
        profile = matrix.profiles[self.profile]
        axes = matrix.axes
        if self.aa is not None:
            arms = self._arms(matrix)
            axes = axes.model_copy(update={"executor": tuple(dict.fromkeys((*axes.executor, *arms)))})
            select = profile.select.model_copy(update={"executor": arms})
            profile = profile.model_copy(update={"select": select, "include": ()})
        protocol = {"blocks": self.blocks, "windows": self.windows, "window_s": self.window_s}
        changed = {name: value for name, value in protocol.items() if value is not None}
        profiles = {**matrix.profiles, self.profile: profile.model_copy(update=changed)}
        seed = matrix.seed if self.seed is None else self.seed
        return matrix.model_copy(update={"axes": axes, "profiles": profiles, "seed": seed})

    def _arms(self, matrix: Matrix) -> tuple[str, str]:
        allowed = [executor for executor in matrix.axes.executor if not is_again(executor)]
        if "executor" in self.only:
            raise MatrixError("--aa measures one executor twice, so that --executor has nothing to choose from")
        if self.aa not in allowed:
            raise MatrixError(f"--aa: {unknown(str(self.aa), allowed)}")
        return self.aa, again(self.aa)
