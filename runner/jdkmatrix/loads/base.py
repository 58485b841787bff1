"""Kinds of load, each of which decides more than its fields: what is measured under it, what a fork is asked, its
figures, and the words for all this.

A kind is a file in `kinds`, with the record of its fields, which files of results keep.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Generic, NamedTuple, TypeVar

from jdkmatrix.domain.loads import CellLoad, GivenLoad, Load, RateLoad, SaturateLoad
from jdkmatrix.domain.quantities import plural, rate_words
from jdkmatrix.method.measuring import Turns
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, Window
from jdkmatrix.stats.forks import fork_cpu_us_per_request, fork_throughput


@dataclass(frozen=True)
class Question:
    """A question that every fork under a load answers, failed ones included; yes is always better.

    `did`: what a fork that says yes did; `title`: the same at the head of a table. `is_sought`: the load goes on until
    the answer is no, so that this is the usual outcome, and no trouble. `in_tables`: it says more than the number of
    usable forks. `better`: which answer is better, in words, if that is not plain.
    """

    did: str
    title: str
    is_sought: bool = False
    in_tables: bool = True
    better: str | None = None


class Bound(Enum):
    """The relation of a figure to the truth; the value is the sign before it."""

    NONE = ""
    AT_LEAST = "≥"
    BELOW = "<"

    def signed(self, text: str) -> str:
        """Return a figure's text with the sign before it."""
        return f"{self.value} {text}".lstrip()


@dataclass(frozen=True)
class ForkFigure:
    """`comparable`: it is of the load that was asked for."""

    value: float
    bound: Bound = Bound.NONE
    comparable: bool = True

    @property
    def compares(self) -> bool:
        """True if it may stand in a ratio."""
        return self.comparable and self.bound is Bound.NONE and self.value > 0


class Ask(NamedTuple):
    """One window to measure. `label` names its files, `title` stands before its figures. `may_lead`: its load may be on
    before it begins."""

    load: Load
    duration_s: float
    label: str
    title: str
    may_lead: bool = True


class Lengths(NamedTuple):
    """The lengths of a fork's windows, if its load has none of its own."""

    windows: int
    window_s: float

    @property
    def measured_s(self) -> float:
        return self.windows * self.window_s


# Choices, not measurements.
_ANSWERS_IN_LEAD = 10
_LEAD_S_MIN = 1.0
_SPREAD_SOON_S = 0.25  # requests that spread out within this take nothing away from a window of seconds

NearestRate = Callable[[float], float]  # requests per second, as the driver can make them
L = TypeVar("L", bound=CellLoad)


@dataclass(frozen=True)
class LoadKind(ABC, Generic[L]):
    """A load with what it decides. The defaults are for windows at one level.

    `metrics`: what executors are compared by, as figures/metrics.py calls it, the leading figure first; `ratio_of`: the
    leading one in a caption. `overloads`: it may ask for more than a server can do, so that missed and failed requests
    are no trouble. `one_level`: False if latencies of several rates come together, which are those of none.
    `grows_pool`: how the server gets its threads is part of what is measured, so its warm-up must not give it all of
    them. `cost_is_sampled`: CPU per request comes from samples of the whole process. `throughput_of`: the part of the
    load that throughput is of, in a sentence; None: all of it. A kind with its own `question` has its own `answer`.
    """

    question: ClassVar[Question] = Question("answered", "Answered", in_tables=False)
    metrics: ClassVar[tuple[str, ...]]
    ratio_of: ClassVar[str]
    overloads: ClassVar[bool] = False
    one_level: ClassVar[bool] = True
    grows_pool: ClassVar[bool] = False
    cost_is_sampled: ClassVar[bool] = False
    throughput_of: ClassVar[str | None] = None

    load: L

    # ---- what is measured

    def why_no_turns(self, answer_s: float, turns: Turns) -> str | None:
        """Return in words why servers whose answers take at least so long cannot take turns under it; None if they
        can."""
        return "its load is not a window that can be repeated"

    def driver_loads(self, window_s: float) -> Iterator[tuple[Load, float]]:
        """Yield every load that is measured, with its seconds, except for the rates of a search, which are the
        driver's nearest."""
        yield self.load.in_windows, window_s

    def asks(self, lengths: Lengths) -> Generator[Ask, Window, None]:
        """Yield the windows of a fork, each after the one before has been sent in, measured and judged."""
        for index in range(1, lengths.windows + 1):
            title = f"window {index}/{lengths.windows}"
            yield Ask(self.load.in_windows, lengths.window_s, f"window-{index}", title)

    def search(self, measured: Sequence[Window], nearest: NearestRate) -> Generator[Ask, Window, Capacity] | None:
        """Return a search to follow the windows, whose own windows are none of the fork's; None: there is none.

        Raises:
            MatrixError: there is no rate to begin with.
        """
        return None

    def ended_overloaded(self, measured: Sequence[Window]) -> bool:
        """Return whether it looked for what the server cannot do, and ended there: the server then answers late, which
        does not mean that it hangs."""
        return self.overloads and bool(measured) and is_missed(measured[-1])

    @property
    def p99_max_us(self) -> float | None:
        """The objective for p99; None if it has none."""
        return None

    def expected_s(self, lengths: Lengths) -> float:
        return lengths.measured_s

    def ahead_s(self, lengths: Lengths) -> float:
        """Return how long is measured after the warm-up at one level."""
        return lengths.measured_s

    def length_words(self, lengths: Lengths) -> str:
        return f"{plural(lengths.windows, 'window')} of {lengths.window_s:g} s"

    # ---- what a fork says; of usable ones only

    def answer(self, fork: Fork) -> bool | None:
        """Answer the question; None if it cannot be told. A usable fork has answered."""
        return True

    def throughput_rps(self, fork: Fork) -> ForkFigure | None:
        """Return answers of status 2xx per second."""
        return ForkFigure(fork_throughput(fork))

    def cpu_share(self, fork: Fork) -> float | None:
        """Return CPU time of the SUT as a share of its CPUs or quota, in the part of the load that throughput is of."""
        windows = fork.valid_windows
        seconds = sum(window.load.duration_s for window in windows)
        return sum(one.sut.cpu_share * one.load.duration_s for one in windows) / seconds if seconds > 0 else None

    def cpu_us_per_request(self, fork: Fork) -> ForkFigure | None:
        """Return CPU time of the SUT per answer of status 2xx, in µs."""
        return ForkFigure(fork_cpu_us_per_request(fork))

    def fork_words(self, fork: Fork) -> str:
        """Return its figures in a line."""
        return f"{rate_words(fork_throughput(fork))} req/s, {fork_cpu_us_per_request(fork):.1f} µs CPU/request"

    # ---- in words

    @abstractmethod
    def words(self) -> str: ...

    def words_of_all(self, loads: Sequence[L]) -> str:
        """Describe loads of one kind that differ, since each was worked out for a condition of its own."""
        return "; ".join(type(self)(load).words() for load in loads)

    @property
    def cpu_scope(self) -> str | None:
        """The part of the load that CPU per request is of; None: all of it."""
        return self.throughput_of

    @property
    def cpu_label(self) -> str | None:
        """The step that CPU per request is of, in a few letters; None if it is of all requests."""
        return None


