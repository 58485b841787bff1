"""The message about a name that is not known."""

from __future__ import annotations

import pytest

from jdkmatrix.validation import unknown


@pytest.mark.parametrize(
    ("found", "allowed", "told"),
    [
        ("x", ["quick", "full", "quick"], '"x" is not known (allowed: quick, full)'),
        ("quik", ["quick", "full"], '"quik" is not known; did you mean "quick"? (allowed: quick, full)'),
        ("pool-7", ["pool-1", "pool-8"], '"pool-7" is not known; did you mean "pool-8"? (allowed: pool-1, pool-8)'),
    ],
)
def test_a_name_that_is_not_known(found: str, allowed: list[str], told: str) -> None:
    assert unknown(found, allowed) == told
