"""The figures of one wrk2 run, as exact as they were printed, and the sharpest values that follow from them.

wrk2 prints the same figure in several places with different precision. Here every figure is kept as printed: whole
microseconds where wrk2 prints milliseconds with three decimals (its clock ticks in microseconds, so nothing is
lost), a `Rounded` with its rounding where it prints two decimals and a unit.

Source of the constants and of the meanings: giltene/wrk2, `src/wrk.h` and `src/wrk.c` (`thread_main`, `calibrate`,
`check_timeouts`, `response_complete`). What the output does not say:

- A thread resets its histograms `CALIBRATE_DELAY_MS` plus `CONNECT_STAGGER_MS` per connection after its start, and then
  prints a "Thread calibration" line; runs that end before that keep everything.
- Answers that arrive after the deadline count as requests but are not recorded: at most one per connection.
- "Non-2xx or 3xx responses" counts status 400 and above; a 3xx is not included.
- "timeout" is not a number of requests: every `STOP_CHECK_S` wrk2 counts the connections whose last send is older
  than `--timeout`.
- Nor are "connect", "read" and "write": a connection that is refused is opened again at once, tens of thousands of
  times per second.
- A connection that the server closes without an answer (FIN, not RST) is in none of them: wrk2 never uses it again,
  and only later counts it as "timeout". Until then it shows as requests that are due and not answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from jdkmatrix.records.load_results import PERCENTILES, Errors, Latency, SpectrumPoint

CALIBRATE_DELAY_MS = 10_000
CONNECT_STAGGER_MS = 5  # a thread opens its connections this far apart
STOP_CHECK_S = 2.0  # TIMEOUT_INTERVAL_MS: a thread without answers notices its deadline this late


@dataclass(frozen=True)
class Rounded:
    """A figure that wrk2 printed rounded: the true one is within `value` ± `half_step`."""

    value: Decimal
    half_step: Decimal

    @property
    def low(self) -> Decimal:
        return self.value - self.half_step

    @property
    def high(self) -> Decimal:
        return self.value + self.half_step


@dataclass(frozen=True)
class SpectrumRow:
    """`count` values are at most `value_us`. `inverse` is 1/(1-percentile); None if wrk2 prints "inf"."""

    value_us: int
    percentile: Decimal  # 0..1, six decimals
    count: int
    inverse: Decimal | None

    @property
    def quantile(self) -> float:
        """The quantile, 0..1. Above 0.99, two decimals of the inverse tell more than six of the percentile."""
        if self.inverse is None:
            return 1.0
        return float(1 - 1 / self.inverse) if self.inverse > 100 else float(self.percentile)


@dataclass(frozen=True)
class Histogram:
    """One printed distribution. The mean is None if wrk2 prints `-nan`, as it does when nothing was recorded."""

    summary_us: dict[str, Rounded]  # keys "50", "75", "90", "99", "99.9", "99.99", "99.999", "100"
    rows: tuple[SpectrumRow, ...]
    mean_us: int | None
    total_count: int

    def percentile_us(self, percent: str) -> float:
        """Return the value at a percentile of the summary ("99.9"), as precisely as the output allows.

        Exact if the spectrum has a row for that percentile. Otherwise the summary's figure, clamped to the range that
        the neighbouring rows leave: off by at most half of the summary's last digit. The two can differ by one rank,
        which the spectrum rounds up (as HdrHistogram for Java does) and the summary half up. Needs recorded values.
        """
        quantile = Decimal(percent) / 100
        for row in self.rows:
            if row.percentile == quantile:
                return float(row.value_us)
        rank = max(1, int(quantile * self.total_count + Decimal("0.5")))
        low, high = next(
            (below.value_us, row.value_us) for below, row in pairwise((self.rows[0], *self.rows)) if row.count >= rank
        )
        return float(min(max(self.summary_us[percent].value, Decimal(low)), Decimal(high)))

    def latency(self) -> Latency | None:
        """Return the record of this histogram; None if nothing was recorded. The maximum is the upper edge of its
        bucket, as in the rows."""
        if self.total_count == 0 or self.mean_us is None:
            return None
        return Latency(
            count=self.total_count,
            min_us=float(self.rows[0].value_us),
            mean_us=float(self.mean_us),
            max_us=float(self.rows[-1].value_us),
            percentiles_us={percent: self.percentile_us(percent) for percent in PERCENTILES},
            spectrum=tuple(
                SpectrumPoint(quantile=row.quantile, value_us=float(row.value_us), count=row.count) for row in self.rows
            ),
        )


@dataclass(frozen=True)
class Wrk2Output:
    """The figures of a complete run that count, as printed. `calibrated`: each thread has reset its histograms once;
    `corrected` needs `-L`, `uncorrected` needs `-U`; None without it."""

    threads: int
    connections: int
    calibrated: bool
    corrected: Histogram | None
    uncorrected: Histogram | None
    requests: int  # answers, any status
    runtime_s: Rounded
    errors: Errors
    non_2xx: int
    requests_per_s: Rounded

    @cached_property
    def duration_s(self) -> float:
        """Seconds over which wrk2 counts throughput: the middle of the range that its two printed figures allow.

        From 51 s on, the runtime is printed in hundredths of a minute; requests divided by requests/s is then the
        sharper figure. `parse` has made sure that the two agree.
        """
        low, high = duration_range(self.requests, self.runtime_s, self.requests_per_s)
        return float((low + high) / 2)

    def non_2xx_among(self, completed: int) -> int:
        """Return how many of `completed` answers had a status other than 2xx: their share of all answers since the
        start of wrk2, which counts them from there, rounded up."""
        return min(completed, -(-self.non_2xx * completed // self.requests)) if self.requests else 0


def opening_s(connections: int, threads: int) -> float:
    """Return the seconds after which all connections are open."""
    return CONNECT_STAGGER_MS * (connections // threads) / 1000


def calibrated_s(connections: int, threads: int) -> float:
    """Return the seconds after which a thread resets its histograms: what it sends from then on counts."""
    return CALIBRATE_DELAY_MS / 1000 + opening_s(connections, threads)


def duration_range(requests: int, runtime: Rounded, per_second: Rounded) -> tuple[Decimal, Decimal]:
    """Return the lowest and highest seconds that both figures allow; empty (lowest above highest) if they disagree."""
    low, high = max(runtime.low, Decimal(0)), runtime.high
    if requests == 0:
        return (low, high) if per_second.low <= 0 else (Decimal(1), Decimal(0))
    low = max(low, requests / per_second.high)
    if per_second.low > 0:
        high = min(high, requests / per_second.low)
    return low, high