class Steps(LoadKind[L]):
    """A load that goes on in steps, a window each. Throughput and CPU use are those of the best step.

    `over`: what rises from step to step, `axis`: the same with its unit; `curve`: how to read throughput over it.
    """

    over: ClassVar[str]
    axis: ClassVar[str]
    curve: ClassVar[str]
    one_level = False
    throughput_of = "In each fork’s step with the highest throughput."

    @abstractmethod
    def size(self, window: Window) -> float:
        """Return the place of a step on `axis`."""

    @abstractmethod
    def up_to(self, size: float) -> str:
        """Describe what a server with steps up to this size was given."""

    def cpu_share(self, fork: Fork) -> float:
        return best_window(fork).sut.cpu_share

    @staticmethod
    def most_rps(fork: Fork, *, saturated: bool) -> ForkFigure:
        """Return the most of any step that counts; at least that, if the server was not saturated, or a gate refused a
        step in which more was answered."""
        most = best_window(fork).load.succeeded_rps
        refused_more = any(not one.valid and one.load.succeeded_rps > most for one in fork.windows)
        return ForkFigure(most, Bound.NONE if saturated and not refused_more else Bound.AT_LEAST)

    @staticmethod
    def most_words(most: ForkFigure) -> str:
        """Describe the throughput of the best step: "at least" that, if a further one might have had more."""
        rate = f"{rate_words(most.value)} req/s"
        return f"at best {rate}" if most.bound is Bound.NONE else f"at least {rate}"


def answer_s(load: Load | GivenLoad, *, wait_us: int, burn_us: int, cpus: float) -> float:
    """Return the least time that an answer takes: the delay of the remote system or, if longer, in a closed loop the
    work of all requests on these CPUs, since all are worked on at once."""
    work_us = load.connections * burn_us / cpus if isinstance(load, SaturateLoad) else 0.0
    return math.ceil(max(wait_us, work_us)) / 1e6  # so that a driver can divide a load by it


def lead_s(load: Load | GivenLoad, answer_s: float) -> float:
    """Return how long a load is on before a window of it, if an answer takes at least so long: the connections of a
    closed loop join over the first of the lead's `_ANSWERS_IN_LEAD` answers (Phase.java), so that they are not in step,
    and the rest of it spreads them further. A server then has as much half done when a window begins as when it ends,
    however many requests it has at once."""
    spread_s = _ANSWERS_IN_LEAD * answer_s if isinstance(load, SaturateLoad) else 0.0
    return max(_LEAD_S_MIN, spread_s) if spread_s > _SPREAD_SOON_S else 0.0


def best_window(fork: Fork) -> Window:
    """Return the window of a usable fork in which most was answered."""
    return max(fork.valid_windows, key=lambda window: window.load.succeeded_rps)


def held(fork: Fork) -> bool:
    """Return whether the server did all that it was asked for, in every window that counts."""
    return not any(window.shortfalls for window in fork.valid_windows)


def is_missed(window: Window) -> bool:
    """Return whether fewer requests were answered than were due."""
    return any(reason.code == "rate-missed" for reason in window.shortfalls)


def offered_rps(window: Window) -> float | None:
    """Return its constant rate, if it has one."""
    load = window.load.load
    return load.rate_rps if isinstance(load, RateLoad) else None
