"""What the first start of an application of the user says."""

from __future__ import annotations

from jdkmatrix.run.try_own import after_words


def test_a_slow_start_is_said_to_make_every_fork_longer() -> None:
    assert after_words(4.25) == "4.2 s after its start"
    assert after_words(60.0) == "60.0 s after its start; each fork takes some 50 s more than estimated"
