"""Gates for whatever loads a server and whatever it calls, which only need to be on time."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, NotNegative, Observation, Positive, Share, WindowContext, over
from jdkmatrix.method.host_gates import cpu_sets
from jdkmatrix.records.reasons import Reason


class LoadLimits(Table):
    # Of its CPUs, alone or with those that share them, or of one CPU by an event loop: above it, it measures itself.
    driver_cpu_share_max: Share = 0.90
    # How late it sends at p99, longer than a time slice of the kernel: the load was another. A driver that is less late
    # only makes latencies upper bounds (stats/percentiles.py) …
    driver_late_p99_us_max: Positive = 5000.0
    driver_late_share_max: NotNegative = 0.50  # … but in a search, this share of the p99 that it allows is enough
    saturated_share_min: Share = 0.90  # a closed loop that keeps the server's CPUs busier than this saturates it …
    saturated_share_drop_max: Share = 0.05  # … and no window of a fork may fall short of the best by more
    remote_cpu_share_max: Share = 0.90  # above it, the remote system or the database may have held requests up
    remote_late_share_max: NotNegative = 0.02  # how late it answers at p99, as a share of its delay; for a short one …
    remote_late_p99_us_max: Positive = 3000.0  # … this much is acceptable …
    remote_late_short_share_max: NotNegative = 1.0  # … as long as it is no more than this share …
    remote_late_least_us: NotNegative = 1000.0  # … or than waking up costs on a shared CPU
    remote_late_mean_share_max: Positive = 0.1  # how late it answers on average, as a share of its delay


def _cpus_full(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    for use, of_server, whose in cpu_sets(seen):
        if not of_server:
            message = f"the CPUs of {whose} were busy for {{:.0%}} of the time: requests waited for them"
            yield from over(limits.driver_cpu_share_max, "cpus-full", message, busy_share=use.busy_share)


def _starved(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    """Check that each window of a closed loop that saturates the server kept it as busy as the best one did: a window
    in which the server idled was held up from outside, whatever else was seen. Windows with unanswered requests are
    exempt: a server that has died idles, too, and such a window is its result."""
    if seen.load and (seen.load.errors.total or seen.load.lower_bounds):
        return
    best, drop_max = seen.best_cpu_share, limits.saturated_share_drop_max
    if seen.sut and best and best >= limits.saturated_share_min and seen.sut.cpu_share < best - drop_max:
        share = seen.sut.cpu_share
        yield Reason(
            code="starved",
            message=f"the server used {share:.1%} of its CPU time, and {best:.1%} in another window of this fork",
            figures={"cpu_share": share, "best": best, "max_drop": drop_max},
        )


def _driver_saturated(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    """Judge the busiest loop: with few connections, it may be full while others idle, which the mean would hide."""
    if seen.load is None:
        return
    limit, share, loop_share = limits.driver_cpu_share_max, seen.load.driver_cpu_share, seen.load.driver_loop_cpu_share
    if loop_share is not None and loop_share > share:
        message = "the driver's busiest event loop used {:.0%} of a CPU: it measured itself"
        yield from over(limit, "driver-saturated", message, driver_loop_cpu_share=loop_share)
    else:
        message = "the driver used {:.0%} of its CPUs: it measured itself"
        yield from over(limit, "driver-saturated", message, driver_cpu_share=share)


def _driver_late(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    """Check how late the driver sent, by a limit that is the same for every executor: as a share of the p99 that was
    measured, it would refuse the fastest one first."""
    late = seen.load.send_lateness if seen.load else None
    if late is None or not late.count:
        return
    late_us, late_us_max = late.percentiles_us["99"], limits.driver_late_p99_us_max
    if context.p99_max_us is not None:
        late_us_max = min(late_us_max, limits.driver_late_share_max * context.p99_max_us)
    if late_us > late_us_max:
        yield Reason(
            code="driver-late",
            message=f"the driver sent up to {late_us / 1000:.2f} ms late (p99); {late_us_max / 1000:g} ms is allowed",
            figures={"late_p99_us": late_us, "max": late_us_max},
        )


def _remote(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    """Check that the remote system was not itself the bottleneck. Its lateness does not matter where a closed loop
    keeps the server's CPUs full: they are the bottleneck then, and none of its latencies is judged."""
    remote, load, sut = seen.remote, seen.load, seen.sut
    if remote is None:
        return
    share = remote.cpu_s / ((remote.now_monotonic_ns - remote.since_monotonic_ns) / 1e9 * context.remote_cpus)
    message = "the remote system used {:.0%} of its CPUs: it may have held requests up"
    yield from over(limits.remote_cpu_share_max, "remote-saturated", message, remote_cpu_share=share)
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
        words.append(" and ".join(f"its {name} {value / 1000:.1f} ms" for name, value in late_us.items()) + " at p99")
        figures = {**{f"{name}_p99_us": value for name, value in late_us.items()}, "max": late_us_max}
    if 0 < mean_us_max < mean_us:
        words.append(f"its answers {mean_us / 1000:.2f} ms on average")
        figures |= {"answers_mean_us": mean_us, "mean_max": mean_us_max}
    if words:
        message = f"the remote system was late ({', '.join(words)}): requests waited longer than the delay asked for"
        yield Reason(code="remote-late", message=message, figures=figures)


