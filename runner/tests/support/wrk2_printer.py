"""Made-up runs and how wrk2 would print them, for the parser's property tests and for the stand-in (wrk2_stand_in).

Written from the format as wrk2's source describes it, independently of the parser: the printer starts from raw values
(every latency, the clock, bytes) and rounds as wrk2 does, so that a test can compare what was read with what was true.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

SUMMARY_PERCENTS = ("50", "75", "90", "99", "99.9", "99.99", "99.999", "100")
UNCORRECTED = "Uncorrected Latency (measured without taking delayed starts into account)"


@dataclass(frozen=True)
class Run:
    """A run before rounding. The values are sorted; None: that distribution was not asked for."""

    asked_s: int
    url: str
    threads: int
    connections: int
    calibration_means_us: tuple[int, ...]
    values_us: tuple[int, ...] | None
    raw_values_us: tuple[int, ...] | None
    requests: int
    runtime_us: int
    bytes_read: int
    socket_errors: tuple[int, int, int, int]  # connect, read, write, timeout
    non_2xx: int

    @property
    def text(self) -> str:
        runtime_s = Decimal(self.runtime_us) / 1_000_000
        lines = [
            f"Running {_scaled(Decimal(self.asked_s), 60, ('s', 'm'), digits=0)} test @ {self.url}",
            f"  {self.threads} threads and {self.connections} connections",
        ]
        lines += [
            f"  Thread calibration: mean lat.: {_milli(mean)}ms, rate sampling interval: 10ms"
            for mean in self.calibration_means_us
        ]
        lines += [
            "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
            "    Latency     0.90ms  449.14us   3.16ms   66.93%"
            if self.values_us
            else "    Latency    -nanus    -nanus   0.00us    0.00%",
            "    Req/Sec     2.12k   167.13     3.22k    90.12%"
            if self.calibration_means_us
            else "    Req/Sec       -nan      -nan   0.00      0.00%",
        ]
        if self.values_us is not None:
            lines += _distribution("Recorded Latency", self.values_us)
            if self.raw_values_us is not None:
                lines += ["", *_distribution(UNCORRECTED, self.raw_values_us)]
        size, speed = _binary(Decimal(self.bytes_read)), _binary(self.bytes_read / runtime_s)
        lines.append(f"  {self.requests} requests in {_time(Decimal(self.runtime_us))}, {size}B read")
        if any(self.socket_errors):
            connect, read, write, timeout = self.socket_errors
            lines.append(f"  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}")
        if self.non_2xx:
            lines.append(f"  Non-2xx or 3xx responses: {self.non_2xx}")
        lines.append(f"Requests/sec: {_places(self.requests / runtime_s, 2):>9}")
        lines.append(f"Transfer/sec: {speed:>10}B")
        return "\n".join(lines) + "\n"


def rank_values(values_us: tuple[int, ...], percent: Decimal) -> tuple[int, int]:
    """Return the value at a percentile as wrk2's summary has it, and the highest that its spectrum may have.

    The summary rounds the rank half up. The spectrum rounds it up, and adds its quantiles in floating point, which can
    put it a whole rank higher.
    """
    rank = percent / 100 * len(values_us)
    half_up, up = int(rank + Decimal("0.5")), min(int(rank) + 1, len(values_us))
    return values_us[max(1, half_up) - 1], values_us[max(1, up) - 1]


def _distribution(title: str, values_us: tuple[int, ...]) -> list[str]:
    total = len(values_us)
    lines = [f"  Latency Distribution (HdrHistogram - {title})"]
    for percent in SUMMARY_PERCENTS:
        value = rank_values(values_us, Decimal(percent))[0] if total else 0
        lines.append(f"{Decimal(percent):7.3f}%{_time(Decimal(value)):>10}")
    lines += ["", "  Detailed Percentile spectrum:"]
    lines += ["       Value   Percentile   TotalCount 1/(1-Percentile)", ""]
    for value, quantile, count in _levels(values_us):
        lines.append(f"{_milli(value):>12} {quantile:12.6f} {count:12d} {1 / (1 - quantile):12.2f}")
    last = values_us[-1] if total else 0
    lines.append(f"{_milli(last):>12} {1:12.6f} {total:12d} {'inf':>12}")
    mean = _milli(round(statistics.fmean(values_us))) if total else "-nan"
    deviation = _milli(round(statistics.pstdev(values_us))) if total else "-nan"
    lines.append(f"#[Mean    = {mean:>12}, StdDeviation   = {deviation:>12}]")
    lines.append(f"#[Max     = {_milli(last):>12}, Total count    = {total:12d}]")
    lines += ["#[Buckets =           27, SubBuckets     =         2048]", "-" * 58]
    return lines


def _levels(values_us: tuple[int, ...]) -> list[tuple[int, float, int]]:
    """Return value, quantile and count of each row but the last: five steps from one halving to the next."""
    rows: list[tuple[int, float, int]] = []
    quantile = 0.0
    for value in dict.fromkeys(values_us):
        count = sum(other <= value for other in values_us)
        while quantile * len(values_us) <= count:
            rows.append((value, quantile, count))
            quantile += 1 / (5 * 2 ** (int(math.log2(1 / (1 - quantile))) + 1))
            if count == len(values_us):
                return rows
    return rows


def _places(value: Decimal, digits: int) -> str:
    return str(value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN))


def _scaled(value: Decimal, scale: int, units: tuple[str, ...], digits: int = 2) -> str:
    """Scale to the next unit from 85 % of it on."""
    step = 0
    while step < len(units) - 1 and value >= Decimal(scale) * Decimal("0.85"):
        value /= scale
        step += 1
    return _places(value, digits) + units[step]


def _time(value_us: Decimal) -> str:
    if value_us >= 1_000_000:
        return _scaled(value_us / 1_000_000, 60, ("s", "m"))
    return _scaled(value_us, 1000, ("us", "ms"))


def _binary(value: Decimal) -> str:
    return _scaled(value, 1024, ("", "K", "M", "G", "T"))


def _milli(value_us: int) -> str:
    return f"{value_us // 1000}.{value_us % 1000:03d}"
