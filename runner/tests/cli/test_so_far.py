"""What is said after each block."""

from __future__ import annotations

import pytest

from jdkmatrix.cli.so_far import so_far
from jdkmatrix.records.reasons import Status
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, key
from tests.support.served_campaign import measured


def arm(executor: str, *throughputs: float | None) -> CellRecord:
    """None: the fork of that block failed."""
    forks = tuple(
        measured(number, rate or 1.0, Status.OK if rate else Status.FAILED)
        for number, rate in enumerate(throughputs, start=1)
    )
    return cell(key(executor), forks)


POOL = arm("liberty", 1000, 1000, 1000)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ([arm("liberty", 1000), arm("virtual", 630)], "is 0.63 × that with liberty (1 block, no interval yet)"),
        ([POOL, arm("liberty-aa", 999, 998, 1003), arm("virtual", 600, 620, 640)], "with virtual is 0.620 × that"),
        ([POOL, arm("virtual", 600, 620, 640)], "(95 %: 0.572–0.672, 3 blocks); to ± 5 % about 2 more blocks, 4 min"),
        ([POOL, arm("virtual", 620, 620, 621)], "3 blocks); known to ± 0."),
        ([POOL, arm("liberty-aa", 999, 998, 1003)], "throughput with liberty-aa is 1.000 × that with liberty"),
        ([POOL, arm("virtual", 100, 2000, 300)], "to ± 5 % more than 200 blocks"),
    ],
)
def test_it_says_how_the_ratio_stands_and_what_it_would_take(group: list[CellRecord], said: str) -> None:
    assert said in (so_far(group, 0.05, 120, sequential=False) or "")


NEAR = arm("virtual", 1020, 1055, 985, 1060, 1000)  # 1.024 (0.983 to 1.066): known to ± 4 %, which tells nothing


@pytest.mark.parametrize(
    ("virtual", "sequential", "said"),
    [
        (NEAR, False, "(95 %: 0.983–1.065, 5 blocks); to ± 2.5 % about 5 more blocks"),
        (NEAR, True, "(95 %: 0.976–1.073, 5 blocks); to ± 2.5 % about "),  # as wide as the page has it
    ],
)
def test_near_one_it_must_tell_the_ratio_from_one_or_from_what_matters(
    virtual: CellRecord, sequential: bool, said: str
) -> None:
    group = [arm("liberty", *[1000] * 5), virtual]
    assert said in (so_far(group, 0.05, 120, sequential=sequential) or "")


AGAIN = arm("liberty-aa", 999, 998, 1003)


@pytest.mark.parametrize(
    "group",
    [
        [POOL],
        [POOL, arm("virtual", 600, None, 640)],
        [POOL, arm("virtual", None)],
        [POOL, AGAIN, arm("virtual", 600, None, 640)],
    ],
)
def test_without_a_fair_pair_nothing_is_said(group: list[CellRecord]) -> None:
    assert so_far(group, 0.05, 120, sequential=False) is None
