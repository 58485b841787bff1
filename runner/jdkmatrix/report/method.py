"""The page of the method: every gate with what it catches and what it cannot, and what came of trying it. Pure.

A gate is described here in words; its limits are those of the run that the page belongs to, and what it caught when it
was provoked is read from what `bench/provoke.py` recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.errors import MatrixError
from jdkmatrix.records import RunRecord
from jdkmatrix.records.base import Record
from jdkmatrix.report.numbers import Figure, digits, share

PROVOKED = "provoked.json"


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
        ("foreign_per_precision_max", "foreign_sut_share_max", "idle_overhead_share_max", "foreign_cpu_share_max"),
        "CPU time that was neither idle, nor stolen, nor used by our own processes, on the server’s CPUs and on "
        "those of the driver and the remote system. Soft interrupts, in which loopback traffic runs, are counted "
        "where this kernel puts them: that is tried at the start of every run.",
        "A load below the limit; what shares caches, memory or a physical core from other CPUs. Waking an idle CPU "
        "up belongs to nobody, so that a share of the idle time is allowed for it: a load as small as that hides "
        "beside a server with little to do.",
    ),
    Gate(
        ("starved",),
        "Beside its peers",
        ("saturated_share_min", "saturated_share_drop_max"),
        "A closed loop that saturates the server in one window and left it idle in another: something held it up "
        "that no other gate names.",
        "A cause that all windows of a fork share.",
    ),
    Gate(
        ("steal", "steal-driver"),
        "Time that the hypervisor took",
        ("steal_per_precision_max", "steal_share_max"),
        "What the kernel tells as stolen, on the server’s CPUs by the promised precision.",
        "Stalls that a hypervisor does not tell: the server’s own clock then counts them as work. `matrix doctor` "
        "looks for those.",
    ),
    Gate(
        ("compiling",),
        "Code that was still compiled",
        ("jit_per_precision_max",),
        "CPU time of the JIT compiler’s threads on the server’s CPUs, by the promised precision.",
        "Code that is slow because it was compiled badly, or is never compiled again.",
    ),
    Gate(
        ("heap-growing",),
        "A heap that was still sized",
        ("heap_growth_max",),
        "Growth of the committed heap over a window.",
        "Other ways in which a collector adapts.",
    ),
    Gate(
        ("not-counted",),
        "Requests that nobody counted",
        (),
        "Every request counts itself on the thread that runs it. The counts must be those that the driver sent, "
        "less what may be in flight at the ends; requests on other threads than the executor’s fail the fork.",
        "Which of several threads of one kind ran a request.",
    ),
    Gate(
        ("burn-off",),
        "Work that is not what it should be",
        ("burn_off_max",),
        "After the windows the warm server runs a request’s work by itself: its fastest run must take as long as was "
        "asked for, at the speed that the CPU has at that moment. This gate refuses the whole fork.",
        "A clock that moved during the windows and came back; the page tells its speed before each of them.",
    ),
    Gate(
        ("affinity-changed",),
        "Threads elsewhere",
        (),
        "Any thread of the server that may run on other CPUs at the end of a window.",
        "A thread that was elsewhere and came back, unless a cgroup holds them.",
    ),
    Gate(
        ("driver-saturated",),
        "A driver at its limit",
        ("driver_cpu_share_max",),
        "A driver that uses more than this of its CPUs measures itself.",
        "A driver that is slow for another reason: see the next two.",
    ),
    Gate(
        ("driver-late",),
        "A driver that is late",
        ("driver_late_share_max",),
        "Under a rate: how late requests left, at p99, against the p99 that was measured, or the objective of a "
        "search. Requests that waited for a connection are not the driver’s fault and do not count.",
        "Lateness in receiving; wrk2, which tells no lateness; closed loops, which have no schedule.",
    ),
    Gate(
        ("cpus-full",),
        "CPUs that driver and remote system fill together",
        ("driver_cpu_share_max",),
        "On hosts with few CPUs they share one: each may be below its limit and the CPU full.",
        "Bursts that are shorter than a window.",
    ),
    Gate(
        ("runner-busy",),
        "This tool itself",
        ("runner_cpu_share_max",),
        "It keeps off the server’s CPUs and reads the threads of the server at the ends of windows only; what it "
        "uses meanwhile is measured.",
        "On a host whose server shares CPUs with the driver it has nowhere else to be.",
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
        ),
        "A remote system at the limit of its CPUs, or late at p99 against the delay that was asked for.",
        "Lateness of single answers below p99. In a closed loop that keeps the server’s CPUs full lateness holds "
        "nobody up and is not judged.",
    ),
    Gate(
        ("throttled", "swapping", "clock-stepped", "suspended"),
        "What befalls a host",
        ("throttled_share_max", "swapped_bytes_per_s_max", "clock_step_s_max"),
        "A CPU quota, swapping, a time of day that is set, a suspended host.",
        "What the kernel does not tell here is recorded as not known, and nothing is judged by it.",
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


class Provoked(Record):
    """As bench/provoke.py writes it."""

    measured_at: str
    commit: str | None
    cpu: str
    kernel: str
    virtualisation: str | None
    irq_time_accounting: bool | None
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


@dataclass(frozen=True)
class MethodView:
    gates: tuple[GateView, ...]
    provoked_on: str
    provoked: tuple[ProvokedRow, ...]


def read_provoked(templates: Path) -> Provoked:
    """Raises: MatrixError: the file is missing or not what it should be."""
    path = templates / PROVOKED
    try:
        return Provoked.model_validate_json(path.read_bytes())
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise MatrixError(f"{path}: {where}: {first['msg']}") from None


def view_method(run: RunRecord, provoked: Provoked) -> MethodView:
    thresholds: Mapping[str, Any] = run.matrix.get("thresholds", {})
    interrupts = {True: "accounted apart", False: "in the clocks of processes", None: "not known"}
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
