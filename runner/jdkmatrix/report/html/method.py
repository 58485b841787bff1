"""The page of the method: every gate with what it catches and what it cannot, and what came of trying it. Pure.

A gate is described here in words; its limits are those of the run that the page belongs to, and what it caught when it
was provoked is read from what `bench/provoke.py` recorded. `drivers` compares those of the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from jdkmatrix.config.explain import explained
from jdkmatrix.domain.quantities import digits
from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.html.drivers import COMPARED, Compared, ComparedView, TriedOn, view_compared
from jdkmatrix.report.words.numbers import Figure, share

PROVOKED = "provoked.json"
Recorded = TypeVar("Recorded", bound=Record)


@dataclass(frozen=True)
class Gate:
    """`codes`: of the reasons that it gives; `limits`: keys of matrix.toml's [thresholds]; `cannot`: what passes it."""

    codes: tuple[str, ...]
    name: str
    limits: tuple[str, ...]
    catches: str
    cannot: str


GATES = (
    Gate(
        ("foreign-cpu", "foreign-cpu-driver"),
        "Other processes on our CPUs",
        (
            "foreign_per_precision_max",
            "foreign_sut_share_max",
            "idle_overhead_share_max",
            "thread_end_us",
            "foreign_cpu_share_max",
        ),
        "CPU time that was neither idle, nor stolen, nor used by our own processes, on the server’s CPUs and on "
        "those of the driver and the remote system. Soft interrupts, which carry loopback traffic, are counted where "
        "this kernel puts them; every run finds out at its start where that is.",
        "A load below the limit; a load on other CPUs that shares caches, memory or a physical core. The limits allow "
        "for what is in no process’s clock, and a load of that size goes unnoticed: waking a CPU (a share of the time "
        "that it idles or works, whichever is less), the rounding of idle time to clock ticks and, on the server’s "
        "CPUs, the last microseconds of every thread that ended. At 10,000 ended threads a second, 5 µs each are 5 % "
        "of one CPU. Threads of other processes count, too; to start and end one costs more than is allowed for it. "
        "Other work that the kernel does for an arm and charges to no process looks like another process: arms with "
        "many threads may be refused for what they are. A run’s page warns where gates refused one arm more often than "
        "the other, and gives such a pair no verdict.",
    ),
    Gate(
        ("starved",),
        "A server left idle",
        ("saturated_share_min", "saturated_share_drop_max"),
        "A closed loop that saturated the server in one window and left it idle in another: something held it up "
        "that no other gate names.",
        "A cause common to all windows of a fork.",
    ),
    Gate(
        ("steal", "steal-driver"),
        "CPU time stolen by the hypervisor",
        ("steal_per_precision_max", "steal_share_max"),
        "What the kernel reports as stolen. On the server’s CPUs the limit scales with the promised precision.",
        "Stalls that a hypervisor does not report: the server’s own clock then counts them as work. `matrix doctor` "
        "looks for those.",
    ),
    Gate(
        ("compiling",),
        "Code still being compiled",
        ("jit_per_precision_max",),
        "CPU time of the JIT compiler’s threads on the server’s CPUs. The limit scales with the promised precision.",
        "Code that is slow because it was compiled badly, or that is never recompiled.",
    ),
    Gate(
        ("heap-growing",),
        "A heap still being sized",
        ("heap_growth_max",),
        "Growth of the committed heap over a window.",
        "Other ways in which a collector adapts.",
    ),
    Gate(
        ("not-counted",),
        "Requests that were not counted",
        (),
        "Every request counts itself on the thread that runs it. The counts must match what the driver sent, except "
        "for requests in flight at either end. A request on a thread that is not the executor’s fails the fork.",
        "Which of several threads of one kind ran a request.",
    ),
    Gate(
        ("burn-off",),
        "Work of the wrong size",
        ("burn_off_max",),
        "After the windows the warm server runs the work of a request by itself. The fastest run must take as long as "
        "was asked for, at the speed that the CPU has at that moment. This gate refuses the whole fork.",
        "A clock that changed during the windows and changed back; the page shows its speed before each of them.",
    ),
    Gate(
        ("affinity-changed",),
        "Threads on other CPUs",
        (),
        "Any thread of the server that may run on other CPUs at the end of a window.",
        "A thread that moved away and came back, unless a cgroup confines the threads.",
    ),
    Gate(
        ("driver-saturated",),
        "A driver at its limit",
        ("driver_cpu_share_max",),
        "A driver that uses a larger share of its CPUs than this measures itself.",
        "A driver that is slow for another reason: see the next two.",
    ),
    Gate(
        ("driver-late",),
        "A driver that is late",
        ("driver_late_share_max",),
        "At a rate: how late requests were sent, at p99, compared with the measured p99 or with the objective of a "
        "search. Requests that waited for a connection are not the driver’s fault and do not count.",
        "Late receiving; wrk2, which reports no lateness; closed loops, which have no schedule.",
    ),
    Gate(
        ("cpus-full",),
        "CPUs saturated by driver and remote system together",
        ("driver_cpu_share_max",),
        "On hosts with few CPUs they share one. Each may be below its limit while the CPU is saturated.",
        "Bursts shorter than a window.",
    ),
    Gate(
        ("runner-busy",),
        "This tool itself",
        ("runner_cpu_share_max",),
        "It stays off the server’s CPUs and reads the server’s threads only at the ends of windows. The CPU time "
        "that it uses in between is measured.",
        "On a host whose server shares CPUs with the driver, this tool has no other CPU to run on.",
    ),
    Gate(
        ("readings-late", "readings-short"),
        "This tool, stopped or held up",
        ("readings_late_max_s",),
        "All shares of CPU time are of the time between the readings before a window and after it. If this tool was "
        "stopped, or had no CPU, that is longer than the load and the wait for its last responses, and a disturbance "
        "looks smaller than it was. An experiment’s readings may also be as far apart as the pace at which they are "
        "taken makes them. Where the load runs before its window begins (wrk2), the first readings may also come too "
        "late: by a fifth of the promised precision at most.",
        "A stop that ends before the load does. It hides nothing: the shares are of the right time, and only samples "
        "of memory and threads are missing.",
    ),
    Gate(
        ("remote-saturated", "remote-late"),
        "The remote system",
        (
            "remote_cpu_share_max",
            "remote_late_share_max",
            "remote_late_p99_us_max",
            "remote_late_short_share_max",
            "remote_late_least_us",
            "remote_late_mean_share_max",
        ),
        "A remote system that saturates its CPUs, or is too late at p99 for the delay that was asked for.",
        "Late responses that are rarer than one in a hundred. In a closed loop that saturates the server, lateness "
        "delays nothing and is not judged.",
    ),
    Gate(
        ("throttled", "swapping", "clock-stepped", "suspended"),
        "Faults of the host",
        ("throttled_share_max", "swapped_bytes_per_s_max", "clock_step_s_max"),
        "Throttling by a CPU quota, swapping, a clock that was set, a suspended host.",
        "What the kernel does not report here is recorded as not known and not judged.",
    ),
)


