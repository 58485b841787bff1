"""How a run shows itself: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Self

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
from jdkmatrix.store.cells import CellRecord


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


class Display(AbstractContextManager["Display", None], ABC):
    """Counts forks and tells the time left: by the forks that are done, by the plan's estimate until one is."""

    def __init__(self, console: Console, estimate_fork_s: float, precision: float, *, verbose: bool) -> None:
        """`precision`: to which share ratios are to be known; `verbose`: tell windows and rounds, too."""
        self._console = console
        self._verbose = verbose
        self._estimate_s = estimate_fork_s
        self._precision = precision
        self._began = time.monotonic()
        self._total = self._started = self._done = 0

    def __exit__(self, *stopped: object) -> None: ...

    def forks_ahead(self, forks: int) -> None:
        self._total = self._done + forks

    def fork_started(self, planned: PlannedFork) -> None:
        self._started += 1

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        self._done += 1

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        """Behind the last block of a condition the summary says more."""
        if more and group[0].key.has_server and (text := so_far(group, self._precision, self._fork_s * len(group))):
            self.decided(text)

    @abstractmethod
    def step(self, text: str) -> None: ...

    @abstractmethod
    def decided(self, text: str) -> None: ...

    @property
    def _fork_s(self) -> float:
        return (time.monotonic() - self._began) / self._done if self._done else self._estimate_s

    @property
    def _left(self) -> str:
        return clock(self._fork_s * (self._total - self._done))


class Lines(Display):
    """One line when a fork starts to be measured, one with its result."""

    def fork_started(self, planned: PlannedFork) -> None:
        super().fork_started(planned)
        self.decided(f"[{self._started}/{self._total}] {planned.label}, {self._left} left")

    def step(self, text: str) -> None:
        if self._verbose and text.startswith(("window", "search", "round")):
            self.decided(f"    {text}")

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        super().fork_finished(fork, cell)
        whose = f"{cell.key.executor}: " if fork.together else ""
        self.decided(f"    {whose}{figures(fork, cell)}")

    def decided(self, text: str) -> None:
        self._console.print(visible(text), markup=False, highlight=False, soft_wrap=True)


class Live(Display):
    """A progress bar with the current cell, its last figures and the time left; results scroll by above it."""

    def __init__(self, console: Console, estimate_fork_s: float, precision: float, *, verbose: bool) -> None:
        super().__init__(console, estimate_fork_s, precision, verbose=verbose)
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

    def __exit__(self, *stopped: object) -> None:
        self._progress.stop()

    def forks_ahead(self, forks: int) -> None:
        super().forks_ahead(forks)
        self._progress.update(self._task, total=self._total, left=self._left)

    def fork_started(self, planned: PlannedFork) -> None:
        key = planned.key
        number = planned.label.removeprefix(key.cell_id)
        wait = f" wait={key.wait_us}µs" if key.wait_us else ""
        name = f"{key.jdk} {key.executor} cpus={key.cpus} burn={key.burn_us}µs{wait} {key.load} {number}"
        self._progress.update(self._task, description=escape(name), left=self._left)

    def step(self, text: str) -> None:
        self._progress.update(self._task, step=escape(text))

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        super().fork_finished(fork, cell)
        self._progress.update(self._task, advance=1, step="", left=self._left)
        style = "" if fork.status is Status.OK else "[yellow]"
        label = cell.key.fork_label(fork.fork, fork.attempt)
        self._progress.console.print(f"{style}{escape(f'{label}: {figures(fork, cell)}')}")

    def decided(self, text: str) -> None:
        self._progress.console.print(escape(text))


def display(console: Console, estimate_fork_s: float, precision: float, *, verbose: bool) -> Display:
    return (Live if console.is_terminal else Lines)(console, estimate_fork_s, precision, verbose=verbose)
