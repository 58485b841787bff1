"""A fork: one fresh process of whatever is measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Literal, Self

from jdkmatrix.domain.record import Record
from jdkmatrix.records.database import DatabaseFacts
from jdkmatrix.records.limits import Enforcement, LimitHit
from jdkmatrix.records.load_results import Latency
from jdkmatrix.records.memory import MemoryReading
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.records.readings import ProgramResult, WindowReading
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Capacity, ObservedWindow, ProgramWindow, Sample, Warmup, Window

ConfinementMethod = Literal["cgroup cpuset", "sched_setaffinity"]


class Confinement(Record):
    sut_cpus: tuple[int, ...]
    driver_cpus: tuple[int, ...]
    remote_cpus: tuple[int, ...] = ()
    method: ConfinementMethod
    why_not_cgroup: str | None = None  # in words; None where a cgroup cpuset holds the threads
    overlapped: bool  # SUT and driver share CPUs
    compromises: tuple[str, ...] = ()  # what this host could not provide, in words


class Proof(Record):
    """Evidence of where requests ran: answers of `GET /whoami` over one kept-alive connection."""

    requests: int
    executor: str
    virtual: bool
    distinct_threads: int
    thread_names: tuple[str, ...]  # a few of them


class BurnCheck(Record):
    """`rounds` of burn as the warm SUT runs them. `best_us`: the fastest of several runs; `expected_us`: what they
    should take at the clock speed of that moment, compared with that of the calibration, on the SUT's CPU where that
    fits best; None: a clock speed is not known."""

    rounds: int
    asked_us: float
    best_us: float
    expected_us: float | None = None


class Audit(Record):
    """The books of a bank when nothing is in flight any more. `contradictions`: accounts whose balance is not what
    their credits and debits make it. Only with accounts in a database: `contradictions` also counts balances that
    differ from what the newest transfer says; `transfers_answered`: how many of those done were reported to a request;
    and `open_transactions`: those that nobody will end any more."""

    accounts: int
    transfers_done: int
    balance_sum_minor: int
    expected_sum_minor: int
    contradictions: int
    contradicting: tuple[str, ...]  # the first of them
    conserved: bool
    transfers_answered: int | None = None
    open_transactions: int | None = None


class Fork(Record):
    """The unit of replication of the statistics. A server has `windows` and what surrounds them; a program that loads
    itself has the single window `program`."""

    fork: int  # 1.., equals the block it belongs to
    position: int  # 1.. among the forks of its block
    sequence: int  # 1.. in the order of the whole run
    together: tuple[int, ...] = ()  # took turns with these forks, by `sequence`, including its own; (): by itself
    why_alone: str | None = None  # in words, if its profile would have it take turns
    attempt: int = 1  # 1..; later ones replace those in `attempts`, whose reasons say why
    session: int = 1  # 1.., which of the run's sessions measured it
    status: Status
    reasons: tuple[Reason, ...]
    started_at: str
    ended_at: str
    duration_s: float | None = None  # by a clock that is never set; None: not recorded
    command: tuple[str, ...]  # of the process that is measured
    remote_command: tuple[str, ...] = ()
    database: DatabaseFacts | None = None  # None: it has none
    confinement: Confinement
    clock_speed_after: float | None = None  # as Window.clock_speed, after the measurement
    limits: tuple[Enforcement, ...] = ()  # what it was allowed to use
    outcomes: tuple[LimitHit, ...] = ()  # which of them it ran into
    logs: dict[str, str]  # title -> path beside the cell file
    driver_command: tuple[str, ...] = ()
    first_response_s: float | None = None
    proof: Proof | None = None
    outside: OutsideProof | None = None  # in its place, for an application that says nothing about itself
    burn_check: BurnCheck | None = None
    warmup: Warmup | None = None
    windows: tuple[Window, ...] = ()
    latency: Latency | None = None  # of the valid windows together, where they keep no histograms of their own
    capacity: Capacity | None = None
    samples: tuple[Sample, ...] = ()
    memory: tuple[MemoryReading, ...] = ()
    audit: Audit | None = None
    program: ProgramWindow | None = None

    @property
    def usable(self) -> bool:
        """True if it has figures that can be trusted. A server that never gave a 2xx response has none; what became of
        it is an outcome all the same (loads/attainment.py)."""
        measured = self.status in (Status.OK, Status.NOT_STEADY)
        return measured and (bool(self.readings) or any(window.load.succeeded for window in self.valid_windows))

    @property
    def cpus_allowed(self) -> float:
        """The CPU seconds per second that it may use, by its CPUs and its CPU quota."""
        quotas = [limit.maximum / 1000 for limit in self.limits if limit.limit == "CPU quota"]
        return min([len(self.confinement.sut_cpus), *quotas])

    @property
    def conclusive(self) -> bool:
        """True if it is usable, or a program that ran to its end without a figure: that a JDK lacks what an experiment
        is about is a finding."""
        return self.usable or (self.status is Status.OK and self.program is not None)

    @property
    def readings(self) -> tuple[WindowReading, ...]:
        """The program's figures, the leading one first; those that it could not determine are left out."""
        return self.program.readings if self.program else ()

    @property
    def result(self) -> ProgramResult | None:
        """The program's answer; None if it failed, or there is no program."""
        return self.program.result if self.program else None

    @cached_property
    def valid_windows(self) -> tuple[Window, ...]:
        return tuple(window for window in self.windows if window.valid)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("valid_windows", None)
        return copied

    @property
    def every_window(self) -> tuple[Window, ...]:
        """All windows of the fork, including those of a search."""
        return (*self.windows, *(step.window for step in (self.capacity.steps if self.capacity else ())))

    @property
    def driver(self) -> str | None:
        """The name of the driver that made its load; None if no window was measured."""
        return next((window.load.driver for window in self.every_window), None)

    @property
    def window_reasons(self) -> tuple[Reason, ...]:
        """The reasons why windows are invalid, except those of a search."""
        windows: tuple[ObservedWindow, ...] = (*self.windows, *((self.program,) if self.program else ()))
        return tuple(reason for window in windows for reason in window.reasons)

    @property
    def clock_speeds(self) -> tuple[float, ...]:
        """The clock speeds read before each window."""
        windows: tuple[ObservedWindow, ...] = (*self.every_window, *((self.program,) if self.program else ()))
        return tuple(window.clock_speed for window in windows if window.clock_speed is not None)

    def only(self, rounds: Collection[int]) -> Fork:
        """Return the fork as if only the windows of these `rounds` had been measured."""
        return self.model_copy(update={"windows": tuple(one for one in self.windows if one.index in rounds)})

    def took_turns_with(self, other: Fork) -> bool:
        """Return whether they were measured round by round, a window of each."""
        return other.sequence in self.together and self.sequence in other.together
