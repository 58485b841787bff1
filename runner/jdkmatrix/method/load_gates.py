"""Gates of what loads a server and of what it calls: these need only be there in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, Seen, Share, WindowContext
from jdkmatrix.records.reasons import Reason


class DriverCpuLimits(Table):
    driver_cpu_share_max: Share = 0.90  # of its CPUs, by itself or with whom it shares them


def _driver_saturated(seen: Seen, limits: DriverCpuLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.load and seen.load.driver_cpu_share > limits.driver_cpu_share_max:
        yield Reason(
            code="driver-saturated",
            message=f"the driver used {seen.load.driver_cpu_share:.0%} of its CPUs: it measured itself",
            figures={"driver_cpu_share": seen.load.driver_cpu_share, "max": limits.driver_cpu_share_max},
        )


DRIVER_SATURATED = Gate(
    codes=("driver-saturated",),
    name="A driver at its limit",
    limits=DriverCpuLimits,
    check=_driver_saturated,
    catches="A driver that uses a larger share of its CPUs than this measures itself.",
    cannot="A driver that is slow for another reason: see the next two.",
)


class DriverLateLimits(Table):
    driver_late_share_max: Share = 0.50  # how late it sends at p99, as a share of the p99 that it measures


def _driver_late(seen: Seen, limits: DriverLateLimits, context: WindowContext) -> Iterator[Reason]:
    late, latency = (seen.load.send_lateness, seen.load.corrected) if seen.load else (None, None)
    if late is None or latency is None or not (late.count and latency.count):
        return
    late_us, p99_us = late.percentiles_us["99"], max(latency.percentiles_us["99"], context.p99_max_us or 0.0)
    if late_us > limits.driver_late_share_max * p99_us:
        of_what = "the p99 measured" if context.p99_max_us is None else "the p99 that is looked at"
        yield Reason(
            code="driver-late",
            message=f"the driver sent up to {late_us / 1000:.2f} ms late (p99), {late_us / p99_us:.0%} of {of_what}",
            figures={"late_p99_us": late_us, "p99_us": p99_us, "max_share": limits.driver_late_share_max},
        )


DRIVER_LATE = Gate(
    codes=("driver-late",),
    name="A driver that is late",
    limits=DriverLateLimits,
    check=_driver_late,
    catches="At a rate: how late requests were sent, at p99, compared with the measured p99 or with the objective of a "
    "search. Requests that waited for a connection are not the driver’s fault and do not count.",
    cannot="Late receiving; wrk2, which reports no lateness; closed loops, which have no schedule.",
)


class SaturationLimits(Table):
    saturated_share_min: Share = 0.90  # a closed loop that keeps the server's CPUs busier than this saturates it


class RemoteLimits(SaturationLimits):
    remote_cpu_share_max: Share = 0.90
    # How late it answers at p99, as a share of its delay; of a short one …
    remote_late_share_max: Annotated[float, Field(ge=0)] = 0.02
    remote_late_p99_us_max: Annotated[float, Field(gt=0)] = 3000.0  # … this is not too much …
    remote_late_short_share_max: Annotated[float, Field(ge=0)] = 1.0  # … as long as it is no more than this share …
    # … or than waking up costs on a CPU that is shared, however short the delay.
    remote_late_least_us: Annotated[float, Field(ge=0)] = 1000.0
    remote_late_mean_share_max: Annotated[float, Field(gt=0)] = 0.1  # how late on average, as a share of its delay


def _remote(seen: Seen, limits: RemoteLimits, context: WindowContext) -> Iterator[Reason]:
    """Whether the remote system was itself what was waited for. It does not matter when it is late where a closed loop
    keeps the server's CPUs full: that is held up by them, and no latency of it is judged."""
    remote, load, sut = seen.remote, seen.load, seen.sut
    if remote is None:
        return
    share = remote.cpu_s / ((remote.now_monotonic_ns - remote.since_monotonic_ns) / 1e9 * context.remote_cpus)
    if share > limits.remote_cpu_share_max:
        yield Reason(
            code="remote-saturated",
            message=f"the remote system used {share:.0%} of its CPUs: it may have held requests up",
            figures={"remote_cpu_share": share, "max": limits.remote_cpu_share_max},
        )
    if load and sut and load.load.is_closed_loop and sut.cpu_share >= limits.saturated_share_min:
        return
    delay_us = context.service_s * 1e6
    short_us_max = min(limits.remote_late_p99_us_max, limits.remote_late_short_share_max * delay_us)
    late_us_max = max(limits.remote_late_least_us, short_us_max, limits.remote_late_share_max * delay_us)
    late_us = {
        name: latency.percentiles_us["99"]
        for name, latency in (("answers", remote.lateness), ("timer", remote.loop_lateness))
        if latency is not None and latency.percentiles_us["99"] > late_us_max
    }
    mean_us_max = limits.remote_late_mean_share_max * delay_us
    mean_us = remote.lateness.mean_us if remote.lateness is not None else 0.0
    words, figures = [], {}
    if late_us:
        words.append("at p99 " + " and ".join(f"its {name} {value / 1000:.1f} ms" for name, value in late_us.items()))
        figures = {**{f"{name}_p99_us": value for name, value in late_us.items()}, "max": late_us_max}
    if 0 < mean_us_max < mean_us:
        words.append(f"on average its answers {mean_us / 1000:.2f} ms")
        figures |= {"answers_mean_us": mean_us, "mean_max": mean_us_max}
    if words:
        message = f"the remote system was late, {', '.join(words)}: requests waited for it longer than was asked"
        yield Reason(code="remote-late", message=message, figures=figures)


REMOTE = Gate(
    codes=("remote-saturated", "remote-late"),
    name="The remote system",
    limits=RemoteLimits,
    check=_remote,
    catches="A remote system that saturates its CPUs, or is too late at p99 for the delay that was asked for.",
    cannot="Late responses that are rarer than one in a hundred. In a closed loop that saturates the server, lateness "
    "delays nothing and is not judged.",
)
