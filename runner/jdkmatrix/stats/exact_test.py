"""R. A. Fisher's exact test of two arms and one yes-or-no question (The Design of Experiments, 1935, chapter II). Pure.

Given how many forks of both arms together say yes, every way of distributing these is equally likely if the arms do not
differ; the p-value is the share of the ways whose outcome is at most as likely as the one seen. G. A. Barnard's test
("A New Test for 2 × 2 Tables", Nature 156, 1945, p. 177) does not hold that sum fixed and finds more with few forks: of
five forks each, none against all is 0.002 there and 0.008 here. But only the conditional test tells beforehand what it
cannot find: with no yes at all, or with two forks each, no outcome is below 0.05. Such tests cannot raise a false
alarm, so the family of a page need not pay for them (R. E. Tarone, "A Modified Bonferroni Method for Discrete Data",
Biometrics 46(2), 1990, pp. 515-522), and most questions of most pages are of that kind: every fork said yes.

Blocks are not paired here: where forks of one block fare alike, the test finds less than it might, never more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from jdkmatrix.errors import MatrixError


def fisher_exact(yes: int, no: int, other_yes: int, other_no: int) -> float:
    """Return the two-sided p-value, exact in whole numbers until the last step; 1 if an arm or an answer is empty.

    Raises:
        MatrixError: a count is below 0.
    """
    ways = _ways(yes, no, other_yes, other_no)
    return sum(number for number in ways.values() if number <= ways[yes]) / sum(ways.values())


def least_p_value(yes: int, no: int, other_yes: int, other_no: int) -> float:
    """Return the smallest p-value that any outcome with these sums could have."""
    ways = _ways(yes, no, other_yes, other_no)
    least = min(ways.values())
    return sum(number for number in ways.values() if number == least) / sum(ways.values())


def _ways(yes: int, no: int, other_yes: int, other_no: int) -> Mapping[int, int]:
    """Return the number of ways in which the same sums can come about, by how many of the first arm say yes."""
    if min(yes, no, other_yes, other_no) < 0:
        raise MatrixError(f"forks are counted from 0 on, found {(yes, no, other_yes, other_no)}")
    first, other, every = yes + no, other_yes + other_no, yes + other_yes
    return {
        here: math.comb(first, here) * math.comb(other, every - here)
        for here in range(max(0, every - other), min(first, every) + 1)
    }
