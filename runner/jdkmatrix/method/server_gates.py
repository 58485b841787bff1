"""Gates for a server that was not in the state to be measured: not yet compiled, say, or with threads elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, NotNegative, Observation, Positive, WindowContext, over
from jdkmatrix.records.reasons import BURN_OFF, Reason


class ServerLimits(Table):
    # The JIT's share of the server's CPUs, in units of the promised precision: above it, code was still being compiled.
    jit_per_precision_max: Positive = 1.0
    heap_growth_max: NotNegative = 0.05  # of the committed heap over a window; above it, it was still being sized
    burn_off_max: Positive = 0.05  # of the time that a request's work should take at the CPU's speed at that moment


def _compiling(seen: Observation, limits: ServerLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.sut is None:
        return
    jit_share, jit_max = seen.sut.jit_share / context.sut_cpus, limits.jit_per_precision_max * context.precision
    if jit_share > jit_max:
        yield Reason(
            code="compiling",
            message=f"the JIT compiler used {jit_share:.1%} of the server's CPUs: code was still being compiled",
            figures={"jit_share": jit_share, "max": jit_max, "precision": context.precision},
        )


def _heap_growing(seen: Observation, limits: ServerLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.sut is None or context.heap_growth:
        return
    growth, committed = seen.sut.heap_growth_bytes, seen.sut.heap_committed_bytes
    if growth is not None and committed is not None and growth > limits.heap_growth_max * (committed - growth):
        yield Reason(
            code="heap-growing",
            message=f"the committed heap grew by {growth / 2**20:,.0f} to {committed / 2**20:,.0f} MiB",
            figures={"growth_bytes": growth, "committed_bytes": committed, "max_share": limits.heap_growth_max},
        )


def _not_counted(seen: Observation, limits: ServerLimits, context: WindowContext) -> Iterator[Reason]:
    """Check that the requests that counted themselves match those sent; if not, nobody knows where they ran."""
    served = seen.served
    if served is not None and not served.begun_min <= served.begun <= served.begun_max:
        yield Reason(
            code="not-counted",
            message=f"{served.begun:,} requests began in the application, but the driver sent {served.begun_min:,} to "
            f"{served.begun_max:,}",
            figures={"begun": served.begun, "min": served.begun_min, "max": served.begun_max},
        )


def _burn_off(seen: Observation, limits: ServerLimits, context: WindowContext) -> Iterator[Reason]:
    """Check that a request's work is what was calibrated. The host's clock is accounted for: this is about the JVM."""
    check = seen.burn
    if check is None or check.expected_us is None:
        return
    off = check.best_us / check.expected_us - 1
    if abs(off) > limits.burn_off_max:
        yield Reason(
            code=BURN_OFF,
            message=(
                f"{check.asked_us:g} µs of work took {check.best_us:.1f} µs at best, but {check.expected_us:.1f} µs "
                "were expected at the CPU's speed at that moment: this JVM does not do the work that was calibrated"
            ),
            figures={"off": off, "max": limits.burn_off_max},
        )


def _astray(seen: Observation, limits: ServerLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.sut:
        message, threads = "{} threads of the server may run on CPUs other than its own", seen.sut.astray_threads
        yield from over(0, "affinity-changed", message, astray_threads=threads)


BURN = Gate(
    (BURN_OFF,),
    "Work of the wrong size",
    ("burn_off_max",),
    _burn_off,
    "After the windows, the warm server runs the work of a request on its own. The fastest run must take as long as "
    "was asked for, at the speed that the CPU has at that moment. This gate refuses the whole fork.",
    "A clock that changed during the windows and changed back; the page shows its speed before each of them. Work that "
    "is off by no more than the differences between the server’s CPUs. A fork whose server was overloaded by a rising "
    "load: it still works on what is left.",
)
SERVER_GATES = (
    Gate(
        ("compiling",),
        "Code still being compiled",
        ("jit_per_precision_max",),
        _compiling,
        "CPU time of the JIT compiler’s threads on the server’s CPUs. The limit scales with the promised precision.",
        "Code that is slow because it was compiled badly, or that is never recompiled. The time of a compiler thread "
        "that ended within the window: with four CPUs or more, HotSpot ends those that have nothing to do.",
    ),
    Gate(
        ("heap-growing",),
        "A heap still being sized",
        ("heap_growth_max",),
        _heap_growing,
        "Growth of the committed heap over a window.",
        "Other ways in which a collector adapts.",
    ),
    Gate(
        ("not-counted",),
        "Requests that were not counted",
        (),
        _not_counted,
        "Every request counts itself on the thread that runs it. The counts must match what the driver sent, except "
        "for requests in flight at either end. A request on a thread that is not the executor’s fails the fork.",
        "Which of several threads of one kind ran a request.",
    ),
    BURN,
    Gate(
        ("affinity-changed",),
        "Threads on other CPUs",
        (),
        _astray,
        "Any thread of the server that may run on other CPUs at the end of a window.",
        "A thread that moved away and came back, unless a cgroup confines the threads.",
    ),
)
