"""Read the output of wrk2 exactly. Pure: text in, values out.

The format is that of giltene/wrk2, `src/wrk.c` (`main`, `calibrate`, `print_hdr_latency`), `src/units.c` and
`hdr_percentiles_print` in `src/hdr_histogram.c`. Units differ between summary (us, ms, s, m) and spectrum (always
ms). An unexpected line ends the reading: a wrong guess about a benchmark is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from jdkmatrix.drivers.base import DriverError
from jdkmatrix.drivers.wrk2_figures import Histogram, Rounded, SpectrumRow, Wrk2Output, duration_range
from jdkmatrix.records.load_results import Errors


def identify(version_text: str) -> Literal["wrk2", "wrk"] | None:
    """Tell which program printed this for `-v`. wrk2 calls itself "wrk 4.0.0"; only its options differ from wrk's."""
    if version_of(version_text) is None or "Usage: wrk " not in version_text:
        return None
    return "wrk2" if re.search(r"-R, --rate\b", version_text) else "wrk"


def version_of(version_text: str) -> str | None:
    """Return the version in the output of `-v` ("4.0.0", Debian's wrk: "debian/4.1.0-3+b2"); None: it is neither."""
    match = re.match(r"wrk (\S+) \[\w+\] Copyright", version_text)
    return match[1] if match else None


def parse(text: str) -> Wrk2Output:
    """Read the output of one run, standard output and standard error together.

    Raises:
        DriverError: wrk2 refused to run (its own message), or a line is not as wrk2 prints it (number and content).
    """
    if not text.startswith("Running "):
        raise DriverError(_refusal(text))
    lines = _Lines(text)
    lines.take(_RUNNING, '"Running DURATION test @ URL"')
    match = lines.take(_THREADS, '"N threads and N connections"')
    threads, connections = int(match[1]), int(match[2])
    if not 1 <= threads <= connections:
        raise lines.error_before("at least one thread, and a connection for each")
    calibrations = len(list(lines.while_matching(_CALIBRATION)))
    if calibrations not in (0, threads):
        raise lines.error_before(
            f"a calibration line for each of {threads} threads or for none: with {calibrations}, the histogram "
            "mixes threads that dropped their first ten seconds with threads that did not"
        )
    lines.take(_STATS_HEAD, '"Thread Stats"')
    lines.take(_LATENCY_STATS, '"Latency" with average, deviation, maximum and share')
    lines.take(_RATE_STATS, '"Req/Sec" with average, deviation, maximum and share')
    corrected = _histogram(lines) if lines.skip(_CORRECTED) else None
    uncorrected = None
    if corrected is not None and lines.skip(_BLANK):
        lines.take(_UNCORRECTED, '"Latency Distribution (HdrHistogram - Uncorrected Latency …)"')
        uncorrected = _histogram(lines)
    match = lines.take(_REQUESTS, '"N requests in TIME, SIZE read"')
    requests = int(match[1])
    runtime = _rounded(match[2], match[3], _SECONDS)
    for histogram in (corrected, uncorrected):
        _check_recorded(lines, histogram, requests, connections, bool(calibrations))
    found = lines.skip(_SOCKET_ERRORS)
    errors = Errors()
    if found:
        connect, read, write, timeout = map(int, found.groups())
        errors = Errors(connect=connect, read=read, write=write, timeout=timeout)
    found = lines.skip(_STATUS_ERRORS)
    non_2xx = int(found[1]) if found else 0
    per_second = _rounded(lines.take(_RATE, '"Requests/sec:" with two decimals')[1], "", _PLAIN)
    low, high = duration_range(requests, runtime, per_second)
    if low - high > _CLOCK_TICK_S:
        raise lines.error_before(f"a rate that agrees with {requests} requests in {runtime.value} s")
    lines.take(_TRANSFER, '"Transfer/sec:" with a size')
    lines.end()
    return Wrk2Output(
        threads=threads,
        connections=connections,
        calibrated=bool(calibrations),
        corrected=corrected,
        uncorrected=uncorrected,
        requests=requests,
        runtime_s=runtime,
        errors=errors,
        non_2xx=non_2xx,
        requests_per_s=per_second,
    )


_CLOCK_TICK_S = Decimal("1e-6")
_SECONDS = {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "m": Decimal(60)}
_MICROSECONDS = {unit: scale * 1_000_000 for unit, scale in _SECONDS.items()}
_PLAIN = {"": Decimal(1)}

