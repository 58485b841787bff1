"""HdrHistograms as the driver encodes them (V2, compressed, base64; values in nanoseconds): read, merge, sum up. Pure.

Percentiles are nearest-rank: the smallest recorded value that at least that share of all values does not exceed, shown
as the upper edge of its bucket (three significant digits), as HdrHistogram for Java does.
"""

from __future__ import annotations

import binascii
import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import Latency, SpectrumPoint

PERCENTILES = ("50", "90", "99", "99.9", "99.99")
TICKS_PER_HALF_DISTANCE = 5
_NS_PER_US = 1000.0
_NS_PER_MS = 1_000_000.0


@dataclass(frozen=True)
class Buckets:
    """The buckets that hold something, in rising order; arrays of equal length, not empty."""

    lowest_ns: npt.NDArray[np.int64]
    highest_ns: npt.NDArray[np.int64]
    cumulative: npt.NDArray[np.int64]  # values up to and with this bucket

    @property
    def total(self) -> int:
        return int(self.cumulative[-1])

    @property
    def mean_ns(self) -> float:
        """Of the buckets' middles, as HdrHistogram does."""
        counts = np.diff(self.cumulative, prepend=0)
        middles = self.lowest_ns + (self.highest_ns - self.lowest_ns + 1) // 2
        return float(np.dot(counts.astype(np.float64), middles.astype(np.float64)) / self.total)

    def index_at(self, share: Fraction | float) -> int:
        """The first bucket with at least `share` (0..1) of all values at or below it; exact, in whole numbers."""
        numerator, denominator = share.as_integer_ratio()
        rank = max(1, -(-numerator * self.total // denominator))
        return int(np.searchsorted(self.cumulative, rank))


def latency_from_histogram(encoded: str) -> Latency:
    """Sum up one histogram.

    Raises:
        MatrixError: it cannot be read, or nothing was recorded in it.
    """
    buckets = _buckets(_decode(encoded))
    if buckets is None:
        raise MatrixError("a latency histogram is empty: nothing was recorded in it")
    return Latency(
        count=buckets.total,
        min_us=float(buckets.lowest_ns[0]) / _NS_PER_US,
        mean_us=buckets.mean_ns / _NS_PER_US,
        max_us=float(buckets.highest_ns[-1]) / _NS_PER_US,
        percentiles_us={
            percent: float(buckets.highest_ns[buckets.index_at(Fraction(percent) / 100)]) / _NS_PER_US
            for percent in PERCENTILES
        },
        spectrum=tuple(_spectrum(buckets)),
        histogram=encoded,
    )


@lru_cache(maxsize=1024)
def merged_latency(encoded: tuple[str, ...]) -> Latency:
    """Of the values of all. Pages, exports and verdicts ask for the same ones, and it takes milliseconds.

    Raises:
        MatrixError: as latency_from_histogram and merge.
    """
    return latency_from_histogram(merge(encoded))


def merge(encoded: Sequence[str]) -> str:
    """One histogram with the values of all: exact, because counts of equal buckets are added.

    Raises:
        MatrixError: one cannot be read, they have different ranges or precisions, or there is none.
    """
    if not encoded:
        raise MatrixError("no latency histogram to merge")
    histograms = [_decode(one) for one in encoded]
    shapes = {_shape(histogram) for histogram in histograms}
    if len(shapes) > 1:
        raise MatrixError(f"latency histograms of different shape cannot be merged exactly: {sorted(shapes)}")
    merged = HdrHistogram(*shapes.pop())
    for histogram in histograms:
        merged.add(histogram)
    return str(merged.encode().decode("ascii"))


def percentile_distribution(encoded: str) -> str:
    """In the text format of HdrHistogram's own plotter (.hgrm), values in ms.

    Raises:
        MatrixError: it cannot be read.
    """
    text = io.BytesIO()
    _decode(encoded).output_percentile_distribution(text, _NS_PER_MS, TICKS_PER_HALF_DISTANCE)
    return text.getvalue().decode("ascii")


def _decode(encoded: str) -> HdrHistogram:
    try:
        return HdrHistogram.decode(encoded)
    except (HdrCookieException, HdrLengthException, binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise MatrixError(f"a latency histogram cannot be read: {error}") from error


def _shape(histogram: HdrHistogram) -> tuple[int, int, int]:
    return (
        int(histogram.lowest_trackable_value),
        int(histogram.highest_trackable_value),
        int(histogram.significant_figures),
    )


def _buckets(histogram: HdrHistogram) -> Buckets | None:
    counts = np.array(histogram.counts, dtype=np.int64)
    used = np.flatnonzero(counts)
    if used.size == 0:
        return None
    # As HdrHistogram's valueFromIndex has it: each bucket doubles the range of the one before, in half_count steps.
    half_count = int(histogram.sub_bucket_half_count)
    bucket = (used >> int(histogram.sub_bucket_half_count_magnitude)) - 1
    step = np.where(bucket < 0, used & (half_count - 1), (used & (half_count - 1)) + half_count)
    magnitude = np.maximum(bucket, 0) + int(histogram.unit_magnitude)
    lowest = step << magnitude
    return Buckets(lowest_ns=lowest, highest_ns=lowest + (1 << magnitude) - 1, cumulative=np.cumsum(counts[used]))


def _spectrum(buckets: Buckets) -> Iterator[SpectrumPoint]:
    """A point per tick, more closely the nearer to 1; ticks that fall into one bucket make one point, the last."""
    previous: tuple[int, float] | None = None
    for quantile in (*_ticks(buckets.total), 1.0):
        index = buckets.index_at(quantile)
        if previous is not None and previous[0] != index:
            yield _point(buckets, *previous)
        previous = (index, quantile)
    if previous is not None:
        yield _point(buckets, *previous)


def _point(buckets: Buckets, index: int, quantile: float) -> SpectrumPoint:
    return SpectrumPoint(
        quantile=quantile,
        value_us=float(buckets.highest_ns[index]) / _NS_PER_US,
        count=int(buckets.cumulative[index]),
    )


def _ticks(total: int) -> Iterator[float]:
    """Quantiles from 0 on: TICKS_PER_HALF_DISTANCE steps per halving of the distance to 1, as long as that distance
    is at least one value. Source: HdrHistogram's PercentileIterator."""
    halving = 0
    while 2.0**-halving * total >= 1:
        for tick in range(TICKS_PER_HALF_DISTANCE):
            distance = 2.0**-halving * (1 - tick / (2 * TICKS_PER_HALF_DISTANCE))
            yield 1 - distance
        halving += 1
