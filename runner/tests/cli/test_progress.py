"""The output of a run while it measures, and after each block."""

from __future__ import annotations

import errno
import re
from contextlib import suppress
from io import StringIO

import pytest
from rich.console import Console

from jdkmatrix.cli.progress import display
from jdkmatrix.cli.so_far import so_far
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.records.reasons import Status
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, key
from tests.support.served_campaign import measured

GROUP = [cell(key(name), (measured(1, rate),)) for name, rate in (("liberty", 1000.0), ("virtual", 630.0))]


@pytest.mark.parametrize("verbose", [False, True])
def test_a_log_has_a_line_when_a_fork_starts_and_one_with_its_result(verbose: bool) -> None:
    sink = StringIO()
    with display(Console(file=sink, width=200), 60, 0.05, sequential=False, verbose=verbose) as shown:
        shown.forks_added(4)
        for position, one in enumerate(GROUP, start=1):
            shown.fork_started(PlannedFork(one.key, fork=1, position=position, sequence=position))
            shown.step("warming up")
            shown.step("window 1/2: 1,000 req/s")
            shown.fork_finished(one.forks[0], one)
        shown.block_finished(GROUP, more=True)
        shown.block_finished(GROUP, more=False)
    lines = sink.getvalue().splitlines()
    assert lines[0].startswith("[1/4] mp-ping.temurin-25.liberty.") and lines[0].endswith(" left")
    assert sum("window 1/2" in line for line in lines) == (2 if verbose else 0)
    assert lines[-1].startswith("so far: throughput with virtual is 0.63 × that with liberty (1 block")
    assert len(lines) == (7 if verbose else 5)


