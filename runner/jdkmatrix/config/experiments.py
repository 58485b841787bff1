"""Experiments without a server: what each is asked for, and which arms and loads it has. Pure."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from jdkmatrix.config.executors import base_of
from jdkmatrix.config.tables import Jvm, Limits, RemoteAnswers, Seconds, Table
from jdkmatrix.records.loads import CountLoad, InFlightLoad, TaskLoad, TaskRateLoad

Construct = Literal[
    "synchronized", "lock", "object-wait", "class-init", "native", "contended-monitor", "contended-lock"
]


class Alone(Table):
    """What every experiment has. `jvm`: options, without which the JVM has its own defaults, not those of [jvm].
    `limits`: the box that it runs in."""

    jvm: Jvm | None = None
    limits: Limits | None = None


class Burn(Alone):
    """Tasks of a fixed amount of work (axis `burn_us`), submitted to an executor. `parks`: JDK Flight Recorder looks at
    how long threads are parked while tasks are queued. `drain_s`: how long what is unfinished is waited for."""

    experiment: Literal["burn"]
    warmup_s: Annotated[float, Field(ge=0, le=3600)]
    drain_s: Annotated[float, Field(ge=0, le=3600)]
    parks: bool


class Spawn(Alone):
    """Threads started all at once. They sleep (`sleep_s`, cut short as soon as their memory has been read), print a
    line to `sink`, or work (axis `burn_us`). `cold`: without a few threads before, which have all loaded that is
    needed. `stack_kib`: of a platform thread; None: the JVM's default."""

    experiment: Literal["spawn"]
    task: Literal["sleep", "print", "burn"]
    sleep_s: Seconds | None = None
    sink: Literal["null", "stdout"] = "null"
    cold: bool = False
    stack_kib: Annotated[int, Field(ge=136, le=1_048_576)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=3600)]


class Pinning(Alone):
    """Threads that block for `block_ms` inside a construct, each with a monitor or lock of its own, again and again;
    with a contended one outside of it, while as many more as there are carriers wait to enter."""

    experiment: Literal["pinning"]
    inside: Construct
    block_ms: Annotated[int, Field(ge=1, le=600_000)]
    warmup_s: Annotated[float, Field(ge=0, le=3600)]


class Fanout(Alone):
    """Blocking HTTP requests, all at once, to the remote system. `warmup_requests`: so many in the same way before, not
    measured; 0: as in a program that has just started. `timeout_s`: of each, to connect and to read."""

    experiment: Literal["fanout"]
    remote: RemoteAnswers
    warmup_requests: Annotated[int, Field(ge=0, le=1_000_000)]
    timeout_s: Annotated[float, Field(gt=0, le=3600)]


Experiment = Annotated[Burn | Spawn | Pinning | Fanout, Field(discriminator="experiment")]
ExperimentName = Literal["burn", "spawn", "pinning", "fanout"]

_ARMS: dict[ExperimentName, tuple[str, ...]] = {
    "burn": ("virtual", "platform", "cached", "fixed-N", "fjp-fifo", "fjp-lifo", "work-stealing"),
    "spawn": ("virtual", "platform"),
    "pinning": ("virtual", "platform"),
    "fanout": ("virtual", "platform", "fixed-N", "virtual-semaphore-N", "structured"),
}
_LOADS: dict[ExperimentName, tuple[type[InFlightLoad | TaskRateLoad | CountLoad], ...]] = {
    "burn": (InFlightLoad, TaskRateLoad),
    "spawn": (CountLoad,),
    "pinning": (CountLoad,),
    "fanout": (CountLoad,),
}
_SIZED = re.compile(r"-[1-9][0-9]*$")


def arms_of(experiment: Experiment) -> tuple[str, ...]:
    """The executors that it has, with N for any number."""
    return _ARMS[experiment.experiment]


def has_arm(experiment: Experiment, executor: str) -> bool:
    """Is this executor, whatever its tuning, one of its arms?"""
    return _SIZED.sub("-N", base_of(executor)) in arms_of(experiment)


def has_load(experiment: Experiment, load: TaskLoad) -> bool:
    return isinstance(load, _LOADS[experiment.experiment])


def load_kinds_of(experiment: Experiment) -> tuple[str, ...]:
    return tuple(str(kind.model_fields["kind"].default) for kind in _LOADS[experiment.experiment])


def works(experiment: Experiment) -> bool:
    """Does it use the axis `burn_us`?"""
    return isinstance(experiment, Burn) or (isinstance(experiment, Spawn) and experiment.task == "burn")


def fits(experiment: Experiment, executor: str, burn_us: int, wait_us: int, load: TaskLoad) -> bool:
    """Is this one of its cells? A request to a remote system waits for it, nothing else does."""
    if not (has_arm(experiment, executor) and has_load(experiment, load)):
        return False
    return works(experiment) == (burn_us > 0) and (isinstance(experiment, Fanout) or wait_us == 0)
