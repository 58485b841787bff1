"""A running fork that goes wrong at any moment becomes a record, the others go on, and no process is left. These forks
measure a process that sleeps."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.drivers.base import DriverError
from jdkmatrix.fork.database import DatabaseProcess
from jdkmatrix.fork.faults import faults_of
from jdkmatrix.fork.fork_record import CellSetup, ForkDraft, Listener, Round
from jdkmatrix.fork.measure_fork import RunningFork, in_turns, measure_fork
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.http import HttpError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Window
from jdkmatrix.servers.process import ServerError
from tests.support.builders import window
from tests.support.fork_setups import draft_of, usual
from tests.support.real_parts import Silent

BROKEN = DriverError("it broke")


@dataclass
class Sleeping:
    """A measurement. `fails`: with what, at which moment ("open", "rewarm", "window 2", "close", "end").
    `heard`: which of those that share it was asked for what, or reached which moment."""

    fails: Mapping[str, BaseException] = field(default_factory=dict)
    number: int = 0
    heard: list[tuple[int, object]] = field(default_factory=list)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)

    @contextmanager
    def opened(self, remote: RemoteProcess | None, database: DatabaseProcess | None) -> Iterator[Sleeping]:
        with subprocess.Popen(["sleep", "600"]) as process:
            self.processes.append(process)
            try:
                self._at("open")
                yield self
                self._at("close")
            finally:
                process.kill()
                self._at("end")

    def rewarm(self, duration_s: float) -> None:
        self._at("rewarm", duration_s)

    def measure(self, turn: Round | None) -> None:
        number = turn.number if turn else 1
        self._at(f"window {number}", turn)
        self.windows.append(window(number))

    def judged(self) -> tuple[Status, tuple[Reason, ...]]:
        return Status.OK, ()

    def record(self) -> dict[str, Any]:
        return {"windows": tuple(self.windows)}

    def _at(self, moment: str, asked: object = None) -> None:
        self.heard.append((self.number, asked or moment))
        if moment in self.fails:
            raise self.fails[moment]


@dataclass(frozen=True, kw_only=True)
class SleepingCell(CellSetup):
    measured: Sleeping

    def begin(self, fork: ForkDraft, listener: Listener) -> Sleeping:
        return self.measured


def setup_of(subject: Sleeping, folder: Path) -> ForkDraft:
    setup = draft_of(SleepingCell(**usual(), measured=subject), folder)
    setup.scratch.mkdir()
    return setup


def turns(folder: Path, *subjects: Sleeping) -> tuple[Fork, ...]:
    """Measure three rounds of each."""
    setups = [setup_of(subject, folder / str(number)) for number, subject in enumerate(subjects)]
    orders = [range(len(subjects))] * 3
    try:
        return in_turns(
            [RunningFork(setup, Silent()) for setup in setups], orders, rewarm_s=3.0, lead_s=0.25, round_s=1.0
        )
    finally:
        for setup, subject in zip(setups, subjects, strict=True):
            assert setup.scratch.exists() == (not subject.processes), "where it was begun"
            assert all(process.returncode is not None for process in subject.processes)


def test_all_start_and_are_warm_before_the_first_round(tmp_path: Path) -> None:
    heard: list[tuple[int, object]] = []
    setups = [setup_of(Sleeping(number=number, heard=heard), tmp_path / str(number)) for number in range(2)]
    one, two, own = Round(1, 0.25, 1.0, of=2), Round(2, 0.25, 1.0, of=2), Round(1001, 0.25, 3.0)
    forks = [RunningFork(setup, Silent()) for setup in setups]
    in_turns(forks, ((0, 1), (1, 0)), rewarm_s=3.0, lead_s=0.25, round_s=1.0, when_warm=(own,))
    assert heard == [
        *[(0, "open"), (0, own), (1, "open"), (1, own)],
        *[(0, 3.0), (1, 3.0)],
        *[(0, one), (1, one), (1, two), (0, two)],
        *[(0, "close"), (0, "end"), (1, "close"), (1, "end")],
    ]


@pytest.mark.parametrize(
    ("moment", "windows"), [("open", []), ("rewarm", []), ("window 2", [1]), ("window 3", [1, 2]), ("close", [1, 2, 3])]
)
def test_a_failed_fork_is_recorded_and_leaves_others_running(tmp_path: Path, moment: str, windows: list[int]) -> None:
    failing, *others = turns(tmp_path, Sleeping({moment: BROKEN}), Sleeping(), Sleeping())
    assert (failing.status, [(one.code, one.message) for one in failing.reasons]) == (
        Status.FAILED, [("driver", "it broke")],
    )  # fmt: skip
    assert [window.index for window in failing.windows] == windows, "what was measured is kept"
    for fork in others:
        assert (fork.status, fork.reasons) == (Status.OK, ())
        assert [window.index for window in fork.windows] == [1, 2, 3]


@pytest.mark.parametrize("unended", [None, DriverError, OSError])
@pytest.mark.parametrize("moment", ["open", "rewarm", "window 1", "close"])
def test_what_stops_a_run_passes_through_and_leaves_no_process(
    tmp_path: Path, moment: str, unended: type[Exception] | None
) -> None:
    """This holds even where forks cannot be ended in order."""
    first, second, third = ({"end": unended("it does not end")} if unended else {} for _ in range(3))
    others = [Sleeping(first), Sleeping(third)]
    with pytest.raises(KeyboardInterrupt):
        turns(tmp_path, others[0], Sleeping({moment: KeyboardInterrupt(), **second}), others[1])
    assert others[0].processes, "it was up"


def test_by_itself_a_fork_has_its_own_windows(tmp_path: Path) -> None:
    fork = measure_fork(setup_of(Sleeping(), tmp_path / "good"), Silent())
    assert (fork.status, len(fork.windows)) == (Status.OK, 1)
    broken = measure_fork(setup_of(Sleeping({"window 1": ValueError("what?")}), tmp_path / "bad"), Silent())
    assert [(one.code, one.message) for one in broken.reasons] == [("internal-error", "ValueError: what?")]
    assert "what?" in (tmp_path / "bad" / "logs" / "traceback.txt").read_text()
    assert broken.logs == {"traceback.txt": "../logs/traceback.txt"}


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        (OSError("disk full"), ("server", "no answer")),
        (CgroupError("busy"), ("server", "no answer")),
        (ServerError("it was killed"), ("server", "it was killed")),  # which says more
    ],
)
def test_what_cannot_be_put_back_makes_no_fault_of_an_outcome(
    tmp_path: Path, later: Exception, reason: tuple[str, str]
) -> None:
    fork = measure_fork(setup_of(Sleeping({"window 1": HttpError("no answer"), "end": later}), tmp_path), Silent())
    assert [(one.code, one.message) for one in fork.reasons] == [reason]
    assert not faults_of(fork)
    alone = type(later)(*later.args)
    fork = measure_fork(setup_of(Sleeping({"end": alone}), tmp_path / "alone"), Silent())
    assert [one.message.endswith(str(alone)) for one in fork.reasons] == [True]


def test_what_fails_behind_a_failure_does_not_hide_it(tmp_path: Path) -> None:
    """The end of a fork is checked only if it came to its end by itself."""
    fork = measure_fork(setup_of(Sleeping({"window 1": BROKEN, "close": ValueError("later")}), tmp_path), Silent())
    assert [one.code for one in fork.reasons] == ["driver"]
