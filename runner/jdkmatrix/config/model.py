"""The typed form of matrix.toml.

Every value that a user may write is here, with its range; the JSON Schema that editors complete from is made of
these classes. Cross-checks between tables (a profile that selects a value which is on no axis) are in `checks`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from jdkmatrix.config.executors import check_executor
from jdkmatrix.records import CellLoad
from jdkmatrix.stats.stopping import StoppingRules

Executor = Annotated[str, AfterValidator(check_executor)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Cpus = Annotated[int, Field(ge=1, le=1024)]
BurnUs = Annotated[int, Field(ge=0, le=10_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
All = Literal["all"]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Axes(Table):
    workload: Annotated[tuple[Name, ...], Field(min_length=1)]
    jdk: Annotated[tuple[Name, ...], Field(min_length=1)]
    executor: Annotated[tuple[Executor, ...], Field(min_length=1)]
    cpus: Annotated[tuple[Cpus, ...], Field(min_length=1)]
    burn_us: Annotated[tuple[BurnUs, ...], Field(min_length=1)]
    load: Annotated[tuple[Name, ...], Field(min_length=1)]


class Workload(Table):
    application: Literal["mp-ping", "banking"]
    features: Literal["restfulWS-3.1", "restfulWS-3.1-jsonb-3.0", "microProfile-6.1"]


class Selection(Table):
    """Values per axis; an axis that is not named keeps what the rule it stands in says about it."""

    workload: tuple[Name, ...] | All | None = None
    jdk: tuple[Name, ...] | All | None = None
    executor: tuple[Executor, ...] | All | None = None
    cpus: tuple[Cpus, ...] | All | None = None
    burn_us: tuple[BurnUs, ...] | All | None = None
    load: tuple[Name, ...] | All | None = None


class Addition(Selection):
    """`blocks`: fewer than the profile has, for what is only to be seen on the side."""

    blocks: Annotated[int, Field(ge=1, le=1000)] | None = None


class Profile(Table):
    """`select` is a product of axis values (an axis left out means all of it); `exclude` takes cells out that match
    every axis it names; `include` adds a product, its unnamed axes as in `select`.

    Without `max_blocks` exactly `blocks` are run; with it, blocks are added to those until every ratio is known to
    ± `precision` (a share), or `max_blocks` have been run."""

    description: str
    blocks: Annotated[int, Field(ge=1, le=1000)]
    max_blocks: Annotated[int, Field(ge=1, le=1000)] | None = None
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None  # 0.02 where only max_blocks is given
    windows: Annotated[int, Field(ge=1, le=1000)]
    window_s: Seconds
    select: Selection
    exclude: tuple[Selection, ...] = ()
    include: tuple[Addition, ...] = ()

    @property
    def blocks_at_most(self) -> int:
        return self.max_blocks or self.blocks

    @property
    def stopping(self) -> StoppingRules | None:
        """When to add no more blocks; None where their number is fixed."""
        if self.max_blocks is None:
            return None
        precision = StoppingRules.precision if self.precision is None else self.precision
        return StoppingRules(precision=precision, min_blocks=self.blocks, max_blocks=self.max_blocks)


class Server(Table):
    first_response_timeout_s: Seconds
    ready_without_port_s: Seconds
    stop_timeout_s: Seconds
    answer_timeout_s: Seconds
    smt: bool
    log_bytes_max: Annotated[int, Field(gt=0)]
    free_disk_bytes_min: Annotated[int, Field(ge=0)]


class VmOptions(Table):
    options: tuple[str, ...]


class Jvm(Table):
    hotspot: VmOptions
    openj9: VmOptions


class DriverChoice(Table):
    choice: Literal["auto", "wrk2", "loadgen"]
    jdk: Name
    cpus: Cpus
    overlap: bool
    timeout_s: Seconds


class WarmupRules(Table):
    window_s: Seconds
    utilisation: Annotated[float, Field(gt=0, le=0.9)]
    first_request_us: Annotated[float, Field(gt=0)]
    moderate_s: Seconds
    jit_on_driver_cpus: bool
    tail_windows: Annotated[int, Field(ge=4, le=1000)]
    trend_alpha: Annotated[float, Field(gt=0, lt=1)]
    change_max: Annotated[float, Field(gt=0)]
    jit_share_max: Annotated[float, Field(gt=0)]
    max_s: Seconds


class MeasureRules(Table):
    proof_requests: Annotated[int, Field(ge=1, le=100_000)]
    sample_s: Seconds


class Thresholds(Table):
    valid_windows_min: Share
    driver_cpu_share_max: Share
    achieved_rate_min: Share
    error_share_max: Share
    jit_share_max: Annotated[float, Field(gt=0)]
    heap_growth_max: Annotated[float, Field(ge=0)]
    steal_share_max: Share
    foreign_cpu_share_max: Share
    throttled_share_max: Share
    swapped_bytes_per_s_max: Annotated[float, Field(ge=0)]
    clock_step_s_max: Annotated[float, Field(ge=0)]


class Matrix(Table):
    """matrix.toml as a whole."""

    schema_: Literal[1] = Field(alias="schema")
    seed: Annotated[int, Field(ge=0)]
    axes: Axes
    workloads: dict[Name, Workload]
    loads: dict[Name, CellLoad]
    profiles: dict[Name, Profile]
    server: Server
    jvm: Jvm
    driver: DriverChoice
    warmup: WarmupRules
    measure: MeasureRules
    thresholds: Thresholds