class ProvokedOutcome(Record):
    """Of all windows of one kind; `hog_share` is of one CPU, on that of the server ("sut") or of the driver."""

    case: str
    on: str
    hog_share: float
    windows: int
    refused: int
    gates: dict[str, int]
    rps: float
    share: float


class Provoked(TriedOn):
    """As bench/provoke.py writes it."""

    window_s: float
    precision: float
    outcomes: tuple[ProvokedOutcome, ...]


@dataclass(frozen=True)
class GateView:
    name: str
    codes: str
    limits: tuple[tuple[str, str], ...]
    catches: str
    cannot: str


@dataclass(frozen=True)
class ProvokedRow:
    what: str
    hog: str
    windows: int
    refused: int
    by: str
    rps: Figure
    share: Figure


class Tried(NamedTuple):
    """What came of trying: the gates, and the drivers against each other."""

    provoked: Provoked
    compared: Compared


@dataclass(frozen=True)
class MethodView:
    gates: tuple[GateView, ...]
    compared: ComparedView
    provoked_on: str
    provoked: tuple[ProvokedRow, ...]


def read_tried(templates: Path) -> Tried:
    """Raises: MatrixError: a file is missing or not what it should be."""
    return Tried(_read(templates / PROVOKED, Provoked), _read(templates / COMPARED, Compared))


def _read(path: Path, kind: type[Recorded]) -> Recorded:
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise explained(error, str(path)) from None


def view_method(run: RunRecord, tried: Tried) -> MethodView:
    provoked = tried.provoked
    thresholds: Mapping[str, Any] = run.matrix.get("thresholds", {})
    interrupts = {True: "accounted separately", False: "in the clocks of processes", None: "not known"}
    return MethodView(
        gates=tuple(
            GateView(
                name=gate.name,
                codes=", ".join(gate.codes),
                limits=tuple((limit, str(thresholds.get(limit, "not in this run"))) for limit in gate.limits),
                catches=gate.catches,
                cannot=gate.cannot,
            )
            for gate in GATES
        ),
        provoked_on=f"{provoked.measured_at}, {provoked.cpu}, Linux {provoked.kernel}"
        f"{f', {provoked.virtualisation}' if provoked.virtualisation else ''}; interrupts: "
        f"{interrupts[provoked.irq_time_accounting]}; windows of {provoked.window_s:g} s, ± {provoked.precision:.0%} "
        f"promised; commit {(provoked.commit or 'not known')[:12]}",
        provoked=tuple(_row(one) for one in provoked.outcomes),
        compared=view_compared(tried.compared),
    )


def _row(one: ProvokedOutcome) -> ProvokedRow:
    whose = "server" if one.on == "sut" else "driver"
    return ProvokedRow(
        what=one.case,
        hog=f"{one.hog_share:.0%} of the {whose}’s CPU" if one.hog_share else "none",
        windows=one.windows,
        refused=one.refused,
        by=", ".join(f"{code} {count}" for code, count in one.gates.items()) or "–",
        rps=Figure(digits(one.rps, 4), one.rps),
        share=share(one.share),
    )
