"""Check that the gates catch what they say they catch: real forks whose windows are disturbed on purpose.

    python bench/provoke.py [--windows N] [--json FILE] [--only NAME …] [--at-rates]

A server is measured as in any run, in windows of 3 s. Between windows, a hog is started or ended: a process that
computes for a share of every 20 ms on one CPU. Quiet and disturbed windows take turns in random order in one fork. For
each kind, the table says how many windows the gates refused, and which gates did. Few of the quiet windows may be
refused, and nearly all of the disturbed ones must be. What is disturbed on the driver's CPU is shown, and not judged.
Exit status: 0 the goals are met, 1 one is missed, 2 something is missing. What was measured before is shown and kept.

With --at-rates, the forks are different: pool and virtual threads at 5, 25, 50 and 90 % of what each of them does in a
closed loop, which is measured first. `--at-rates --windows 25` has 50 quiet windows of each, of which one may be
refused, and takes 50 minutes.

Needs a host on which nothing else runs: whatever does is a disturbance too, and is refused as one.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from one_fork import PRECISION, RATE, Asked, facts, get_ready, keep
from rich.console import Console
from rich.table import Table

from jdkmatrix.cli.measuring_lock import measuring
from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.report.html.method import ProvokedOutcome
from jdkmatrix.run.prepared import Prepared

WINDOW_S = 3.0
CAUGHT_MIN = 0.95
FALSE_ALARMS_MAX = 0.02
_HOG = """
import os, sys, time
cpu, share = int(sys.argv[1]), float(sys.argv[2])
os.sched_setaffinity(0, {cpu})
due = time.monotonic()
while True:
    begun = time.thread_time()
    while time.thread_time() - begun < 0.02 * share:
        pass
    due = max(due + 0.02, time.monotonic())
    time.sleep(max(0.0, due - time.monotonic()))
"""


@dataclass(frozen=True)
class Case:
    """One fork: a cell, and the shares of a CPU that the hogs beside its windows take by turns (0: none)."""

    name: str
    workload: str
    executor: str
    load: str
    on: str  # whose CPU the hog is on: "sut" or "driver"
    shares: tuple[float, ...]
    cpus: int = 1
    wait_us: int = 0
    of_capacity: float | None = None  # its rate, as a share of what a closed loop had; None: as `load` says


RATE_RPS = 1000.0  # where it is not a share of a capacity
CASES = (
    Case("closed loop", "mp-ping", "virtual", "saturate-50", "sut", (0.0, 0.0, 0.05, 0.10, 0.25)),
    Case("closed loop, pool", "mp-ping", "liberty", "saturate-50", "sut", (0.0, 0.0, 0.05, 0.10, 0.25)),
    Case("constant rate", "mp-ping", "virtual", "rate-2000", "sut", (0.0, 0.0, 0.05, 0.10, 0.25)),
    Case("constant rate, driver", "mp-ping", "virtual", "rate-2000", "driver", (0.0, 0.25, 0.50)),
    Case(
        "bank, remote beside driver",
        "banking-servlet",
        "virtual",
        RATE,
        "driver",
        (0.0, 0.25, 0.50),
        wait_us=2_000,
    ),
)


AT_RATES = tuple(
    Case(f"{executor}, {share:.0%}", "mp-ping", executor, RATE, "sut", (0.0, 0.0, 0.05), of_capacity=share)
    for executor in ("liberty", "virtual")
    for share in (0.05, 0.25, 0.50, 0.90)
)


@dataclass
class Hogs:
    """Puts the next disturbance in place as soon as a window is over."""

    cpu: int
    shares: Sequence[float]
    placed: list[float] = field(default_factory=list)
    _hog: subprocess.Popen[bytes] | None = None

    def step(self, text: str) -> None:
        if re.match(r"window \d+/", text) and len(self.placed) < len(self.shares):
            self.place(self.shares[len(self.placed)])

    def place(self, share: float) -> None:
        self.end()
        self.placed.append(share)
        if share:
            command = [sys.executable, "-I", "-c", _HOG, str(self.cpu), str(share)]
            self._hog = launch.spawn(command, cpus=[self.cpu])

    def end(self) -> None:
        hog, self._hog = self._hog, None
        if hog is not None:
            launch.terminate(hog, grace_s=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--windows", type=int, default=20, help="of each kind (default 20)")
    parser.add_argument("--json", type=Path, help="write the outcomes here")
    parser.add_argument(
        "--only", action="append", choices=[case.name for case in (*CASES, *AT_RATES)], help="these forks only"
    )
    parser.add_argument("--at-rates", action="store_true", help="forks at shares of the capacity")
    arguments = parser.parse_args()
    console = Console()
    outcomes: list[ProvokedOutcome] = []
    host: dict[str, object] | None = None
    try:
        known = AT_RATES if arguments.at_rates else CASES
        cases = [case for case in known if not arguments.only or case.name in arguments.only]
        if not cases:
            parser.error("--only: forks at shares of the capacity take --at-rates, and the others do not")
        host = _run(cases, arguments.windows, console, outcomes)
    except MatrixError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if outcomes:
            _show(outcomes, console)
            keep(arguments.json, "outcomes", outcomes, host)
    return 0 if all(_meets(one) for one in outcomes if one.on == "sut") else 1


def _meets(one: ProvokedOutcome) -> bool:
    """Return whether an outcome meets its goal, of disturbances on the server's CPUs or of windows without one."""
    if one.hog_share == 0:
        return one.refused <= FALSE_ALARMS_MAX * one.windows
    return one.refused >= CAUGHT_MIN * one.windows