_COUNT = r"(\d{1,19})"
_MILLI = r"(\d{1,16}\.\d{3})"  # milliseconds or percent with three decimals
_MILLI_OR_NAN = r"(-?nan|\d{1,16}\.\d{3})"
_TIME = r"(\d{1,16}\.\d\d)(us|ms|s|m)"
_ANY_TIME = r"(?:-?nan|\d{1,16}\.\d\d)(?:us|ms|s|m)"
_ANY_RATE = r"(?:-?nan|\d{1,16}\.\d\d)[kMGT]?"
_ANY_SHARE = r"(?:-?nan|\d{1,3}\.\d\d)%"
_SIZE = r"\d{1,16}\.\d\d[KMGT]?B"


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", r"\ +") + r"\ *", re.ASCII)


_RUNNING = _line(r"Running (\d{1,19})(s|m) test @ (\S+)")
_THREADS = _line(f" {_COUNT} threads and {_COUNT} connections")
_CALIBRATION = _line(f" Thread calibration: mean lat.: {_MILLI}ms, rate sampling interval: {_COUNT}ms")
_STATS_HEAD = _line(r" Thread Stats Avg Stdev Max \+/- Stdev")
_LATENCY_STATS = _line(f" Latency {_ANY_TIME} {_ANY_TIME} {_ANY_TIME} {_ANY_SHARE}")
_RATE_STATS = _line(f" Req/Sec {_ANY_RATE} {_ANY_RATE} {_ANY_RATE} {_ANY_SHARE}")
_CORRECTED = _line(r" Latency Distribution \(HdrHistogram - Recorded Latency\)")
_UNCORRECTED = _line(
    r" Latency Distribution \(HdrHistogram - Uncorrected Latency "
    r"\(measured without taking delayed starts into account\)\)"
)
_PERCENTILE = re.compile(rf" *{_MILLI}% +{_TIME} *", re.ASCII)
_BLANK = re.compile("")
_SPECTRUM_TITLE = _line(" Detailed Percentile spectrum:")
_SPECTRUM_HEAD = _line(r" Value Percentile TotalCount 1/\(1-Percentile\)")
_SPECTRUM_ROW = _line(rf" {_MILLI} ([01]\.\d{{6}}) {_COUNT} (\d{{1,19}}\.\d\d|inf)")
_MEAN = _line(rf"#\[Mean = {_MILLI_OR_NAN}, StdDeviation = {_MILLI_OR_NAN}\]")
_MAX = _line(rf"#\[Max = {_MILLI}, Total count = {_COUNT}\]")
_BUCKETS = _line(rf"#\[Buckets = {_COUNT}, SubBuckets = {_COUNT}\]")
_RULE = _line("-{58}")
_REQUESTS = _line(f" {_COUNT} requests in {_TIME}, {_SIZE} read")
_SOCKET_ERRORS = _line(f" Socket errors: connect {_COUNT}, read {_COUNT}, write {_COUNT}, timeout {_COUNT}")
_STATUS_ERRORS = _line(f" Non-2xx or 3xx responses: {_COUNT}")
_RATE = _line(r"Requests/sec: (\d{1,16}\.\d\d)")
_TRANSFER = _line(f"Transfer/sec: {_SIZE}")
_COMPLAINT_LINES = 3
_SHOWN_CHARACTERS = 200
_SUMMARY_PERCENTS = ("50", "75", "90", "99", "99.9", "99.99", "99.999", "100")


