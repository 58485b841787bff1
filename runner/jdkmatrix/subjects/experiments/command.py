"""From a cell of an experiment to the program's arguments. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jdkmatrix.config.executors import base_of
from jdkmatrix.config.experiments import Burn, Experiment, Fanout, Pinning, Spawn
from jdkmatrix.records.loads import CellKey, CountLoad, InFlightLoad, TaskLoad, TaskRateLoad

_SIZED = re.compile(r"-([1-9][0-9]*)$")
# Pools with a thread per CPU.
_PER_CPU = ("fjp-fifo", "fjp-lifo", "work-stealing")


def arguments(
    experiment: Experiment,
    key: CellKey,
    load: TaskLoad,
    *,
    rounds: int,
    rounds_per_us: float,
    duration_s: float,
    url: str | None,
) -> tuple[str, ...]:
    """Behind `-jar standalone.jar`. `rounds`: the work of a task, 0 for none; `url`: of the remote system, if any.

    Raises:
        TypeError: a load that this experiment has not.
    """
    match experiment, load:
        case Burn(), InFlightLoad() | TaskRateLoad():
            return (
                *("burn", "--executor", _burn_executor(key), "--burn-rounds", str(rounds)),
                *("--rounds-per-us", f"{rounds_per_us:.6g}"),
                *_pace(load),
                *("--duration-s", f"{duration_s:g}", "--warmup-s", f"{experiment.warmup_s:g}"),
                *("--drain-s", f"{experiment.drain_s:g}", "--parks", "on" if experiment.parks else "off"),
            )
        case Spawn(), CountLoad():
            return (
                *("spawn", "--kind", base_of(key.executor), "--count", str(load.count)),
                *("--task", _spawn_task(experiment, rounds)),
                *(("--release-early",) if experiment.task == "sleep" else ()),
                *(("--sink", experiment.sink) if experiment.sink != "null" else ()),
                *(("--cold",) if experiment.cold else ()),
                *("--timeout-s", f"{experiment.timeout_s:g}"),
            )
        case Pinning(), CountLoad():
            threads = "--threads" if base_of(key.executor) == "virtual" else "--kernel-threads"
            return (
                *("pinning", "--construct", experiment.inside, threads, str(load.count)),
                *("--block-ms", str(experiment.block_ms)),
                *("--duration-s", f"{duration_s:g}", "--warmup-s", f"{experiment.warmup_s:g}"),
            )
        case Fanout(), CountLoad() if url is not None:
            return (
                *("fanout", "--url", f"{url}?{experiment.remote.query(key.wait_us)}", "--requests", str(load.count)),
                *("--delay-ms", f"{key.wait_us / 1000:g}", "--how", _with_size(key.executor)),
                *(("--delay-is-mean",) if experiment.remote.spread != "fixed" else ()),
                *("--warmup-requests", str(experiment.warmup_requests), "--timeout-s", f"{experiment.timeout_s:g}"),
            )
    raise TypeError(f"{key.cell_id}: {experiment.experiment} cannot run with {load.kind}")


def vm_options(experiment: Experiment, executor: str) -> tuple[str, ...]:
    """What the JVM needs for it, beside what its table says. Structured concurrency is a preview before JDK 28."""
    stack = (f"-Xss{experiment.stack_kib}k",) if isinstance(experiment, Spawn) and experiment.stack_kib else ()
    return (*stack, *(("--enable-preview",) if base_of(executor) == "structured" else ()))


def longest_s(experiment: Experiment, duration_s: float) -> float:
    """After so long the program hangs: what it is asked for, and a minute for its start and for a busy host."""
    spare_s = 60.0
    match experiment:
        case Burn():
            return experiment.warmup_s + duration_s + 2 * experiment.drain_s + spare_s
        case Pinning():
            return experiment.warmup_s + duration_s + 10 * experiment.block_ms / 1000 + spare_s
        case Spawn():
            return (experiment.sleep_s or 0.0) + 2 * experiment.timeout_s + spare_s
        case Fanout():
            return 5 * experiment.timeout_s + spare_s


def _burn_executor(key: CellKey) -> str:
    base = base_of(key.executor)
    return f"{base}:{key.cpus}" if base in _PER_CPU else _with_size(base)


def _with_size(executor: str) -> str:
    """`fixed-50` as the program writes it."""
    return _SIZED.sub(r":\1", base_of(executor))


def _pace(load: InFlightLoad | TaskRateLoad) -> Sequence[str]:
    if isinstance(load, InFlightLoad):
        return "--in-flight", str(load.tasks)
    return "--rate-rps", f"{load.rate_per_s:g}"


def _spawn_task(experiment: Spawn, rounds: int) -> str:
    match experiment.task:
        case "sleep":
            return f"sleep:{experiment.sleep_s:g}"
        case "burn":
            return f"burn:{rounds}"
    return experiment.task
