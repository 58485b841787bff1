"""All gates, and the verdicts that follow: why a window, or a whole fork, must not be trusted.

Gates refuse what the host or the measurement did wrong: it says nothing about the server and is dropped. What the
server failed to do (`shortfalls`) is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.loads import Load
from jdkmatrix.method.gate import DEFAULT_CONTEXT, Observation, Share, WindowContext
from jdkmatrix.method.host_gates import HOST_GATES, HostLimits
from jdkmatrix.method.load_gates import LOAD_GATES, STARVED, LoadLimits
from jdkmatrix.method.server_gates import BURN, SERVER_GATES, ServerLimits
from jdkmatrix.method.shortfalls import ResultLimits
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Warmup, Window

GATES = (*HOST_GATES, *LOAD_GATES, *SERVER_GATES)


class Thresholds(HostLimits, LoadLimits, ServerLimits, ResultLimits):
    """The limits of all gates."""

    valid_windows_min: Share = 0.5  # of a fork's windows; with fewer valid ones, the fork is invalid


def refusals(seen: Observation, limits: Thresholds, context: WindowContext = DEFAULT_CONTEXT) -> tuple[Reason, ...]:
    """Return the reasons of all gates that found a fault of the host or of the measurement; empty means valid."""
    return tuple(reason for gate in GATES for reason in gate.check(seen, limits, context))


def beside_peers(windows: Sequence[Window], limits: Thresholds) -> tuple[Window, ...]:
    """Judge each window of a closed-loop fork against the valid ones under the same load, since fewer connections may
    keep a server less busy, and what spoilt a window, such as a compiler at work, busier. A CPU quota is refilled ten
    times a second: readings that span one more refill show more than all of it, which must not become a best that other
    windows fall short of."""
    best: dict[Load, float] = {}
    for window in (one for one in windows if one.valid):
        best[window.load.load] = max(min(window.sut.cpu_share, 1.0), best.get(window.load.load, 0.0))

    def judged(window: Window) -> Window:
        seen = Observation(window.load, window.sut, best_cpu_share=best.get(window.load.load))
        found = tuple(STARVED.check(seen, limits, DEFAULT_CONTEXT))
        return window.model_copy(update={"reasons": (*window.reasons, *found)}) if found else window

    return tuple(map(judged, windows))


def burn_off(check: BurnCheck | None, limits: Thresholds) -> Reason | None:
    """Return why a request's work is not what was calibrated; None if it is."""
    return next(BURN.check(Observation(burn=check), limits, DEFAULT_CONTEXT), None)


def measured_status(windows: Sequence[Window], warmup: Warmup | None, limits: Thresholds) -> Status:
    """Return the status of a fork that ran to its end."""
    valid = sum(window.valid for window in windows)
    if valid == 0 or valid < limits.valid_windows_min * len(windows):
        return Status.INVALID
    return Status.NOT_STEADY if warmup is not None and not warmup.steady else Status.OK


def too_few_valid(windows: Sequence[Window]) -> Reason:
    """Return the reason why a fork is invalid."""
    valid = sum(window.valid for window in windows)
    which = f"only {valid} of {len(windows)} windows are valid" if valid else "every window is invalid"
    codes = sorted({reason.code for window in windows for reason in window.reasons})
    return Reason(
        code="too-few-valid-windows",
        message=f"{which}: {', '.join(codes)}",
        figures={"valid": valid, "of": len(windows)},
    )
