"""The rule for when blocks are enough, and what it saves. Coverage at the stop is in test_coverage.py."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.windows import Warmup
from jdkmatrix.stats import protocols
from jdkmatrix.stats.intervals import student_t
from jdkmatrix.stats.protocols import MeasuredFork, MeasuredWindow, Protocols, measured_fork
from jdkmatrix.stats.ratios import least_error, of_logs
from jdkmatrix.stats.rounds import Components
from jdkmatrix.stats.stopping import Arms, StoppingRules, Why, after_block, tells
from jdkmatrix.stats.verdicts import Verdict, judged
from tests.support.builders import fork, fork_with, load_result, reasons, warmup_window, window
from tests.support.records import altered

RULES = StoppingRules(precision=0.02, min_blocks=5, max_blocks=10)


def comparison(log_ratios: list[float]) -> Arms:
    numerators = {block: 1000 * math.exp(log) for block, log in enumerate(log_ratios, 1)}
    return Arms(numerators, dict.fromkeys(numerators, 1000.0))


QUIET = [0.100, 0.101, 0.099, 0.100, 0.101]
NOISY = [0.1, 0.3, -0.2, 0.0, 0.4]


def test_every_comparison_must_be_precise() -> None:
    one = after_block(5, {"a": comparison(QUIET)}, RULES)
    expected = student_t(0.97, 5) * statistics.stdev(QUIET) / math.sqrt(5)
    assert one.why is Why.PRECISE and (found := one.ratios["a"])
    assert found.half_width_log == pytest.approx(expected)
    both = after_block(5, {"a": comparison(QUIET), "b": comparison(NOISY)}, RULES)
    assert (both.stop, both.why) == (False, Why.NOT_PRECISE)
    narrow, wide = (ratio.half_width_log for ratio in both.ratios.values() if ratio)
    assert narrow and wide and narrow < math.log(1.02) < wide


def test_the_least_and_the_most() -> None:
    early = after_block(4, {"a": comparison(QUIET[:4])}, RULES)
    assert (early.stop, early.why) == (False, Why.TOO_FEW)
    assert after_block(5, {"a": comparison(QUIET)}, RULES).stop
    last = after_block(10, {"a": comparison(NOISY * 2)}, RULES)
    assert (last.stop, last.why) == (True, Why.MOST)
    assert after_block(10, {"a": comparison(QUIET * 2)}, RULES).why is Why.PRECISE


def test_near_one_as_wide_as_the_precision_tells_nothing() -> None:
    """Such an interval would end as "cannot tell": it leaves out neither 1 nor what lies beyond the precision."""
    scatter = [-0.012, -0.006, 0.0, 0.006, 0.012]  # known to ± 1.4 %
    for shift, told in ((0.0, True), (0.008, False), (0.016, False), (0.03, True)):
        decision = after_block(5, {"a": comparison([one + shift for one in scatter])}, RULES)
        assert decision.stop is told, shift


@given(st.floats(-0.3, 0.3), st.floats(0.0001, 0.2), st.floats(0.001, 0.3))
def test_what_tells_is_no_wider_than_the_precision_and_never_cannot_tell(log: float, half: float, share: float) -> None:
    ratio = of_logs(log, (log - half, log + half), 5, 0.01 if half < abs(log) else 0.5)
    if tells(ratio, share):
        assert half <= math.log1p(share) + 1e-9
        assert judged(ratio, ratio.p_value, 1, relevant=share + 1e-9).verdict is not Verdict.CANNOT_TELL
    assert tells(ratio, share) or half > math.log1p(share) / 2 - 1e-9, "half of it always suffices"


def test_blocks_that_were_lost_do_not_count_for_a_comparison() -> None:
    whole = comparison(QUIET)
    lossy = {block: figure for block, figure in whole.above.items() if block > 2}
    decision = after_block(5, {"a": whole._replace(above=lossy)}, RULES)
    assert (decision.stop, decision.why) == (False, Why.NOT_PRECISE)


def test_what_is_read_in_steps_is_not_precise_because_it_does_not_scatter() -> None:
    above, below = (dict.fromkeys(range(1, 6), value) for value in (31.0, 30.0))
    assert after_block(5, {"a": Arms(above, below)}, RULES).why is Why.PRECISE
    finer = after_block(5, {"a": Arms(above, below, least=0.007)}, RULES)
    assert (finer.stop, finer.why) == (False, Why.NOT_PRECISE), "more blocks know it as well as it is read"
    coarse = Arms(above, below, least=least_error(1 / 31, 1 / 30))
    hopeless = after_block(5, {"a": coarse, "b": comparison(QUIET)}, RULES)
    assert (hopeless.stop, hopeless.why) == (True, Why.NO_FINER), "none would"
    assert not after_block(5, {"a": coarse, "b": comparison(NOISY)}, RULES).stop


def test_an_arm_that_never_ran_holds_nobody_up() -> None:
    dead = Arms({}, {1: 1.0, 2: 1.0})
    assert not after_block(4, {"a": dead}, RULES).stop
    decision = after_block(5, {"a": dead, "b": comparison(QUIET)}, RULES)
    assert decision.stop
    assert decision.ratios["a"] is None
    assert after_block(5, {}, RULES).stop, "nothing is compared"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"precision": 0.0}, "precision is a share above 0"),
        ({"precision": math.nan}, "precision is a share above 0"),
        ({"min_blocks": 4}, "5 <= blocks <= max_blocks"),
        ({"min_blocks": 9, "max_blocks": 8}, "5 <= blocks <= max_blocks"),
    ],
)
def test_impossible_rules(rules: dict[str, float], words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        StoppingRules(**rules)  # type: ignore[arg-type]


def compared(*, blocks: int, between: float, inside: float, windows: int = 2, window_s: float = 10.0) -> Protocols:
    """Compare protocols; standard deviations of logarithms: `between` forks, and `inside` them of a window of 10 s."""
    source = random.Random(1)

    def one(level: float) -> MeasuredFork:
        level *= math.exp(source.gauss(0, between))
        spread = inside * math.sqrt(10 / window_s)
        seen = tuple(MeasuredWindow(window_s, level * math.exp(source.gauss(0, spread))) for _ in range(windows))
        return MeasuredFork(started_s=4.0, warm_s=30.0, spent_s=windows * window_s, windows=seen)

    arms = [{block: one(level) for block in range(1, blocks + 1)} for level in (33_000.0, 17_000.0)]
    return protocols.compare_protocols(arms[0], arms[1], math.log1p(0.02), 5)


def test_where_forks_differ_long_forks_are_a_waste() -> None:
    found = compared(blocks=200, between=0.03, inside=0.005)
    assert found.between_forks_log == pytest.approx(0.03 * math.sqrt(2), rel=0.15)
    assert found.fixed.block_s == pytest.approx(2 * (4 + 10 + 180))
    assert found.adaptive.block_s == pytest.approx(2 * (30 + 20))
    assert found.adaptive.blocks == pytest.approx(found.fixed.blocks * 1.2, rel=0.2), "the level of 97 % has a price"
    assert found.adaptive.total_s < 0.4 * found.fixed.total_s


def test_where_only_windows_differ_long_forks_pay() -> None:
    found = compared(blocks=200, between=0.0, inside=0.2)
    assert found.inside_forks_log == pytest.approx(0.2 * math.sqrt(2 / 2), rel=0.15), "two windows, two arms"
    assert found.fixed.blocks < found.adaptive.blocks / 5
    assert found.adaptive.total_s > 0.5 * found.fixed.total_s


def test_blocks_needed_reach_the_precision_and_one_less_does_not() -> None:
    found = compared(blocks=50, between=0.02, inside=0.02)
    target = math.log(1.02)

    def half(blocks: int, confidence: float, inside: float) -> float:
        spread = math.hypot(found.between_forks_log, inside)
        return student_t(confidence, blocks) * spread / math.sqrt(blocks)

    adaptive, fixed = found.adaptive.blocks, found.fixed.blocks
    assert half(adaptive, 0.97, found.inside_forks_log) <= target < half(adaptive - 1, 0.97, found.inside_forks_log)
    longer = found.inside_forks_log * math.sqrt(20 / 180)
    assert half(fixed, 0.95, longer) <= target < half(fixed - 1, 0.95, longer)


def test_without_noise_both_run_their_least() -> None:
    found = compared(blocks=3, between=0.0, inside=0.0)
    assert (found.adaptive.blocks, found.fixed.blocks) == (5, 2)
    assert found.adaptive.total_s == pytest.approx(5 * 100)
    assert found.fixed.total_s == pytest.approx(2 * 388)


def test_windows_of_other_lengths_tell_the_same() -> None:
    short = compared(blocks=300, between=0.02, inside=0.05, windows=20, window_s=1.0)
    long = compared(blocks=300, between=0.02, inside=0.05, windows=2, window_s=10.0)
    assert short.between_forks_log == pytest.approx(long.between_forks_log, rel=0.25)
    assert short.inside_forks_log == pytest.approx(long.inside_forks_log, rel=0.1)


def test_too_little_was_recorded() -> None:
    with pytest.raises(MatrixError, match="found 1 blocks and 2 windows"):
        compared(blocks=1, between=0.1, inside=0.1)
    with pytest.raises(MatrixError, match="found 3 blocks and 1 windows"):
        compared(blocks=3, between=0.1, inside=0.1, windows=1)
    with pytest.raises(MatrixError, match="a duration and a figure above 0"):
        MeasuredWindow(10.0, 0.0)


def test_a_fork_that_took_turns_is_charged_with_its_own_time() -> None:
    """The fork was warm long before the others were, and waited for their turns in every round."""
    windows = tuple(window(i, load_result(throughput_rps=1000.0), t_s=100.0 + 4 * i) for i in range(10))
    rewarm = warmup_window(90.0, 100.0).model_copy(update={"stage": "settling", "duration_s": 3.0})
    warmup = Warmup(
        windows=(warmup_window(20.0, 100.0),), settling=(rewarm,), steady=True, jit_cpus=(), duration_s=17.0
    )
    source = altered(fork(), {"windows": windows, "warmup": warmup}).model_copy(update={"together": (1, 2, 3)})
    found = measured_fork(source)
    assert (found.warm_s, found.spent_s) == (23.0, pytest.approx(37 / 3))
    short = measured_fork(altered(source, {"warmup": warmup.model_copy(update={"windows": (), "settling": ()})}))
    assert short.warm_s is None, "a record that is kept for long has no windows of its warm-up"
    parts = Components(between=1e-4, inside=1e-4, forks=2, rounds=20)
    for arm in ([found, short], [found]):
        found_s = protocols.cost_in_turns(arm, arm, parts, math.log1p(0.02), 5).adaptive.block_s
        assert found_s == pytest.approx(2 * (23 + 37 / 3))
    with pytest.raises(MatrixError, match="when they were warm"):
        protocols.cost_in_turns([found], [short], parts, math.log1p(0.02), 5)


def test_a_fork_as_recorded() -> None:
    loads = (load_result(throughput_rps=rps) for rps in (1000.0, 1100.0))
    source = fork_with(*(window(i, load, t_s=20.0 + i) for i, load in enumerate(loads)))
    found = measured_fork(source)
    assert found.started_s == source.first_response_s
    assert (found.warm_s, found.spent_s) == (20.0, 2.0)
    assert [w.figure for w in found.windows] == [w.load.throughput_rps for w in source.windows]
    spoilt = tuple(one.model_copy(update={"reasons": reasons("steal")}) for one in source.windows)
    with pytest.raises(MatrixError, match="no valid window"):
        measured_fork(altered(source, {"windows": spoilt}))
