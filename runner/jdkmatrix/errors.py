"""The one error that reaches the user as a single message, without a traceback."""

from __future__ import annotations


class MatrixError(Exception):
    """Bad input or a missing part: says where, what was found and what is allowed or what to do."""