def test_the_time_left_only_falls_while_forks_take_turns() -> None:
    """The forks of a block all end with it, minutes after the first of them began."""
    sink, now = StringIO(), [0.0]
    with display(Console(file=sink, width=200), 60, 0.05, sequential=False, verbose=False, now=lambda: now[0]) as shown:
        shown.forks_added(6)
        for block in range(3):
            for one in GROUP:
                shown.fork_started(PlannedFork(one.key, fork=block + 1, position=1, sequence=1))
                now[0] += 50
            for one in GROUP:
                shown.fork_finished(one.forks[0], one)
    left = [line.rpartition(", ")[2] for line in sink.getvalue().splitlines() if line.startswith("[")]
    assert left == ["6:00 left", "5:10 left", "3:20 left", "2:30 left", "1:40 left", "0:50 left"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    closed_now = False

    def write(self, text: str) -> int:
        if self.closed_now:
            raise OSError(errno.EIO, "Input/output error")
        return super().write(text)


def test_a_terminal_that_was_closed_ends_no_fork() -> None:
    """The signal that ends the run comes only once the fork is kept."""
    sink = Gone()
    with (
        suppress(OSError),
        display(Console(file=sink, _environ={"TERM": "xterm"}), 60, 0.05, sequential=False, verbose=False) as shown,
    ):
        shown.forks_added(1)
        shown.fork_started(PlannedFork(GROUP[0].key, fork=1, position=1, sequence=1))
        sink.closed_now = True
        shown.step("stopping the server")
        shown.step("checking the books")
        sink.closed_now = False
        return
    pytest.fail("a step was not shown and told so")


def test_a_log_that_cannot_be_written_ends_no_fork() -> None:
    sink = Gone()
    with display(Console(file=sink, _environ={}), 60, 0.05, sequential=False, verbose=True) as shown:
        sink.closed_now = True
        shown.step("window 1/10")
        sink.closed_now = False


@pytest.mark.parametrize("verbose", [False, True])
def test_a_terminal_shows_the_fork_the_time_and_the_last_ratio(verbose: bool) -> None:
    sink = Terminal()
    terminal = Console(file=sink, width=100, color_system=None, _environ={"TERM": "xterm"})
    with display(terminal, 60, 0.05, sequential=False, verbose=verbose) as shown:
        shown.forks_added(4)
        for one in GROUP:
            shown.fork_started(PlannedFork(one.key, fork=1, position=1, sequence=1))
            shown.fork_finished(one.forks[0], one)
        shown.block_finished(GROUP, more=True)
        shown.fork_started(PlannedFork(GROUP[0].key, fork=2, position=1, sequence=3))
        shown.step("round 3/10, liberty: 1,000 req/s")
        shown.decided("told apart")
    text = sink.getvalue()
    shown_fork = "#2 liberty, temurin-25, 1 CPU, no added work, "
    for told in ("2/4 forks", " left", shown_fork, "round 3/10", "so far: throughput", "told apart"):
        assert told in text
    lines = re.split(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", text)
    assert any(line.startswith("    round 3/10, liberty") for line in lines) == verbose, "it stays above the bar"


@pytest.mark.parametrize(
    ("sink", "environment"),
    [
        (Terminal(), {"TERM": "dumb"}),
        (Terminal(), {"TERM": "xterm", "TTY_INTERACTIVE": "0"}),
        (StringIO(), {"TERM": "xterm", "FORCE_COLOR": "1"}),
    ],
    ids=["no cursor", "not interactive", "colours in a file"],
)
def test_where_nothing_can_be_drawn_again_there_are_lines(sink: StringIO, environment: dict[str, str]) -> None:
    console = Console(file=sink, width=200, _environ=environment)
    with display(console, 60, 0.05, sequential=False, verbose=False) as shown:
        shown.forks_added(1)
        shown.fork_started(PlannedFork(GROUP[0].key, fork=1, position=1, sequence=1))
    assert sink.getvalue().startswith("[1/1] mp-ping.") and "\x1b" not in sink.getvalue()


def arm(executor: str, *throughputs: float | None) -> CellRecord:
    """Make an arm with a fork for each throughput; None: the fork of that block failed."""
    forks = tuple(
        measured(number, rate or 1.0, Status.OK if rate else Status.FAILED)
        for number, rate in enumerate(throughputs, start=1)
    )
    return cell(key(executor), forks)


POOL, AGAIN = arm("liberty", 1000, 1000, 1000), arm("liberty-aa", 999, 998, 1003)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ([arm("liberty", 1000), arm("virtual", 630)], "is 0.63 × that with liberty (1 block, no interval yet)"),
        ([POOL, AGAIN, arm("virtual", 600, 620, 640)], "with virtual is 0.620 × that"),
        (
            [POOL, arm("virtual", 600, 620, 640)],
            "(95 %: 0.572–0.672, 3 blocks); ± 5 % needs about 2 more blocks, 4 min",
        ),
        ([POOL, arm("virtual", 620, 620, 621)], "3 blocks); known to ± 0."),
        ([POOL, AGAIN], "throughput with liberty-aa is 1.000 × that with liberty"),
        ([POOL, arm("virtual", 100, 2000, 300)], "± 5 % needs more than 200 more blocks"),
    ],
)
def test_it_says_how_the_ratio_stands_and_what_it_would_take(group: list[CellRecord], said: str) -> None:
    assert said in (so_far(group, 0.05, 120, sequential=False) or "")


@pytest.mark.parametrize(
    ("sequential", "said"),
    [
        (False, "(95 %: 0.983–1.065, 5 blocks); ± 2.5 % needs about 5 more blocks"),
        (True, "(95 %: 0.976–1.073, 5 blocks); ± 2.5 % needs about "),  # as wide as on the page
    ],
)
def test_near_one_it_must_tell_the_ratio_from_one_or_from_what_matters(sequential: bool, said: str) -> None:
    """1.024 (0.983 to 1.066): known to ± 4 %, which tells nothing."""
    group = [arm("liberty", *[1000] * 5), arm("virtual", 1020, 1055, 985, 1060, 1000)]
    assert said in (so_far(group, 0.05, 120, sequential=sequential) or "")


@pytest.mark.parametrize(
    "group",
    [
        [POOL],
        [arm("virtual", 600, 620)],
        [arm("fixed-8", 600, 620)],
        [POOL, arm("virtual", 600, None, 640)],
        [POOL, arm("virtual", None)],
        [POOL, AGAIN, arm("virtual", 600, None, 640)],
    ],
)
def test_without_a_fair_pair_nothing_is_said(group: list[CellRecord]) -> None:
    assert so_far(group, 0.05, 120, sequential=False) is None
