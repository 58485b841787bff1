"""A constant rate on a fixed schedule."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import plural, rate_words, span_words
from jdkmatrix.loads.base import ForkFigure, LoadKind, Question, held
from jdkmatrix.method.measuring import Turns
from jdkmatrix.records.forks import Fork
from jdkmatrix.stats.forks import fork_cpu_us_per_request


class ConstantRate(LoadKind[RateLoad]):
    """The rate fixes the throughput: executors are compared by what they spend on it, and by how long they take."""

    question = Question("held the rate", "Held the rate")
    metrics = ("cpu", "p99")
    ratio_of = "of CPU per request where the rate is constant"

    def why_no_turns(self, answer_s: float, turns: Turns) -> str | None:
        """Refuse. docs/method.md, Protocols, has the measurements: with a delay of 2 ms, throughput of virtual threads
        over the pool was 4 % higher in turns than fork after fork; without one, turns cost more time than they save."""
        return "turns are no better than forks under a constant rate, and biased where a remote system answers"

    def answer(self, fork: Fork) -> bool:
        return held(fork)

    def cpu_us_per_request(self, fork: Fork) -> ForkFigure:
        """Return it in µs; if the fork missed its rate, it is true, but of another load, so it does not compare."""
        return ForkFigure(fork_cpu_us_per_request(fork), comparable=held(fork))

    def words(self) -> str:
        connections = plural(self.load.connections, "connection")
        return f"open loop: {rate_words(self.load.rate_rps)} requests/s on a fixed schedule over {connections}"

    def words_of_all(self, loads: Sequence[RateLoad]) -> str:
        rates = span_words([load.rate_rps for load in loads], "requests/s")
        connections = span_words([load.connections for load in loads], "connections")
        return f"open loop: {rates} by condition, on a fixed schedule over {connections}"


LOADS = {RateLoad: ConstantRate}
