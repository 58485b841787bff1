"""Plain words for figures, loads and states. Pure; every sentence that interprets a figure stands here."""

from __future__ import annotations

from enum import Enum

from jdkmatrix.records import Load, PinningMethod, SaturateLoad, Status
from jdkmatrix.report.cellstats import Metric
from jdkmatrix.report.numbers import digits, plural, ratio_interval, ratio_value
from jdkmatrix.stats import Ratio


class Finding(Enum):
    """What a ratio lets us say about the executor above the line."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE_SEEN = "no difference seen"
    ONE_BLOCK = "one block, no interval"


def finding(ratio: Ratio, metric: Metric) -> Finding:
    """An interval that contains 1 never says "the same": it says that this run saw no difference."""
    if ratio.ci_low is None or ratio.ci_high is None:
        return Finding.ONE_BLOCK
    if ratio.ci_low <= 1 <= ratio.ci_high:
        return Finding.NO_DIFFERENCE_SEEN
    return Finding.BETTER if (ratio.value > 1) == metric.more_is_better else Finding.WORSE


def change(ratio: Ratio, numerator: str, denominator: str) -> str:
    """ "18 % lower with A than with B"; from twice on, a factor reads better than per cent."""
    if ratio.value >= 2:
        return f"{digits(ratio.value, 2)} times as high with {numerator} as with {denominator}"
    per_cent = abs(ratio.value - 1) * 100
    amount = f"{per_cent:.0f} %" if per_cent >= 9.5 else f"{per_cent:.1f} %"
    return f"{amount} {'higher' if ratio.value > 1 else 'lower'} with {numerator} than with {denominator}"


def load_words(load: Load) -> str:
    connections = plural(load.connections, "connection")
    if isinstance(load, SaturateLoad):
        return f"closed loop: {connections}, each sends its next request as soon as it has the answer"
    return f"open loop: {digits(load.rate_rps, 4)} requests/s on a fixed schedule over {connections}"


def work_words(burn_us: int) -> str:
    """The axis `burn_us`, as a reader calls it."""
    return f"{burn_us:,} µs"


def condition(cpus: int, burn_us: int) -> str:
    work = f"{work_words(burn_us)} of work" if burn_us else "no added work"
    return f"{plural(cpus, 'CPU')}, {work} per request"


def pinned_words(method: PinningMethod, why_not_cgroup: str | None) -> str:
    return f"by {method}, not by cgroup cpuset: {why_not_cgroup}" if why_not_cgroup else f"by {method}"


STATUS_WORDS: dict[Status | None, str] = {
    Status.OK: "ok",
    Status.NOT_STEADY: "not steady",
    Status.INVALID: "invalid",
    Status.FAILED: "failed",
    None: "not measured",
}

# Also the classes of the style sheet.
STATUS_CLASS: dict[Status | None, str] = {
    Status.OK: "ok",
    Status.NOT_STEADY: "not-steady",
    Status.INVALID: "invalid",
    Status.FAILED: "failed",
    None: "none",
}

STATUS_MEANING: dict[Status | None, str] = {
    Status.OK: "measured in the steady state",
    Status.NOT_STEADY: "measured, but the cap on the warm-up came before the steady state: read with care",
    Status.INVALID: "measured, but not to be trusted: in no figure and no ratio",
    Status.FAILED: "nothing was measured",
    None: "planned, and no fork of it has run",
}


def ratio_sentence(metric: Metric, ratio: Ratio, numerator: str, denominator: str) -> str:
    """One ratio, its interval and its blocks."""
    interval = ratio_interval(ratio)
    basis = f"ratio {ratio_value(ratio)}, {plural(ratio.blocks, 'block')}"
    if interval:
        basis = f"ratio {ratio_value(ratio)}, 95 % interval {interval}, {plural(ratio.blocks, 'block')}"
    match finding(ratio, metric):
        case Finding.NO_DIFFERENCE_SEEN:
            words = f"no difference seen between {numerator} and {denominator}"
        case Finding.ONE_BLOCK:
            words = f"{change(ratio, numerator, denominator)} in the only block: a hint, no more"
        case _:
            words = change(ratio, numerator, denominator)
    return f"{words} ({basis})."
