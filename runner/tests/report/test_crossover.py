"""From which delay on is one executor ahead?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.run_page.answers import Crossover, crossover_sentence
from jdkmatrix.report.words.sentences import PairFinding

BETTER, WORSE, SAME = PairFinding.BETTER, PairFinding.WORSE, PairFinding.NO_DIFFERENCE_SEEN


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ({0: WORSE, 2000: SAME, 20_000: BETTER, 1_000_000: BETTER},
         "virtual is ahead from a delay of 20 ms on; it is not at 0 ms and 2 ms; liberty is ahead at 0 ms; "
         "nothing is shown at 2 ms. Measured: 0 ms, 2 ms, 20 ms and 1 s."),
        ({0: BETTER, 2000: BETTER}, "virtual is ahead at every delay that was measured. Measured: 0 ms and 2 ms."),
        ({0: WORSE, 2000: WORSE},
         "virtual is not ahead at any delay that was measured; liberty is ahead at 0 ms and 2 ms. "
         "Measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: BETTER, 20_000: WORSE},
         "virtual is ahead at 2 ms, but not at every longer delay; liberty is ahead at 20 ms; nothing is shown at "
         "0 ms. Measured: 0 ms, 2 ms and 20 ms."),
        ({0: SAME, 2000: BETTER, 20_000: None, 200_000: BETTER},
         "virtual is ahead from a delay of 200 ms on; it is not at 0 ms, 2 ms and 20 ms; nothing is shown at "
         "0 ms; no verdict at 20 ms. Measured: 0 ms, 2 ms, 20 ms and 200 ms."),
    ],
)  # fmt: skip
def test_what_the_page_says(findings: dict[int, PairFinding | None], expected: str) -> None:
    assert crossover_sentence(Crossover(findings), "virtual", "liberty") == expected


@given(st.dictionaries(st.integers(0, 2_000_000), st.sampled_from([*PairFinding, None]), min_size=1))
def test_it_is_ahead_from_there_on_and_not_just_before(findings: dict[int, PairFinding | None]) -> None:
    found = Crossover(findings)
    since = found.ahead_from_us
    later = [wait_us for wait_us in findings if since is not None and wait_us >= since]
    assert all(findings[wait_us] is BETTER for wait_us in later)
    assert (since is None) == (findings[max(findings)] is not BETTER)
    before = [wait_us for wait_us in findings if since is not None and wait_us < since]
    assert not before or findings[max(before)] is not BETTER
