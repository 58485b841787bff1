"""From which delay of the remote system on is one executor ahead? In sentences, from what was measured alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import wait_words
from jdkmatrix.report.words.sentences import PairFinding

_OPEN = (
    *(PairFinding.NO_EVIDENCE_YET, PairFinding.NO_DIFFERENCE_SEEN, PairFinding.CANNOT_TELL),
    *(PairFinding.ONE_BLOCK, PairFinding.TOO_FEW_FORKS),
)


@dataclass(frozen=True)
class Crossover:
    """The findings about one executor against another, by delay in µs; None where there is no pair."""

    findings: Mapping[int, PairFinding | None]

    @property
    def waits_us(self) -> tuple[int, ...]:
        return tuple(sorted(self.findings))

    @property
    def ahead_from_us(self) -> int | None:
        """The shortest measured delay from which on it is ahead at every longer one, too; None: there is no such."""
        found = None
        for wait_us in reversed(self.waits_us):
            if self.findings[wait_us] is not PairFinding.BETTER:
                break
            found = wait_us
        return found

    def at(self, *wanted: PairFinding | None) -> tuple[int, ...]:
        return tuple(wait_us for wait_us in self.waits_us if self.findings[wait_us] in wanted)


def sentence(found: Crossover, numerator: str, denominator: str) -> str:
    """Speaks of the delays that were measured, and of none between them."""
    waits = found.waits_us
    since = found.ahead_from_us
    ahead, behind = found.at(PairFinding.BETTER), found.at(PairFinding.WORSE)
    if since == waits[0]:
        words = f"{numerator} is ahead at every delay that was measured"
    elif since is not None:
        before = _list([wait_us for wait_us in waits if wait_us < since])
        words = f"{numerator} is ahead from a delay of {wait_words(since)} on; it is not at {before}"
    elif ahead:
        words = f"{numerator} is ahead at {_list(ahead)}, but not at every longer delay"
    else:
        words = f"{numerator} is not ahead at any delay that was measured"
    parts = [words]
    if behind:
        parts.append(f"{denominator} is ahead at {_list(behind)}")
    if open_ := found.at(*_OPEN):
        parts.append(f"nothing is shown at {_list(open_)}")
    if unjudged := found.at(PairFinding.NOT_JUDGED, None):
        parts.append(f"no verdict at {_list(unjudged)}")
    return f"{'; '.join(parts)}. Measured: {_list(waits)}."


def _list(waits_us: Sequence[int]) -> str:
    words = [wait_words(wait_us) if wait_us else "0 ms" for wait_us in waits_us]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
