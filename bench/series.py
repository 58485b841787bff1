"""Measure blocks of forks that take turns, and keep, for every window, what benchmarks are worked out from."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from one_fork import Listening
from rich.console import Console

from jdkmatrix.cli.measuring_lock import measuring
from jdkmatrix.config.model import Matrix, Profile, Selection, Tuning
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.provision.project import Project
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.plan import select_cells
from jdkmatrix.run.prepare import prepare
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.store.atomic import write_atomic
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore

PROFILE = "bench"
ROUNDS = range(1, 1001)  # the numbers of windows that are turns of a block's forks


@dataclass(frozen=True)
class Series:
    """`blocks`: each with its place, its number and its arms; see _blocks."""

    cpu: str
    kernel: str
    blocks: list[dict[str, Any]]


class _Progress(Listening):
    """`keep`: called whenever a fork is recorded."""

    def __init__(self, console: Console, keep: Callable[[], None]) -> None:
        super().__init__(lambda step: None)
        self._console, self._keep = console, keep

    def fork_started(self, planned: PlannedFork) -> None:
        self._console.print(planned.label, highlight=False)

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        valid = len(fork.valid_windows)
        self._keep()
        self._console.print(f"    {fork.status.value}, {valid} of {len(fork.windows)} windows", highlight=False)

    def decided(self, text: str) -> None:
        self._console.print(text, highlight=False)


def with_profile(
    matrix: Matrix, description: str, *, jdks: Sequence[str], executors: Sequence[str], workload: str = "mp-ping",
    load: str = "saturate-50", wait_us: int = 0, blocks: int, rounds: int, precision: float = 0.05,
    tunings: Mapping[str, Tuning] | None = None,
) -> Matrix:  # fmt: skip
    """Return `matrix` with a profile `PROFILE` of executors that take turns on one CPU; they need not be on their axis.
    A block that a fault has spoilt is measured again once; the series does not say what it lost before."""
    profile = Profile(
        description=description, blocks=blocks, rounds=rounds, precision=precision, protocol="interleaved",
        select=Selection(
            workload=(workload,), server=("open-liberty",), jdk=tuple(jdks), cpus=(1,), executor=tuple(executors),
            burn_us=(0,), wait_us=(wait_us,), load=(load,),
        ),
    )  # fmt: skip
    known = tuple(dict.fromkeys((*matrix.axes.executor, *executors)))
    return matrix.model_copy(
        update={
            "axes": matrix.axes.model_copy(update={"executor": known}),
            "measure": matrix.measure.model_copy(update={"repeats_max": 1}),
            "tunings": {**matrix.tunings, **(tunings or {})},
            "profiles": {**matrix.profiles, PROFILE: profile},
        }
    )


def measure(project: Project, matrix: Matrix, keep: Callable[[Series], None], *, seed: int, console: Console) -> None:
    """Measure `PROFILE`; Ctrl-C and SIGTERM end it. `keep` gets all that is measured whenever a fork is recorded."""
    profile = matrix.profiles[PROFILE]
    with (
        measuring() as confiner,
        tempfile.TemporaryDirectory(prefix="jdk-matrix-bench-", ignore_cleanup_errors=True) as folder,
    ):
        ready = prepare(
            project, matrix, profile, select_cells(matrix, PROFILE), seed=seed,
            known_calibration=lambda _: None, capacities_rps={}, confiner=confiner, say=console.print,
        )  # fmt: skip
        campaign = Campaign(
            matrix=matrix, profile=profile, plan=ready.plan, setups=ready.setups, store=RunStore.create(Path(folder)),
        )  # fmt: skip
        cells = campaign.open(console.print)
        cpu, kernel = ready.host.cpu.model, ready.host.kernel.split()[0]
        campaign.measure(cells, _Progress(console, lambda: keep(Series(cpu, kernel, [*_blocks(cells.values())]))))


def write(path: Path, series: Series) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(asdict(series), separators=(",", ":")) + "\n")


def read(path: Path) -> Series:
    return Series(**json.loads(path.read_text()))


def _blocks(cells: Iterable[CellRecord]) -> Iterator[dict[str, Any]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for cell in cells:
        for fork in cell.forks:
            place = f"{cell.key.jdk}, {cell.key.served}, {cell.key.load}"
            block = found.setdefault((place, fork.fork), {"place": place, "block": fork.fork, "arms": {}})
            if fork.usable and fork.warmup and fork.first_response_s:
                block["arms"][cell.key.executor] = {
                    "first_response_s": round(fork.first_response_s, 2),
                    "warm_s": round(fork.warmup.windows[-1].t_s, 2),
                    "windows": [_window(window) for window in fork.windows],
                }
    yield from found.values()


def _window(window: Window) -> list[Any]:
    """Number, second of the monotonic clock, requests/s, µs of CPU per request, its share of the CPUs, JIT, reasons."""
    return [
        window.index,
        round(window.load.started_monotonic_ns / 1e9, 2),
        round(window.load.succeeded_rps, 1),
        round(window.cpu_us_per_answer, 3),
        round(window.sut.cpu_share, 4),
        round(window.sut.jit_share, 4),
        [reason.code for reason in window.reasons],
    ]


def valid(arm: Mapping[str, Any], column: int, numbers: range) -> list[list[Any]]:
    """Return the windows with these numbers that no gate refused, and that have more than 0 in this column."""
    return [w for w in arm["windows"] if w[0] in numbers and not w[6] and w[column] > 0]


def paired_logs(one: Mapping[str, Any], other: Mapping[str, Any], column: int, numbers: range = ROUNDS) -> list[float]:
    """Return the log ratio of every window that both have."""
    above, below = ({w[0]: w[column] for w in valid(arm, column, numbers)} for arm in (one, other))
    return [math.log(above[number] / below[number]) for number in sorted(above.keys() & below.keys())]


def ratio_words(logs: Sequence[float]) -> str:
    """Format the geometric mean behind these logs, with its 95 % interval."""
    interval = mean_interval(logs)
    text = f"{math.exp(statistics.fmean(logs)):.3f}"
    return text if interval is None else f"{text} ({math.exp(interval[0]):.3f}–{math.exp(interval[1]):.3f})"
