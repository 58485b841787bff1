"""Estimates for checks of claims, and why there are none."""

from __future__ import annotations

from typing import Any

import pytest

from jdkmatrix.records.claims import ClaimCheck
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.claims.estimates import Results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import key_of
from tests.support.outcome_runs import STEAL, windows_of, with_outcomes, without_driver
from tests.support.records import with_forks_of
from tests.support.served_runs import Shape, synthetic_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """Five forks of 6 windows in each arm. Its page compares both others with liberty."""
    shape = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), blocks=5, windows=6)
    return synthetic_run(tmp_path_factory.mktemp("run"), shape)


def estimate(loaded: LoadedRun, versus: str, **changes: Any) -> Estimate | str:
    """Of the throughput of virtual threads."""
    judged = JudgedRun(loaded)
    check = ClaimCheck(says="s", metric="throughput", arm="virtual", versus=versus, low=0.5, inference="i", **changes)
    return Results(judged.run, judged.cells, judged.experiments, judged.refusals).estimate(check, key_of(loaded))


def stolen(fork: Fork) -> Fork:
    """Two of its windows."""
    return windows_of(fork, lambda one: one.model_copy(update={"reasons": (STEAL,)}) if one.index <= 2 else one)


def test_refusals_count_between_arms_that_the_page_does_not_compare(run: LoadedRun) -> None:
    found = estimate(with_forks_of(run, "platform", stolen), "platform")
    assert isinstance(found, str)
    assert "gates refused 0 of 30 windows of virtual and 10 of 30 of platform (steal 0 and 10)" in found
    assert isinstance(estimate(run, "platform"), Estimate)


@pytest.mark.parametrize("versus", ["liberty", "platform"])
def test_a_difference_is_of_arms_that_lost_as_many_forks(run: LoadedRun, versus: str) -> None:
    """As a ratio is."""
    one_arm = with_outcomes(run, {"virtual": {1: without_driver}})
    for difference in (False, True):
        why = estimate(one_arm, versus, difference=difference)
        assert why == "the two lost different numbers of forks, so that they are not compared"
    both = estimate(with_outcomes(one_arm, {versus: {2: without_driver}}), versus, difference=True)
    assert isinstance(both, Estimate) and both.blocks == 3
