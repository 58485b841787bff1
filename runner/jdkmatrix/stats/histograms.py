"""HdrHistograms as the driver encodes them (V2, compressed, base64; values in ns): read, merge and summarise. Pure.

Percentiles are nearest-rank: the smallest recorded value that at least that share of all values does not exceed, shown
as the upper edge of its bucket (three significant digits), as HdrHistogram for Java does.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import PERCENTILES, Latency, SpectrumPoint

_SHARES = {percent: Fraction(percent) / 100 for percent in PERCENTILES}
TICKS_PER_HALF_DISTANCE = 5
_NS_PER_US = 1000.0
_NS_PER_MS = 1_000_000.0


@dataclass(frozen=True)
class Buckets:
    """The buckets that hold something, in rising order: arrays of equal length, not empty."""

    lowest_ns: npt.NDArray[np.int64]
    highest_ns: npt.NDArray[np.int64]
    cumulative: npt.NDArray[np.int64]  # values up to and including this bucket

    @property
    def total(self) -> int:
        return int(self.cumulative[-1])

    @property
    def mean_ns(self) -> float:
        """The mean by the midpoints of the buckets, as HdrHistogram computes it."""
        return float(np.dot(self._counts, self._middles) / self.total)

    @property
    def standard_deviation_ns(self) -> float:
        """The standard deviation of all values by the midpoints of the buckets, as HdrHistogram computes it."""
        return float(np.sqrt(np.dot(self._counts, (self._middles - self.mean_ns) ** 2) / self.total))

    @property
    def _counts(self) -> npt.NDArray[np.float64]:
        return np.diff(self.cumulative, prepend=0).astype(np.float64)

    @property
    def _middles(self) -> npt.NDArray[np.float64]:
        return (self.lowest_ns + (self.highest_ns - self.lowest_ns + 1) // 2).astype(np.float64)

    def index_at(self, share: Fraction) -> int:
        """Return the first bucket with at least `share` (0..1) of all values at or below it; exact, in integers."""
        numerator, denominator = share.as_integer_ratio()
        rank = max(1, -(-numerator * self.total // denominator))
        return int(np.searchsorted(self.cumulative, rank))


def latency_from_histogram(encoded: str) -> Latency:
    """Summarise one histogram.

    Raises:
        MatrixError: it cannot be read, or nothing was recorded in it.
    """
    return _latency(_decode(encoded), encoded)


def _latency(histogram: HdrHistogram, encoded: str) -> Latency:
    buckets = _buckets(histogram)
    return Latency(
        count=buckets.total,
        min_us=float(buckets.lowest_ns[0]) / _NS_PER_US,
        mean_us=buckets.mean_ns / _NS_PER_US,
        max_us=float(buckets.highest_ns[-1]) / _NS_PER_US,
        percentiles_us={
            percent: float(buckets.highest_ns[buckets.index_at(share)]) / _NS_PER_US
            for percent, share in _SHARES.items()
        },
        spectrum=tuple(_spectrum(buckets)),
        histogram=encoded,
    )


@lru_cache(maxsize=1024)
def merged_latency(encoded: tuple[str, ...]) -> Latency:
    """Return the latency over the values of all histograms: exact, because counts of equal buckets are added. Cached:
    pages, exports and verdicts ask for the same ones, and it takes milliseconds.

    Raises:
        MatrixError: as latency_from_histogram; or they have different ranges or precisions, or there is none.
    """
    if len(encoded) == 1:
        return latency_from_histogram(encoded[0])
    if not encoded:
        raise MatrixError("no latency histogram to merge")
    histograms = [_decode(one) for one in encoded]
    shapes = {
        (int(one.lowest_trackable_value), int(one.highest_trackable_value), int(one.significant_figures))
        for one in histograms
    }
    if len(shapes) > 1:
        raise MatrixError(f"latency histograms of different shape cannot be merged exactly: {sorted(shapes)}")
    merged = HdrHistogram(*shapes.pop())
    for histogram in histograms:
        merged.add(histogram)
    return _latency(merged, str(merged.encode().decode("ascii")))


def percentile_distribution(encoded: str) -> str:
    """Return the text that HdrHistogram for Java writes for its plotter (.hgrm), in ms; hdrh's own writer has other
    percentiles, takes a hundred times as long and leaves the standard deviation in ns.

    Raises:
        MatrixError: as latency_from_histogram.
    """
    histogram = _decode(encoded)
    buckets = _buckets(histogram)
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    for quantile, index in _levels(buckets):
        upper = f" {1 / (1 - quantile):14.2f}" if quantile < 1 else ""
        highest_ms = buckets.highest_ns[index] / _NS_PER_MS
        lines.append(f"{highest_ms:12.3f} {quantile:2.12f} {buckets.cumulative[index]:10d}{upper}")
    mean_ms, deviation_ms = buckets.mean_ns / _NS_PER_MS, buckets.standard_deviation_ns / _NS_PER_MS
    return "\n".join(
        (
            *lines,
            f"#[Mean    = {mean_ms:12.3f}, StdDeviation   = {deviation_ms:12.3f}]",
            f"#[Max     = {buckets.highest_ns[-1] / _NS_PER_MS:12.3f}, Total count    = {buckets.total:12d}]",
            f"#[Buckets = {histogram.bucket_count:12d}, SubBuckets     = {histogram.sub_bucket_count:12d}]",
            "",
        )
    )


def _decode(encoded: str) -> HdrHistogram:
    try:
        return HdrHistogram.decode(encoded)
    except (HdrCookieException, HdrLengthException, binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise MatrixError(f"a latency histogram cannot be read: {error}") from error


def _buckets(histogram: HdrHistogram) -> Buckets:
    counts = np.array(histogram.counts, dtype=np.int64)
    used = np.flatnonzero(counts)
    if used.size == 0:
        raise MatrixError("a latency histogram is empty: nothing was recorded in it")
    # As in HdrHistogram's valueFromIndex: each bucket doubles the range of the one before, in half_count steps.
    half_count = int(histogram.sub_bucket_half_count)
    bucket = (used >> int(histogram.sub_bucket_half_count_magnitude)) - 1
    step = np.where(bucket < 0, used & (half_count - 1), (used & (half_count - 1)) + half_count)
    magnitude = np.maximum(bucket, 0) + int(histogram.unit_magnitude)
    lowest = step << magnitude
    return Buckets(lowest_ns=lowest, highest_ns=lowest + (1 << magnitude) - 1, cumulative=np.cumsum(counts[used]))


def _spectrum(buckets: Buckets) -> Iterator[SpectrumPoint]:
    """Yield a point per tick, ever closer towards 1; ticks that fall into one bucket make one point, the last."""
    for index, quantile in {index: quantile for quantile, index in _levels(buckets)}.items():
        yield SpectrumPoint(
            quantile=quantile,
            value_us=float(buckets.highest_ns[index]) / _NS_PER_US,
            count=int(buckets.cumulative[index]),
        )


def _levels(buckets: Buckets) -> list[tuple[float, int]]:
    """Return quantiles and the buckets they fall into: ticks up to the first in the last bucket, then 1.

    Of `total` values, `total * (1 - tick)`, rounded down, lie beyond a tick: its rank is the number of all others."""
    last, total = len(buckets.cumulative) - 1, buckets.total
    steps = np.arange(2 * TICKS_PER_HALF_DISTANCE, TICKS_PER_HALF_DISTANCE, -1)
    beyond = total * steps // (2 * TICKS_PER_HALF_DISTANCE) >> np.arange(total.bit_length() + 1)[:, np.newaxis]
    indices = np.searchsorted(buckets.cumulative, np.maximum(1, total - beyond.ravel()))
    ticks = int(np.searchsorted(indices, last)) + 1
    return [*zip(map(_tick, range(ticks)), indices[:ticks].tolist(), strict=True), (1.0, last)]


@cache
def _tick(number: int) -> float:
    """Return a quantile by its number, from 0 on: TICKS_PER_HALF_DISTANCE steps per halving of the distance to 1,
    computed exactly. Source: HdrHistogram's PercentileIterator."""
    halving, step = divmod(number, TICKS_PER_HALF_DISTANCE)
    return float(1 - Fraction(2 * TICKS_PER_HALF_DISTANCE - step, 2 * TICKS_PER_HALF_DISTANCE * 2**halving))