def _run(cases: Sequence[Case], windows: int, console: Console, outcomes: list[ProvokedOutcome]) -> dict[str, object]:
    """Add the outcomes of each fork to `outcomes` as soon as it is measured; return what is known of the host."""
    capacities_rps: dict[str, float] = {}
    counted: set[bool] = set()
    with (
        measuring() as confiner,
        tempfile.TemporaryDirectory(prefix="provoke-", ignore_cleanup_errors=True) as folder,
    ):

        def measured(case: Case, shares: Sequence[float], rate_rps: float, seed: int) -> tuple[Fork, Prepared]:
            """Measure one fork, with one more window before those that have `shares` beside them."""
            asked = Asked(
                case.workload, case.executor, case.load, 1 + len(shares), WINDOW_S, rate_rps, case.wait_us, case.cpus
            )
            ready = get_ready(asked, confiner, console.print, seed=seed)
            sets = ready.setup.cpu_sets
            hogs = Hogs((sets.sut if case.on == "sut" else sets.driver)[0], shares)

            def step(text: str) -> None:
                console.print(f"  {text}", highlight=False)
                hogs.step(text)

            try:
                return ready.measured(Path(folder), step), ready.prepared
            finally:
                hogs.end()

        def rate_of(case: Case) -> float:
            if case.of_capacity is None:
                return RATE_RPS
            if case.executor not in capacities_rps:
                closed, _ = measured(replace(case, load="saturate-50"), [0.0, 0.0], RATE_RPS, seed=0)
                capacities_rps[case.executor] = max(window.load.throughput_rps for window in closed.windows)
            return round(case.of_capacity * capacities_rps[case.executor])

        for number, case in enumerate(cases):
            shares = [*case.shares] * windows
            random.Random(number).shuffle(shares)
            fork, ready = measured(case, shares, rate_of(case), seed=number)
            outcomes += _outcomes(case, fork, [0.0, *shares])
            counted |= {use.by_tasks for window in fork.windows for use in window.host.cpu_use}
    return {**facts(ready), "by_tasks": counted == {True}, "window_s": WINDOW_S, "precision": PRECISION}


def _outcomes(case: Case, fork: Fork, placed: Sequence[float]) -> Iterator[ProvokedOutcome]:
    """Yield the outcome for each share. `placed`: what was beside each window; the first window had nothing beside it
    and is left out, since the disturbances were drawn for those after it.

    Raises:
        MatrixError: the fork ended before its last window.
    """
    if len(fork.windows) != len(placed):
        raise MatrixError(f"{case.name}: {len(fork.windows)} of {len(placed)} windows were measured")
    by_share: dict[float, list[Window]] = {}
    for window, share in list(zip(fork.windows, placed, strict=True))[1:]:
        by_share.setdefault(share, []).append(window)
    for share, windows in sorted(by_share.items()):
        gates = Counter(code for window in windows for code in {reason.code for reason in window.reasons})
        yield ProvokedOutcome(
            case=case.name,
            on=case.on,
            hog_share=share,
            windows=len(windows),
            refused=sum(not window.valid for window in windows),
            gates=dict(sorted(gates.items())),
            rps=fmean(window.load.throughput_rps for window in windows),
            share=fmean(window.sut.cpu_share for window in windows),
        )


def _show(outcomes: Sequence[ProvokedOutcome], console: Console) -> None:
    table = Table("fork", "hog", "on the CPU of", "windows", "refused", "by", "req/s", "server's share")
    for one in outcomes:
        table.add_row(
            one.case, f"{one.hog_share:.0%}", one.on, str(one.windows), str(one.refused),
            ", ".join(f"{code} {count}" for code, count in one.gates.items()) or "–",
            f"{one.rps:,.0f}", f"{one.share:.2f}",
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
