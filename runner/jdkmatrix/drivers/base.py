"""The interface of a load driver.

A driver opens one session per fork. A session runs phases of load one after another (warm-up windows, then measured
windows) against one URL, from its own CPUs, and reports what it did in each. The phases of a session are independent: a
phase starts with a fresh schedule and empty histograms, whatever the one before left undone. It need not count from its
start: a driver that opens its connections first says when the measured part begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.run import DriverFacts


class DriverError(MatrixError):
    """The driver could not do its work: refused connection, killed, unreadable output."""


@dataclass(frozen=True)
class Target:
    """The address under load, and where the driver runs.

    `url` is http on loopback, with path and query; without `requests`, a GET of it is sent over and over. `cpus` are
    the driver's CPUs, `cgroup` is the folder of the cgroup that it starts in (None: the runner's own), `log_dir`
    exists. `connections`: the most that any phase has, for which there must be memory.
    """

    url: str
    cpus: tuple[int, ...]
    log_dir: Path
    timeout_s: float = 10.0
    cgroup: Path | None = None
    requests: RequestMix | None = None
    connections: int = 0


@dataclass(frozen=True)
class Phase:
    """A planned load: for `duration_s`, from `cpus` of the driver's CPUs. A request without an answer for `timeout_s`
    is an error."""

    load: Load
    duration_s: float
    timeout_s: float
    cpus: int


class Edge:
    """Callbacks for the measured part of a phase, called in this order before `run` returns; these do nothing.
    `interval_s`: the length of the intervals that they are told of and that the result has; `ahead_s`: how long their
    questions may wait behind requests, which a driver that makes its own lead adds to the time that they take;
    `is_divided`: they are told of each interval also where there is no lead."""

    interval_s = 1.0
    ahead_s = 0.0
    is_divided = False

    def ahead(self, at_s: float | None = None) -> None:
        """Do what takes time, ahead of that part: before the load or, if the driver makes its own lead, before the
        part, which begins `at_s` (time.monotonic())."""

    def at(self, *, under_load: bool) -> None:
        """Handle the beginning of that part. `under_load`: the load is already on."""

    def passed(self) -> None:
        """Handle the end of an interval of that part, including the last; called only if there was a lead or it is
        divided, and the driver reports intervals."""

    def over(self) -> None:
        """Handle the end of that part if there was a lead or it is divided; otherwise the arrival of the answers still
        awaited then."""


UNHEARD = Edge()


class DriverSession(Protocol):
    @property
    def command(self) -> Sequence[str]:
        """The command line that was started (of the latest phase, if each phase is a process)."""

    @property
    def pid(self) -> int | None:
        """The process that makes the next phase; None if that phase starts its own."""

    def wait_ready(self) -> None:
        """Wait until a phase can be run at once; a phase that is requested earlier waits by itself.

        Raises:
            DriverError: the driver does not start, or refuses the URL.
        """

    def nearest(self, load: RateLoad) -> RateLoad:
        """Return the nearest load that can be made, for a rate that need not be exact: one of the warm-up, or of a
        search. Its connections stay the same."""

    def warm(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        """Run a phase like `run`, for load that no figure of the fork comes from: before the first `run`, or between
        windows in turns."""
        return self.run(load, duration_s, label=label, edge=edge, lead_s=lead_s)

    def run(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        """Run one phase, of which `duration_s` count, and wait for its end.

        `label` names the phase's files in `log_dir` ("warmup-1", "window-2"). `lead_s`: how long a closed loop has been
        on when the part that counts begins.

        Raises:
            DriverError: the driver died, could not connect at all, or its output cannot be read.
        """

    def close(self) -> None:
        """End the driver's process; safe to call twice and after its death."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *stopped: object) -> None:
        self.close()


class Driver(Protocol):
    @property
    def programs(self) -> tuple[DriverFacts, ...]:
        """Its programs, the one that measures first."""

    def cannot(self, phase: Phase) -> str | None:
        """Return why this driver cannot make that load for that long, or None."""

    def open(self, target: Target) -> DriverSession:
        """Start the driver without waiting for it; nothing need listen at the URL before the first phase."""
