"""Gates of a server that was not yet what it is to be measured as, or that something kept from its work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, Seen, Share, WindowContext
from jdkmatrix.method.load_gates import SaturationLimits
from jdkmatrix.records.reasons import BURN_OFF, Reason


class StarvedLimits(SaturationLimits):
    saturated_share_drop_max: Share = 0.05  # in no window may the server use less than in the best one by more


def _starved(seen: Seen, limits: StarvedLimits, context: WindowContext) -> Iterator[Reason]:
    """Where a closed loop saturates the server, each window must have kept it as busy as the best did: one in which the
    server idled was held up from outside, whatever else was seen."""
    best, drop_max = seen.best_cpu_share, limits.saturated_share_drop_max
    if seen.sut is None or best is None or best < limits.saturated_share_min:
        return
    share = seen.sut.cpu_share
    if share < best - drop_max:
        yield Reason(
            code="starved",
            message=f"the server used {share:.1%} of its CPUs, and {best:.1%} in another window of this fork",
            figures={"cpu_share": share, "best": best, "max_drop": drop_max},
        )


STARVED = Gate(
    codes=("starved",),
    name="A server left idle",
    limits=StarvedLimits,
    check=_starved,
    catches="A closed loop that saturated the server in one window and left it idle in another: something held it up "
    "that no other gate names.",
    cannot="A cause common to all windows of a fork.",
)


class CompilingLimits(Table):
    # The JIT, of the server's CPUs, in units of the promised precision: above it, code was still being compiled.
    jit_per_precision_max: Annotated[float, Field(gt=0)] = 1.0


def _compiling(seen: Seen, limits: CompilingLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.sut is None:
        return
    jit_share, jit_max = seen.sut.jit_share / context.sut_cpus, limits.jit_per_precision_max * context.precision
    if jit_share > jit_max:
        yield Reason(
            code="compiling",
            message=f"the JIT compiler used {jit_share:.1%} of the server's CPUs: the code was not its final one",
            figures={"jit_share": jit_share, "max": jit_max, "precision": context.precision},
        )


COMPILING = Gate(
    codes=("compiling",),
    name="Code still being compiled",
    limits=CompilingLimits,
    check=_compiling,
    catches="CPU time of the JIT compiler’s threads on the server’s CPUs. The limit scales with the promised "
    "precision.",
    cannot="Code that is slow because it was compiled badly, or that is never recompiled.",
)


class HeapLimits(Table):
    heap_growth_max: Annotated[float, Field(ge=0)] = 0.05  # of the committed heap over a window


def _heap_growing(seen: Seen, limits: HeapLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.sut is None or context.heap_growth:
        return
    growth, committed = seen.sut.heap_growth_bytes, seen.sut.heap_committed_bytes
    if growth is not None and committed is not None and growth > limits.heap_growth_max * (committed - growth):
        yield Reason(
            code="heap-growing",
            message=f"the committed heap grew by {growth / 2**20:,.0f} to {committed / 2**20:,.0f} MiB",
            figures={"growth_bytes": growth, "committed_bytes": committed, "max_share": limits.heap_growth_max},
        )


HEAP_GROWING = Gate(
    codes=("heap-growing",),
    name="A heap still being sized",
    limits=HeapLimits,
    check=_heap_growing,
    catches="Growth of the committed heap over a window.",
    cannot="Other ways in which a collector adapts.",
)


def _not_counted(seen: Seen, limits: Table, context: WindowContext) -> Iterator[Reason]:
    """Whether the requests that were sent are those that counted themselves; if not, nobody knows where they ran."""
    served = seen.served
    if served is not None and not served.begun_min <= served.begun <= served.begun_max:
        yield Reason(
            code="not-counted",
            message=f"{served.begun:,} requests began in the application, of {served.begun_min:,} to "
            f"{served.begun_max:,} that the driver has sent",
            figures={"begun": served.begun, "min": served.begun_min, "max": served.begun_max},
        )


NOT_COUNTED = Gate(
    codes=("not-counted",),
    name="Requests that were not counted",
    limits=Table,
    check=_not_counted,
    catches="Every request counts itself on the thread that runs it. The counts must match what the driver sent, "
    "except for requests in flight at either end. A request on a thread that is not the executor’s fails the fork.",
    cannot="Which of several threads of one kind ran a request.",
)


class BurnLimits(Table):
    burn_off_max: Annotated[float, Field(gt=0)] = 0.05  # of what the work should take at the CPU's speed of that moment


def _burn_off(seen: Seen, limits: BurnLimits, context: WindowContext) -> Iterator[Reason]:
    """Is a request's work not the one that was calibrated? The host's clock is accounted for: this is about the JVM."""
    check = seen.burn
    if check is None or check.expected_us is None:
        return
    off = check.best_us / check.expected_us - 1
    if abs(off) > limits.burn_off_max:
        yield Reason(
            code=BURN_OFF,
            message=(
                f"{check.asked_us:g} µs of work took {check.best_us:.1f} µs at best, where {check.expected_us:.1f} µs "
                "are expected at the CPU's speed of that moment: this JVM does other work than was calibrated"
            ),
            figures={"off": off, "max": limits.burn_off_max},
        )


BURN = Gate(
    codes=(BURN_OFF,),
    name="Work of the wrong size",
    limits=BurnLimits,
    check=_burn_off,
    catches="After the windows the warm server runs the work of a request by itself. The fastest run must take as long "
    "as was asked for, at the speed that the CPU has at that moment. This gate refuses the whole fork.",
    cannot="A clock that changed during the windows and changed back; the page shows its speed before each of them.",
)


def _astray(seen: Seen, limits: Table, context: WindowContext) -> Iterator[Reason]:
    if seen.sut is not None and seen.sut.astray_threads:
        yield Reason(
            code="affinity-changed",
            message=f"{seen.sut.astray_threads} threads of the server may run on other CPUs than its own",
            figures={"astray_threads": seen.sut.astray_threads, "max": 0},
        )


AFFINITY_CHANGED = Gate(
    codes=("affinity-changed",),
    name="Threads on other CPUs",
    limits=Table,
    check=_astray,
    catches="Any thread of the server that may run on other CPUs at the end of a window.",
    cannot="A thread that moved away and came back, unless a cgroup confines the threads.",
)
