"""The one error that reaches the user as a single message, without a traceback."""

from __future__ import annotations

from collections.abc import Mapping


class MatrixError(Exception):
    """Bad input or a missing part: says where, what was found and what is allowed or what to do. `figures`: counts that
    say so, where there are any."""

    figures: Mapping[str, float] = {}
