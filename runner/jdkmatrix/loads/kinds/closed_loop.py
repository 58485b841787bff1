"""A closed loop: every connection sends its next request as soon as it has the answer."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.quantities import plural, span_words
from jdkmatrix.loads.base import LoadKind
from jdkmatrix.method.measuring import Turns

_NEXT = ", each sending its next request as soon as it has the answer"
_OF_LEAD = 10  # a choice, not a measurement


class ClosedLoop(LoadKind[SaturateLoad]):
    """A slow answer delays the next request: latencies show how many connections share the throughput, not how long a
    request that arrives independently would take. So executors are not compared by them."""

    metrics = ("throughput", "cpu")
    ratio_of = "of req/s"

    def why_no_turns(self, answer_s: float, turns: Turns) -> str | None:
        """Refuse if answers take too long: a turn begins once its lead is over, with all requests at once, and may have
        no answer for so long; a server that works on all at once has them all half done as the turn ends."""
        if round(answer_s * _OF_LEAD, 9) <= turns.lead_s:
            return None
        return (
            f"an answer takes at least {answer_s:g} s, so a turn may have none for that long: more than a tenth of "
            f"its lead of {turns.lead_s:g} s"
        )

    def words(self) -> str:
        return f"closed loop: {plural(self.load.connections, 'connection')}{_NEXT}"

    def words_of_all(self, loads: Sequence[SaturateLoad]) -> str:
        connections = span_words([load.connections for load in loads], "connections")
        return f"closed loop: {connections} by condition{_NEXT}"


LOADS = {SaturateLoad: ClosedLoop}
