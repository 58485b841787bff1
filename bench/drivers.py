"""Check that wrk2 and loadgen measure the same: windows of both in turns, on the same forks.

    python bench/drivers.py [--pairs N] [--json FILE] [--only FORK …] [--bundle-us US]

The forks are of mp-ping and of the bank, with virtual threads and with the pool, each warmed by loadgen like any fork.
Each is loaded flat out once, which gives its capacity; then come windows at constant rates in random order, each rate
by one driver and right after it by the other, with either first by turns. Rates are 25, 50, 75 and 90 % of what virtual
threads can do, for the pool as well, so that the ratio of the two can be computed with either driver; the pool also has
90 % of its own. The table has the ratio of CPU time per request, wrk2 over loadgen, with its 95 % interval over the
pairs; p99 by each; and the share of due requests that each delivered. Goals: CPU per request within 2 %, p99 within
1 ms, which is wrk2's floor, all due requests delivered. Exit status: 0 they are met, 1 one is missed, 2 something is
missing (such as wrk2). What was measured before is shown and kept.

wrk2 sends what is due within a millisecond together, loadgen what is due within 0.3 ms, and requests that arrive
together cost a server less. --bundle-us 1000 makes loadgen do as wrk2 does: what is left then is not due to arrivals.

Needs a host on which nothing else runs. Four forks with three pairs at each rate take 35 minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal, NamedTuple

from one_fork import RATE, Asked, facts, get_ready, keep
from rich.console import Console
from rich.table import Table

from jdkmatrix.cli.measuring_lock import measuring
from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.drivers.base import UNHEARD, Edge, Phase, Target
from jdkmatrix.drivers.handover import LoadgenAndWrk2
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2 import Wrk2, Wrk2Session, find_wrk2
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.records.windows import Window
from jdkmatrix.report.html.method import ComparedRow
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.subjects.served.measurement import ServedCell

Name = Literal["loadgen", "wrk2"]
WORKLOADS = (
    # Each with the delay of the remote system, in µs, and the rate at which a fork is warmed.
    ("mp-ping", 0, 2000.0),
    ("banking-servlet", 2_000, 500.0),
)
EXECUTORS = ("virtual", "liberty")  # the rates of the second are shares of what the first can do
FORKS = {f"{workload[0]}, {executor}": (workload, executor) for workload in WORKLOADS for executor in EXECUTORS}
SHARES = (0.25, 0.50, 0.75, 0.90)
CONNECTIONS = 50
WINDOW_S = 10.0
LEAD_S = 3.0  # loadgen's connections may have been closed while wrk2 was at work
UNIQUE_OF_WRK2 = 10**9  # numbers of a mix that loadgen never reaches
CPU_RATIO_MAX = 0.02
P99_MAX_US = 1000.0
DELIVERED_MIN = 0.995


def meets(row: ComparedRow) -> bool:
    """Return whether the goals are met, as far as the interval tells: it may reach into the goal."""
    if row.cpu_ratio is None:
        return False
    _, low, high = row.cpu_ratio
    return (
        low <= 1 + CPU_RATIO_MAX
        and high >= 1 - CPU_RATIO_MAX
        and abs(row.p99_us["wrk2"] - row.p99_us["loadgen"]) <= P99_MAX_US
        and min(row.delivered.values()) >= DELIVERED_MIN
    )


class Turn(NamedTuple):
    """`of_rps`: what its rate is a share of; None: of what this fork does flat out."""

    driver: Name
    share: float
    of_rps: float | None


@dataclass(frozen=True)
class InTurns:
    """A driver whose windows are made by one driver or the other."""

    loadgen: LoadgenDriver
    wrk2: Wrk2
    turns: Sequence[Turn]

    @property
    def programs(self) -> tuple[DriverFacts, ...]:
        return (self.wrk2.facts, *self.loadgen.programs)

    def cannot(self, phase: Phase) -> str | None:
        return None

    def open(self, target: Target) -> TurnsSession:
        wrk2 = Wrk2Session(self.wrk2, target)
        wrk2.begin_at(UNIQUE_OF_WRK2)
        return TurnsSession(self.loadgen.open(target), wrk2, iter(self.turns))


@dataclass
class TurnsSession(LoadgenAndWrk2):
    turns: Iterator[Turn]
    _capacity_rps: float | None = field(default=None, init=False)

    def run(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        if self._capacity_rps is None:
            flat_out = self.loadgen.run(SaturateLoad(connections=CONNECTIONS), duration_s, label=label, edge=edge)
            self._capacity_rps = flat_out.throughput_rps
            return flat_out
        turn = next(self.turns)
        self.at_work = turn.driver
        rate = RateLoad(rate_rps=round(turn.share * (turn.of_rps or self._capacity_rps)), connections=CONNECTIONS)
        if self.at_work == "wrk2":
            return self.wrk2.run(rate, duration_s, label=label, edge=edge)
        self.loadgen.warm(rate, LEAD_S, label=f"{label}-lead")
        return self.loadgen.run(rate, duration_s, label=label, edge=edge)


def turns_of(pairs: int, seed: int, of_rps: float | None) -> list[Turn]:
    """Return the turns: pairs at each rate, rates in random order round after round, each driver first by turns.
    `of_rps`: what another fork did flat out. Pure."""
    rates = [(share, of_rps) for share in SHARES]
    if of_rps is not None:
        rates.append((SHARES[-1], None))
    rng = random.Random(seed)
    turns: list[Turn] = []
    for number in range(pairs):
        for place, rate in enumerate(rng.sample(rates, len(rates))):
            order: tuple[Name, Name] = ("loadgen", "wrk2") if (number + place) % 2 == 0 else ("wrk2", "loadgen")
            turns += [Turn(name, *rate) for name in order]
    return turns


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=3, help="at each rate (default 3)")
    parser.add_argument("--json", type=Path, help="write the table here")
    parser.add_argument("--only", action="append", choices=[*FORKS], help="these forks only")
    parser.add_argument("--bundle-us", type=int, help="of loadgen (its own default: 300)")
    arguments = parser.parse_args()
    console = Console()
    wrk2 = find_wrk2(os.environ, os.environ.get("PATH"))
    rows: list[ComparedRow] = []
    missing: list[str] = []
    host: dict[str, object] | None = None
    try:
        if isinstance(wrk2, str):
            raise MatrixError(wrk2)
        forks = [fork for name, fork in FORKS.items() if not arguments.only or name in arguments.only]
        host = _run(wrk2, forks, arguments.pairs, arguments.bundle_us, console, rows, missing)
    except MatrixError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        for one in missing:
            print(one, file=sys.stderr)
        if rows:
            _show(rows, console)
            keep(arguments.json, "rows", rows, None if missing else host)
    return 1 if missing or not all(map(meets, rows)) else 0


@dataclass(frozen=True)
class Bundling(LoadgenDriver):
    bundle_us: int = 300

    def command_line(self, target: Target) -> tuple[str, ...]:
        return (*super().command_line(target), "--bundle-us", str(self.bundle_us))


def _run(
    wrk2: Wrk2,
    forks: Sequence[tuple[tuple[str, int, float], str]],
    pairs: int,
    bundle_us: int | None,
    console: Console,
    rows: list[ComparedRow],
    missing: list[str],
) -> dict[str, object]:
    """Add the rows of each fork to `rows` as soon as it is measured, and to `missing` each rate without a pair of
    windows that counts; return what is known of the host and drivers."""
    with (
        measuring() as confiner,
        tempfile.TemporaryDirectory(prefix="drivers-", ignore_cleanup_errors=True) as folder,
    ):
        capacities_rps: dict[str, float] = {}
        for number, ((workload, wait_us, rate_rps), executor) in enumerate(forks):
            turns = turns_of(pairs, number, capacities_rps.get(workload))
            asked = Asked(workload, executor, RATE, 1 + len(turns), WINDOW_S, rate_rps, wait_us)
            ready = get_ready(asked, confiner, console.print, seed=number)
            setup = ready.setup
            if not isinstance(setup, ServedCell):
                raise TypeError("a server is measured")
            loadgen = _loadgen(setup)
            if bundle_us is not None:
                loadgen = Bundling(loadgen.jar, loadgen.java, loadgen.jdk_id, bundle_us)
            setup = replace(setup, driver=InTurns(loadgen, wrk2, turns))
            fork = ready.measured(Path(folder), lambda text: console.print(f"  {text}", highlight=False), setup=setup)
            capacity_rps = fork.windows[0].load.throughput_rps
            capacities_rps.setdefault(workload, capacity_rps)
            rows += _rows(asked, fork, turns, capacity_rps, capacities_rps[workload], missing)
    return {
        **facts(ready.prepared),
        "wrk2": wrk2.facts.model_dump(),
        "loadgen": loadgen.facts.model_dump(),
        "window_s": WINDOW_S,
        "connections": CONNECTIONS,
    }


def _loadgen(cell: ServedCell) -> LoadgenDriver:
    driver = cell.driver
    found = getattr(driver, "loadgen", driver)
    if not isinstance(found, LoadgenDriver):
        raise TypeError(f"{driver} has no loadgen")
    return found


def _rows(
    asked: Asked, fork: Fork, turns: Sequence[Turn], capacity_rps: float, base_rps: float, missing: list[str]
) -> Iterator[ComparedRow]:
    """Yield rows by rate; the first window is flat out. `capacity_rps`: this fork's; `base_rps`: of virtual threads;
    `missing`: hears of rates without a pair that counts."""
    made = list(zip(turns, fork.windows[1:], strict=False))
    for share, of_rps in dict.fromkeys((turn.share, turn.of_rps) for turn in sorted(turns, key=_rate_first)):
        of: dict[Name, list[Window]] = {name: [] for name in ("loadgen", "wrk2")}
        for turn, window in made:
            if (turn.share, turn.of_rps) == (share, of_rps):
                of[turn.driver].append(window)
        both = zip(of["wrk2"], of["loadgen"], strict=False)
        pairs = [(mine, theirs) for mine, theirs in both if mine.valid and theirs.valid]
        if not pairs:
            missing.append(f"{asked.workload}, {asked.executor}: no pair of windows at {share:.0%} counts")
            continue
        by: dict[str, list[Window]] = {"wrk2": [pair[0] for pair in pairs], "loadgen": [pair[1] for pair in pairs]}
        logs = [math.log(mine.cpu_us_per_answer / theirs.cpu_us_per_answer) for mine, theirs in pairs]
        interval = mean_interval(logs)
        rate_rps = round(share * (of_rps or capacity_rps))
        yield ComparedRow(
            workload=asked.workload,
            executor=asked.executor,
            wait_us=asked.wait_us,
            share=rate_rps / base_rps,
            rate_rps=rate_rps,
            pairs=len(pairs),
            refused=sum(not window.valid for windows in of.values() for window in windows),
            cpu_ratio=(math.exp(fmean(logs)), *map(math.exp, interval)) if interval else None,
            cpu_us={name: median(window.cpu_us_per_answer for window in windows) for name, windows in by.items()},
            p50_us={name: median(_percentile(window, "50") for window in windows) for name, windows in by.items()},
            p99_us={name: median(_percentile(window, "99") for window in windows) for name, windows in by.items()},
            delivered={
                name: sum(window.load.completed for window in windows) / sum(window.load.due or 0 for window in windows)
                for name, windows in by.items()
            },
        )


def _rate_first(turn: Turn) -> tuple[bool, float]:
    """Sort the rates that both executors have first."""
    return turn.of_rps is None, turn.share


def _percentile(window: Window, percent: str) -> float:
    return window.load.corrected.percentiles_us[percent] if window.load.corrected else math.nan


def _show(rows: Sequence[ComparedRow], console: Console) -> None:
    table = Table("fork", "rate", "pairs", "CPU/request, wrk2 / loadgen", "p50, ms", "p99, ms", "delivered", "goals")
    for row in rows:
        ratio = "{:.3f} ({:.3f}-{:.3f})".format(*row.cpu_ratio) if row.cpu_ratio else "-"
        table.add_row(
            f"{row.workload}, {row.executor}", f"{row.share:.0%}: {row.rate_rps:,.0f}/s", str(row.pairs), ratio,
            _both(row.p50_us), _both(row.p99_us),
            f"{row.delivered['wrk2']:.1%}, {row.delivered['loadgen']:.1%}", "met" if meets(row) else "missed",
        )  # fmt: skip
    console.print(table)


def _both(figure: dict[str, float]) -> str:
    return f"{figure['wrk2'] / 1000:.2f}, {figure['loadgen'] / 1000:.2f}"


if __name__ == "__main__":
    sys.exit(main())
