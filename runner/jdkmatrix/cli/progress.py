"""How a run shows itself: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from jdkmatrix.cli import experiments
from jdkmatrix.cli.so_far import so_far
from jdkmatrix.cli.terminal import escape
from jdkmatrix.errors import visible
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.run.campaign import CampaignListener
from jdkmatrix.store.cells import CellRecord


class Display(CampaignListener, Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def figures(fork: Fork, cell: CellRecord) -> str:
    """The result of one fork in a line; of rising steps the figures that the table has."""
    if fork.program is not None:
        return experiments.fork_words(fork)
    if not fork.usable:
        why = [*fork.reasons, *(reason for window in fork.windows for reason in window.shortfalls)]
        return f"{fork.status.value}: {why[0].message.splitlines()[0] if why else ''}"
    text = kind_of(cell.load).fork_words(fork)
    short = {reason.code for window in fork.valid_windows for reason in window.shortfalls}
    marks = [*([] if fork.status is Status.OK else [fork.status.value]), *sorted(short)]
    return f"{text} ({', '.join(marks)})" if marks else text


def clock(seconds: float) -> str:
    """ "7:32", "2:04:10", "8 d 10 h"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Pace:
    """Time left, from the forks that are done; the estimate of the plan until one is."""

    def __init__(self, estimate_fork_s: float) -> None:
        self.total = 0
        self.started = 0
        self.done = 0
        self._estimate_s = estimate_fork_s
        self._began = time.monotonic()

    @property
    def fork_s(self) -> float:
        return (time.monotonic() - self._began) / self.done if self.done else self._estimate_s

    def left_s(self) -> float:
        return self.fork_s * (self.total - self.done)


class Lines:
    """One line when a fork starts to be measured, one with its result."""

    def __init__(self, console: Console, estimate_fork_s: float, precision: float) -> None:
        self._console = console
        self._pace = _Pace(estimate_fork_s)
        self._precision = precision

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def forks_ahead(self, forks: int) -> None:
        self._pace.total = self._pace.done + forks

    def fork_started(self, planned: PlannedFork) -> None:
        self._pace.started += 1
        self._say(f"[{self._pace.started}/{self._pace.total}] {planned.label}, {clock(self._pace.left_s())} left")

    def step(self, text: str) -> None:
        if text.startswith(("window", "search", "round")):
            self._say(f"    {text}")

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        self._pace.done += 1
        whose = f"{cell.key.executor}: " if fork.together else ""
        self._say(f"    {whose}{figures(fork, cell)}")

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        if text := _so_far(group, self._precision, self._pace, more):
            self._say(text)

    def decided(self, text: str) -> None:
        self._say(text)

    def _say(self, text: str) -> None:
        self._console.print(visible(text), markup=False, highlight=False, soft_wrap=True)


class Live:
    """A progress bar with the current cell, its last figures and the time left; results scroll by above it."""

    def __init__(self, console: Console, estimate_fork_s: float, precision: float) -> None:
        self._pace = _Pace(estimate_fork_s)
        self._precision = precision
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]} left"),
            TextColumn("{task.fields[step]}", style="dim"),
            console=console,
            expand=True,
        )
        self._task = self._progress.add_task("…", total=None, left="?", step="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def forks_ahead(self, forks: int) -> None:
        self._pace.total = self._pace.done + forks
        self._progress.update(self._task, total=self._pace.total, left=clock(self._pace.left_s()))

    def fork_started(self, planned: PlannedFork) -> None:
        key = planned.key
        number = planned.label.removeprefix(key.cell_id)
        wait = f" wait={key.wait_us}µs" if key.wait_us else ""
        name = f"{key.jdk} {key.executor} cpus={key.cpus} burn={key.burn_us}µs{wait} {key.load} {number}"
        self._progress.update(self._task, description=escape(name), left=clock(self._pace.left_s()))

    def step(self, text: str) -> None:
        self._progress.update(self._task, step=escape(text))

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        self._pace.done += 1
        self._progress.update(self._task, advance=1, step="", left=clock(self._pace.left_s()))
        style = "" if fork.status is Status.OK else "[yellow]"
        label = cell.key.fork_label(fork.fork, fork.attempt)
        self._progress.console.print(f"{style}{escape(f'{label}: {figures(fork, cell)}')}")

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        if text := _so_far(group, self._precision, self._pace, more):
            self._progress.console.print(escape(text))

    def decided(self, text: str) -> None:
        self._progress.console.print(escape(text))


def _so_far(group: Sequence[CellRecord], precision: float, pace: _Pace, more: bool) -> str | None:
    """Behind the last block of a condition the summary says more."""
    return so_far(group, precision, pace.fork_s * len(group)) if more and group[0].key.has_server else None


def display(console: Console, estimate_fork_s: float, precision: float) -> Display:
    """`precision`: to which share ratios are to be known."""
    kind = Live if console.is_terminal else Lines
    return kind(console, estimate_fork_s, precision)
