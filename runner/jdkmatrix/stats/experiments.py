"""What an experiment without a server comes to: the figures of one result, and of all forks of a cell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from jdkmatrix.records.cells import CellRecord
from jdkmatrix.records.experiments import (
    BurnResult,
    Distribution,
    ExperimentResult,
    FanoutResult,
    PinningResult,
    SpawnResult,
)

Unit = str  # as it is printed: "1/s", "s", "ms", "KiB", "%", "" for a count


@dataclass(frozen=True)
class Reading:
    """`expected`: what the experiment's formula says this one should be, in the same unit."""

    name: str
    unit: Unit
    value: float
    expected: float | None = None


@dataclass(frozen=True)
class Spread:
    """Of one figure over forks."""

    name: str
    unit: Unit
    median: float
    least: float
    most: float
    forks: int
    expected: float | None


def figures(result: ExperimentResult) -> tuple[Reading, ...]:
    """The leading one first; those that the program could not tell are left out."""
    match result:
        case BurnResult():
            found = _burn(result)
        case SpawnResult():
            found = _spawn(result)
        case PinningResult():
            found = _pinning(result)
        case FanoutResult():
            found = _fanout(result)
    return tuple(Reading(name, unit, value, expected) for name, unit, value, expected in found if value is not None)


def spreads(cell: CellRecord) -> tuple[Spread, ...]:
    """Over the forks that can be used, in the order of `figures`. The median, since two or three forks have no more to
    say; the least and the most beside it."""
    found: dict[str, list[Reading]] = {}
    for fork in cell.forks:
        if fork.usable and fork.experiment.result is not None:
            for figure in figures(fork.experiment.result):
                found.setdefault(figure.name, []).append(figure)
    return tuple(_spread(name, same) for name, same in found.items())


def outcomes(cell: CellRecord) -> tuple[str, ...]:
    """What its forks ended with, each once, in the order of forks."""
    return tuple(
        dict.fromkeys(fork.experiment.result.outcome for fork in cell.forks if fork.experiment.result is not None)
    )


def _spread(name: str, same: Sequence[Reading]) -> Spread:
    values = [figure.value for figure in same]
    expected = [figure.expected for figure in same if figure.expected is not None]
    return Spread(
        name=name,
        unit=same[0].unit,
        median=median(values),
        least=min(values),
        most=max(values),
        forks=len(values),
        expected=median(expected) if expected else None,
    )


_Row = tuple[str, Unit, float | None, float | None]
_KIB = 1024
_PUBLISHED_PARK_US = 10_000.0  # infoq-carrier-park


def _burn(result: BurnResult) -> Iterable[_Row]:
    seen = result.seen
    if seen is None:
        return
    yield "throughput", "1/s", seen.throughput_per_s, _expected(result, "throughput_per_s")
    yield "CPU used", "%", seen.cpu_share * 100, None
    yield "p50", "ms", _percentile_ms(seen.latency_to_end, "50"), None
    yield "p99", "ms", _percentile_ms(seen.latency_to_end, "99"), None
    parked = seen.parks.parked_while_queued
    if parked is not None:
        yield (
            "parked while tasks were queued",
            "%",
            None if parked.idle_share is None else parked.idle_share * 100,
            None,
        )
        yield "longest of them", "ms", parked.longest.duration_us / 1000 if parked.longest else 0.0, None
        long = [float(stretch.count) for stretch in parked.at_least if stretch.at_least_us == _PUBLISHED_PARK_US]
        yield "of 10 ms and more", "", next(iter(long), None), None


def _spawn(result: SpawnResult) -> Iterable[_Row]:
    seen = result.seen
    if seen is None:
        return
    each = seen.per_thread
    if each is not None:
        yield "RSS per thread", "KiB", each.rss_bytes / _KIB, None
        yield "VIRT per thread", "KiB", each.virt_bytes / _KIB, _expected(result, "per_thread.virt_bytes", _KIB)
        yield "PSS per thread", "KiB", None if each.pss_bytes is None else each.pss_bytes / _KIB, None
        yield "committed heap per thread", "KiB", each.heap_committed_bytes / _KIB, None
        yield "kernel threads per thread", "", each.native_threads, _expected(result, "per_thread.native_threads")
    times = [
        ("until all were started", "s", seen.started_s, _expected(result, "started_s")),
        ("until all were done", "s", seen.done_s, _expected(result, "done_s")),
    ]
    # What it is about comes first: work that must be done, or threads that must be there.
    yield from reversed(times) if times[1][3] is not None else times
    if seen.while_live is not None:
        yield "VIRT", "MiB", seen.while_live.virt_bytes / _KIB**2, None
        yield "RSS", "MiB", seen.while_live.rss_bytes / _KIB**2, None
    yield "started", "", float(seen.started), None


def _pinning(result: PinningResult) -> Iterable[_Row]:
    seen = result.seen
    if seen is None:
        return
    yield "throughput", "1/s", seen.throughput_per_s, _expected(result, "throughput_per_s")
    yield "p50", "ms", _percentile_ms(seen.latency, "50"), None
    yield "p99", "ms", _percentile_ms(seen.latency, "99"), None
    if seen.carriers is not None:
        yield "carriers at once", "", float(seen.carriers.most), None
        yield "of them in place of blocked ones", "", float(seen.carriers.compensating), None
    yield "pinned events", "", None if seen.pinned.count is None else float(seen.pinned.count), None
    yield "CPU used", "s", seen.cpu_s, None


def _fanout(result: FanoutResult) -> Iterable[_Row]:
    seen = result.seen
    if seen is None:
        return
    yield "until all were answered", "s", seen.wall_s, seen.ideal_s
    yield "failed", "", float(seen.failed), 0.0
    yield "p99 of a request", "ms", _percentile_ms(seen.latency, "99"), None
    yield "in flight at once", "", float(seen.in_flight_most), None
    yield "open files at once", "", float(seen.open_files_peak), None
    yield "threads of the kernel", "", float(seen.native_threads_peak), None


def _expected(result: ExperimentResult, quantity: str, per: float = 1.0) -> float | None:
    found = result.expected
    if found is None or found.quantity != quantity or found.value is None:
        return None
    return found.value / per


def _percentile_ms(found: Distribution | None, name: str) -> float | None:
    return None if found is None else found.percentiles_us[name] / 1000
