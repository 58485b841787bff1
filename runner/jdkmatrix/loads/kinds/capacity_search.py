"""A closed loop, then a search for the highest rate that holds; stats/capacity.py decides which rate is next."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from jdkmatrix.domain.loads import CellLoad, RateLoad, SaturateLoad
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.loads.base import Ask, Lengths, LoadKind, NearestRate, Question
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, CapacityStep, Window
from jdkmatrix.stats.capacity import CapacityRules, Probe, SearchOutcome, TriedRate, cut_off, is_known, next_rate, tried

# Steps of one search: the floor, eight halvings and three repeats were usual.
_USUAL_STEPS = 12


class CapacityLoad(CellLoad):
    """A closed loop, then constant rates: finds the highest that keeps p99 within `p99_max_us` without failed requests.

    The search goes from `floor_share` of the closed loop's throughput up to that throughput, in windows of `step_s`,
    until it has the rate to within `resolution` (a share).
    """

    kind: Literal["capacity"] = "capacity"
    p99_max_us: Annotated[float, Field(gt=0)]
    floor_share: Annotated[float, Field(gt=0, lt=1)]
    resolution: Annotated[float, Field(gt=0, lt=1)]
    step_s: Annotated[float, Field(gt=0, le=86_400)]

    @property
    def in_windows(self) -> SaturateLoad:
        return SaturateLoad(connections=self.connections)


class CapacitySearch(LoadKind[CapacityLoad]):
    question = Question("held a rate of the search", "Held a rate")
    metrics = ("capacity", "throughput", "cpu")
    ratio_of = "of the highest rate held where there was a search"
    throughput_of = "In the closed loop before the search."

    def search(self, measured: Sequence[Window], nearest: NearestRate) -> Generator[Ask, Window, Capacity] | None:
        """Search up to what the closed loop of the same fork reached; None if it reached nothing."""
        rates_rps = [window.load.succeeded_rps for window in measured if window.valid]
        return self.search_below(fmean(rates_rps), nearest) if any(rates_rps) else None

    def search_below(self, ceiling_rps: float, nearest: NearestRate) -> Generator[Ask, Window, Capacity]:
        """Search, with all rates the nearest that the driver can make. If an error is thrown in because a window could
        not be measured, the answer is what was found until then.

        Raises:
            MatrixError: the server is so slow that the driver's lowest rate is no lower than the ceiling.
        """
        load = self.load
        rules = CapacityRules(
            floor_rps=nearest(load.floor_share * ceiling_rps),
            ceiling_rps=nearest(ceiling_rps),
            slo_us=load.p99_max_us,
            resolution=load.resolution,
            nearest_rps=nearest,
        )
        steps: list[CapacityStep] = []
        history: list[TriedRate] = []
        while isinstance(probe := next_rate(history, rules), Probe):
            rate = RateLoad(rate_rps=probe.rate_rps, connections=load.connections)
            title = f"search, {probe.rate_rps:,.0f} req/s, {probe.purpose.value}"
            try:
                window = yield Ask(rate, load.step_s, f"search-{len(steps) + 1}", title)
            except MatrixError:
                probe = cut_off(history, rules)
                break
            seen = tried(window, probe.rate_rps)
            history.append(seen)
            kept = seen.held(rules.slo_us) if seen.valid else None
            steps.append(CapacityStep(rate_rps=probe.rate_rps, purpose=probe.purpose.value, held=kept, window=window))
        return Capacity(
            outcome=probe.outcome.value,
            p99_max_us=rules.slo_us,
            floor_rps=rules.floor_rps,
            ceiling_rps=rules.ceiling_rps,
            held_rps=probe.held_rps,
            failed_rps=probe.failed_rps,
            not_monotonic_rps=probe.not_monotonic_rps,
            steps=tuple(steps),
        )

    @property
    def p99_max_us(self) -> float:
        return self.load.p99_max_us

    def expected_s(self, lengths: Lengths) -> float:
        return lengths.measured_s + _USUAL_STEPS * self.load.step_s

    def length_words(self, lengths: Lengths) -> str:
        return f"{super().length_words(lengths)} and a search"

    def answer(self, fork: Fork) -> bool | None:
        found = fork.capacity
        if found is None or not is_known(found):
            return None
        return SearchOutcome(found.outcome) is not SearchOutcome.FLOOR_FAILED

    def words(self) -> str:
        return (
            f"closed loop: {plural(self.load.connections, 'connection')}; then constant rates over them, to find the "
            f"highest that keeps p99 within {digits(self.load.p99_max_us / 1000, 3)} ms without a failed request"
        )


LOADS = {CapacityLoad: CapacitySearch}