class _Lines:
    """The text as numbered lines, taken one after another."""

    def __init__(self, text: str) -> None:
        self._lines = text.removesuffix("\n").split("\n")
        self._at = 0

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take the next line if it matches."""
        if self._at == len(self._lines):
            return None
        match = pattern.fullmatch(self._lines[self._at])
        self._at += match is not None
        return match

    def take(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = self.skip(pattern)
        if match is None:
            raise self.error_next(expected)
        return match

    def while_matching(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        while match := self.skip(pattern):
            yield match

    def end(self) -> None:
        if self._at < len(self._lines):
            raise self.error_next("the end")

    def error_next(self, expected: str) -> DriverError:
        """Return the error that the line to be taken next is not what must come here."""
        return self._error(self._at, expected)

    def error_before(self, expected: str) -> DriverError:
        """Return the error that the line taken last is well formed but cannot be true."""
        return self._error(self._at - 1, expected)

    def _error(self, index: int, expected: str) -> DriverError:
        found = repr(self._lines[index][:_SHOWN_CHARACTERS]) if index < len(self._lines) else "the end of the output"
        return DriverError(f"wrk2's output, line {index + 1}: found {found}, expected {expected}")


def _refusal(text: str) -> str:
    """Return the message before the usage text, or before a run that ran without its script or was ended by it."""
    complaint: dict[str, None] = {}
    verdict, silence = "wrk2 did not run", "it printed nothing"
    for line in text.split("\n"):
        if line.startswith("Usage: wrk "):
            silence = "it printed only its usage and no reason"
            break
        if line.startswith("Running "):
            verdict = "wrk2 did not run as it was asked to"
            break
        if line.strip() and version_of(line) is None and len(complaint) < _COMPLAINT_LINES:
            complaint[line.strip()[:_SHOWN_CHARACTERS]] = None
    return f"{verdict}: {'; '.join(complaint) or silence}"


def _histogram(lines: _Lines) -> Histogram:
    summary = {}
    for percent in _SUMMARY_PERCENTS:
        match = lines.take(_PERCENTILE, f"the {percent} % percentile with its unit")
        if Decimal(match[1]) != Decimal(percent):
            raise lines.error_before(f"the {percent} % percentile")
        summary[percent] = _rounded(match[2], match[3], _MICROSECONDS)
    lines.take(_BLANK, "an empty line")
    lines.take(_SPECTRUM_TITLE, '"Detailed Percentile spectrum:"')
    lines.take(_SPECTRUM_HEAD, "the spectrum's header")
    lines.take(_BLANK, "an empty line")
    rows: list[SpectrumRow] = []
    for found in lines.while_matching(_SPECTRUM_ROW):
        row = SpectrumRow(
            _units_of_a_thousandth(found[1]),
            Decimal(found[2]),
            int(found[3]),
            None if found[4] == "inf" else Decimal(found[4]),
        )
        if row.inverse is not None and row.inverse < 1:
            raise lines.error_before("1/(1-Percentile) of at least 1")
        if rows and not _rises(rows[-1], row):
            raise lines.error_before("a spectrum that never falls")
        rows.append(row)
    if not rows or rows[-1].inverse is not None:
        raise lines.error_next("a row of the spectrum, up to the one for percentile 1")
    figure = lines.take(_MEAN, '"#[Mean = …, StdDeviation = …]"')[1]
    mean = None if "nan" in figure else _units_of_a_thousandth(figure)
    total = int(lines.take(_MAX, '"#[Max = …, Total count = …]"')[2])
    if total != rows[-1].count or (total > 0) != (mean is not None):
        raise lines.error_before(f"the spectrum's last count, {rows[-1].count}, and a mean where it is not 0")
    lines.take(_BUCKETS, '"#[Buckets = …, SubBuckets = …]"')
    lines.take(_RULE, "a line of 58 dashes")
    return Histogram(summary, tuple(rows), mean, total)


def _rises(low: SpectrumRow, high: SpectrumRow) -> bool:
    return (
        low.inverse is not None
        and (high.inverse is None or low.inverse <= high.inverse)
        and low.percentile <= high.percentile
        and low.value_us <= high.value_us
        and low.count <= high.count
    )


def _check_recorded(
    lines: _Lines, histogram: Histogram | None, requests: int, connections: int, calibrated: bool
) -> None:
    """Check that every answer is in the histogram, or that it is known why not."""
    if histogram is None:
        return
    least = 0 if calibrated else requests - connections
    if not least <= histogram.total_count <= requests:
        raise lines.error_before(
            f"as many requests as the histogram holds ({histogram.total_count}), at most one more per "
            f"connection, or a calibration line that says why values were dropped"
        )


def _units_of_a_thousandth(figure: str) -> int:
    """Convert "1036.585" → 1036585: exact, because there are always three decimals."""
    return int(figure.replace(".", ""))


def _rounded(figure: str, unit: str, scales: dict[str, Decimal]) -> Rounded:
    value = Decimal(figure)
    last_digit = Decimal(1).scaleb(int(value.as_tuple().exponent))
    return Rounded(value * scales[unit], last_digit / 2 * scales[unit])
