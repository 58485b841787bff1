"""Show the progress of a run: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from jdkmatrix.cli import experiments
from jdkmatrix.cli.so_far import so_far
from jdkmatrix.cli.terminal import escape
from jdkmatrix.errors import visible
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.words.sentences import size_words
from jdkmatrix.store.cells import CellRecord


def figures(fork: Fork, cell: CellRecord) -> str:
    """Return the result of one fork in a line; for rising steps, the figures that the table has."""
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
    """Format a duration as "7:32", "2:04:10" or "8 d 10 h"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@dataclass(eq=False)
class Display(AbstractContextManager["Display", None], ABC):
    """Counts forks and tells the time left: from the forks that are done, or from the plan's estimate until one is.
    `_precision`: the share to which ratios are to be known; `_sequential`: by adding blocks until they are; `_verbose`:
    print windows and rounds, too."""

    _console: Console
    _fork_s: float
    _precision: float
    _sequential: bool
    _verbose: bool
    _now: Callable[[], float]
    _total = _started = _done = 0

    def __post_init__(self) -> None:
        self._began_s = self._result_s = self._now()

    def __exit__(self, *stopped: object) -> None: ...

    def forks_added(self, forks: int) -> None:
        self._total += forks

    def fork_started(self, planned: PlannedFork) -> None:
        self._started += 1

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        self._done += 1
        self._result_s = self._now()
        self._fork_s = (self._result_s - self._began_s) / self._done

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        """Print the ratios so far, but not after the last block of a condition: the summary then says more."""
        if not more or not group[0].key.has_server:
            return
        block_s = self._fork_s * len(group)
        if text := so_far(group, self._precision, block_s, sequential=self._sequential):
            self.told_so_far(text)

    def step(self, text: str) -> None:
        if self._verbose and text.startswith(("window", "search", "round")):
            with suppress(OSError):  # a log that cannot be written spoils no fork
                self.decided(f"    {text}")

    @abstractmethod
    def decided(self, text: str) -> None: ...

    def told_so_far(self, text: str) -> None:
        self.decided(text)

    @property
    def _left(self) -> str:
        """The time left: it falls between results, too, though forks that take turns all end with their block."""
        ahead_s = self._fork_s * (self._total - self._done) - (self._now() - self._result_s)
        return clock(max(ahead_s, self._fork_s * (self._total - self._started)))


class Lines(Display):
    """One line when a fork starts to be measured, one with its result."""

    def fork_started(self, planned: PlannedFork) -> None:
        super().fork_started(planned)
        self.decided(f"[{self._started}/{self._total}] {planned.label}, {self._left} left")

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        super().fork_finished(fork, cell)
        whose = f"{cell.key.executor}: " if fork.together else ""
        self.decided(f"    {whose}{figures(fork, cell)}")

    def decided(self, text: str) -> None:
        self._console.print(visible(text), markup=False, highlight=False, soft_wrap=True)


class Screen(Display):
    """On a terminal: a bar with the time left, and below it the fork being measured and what the blocks say so far;
    results scroll by above."""

    _measured = _step = _so_far = ""

    def __enter__(self) -> Self:
        self._bar = Progress(
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("forks,"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            expand=True,
        )
        self._task = self._bar.add_task("", total=None, left="")
        self._live = Live(console=self._console, get_renderable=self._shown, refresh_per_second=2)
        self._live.start()
        return self

    def __exit__(self, *stopped: object) -> None:
        self._measured = self._step = self._so_far = ""
        self._live.stop()

    def fork_started(self, planned: PlannedFork) -> None:
        super().fork_started(planned)
        key = planned.key
        number = planned.label.removeprefix(key.cell_id)
        self._measured = f"{number} {key.executor}, {key.jdk}, {size_words(key)}, {key.load}: "

    def step(self, text: str) -> None:
        super().step(text)
        self._step = text
        with suppress(OSError):  # a closed terminal ends the run, not the measurement at hand
            self._live.refresh()

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None:
        super().fork_finished(fork, cell)
        style = "" if fork.status is Status.OK else "[yellow]"
        label = cell.key.fork_label(fork.fork, fork.attempt)
        self._live.console.print(f"{style}{escape(f'{label}: {figures(fork, cell)}')}", highlight=False)

    def decided(self, text: str) -> None:
        self._live.console.print(escape(text), highlight=False)

    def told_so_far(self, text: str) -> None:
        self._so_far = text

    def _shown(self) -> Group:
        left = f"{self._left} left" if self._done < self._total else ""
        self._bar.update(self._task, total=self._total, completed=self._done, left=left)
        lines = (f"{self._measured}{self._step}", self._so_far)
        below = (Text(visible(line), no_wrap=True, overflow="ellipsis") for line in lines if line)
        return Group(self._bar, *below)


def display(
    console: Console,
    fork_s: float,
    precision: float,
    *,
    sequential: bool,
    verbose: bool,
    now: Callable[[], float] = time.monotonic,
) -> Display:
    # A bar needs a cursor that moves, which neither TERM=dumb nor a file has; FORCE_COLOR makes a file pass for one.
    can_redraw = console.is_interactive and console.file.isatty()
    return (Screen if can_redraw else Lines)(console, fork_s, precision, sequential, verbose, now)
