"""Check whether it matters how the executors of a block are measured: both ways on the same forks, and their costs.

    python bench/protocols_bench.py --measure SERIES.json [--jdk JDK]… [--blocks N] [--rounds N] [--stretches N] …
    python bench/protocols_bench.py SERIES.json [SERIES.json …]

Measuring starts the forks of a block one after another. Each is measured by itself as soon as it is warm, in two
windows of 3 s while the others idle: the protocol `separate`. Once all are up, they take turns: the protocol
`interleaved`. Spread evenly among these turns, each has stretches of 5 s, in an order that is balanced like that of the
turns. So what differs between starts of a JVM is in all of them, most drift is in both the stretches and the turns, and
a difference between these two ratios is due to the turns. (The kept series of JDK 21.0.8 and the second of JDK 25 had
three stretches before all turns and three after them.)

The tables have, for each pair of arms: the ratios with their 95 % intervals over blocks, the difference between turns
and stretches (between turns and `separate` in a series without stretches) with its own, and how many blocks and minutes
a ratio needs to be known to ± 2 % and ± 1 %, beside a protocol of 10 s of ramp and 180 s of measurement for every fork.
The scatter of that protocol follows from the windows of 3 s: their scatter inside a fork averages out over 180 s, as if
it were independent from second to second, and that between forks stays.

Exit status: 0 no difference above 1 % is shown, and ± 2 % cost at most a tenth of that protocol; 1 otherwise, or if no
pair has three blocks; 2 an error.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, cast
from unittest import mock

from rich.console import Console
from rich.table import Table
from series import ROUNDS, paired_logs, ratio_words, read, valid, with_profile, write
from series import measure as measure_series

from jdkmatrix.config.load import load_matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import Round
from jdkmatrix.fork.measure_fork import RunningFork, in_turns
from jdkmatrix.loads.kinds.constant_rate import ConstantRate
from jdkmatrix.provision.project import find_project
from jdkmatrix.records.forks import Fork
from jdkmatrix.run import campaign as campaigns
from jdkmatrix.run.turns import round_orders as drawn
from jdkmatrix.stats.intervals import CONFIDENCE, mean_interval
from jdkmatrix.stats.protocols import FIXED_MEASURE_S, FIXED_RAMP_S, blocks_needed
from jdkmatrix.stats.rounds import components
from jdkmatrix.subjects.served.kind import BETWEEN_ROUNDS_S

# The numbers of the windows that a fork has by itself, and of its stretches.
BY_ITSELF = range(1001, 2001)
ALONE = 2
ALONE_S = 3.0
STRETCHED = range(2001, 3001)
STRETCH_S = 5.0
BIAS_MAX = 0.01
COST_SHARE_MAX = 0.1


# ------------------------------------------------------------------------------------------------------------- measure
def measure(options: argparse.Namespace, console: Console) -> None:
    """Measure, and write the series whenever a fork is recorded."""
    project = find_project()
    matrix = with_profile(
        load_matrix(project.matrix), "both protocols on the same forks", jdks=options.jdk, executors=options.executor,
        workload=options.workload, load=options.load, wait_us=options.wait_us, blocks=options.blocks,
        rounds=options.rounds, precision=options.precision,
    )  # fmt: skip
    with (
        # A rule that follows from what is measured here must not prevent it from being measured again.
        mock.patch.object(ConstantRate, "why_no_turns", return_value=None),
        mock.patch.object(campaigns, "in_turns", partial(_every_way, options.stretches)),
    ):
        measure_series(project, matrix, partial(write, options.measure), seed=options.seed, console=console)


def _every_way(
    stretches: int,
    starting: Iterable[RunningFork],
    orders: Sequence[Sequence[int]],
    *,
    when_measured: Callable[[], object],
    **durations: float,
) -> tuple[Fork, ...]:
    """Run `in_turns`, with the other windows that a fork has here."""
    numbers = mixed(len(orders), stretches)
    left = {True: iter(drawn(len(orders[0]), stretches, f"stretches {[*orders]}")), False: iter(orders)}
    lead_s = durations["lead_s"]
    return in_turns(
        (cast(RunningFork, _Stretched(fork, numbers)) for fork in starting),
        [next(left[number in STRETCHED]) for number in numbers],
        when_warm=[Round(BY_ITSELF.start + window, lead_s, ALONE_S) for window in range(ALONE)],
        when_measured=when_measured,
        **durations,
    )


def mixed(rounds: int, stretches: int) -> list[int]:
    """Return the numbers of rounds and stretches, each kind spread evenly over all."""
    spread = [((number + 0.5) / rounds, ROUNDS[number]) for number in range(rounds)]
    spread += [((number + 0.5) / stretches, STRETCHED[number]) for number in range(stretches)]
    return [number for _, number in sorted(spread)]


@dataclass(frozen=True)
class _Stretched:
    """A fork whose rounds get these numbers, some of which are stretches."""

    fork: RunningFork
    numbers: Sequence[int]

    def __enter__(self) -> Self:
        self.fork.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.fork.__exit__(*error)

    def rewarm(self, duration_s: float) -> None:
        self.fork.rewarm(duration_s)

    def window(self, turn: Round) -> None:
        if turn.number not in BY_ITSELF:
            number = self.numbers[turn.number - 1]
            turn = Round(number, turn.lead_s, STRETCH_S if number in STRETCHED else turn.duration_s)
        self.fork.window(turn)

    def close(self) -> Fork:
        return self.fork.close()


# ------------------------------------------------------------------------------------------------------------- analyse
@dataclass(frozen=True)
class Pair:
    """Two arms at one place: for every block, the log ratio by every way (that of the stretches is that of `separate`
    if it has none), and those of its rounds. `inside_per_s`: the variance of the log ratio of one second, from the
    windows that the forks had by themselves."""

    place: str
    arms: str
    separate: list[float]
    stretches: list[float]
    interleaved: list[float]
    rounds: list[list[float]]
    inside_per_s: float
    start_s: float  # of both arms, to their last window of warm-up
    first_s: float  # of both, to their first answers
    ran: float  # rounds that a fork had, those that gates took among them: all of them take time
    lost: tuple[float, float]  # shares of rounds that gates took


def pairs(blocks: Sequence[dict[str, Any]], column: int) -> Iterator[Pair]:
    """Yield the pairs of arms. `column`: of a window; 2 for requests per second, 3 for CPU per request."""
    for place in dict.fromkeys(block["place"] for block in blocks):
        here = [block["arms"] for block in blocks if block["place"] == place]
        names = [name for name in dict.fromkeys(name for arms in here for name in arms) if name != "liberty"]
        for name in names:
            both = [(arms[name], arms["liberty"]) for arms in here if {name, "liberty"} <= arms.keys()]
            if not both:
                continue
            told = [
                (
                    _alone(one, other, column),
                    paired_logs(one, other, column, STRETCHED),
                    paired_logs(one, other, column),
                )
                for one, other in both
            ]
            told = [every for every in told if every[0] is not None and len(every[2]) > 1]
            yield Pair(
                place=place,
                arms=f"{name} / liberty",
                separate=[alone for alone, _, _ in told if alone is not None],
                stretches=[
                    statistics.fmean(stretches) if stretches else alone
                    for alone, stretches, _ in told
                    if alone is not None
                ],
                interleaved=[statistics.fmean(rounds) for _, _, rounds in told],
                rounds=[rounds for _, _, rounds in told],
                inside_per_s=sum(_inside_per_s([pair[arm] for pair in both], column) for arm in (0, 1)),
                start_s=statistics.fmean(one["warm_s"] + other["warm_s"] for one, other in both),
                first_s=statistics.fmean(one["first_response_s"] + other["first_response_s"] for one, other in both),
                ran=statistics.fmean(len(_rounds_of(arm)) for pair in both for arm in pair),
                lost=(_lost(one for one, _ in both), _lost(other for _, other in both)),
            )


def _alone(one: dict[str, Any], other: dict[str, Any], column: int) -> float | None:
    figures = [[w[column] for w in valid(arm, column, BY_ITSELF)] for arm in (one, other)]
    return math.log(statistics.fmean(figures[0]) / statistics.fmean(figures[1])) if all(figures) else None


def _inside_per_s(arms: Sequence[dict[str, Any]], column: int) -> float:
    found = []
    for arm in arms:
        logs = [math.log(w[column]) for w in valid(arm, column, BY_ITSELF)]
        found += [statistics.variance(logs) * ALONE_S] if len(logs) > 1 else []
    return statistics.fmean(found) if found else 0.0


def _rounds_of(arm: dict[str, Any]) -> list[Any]:
    return [w for w in arm["windows"] if w[0] in ROUNDS]


def _lost(arms: Iterable[dict[str, Any]]) -> float:
    every = [bool(w[6]) for arm in arms for w in _rounds_of(arm)]
    return sum(every) / len(every) if every else 0.0


def show(found: Sequence[Pair], console: Console, *, round_s: float, rewarm_s: float) -> bool:
    """Print the tables; return whether everything is as it should be, and a pair could be judged."""
    good = True
    everywhere: dict[str, list[float]] = {}
    ratios = Table(title="the same forks, both ways")
    for name in ("where", "arms", "blocks", "separate", "stretches", "turns", "difference", "SD separate", "SD turns"):
        ratios.add_column(name)
    costs = Table(title="what one ratio costs, both arms together, in minutes (blocks)")
    for name in ("where", "arms", "", "± 2 %", "± 1 %", "of the fixed protocol at ± 2 %"):
        costs.add_column(name)
    for pair in found:
        if len(pair.interleaved) < 3:
            console.print(f"{pair.place}, {pair.arms}: {len(pair.interleaved)} blocks are too few")
            continue
        differences = [two - one for one, two in zip(pair.stretches, pair.interleaved, strict=True)]
        ratios.add_row(
            pair.place, pair.arms, str(len(differences)), ratio_words(pair.separate), ratio_words(pair.stretches),
            ratio_words(pair.interleaved), ratio_words(differences),
            *(f"{statistics.stdev(logs):.2%}" for logs in (pair.separate, pair.interleaved)),
        )  # fmt: skip
        everywhere.setdefault(pair.arms, []).extend(differences)
        interval = mean_interval(differences)
        good &= interval is None or not (interval[0] > BIAS_MAX or interval[1] < -BIAS_MAX)
        good &= _costs(pair, costs, round_s=round_s, rewarm_s=rewarm_s)
        parts = components(pair.rounds)
        if parts:
            console.print(
                f"{pair.place}, {pair.arms}: a round scatters by {math.sqrt(parts.inside):.1%}, forks by "
                f"{math.sqrt(parts.between):.1%}; {pair.lost[0]:.0%} and {pair.lost[1]:.0%} of the rounds were lost"
            )
    for arms, logs in everywhere.items():
        ratios.add_row("all of these", arms, str(len(logs)), "", "", "", ratio_words(logs), "", "")
    console.print(ratios)
    console.print(costs)
    return bool(everywhere) and good


def _costs(pair: Pair, table: Table, *, round_s: float, rewarm_s: float) -> bool:
    parts = components(pair.rounds)
    if parts is None:
        return True
    rounds = statistics.fmean(map(len, pair.rounds))
    seen = statistics.variance(pair.separate)
    between = max(0.0, seen - pair.inside_per_s / (ALONE * ALONE_S))
    variances = {
        "published: 180 s after 10 s": between + pair.inside_per_s / FIXED_MEASURE_S,
        "separate, 2 × 3 s": seen,
        f"interleaved, {rounds:.0f} rounds": parts.between + parts.inside / max(1, round(rounds)),
    }
    times = {
        "published: 180 s after 10 s": pair.first_s + 2 * (FIXED_RAMP_S + FIXED_MEASURE_S),
        "separate, 2 × 3 s": pair.start_s + 2 * ALONE * ALONE_S,
        f"interleaved, {rounds:.0f} rounds": pair.start_s + 2 * (rewarm_s + pair.ran * round_s),
    }
    minutes: dict[str, float] = {}
    for name, variance in variances.items():
        cells = []
        for share in (0.02, 0.01):
            blocks = blocks_needed(variance, math.log1p(share), CONFIDENCE, least=3)
            spent = blocks * times[name] / 60
            minutes.setdefault(name, spent)
            cells.append(f"{spent:.1f} ({blocks})")
        table.add_row(pair.place, pair.arms, name, *cells, f"{minutes[name] / next(iter(minutes.values())):.0%}")
    fixed, _, interleaved = minutes.values()
    return interleaved <= COST_SHARE_MAX * fixed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", nargs="*", type=Path)
    parser.add_argument("--measure", type=Path)
    parser.add_argument("--jdk", action="append")
    parser.add_argument("--executor", action="append")
    parser.add_argument("--workload", default="mp-ping")
    parser.add_argument("--load", default="saturate-50")
    parser.add_argument("--wait-us", type=int, default=0)
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--stretches", type=int, default=6)
    parser.add_argument("--precision", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.jdk = options.jdk or ["temurin-25"]
    options.executor = options.executor or ["liberty", "virtual", "liberty-aa"]
    console = Console(width=160)
    try:
        if options.measure:
            measure(options, console)
        turns = load_matrix(find_project().matrix).turns
    except MatrixError as error:
        print(error, file=sys.stderr)
        return 2
    blocks = [
        block
        for path in (*options.series, *([options.measure] if options.measure else []))
        for block in read(path).blocks
    ]
    good = True
    for title, column in (("throughput", 2), ("CPU per request", 3)):
        console.rule(title)
        round_s = turns.lead_s + turns.round_s + BETWEEN_ROUNDS_S
        good &= show([*pairs(blocks, column)], console, round_s=round_s, rewarm_s=turns.rewarm_s)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