def _database(seen: Observation, limits: LoadLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.database:
        share = seen.database.cpu_s / (seen.database.span_s * context.remote_cpus)
        message = "the database used {:.0%} of its CPUs: it may have held requests up"
        yield from over(limits.remote_cpu_share_max, "database-saturated", message, database_cpu_share=share)


STARVED = Gate(
    ("starved",),
    "A server left idle",
    ("saturated_share_min", "saturated_share_drop_max"),
    _starved,
    "A closed loop that saturated the server in one window and left it idle in another: something held it up that no "
    "other gate names.",
    "A cause common to all windows of a fork. A window with unanswered requests is not judged: a server that dies, "
    "stalls or closes its connections is idle through its own fault. Where answers take so long that the last ones are "
    "given up, no window is judged. An executor that always leaves some CPU idle, now more and now less, may lose its "
    "slow windows here, where one that uses all of it loses none: the Fisher test of refusals sees that only where "
    "many windows were lost.",
)
LOAD_GATES = (
    STARVED,
    Gate(
        ("driver-saturated",),
        "A driver at its limit",
        ("driver_cpu_share_max",),
        _driver_saturated,
        "A driver that uses a larger share of its CPUs than this measures itself. So does one whose busiest event loop "
        "uses a larger share of one CPU: with few connections, a loop may be full while others idle.",
        "A driver that is slow for another reason: see the next two. A thread of wrk2 that works more than the others: "
        "all have the same number of connections, and only the CPU time of all of them together is known.",
    ),
    Gate(
        ("driver-late",),
        "A driver that is late",
        ("driver_late_p99_us_max", "driver_late_share_max"),
        _driver_late,
        "In an open loop: how late requests were sent, at p99; in a search, also compared with the p99 that it allows. "
        "Requests that waited for a connection are not the driver’s fault and do not count. If the driver is less "
        "late, but by more than half of a percentile of latency, that is an upper bound: being fast is no reason to be "
        "refused.",
        "Late receiving; wrk2, which reports no lateness; closed loops, which have no schedule.",
    ),
    Gate(
        ("cpus-full",),
        "CPUs saturated by the driver together with the remote system or the database",
        ("driver_cpu_share_max",),
        _cpus_full,
        "On hosts with few CPUs they share one: each may be below its limit while that CPU is saturated.",
        "Bursts shorter than a window.",
    ),
    Gate(
        ("remote-saturated", "remote-late"),
        "The remote system",
        (
            "remote_cpu_share_max",
            "remote_late_share_max",
            "remote_late_p99_us_max",
            "remote_late_short_share_max",
            "remote_late_least_us",
            "remote_late_mean_share_max",
        ),
        _remote,
        "A remote system that saturates its CPUs, or answers too late for the delay asked for, at p99 or on average.",
        "Late responses that are rarer than one in a hundred and too few to move the average. In a closed loop that "
        "saturates the server, lateness delays nothing and is not judged.",
    ),
    Gate(
        ("database-saturated",),
        "The database",
        ("remote_cpu_share_max",),
        _database,
        "A database whose processes together use a larger share of its CPUs than this.",
        "A database that waits for something other than a CPU: its own locks, a disk.",
    ),
)
