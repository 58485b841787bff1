"""The typed form of matrix.toml, and of the profiles and published scenarios beside it.

Every value that a user may write is defined here, with its range; the JSON Schema that editors complete from is made
from these classes. Cross-checks between tables (a profile that selects a value which is on no axis) are in `checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.domain.applications import Application, application_of, applications
from jdkmatrix.domain.catalogue import FeatureSet, ServerKind, server_kinds
from jdkmatrix.domain.cell_key import BURN_US_MAX, WAIT_US_MAX, CellKey
from jdkmatrix.domain.executors import base_of, check_executor, unsized
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.servers import feature_sets, server_kind
from jdkmatrix.domain.tables import Database, Jvm, Limits, RemoteAnswers, Seconds, Table
from jdkmatrix.experiments.kinds import AnyExperiment
from jdkmatrix.loads.kinds import AskedLoad
from jdkmatrix.method.gates import Thresholds
from jdkmatrix.method.measuring import MeasureRules, Turns
from jdkmatrix.method.warmup import WarmupRules
from jdkmatrix.stats.stopping import StoppingRules
from jdkmatrix.validation import unknown

BLOCKS_MAX = 1000
_CARRIERS_MAX = 32_767  # workers of a ForkJoinPool, which schedules virtual threads
_CARRIERS = ("jdk.virtualThreadScheduler.parallelism", "jdk.virtualThreadScheduler.maxPoolSize")

Executor = Annotated[str, AfterValidator(check_executor)]
Names = Callable[[], Collection[str]]  # of a catalogue, which is read only when needed


def _known(names: Names) -> AfterValidator:
    def check(name: str) -> str:
        if name not in names():
            raise ValueError(unknown(name, names()))
        return name

    return AfterValidator(check)


def _choice(names: Names) -> Any:
    """The names that editors offer."""
    return Field(json_schema_extra=lambda schema: schema.update(enum=[*names()]))


Features = Annotated[str, _known(feature_sets), _choice(feature_sets)]
ApplicationName = Annotated[str, _known(applications), _choice(applications)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Cpus = Annotated[int, Field(ge=1, le=1024)]
BurnUs = Annotated[int, Field(ge=0, le=BURN_US_MAX)]
WaitUs = Annotated[int, Field(ge=0, le=WAIT_US_MAX)]
Blocks = Annotated[int, Field(ge=1, le=BLOCKS_MAX)]
All = Literal["all"]


class Axes(Table):
    """The values that "all" stands for. Workloads, servers and loads are not listed, since they have tables. Executors
    follow from the servers and from what is selected; more may be listed."""

    workload: tuple[Name, ...] = ()
    server: tuple[Name, ...] = ()
    jdk: Annotated[tuple[Name, ...], Field(min_length=1)]
    executor: tuple[Executor, ...] = ()
    cpus: Annotated[tuple[Cpus, ...], Field(min_length=1)]
    burn_us: Annotated[tuple[BurnUs, ...], Field(min_length=1)]
    wait_us: Annotated[tuple[WaitUs, ...], Field(min_length=1)]
    load: tuple[Name, ...] = ()


class ServerTable(Table):
    """A server; its name tells its kind. `artefact`: for a kind that is made of features, its name in
    toolchain.lock.json, which has the version."""

    artefact: Name | None = None
    feature_sets: tuple[Features, ...] = ()


class Workload(Table):
    """An application with its parameters, or the user's `own`. `mix`: what the driver sends, a name of [mixes]; without
    it GET /ping, or the path of `own`. `front`: the part of the server that takes the requests. `accounts`: how many
    the bank has. `client`: what calls the remote system, the JDK's HTTP client or a plain socket on which the request's
    thread blocks; None: the first. `database`: where it keeps its accounts. `timeout_s` replaces that of [driver],
    `jvm` the options of [jvm]. `memory_every_s`: how often to look up where the server's memory is; `limits`: the
    resource limits that the server runs within."""

    application: ApplicationName | None = None
    own: OwnApplication | None = None
    features: Features | None = None
    mix: Name | None = None
    front: Literal["rest", "servlet"] = "rest"
    remote: RemoteAnswers | None = None
    database: Database | None = None
    accounts: Annotated[int, Field(ge=2, le=100_000)] | None = None
    client: Literal["http-client", "socket"] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    jvm: Jvm | None = None
    memory_every_s: Seconds | None = None
    limits: Limits | None = None

    @property
    def served(self) -> Application:
        """The application that a server has to serve: the user’s own, or ours."""
        return self.own.application if self.own else application_of(self.application or "")

    @property
    def is_command(self) -> bool:
        """True if it is served by a command of its own."""
        return self.own is not None and self.own.command is not None

    def cpus_of(self, cpus: int) -> float:
        """Return how many of these CPUs its quota of CPU time leaves it."""
        quota_cpus = self.limits.cpu_quota_cpus if self.limits else None
        return float(cpus) if quota_cpus is None else min(cpus, quota_cpus)

    @property
    def feature_set(self) -> FeatureSet:
        return feature_sets()[self.features] if self.features else FeatureSet()


KernelFile = Annotated[str, Field(pattern=r"^/(proc/sys|sys)/[A-Za-z0-9_./-]+$")]


def _check_carriers(properties: dict[str, str]) -> dict[str, str]:
    for name in _CARRIERS:
        number = properties.get(name, "1")
        if not (number.isdecimal() and 1 <= int(number) <= _CARRIERS_MAX):
            raise ValueError(f'{name} = "{number}": must be a whole number from 1 to {_CARRIERS_MAX:,}')
    return properties


class Tuning(Table):
    """The settings of one arm of a comparison: system properties of the JDK, JVM options, and kernel files with what is
    written into them while the arm's forks run."""

    description: str
    properties: Annotated[dict[str, str], AfterValidator(_check_carriers)] = {}
    jvm_options: tuple[str, ...] = ()
    kernel: dict[KernelFile, Annotated[str, Field(min_length=1)]] = {}


class Selection(Table):
    """Values per axis; what an unnamed axis means depends on the rule that the selection stands in."""

    workload: tuple[Name, ...] | All | None = None
    server: tuple[Name, ...] | All | None = None
    jdk: tuple[Name, ...] | All | None = None
    executor: tuple[Executor, ...] | All | None = None
    cpus: tuple[Cpus, ...] | All | None = None
    burn_us: tuple[BurnUs, ...] | All | None = None
    wait_us: tuple[WaitUs, ...] | All | None = None
    load: tuple[Name, ...] | All | None = None


class Addition(Selection):
    """`blocks`: fewer than the profile has, for cells of secondary interest."""

    blocks: Blocks | None = None


_PRECISION_OF_FIXED_BLOCKS = 0.05


class Protocol(Table):
    """`select` is a product of axis values (an axis left out means all of it); `exclude` removes cells that match every
    axis it names; `include` adds a product, with unnamed axes as in `select`.

    Without `max_blocks`, exactly `blocks` are run; with it, more are added until every ratio is known to ± `precision`
    (a share), or `max_blocks` have been run. Either way, a server counts as warm when it gets no cheaper than that
    promise allows. `windows` of `window_s` each: for loads that have no length of their own.

    `protocol`: "interleaved" measures the forks of a block in turns, for `rounds` rounds, wherever possible; with
    `max_rounds`, later blocks have as many rounds, between the two, as settle a ratio soonest. "separate" measures fork
    after fork."""

    blocks: Blocks
    max_blocks: Blocks | None = None
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None  # None: as `promised_precision` says
    windows: Annotated[int, Field(ge=1, le=1000)] = 1
    window_s: Seconds = 10.0
    protocol: Literal["interleaved", "separate"] = "separate"
    rounds: Annotated[int, Field(ge=2, le=1000)] = 10
    max_rounds: Annotated[int, Field(ge=2, le=1000)] | None = None
    select: Selection
    exclude: tuple[Selection, ...] = ()
    include: tuple[Addition, ...] = ()

    @property
    def in_turns(self) -> bool:
        return self.protocol == "interleaved"

    @property
    def blocks_at_most(self) -> int:
        return self.max_blocks or self.blocks

    @property
    def stopping(self) -> StoppingRules | None:
        """The rules for when to stop adding blocks; None where their number is fixed."""
        if self.max_blocks is None:
            return None
        return StoppingRules(precision=self.promised_precision, min_blocks=self.blocks, max_blocks=self.max_blocks)

    @property
    def promised_precision(self) -> float:
        """The share to which its ratios are to be known: measured until they are, or the aim where blocks are fixed."""
        if self.precision is not None:
            return self.precision
        return _PRECISION_OF_FIXED_BLOCKS if self.max_blocks is None else StoppingRules.precision


class Profile(Protocol):
    """`first`: the profile that is measured before this one in the same run, by its own protocol."""

    description: str
    first: Name | None = None


class Scale(Protocol):
    """One size of a scenario; `words` says how it compares with the published one."""

    words: str
    memory_bytes_min: Annotated[int, Field(ge=0)] = 0  # of the host


ScaleName = Literal["article", "small"]
SCALES: tuple[ScaleName, ...] = ("article", "small")


class Scenario(Table):
    """A published experiment, at its own size and at one that a small machine can handle."""

    description: str
    article: Scale
    small: Scale

    def size(self, scale: ScaleName) -> Scale:
        return self.article if scale == "article" else self.small

    def profile(self, scale: ScaleName) -> Profile:
        chosen = self.size(scale)
        protocol = chosen.model_dump(exclude={"words", "memory_bytes_min"})
        return Profile.model_validate({**protocol, "description": f"{self.description} ({chosen.words})"})


class Server(Table):
    first_response_timeout_s: Seconds = 180.0  # from its start; a slow or busy host takes several times longer
    ready_without_port_s: Seconds = 5.0  # the server says it is ready but opens no port: give up after this long
    # A status that is neither 2xx nor 503, again and again, after the server says it is ready (or opens its port, if it
    # says nothing): give up this long after the first such answer.
    wrong_answer_s: Seconds = 10.0
    stop_timeout_s: Seconds = 10.0
    answer_timeout_s: Seconds = 10.0  # for a request outside the load (/gauges): a server that takes longer hangs
    smt: bool = False  # true: the server gets whole cores, with all their SMT threads
    log_bytes_max: Annotated[int, Field(gt=0)] = 50_000_000  # of one fork: more is a flood, and the server is ended
    free_disk_bytes_min: Annotated[int, Field(ge=0)] = 1_000_000_000  # less left for results, and the server is ended


class DriverChoice(Table):
    """`choice`: "auto" is wrk2 for rates where it is installed, and loadgen for the rest. `jdk`: runs loadgen and the
    remote system, whatever the cell's JDK is. `cpus`: None: as many as the server has, or as the host has left, but at
    least one. `overlap`: on a host with too few CPUs, driver and SUT may share some; the cell says so. `timeout_s`: a
    request without an answer for this long is an error."""

    choice: Literal["auto", "wrk2", "loadgen"] = "auto"
    jdk: Name
    cpus: Cpus | None = None
    overlap: bool = False
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 10.0


class RemoteRules(Table):
    """`cpus`: None as for the driver. `share_driver_cpus`: on a host with too few CPUs, the remote system may use the
    driver's; the cell says so. `slice_us`: the time slice that its threads request from the kernel; on a CPU that it
    shares, it wakes up before the driver's slice is over. `warmup_delay_us_max`: longer delays are cut to this while a
    server is warmed up at a moderate rate, and before a ramp until it begins; otherwise the pool would have its
    thousands of threads before the measurement begins."""

    cpus: Cpus | None = None
    share_driver_cpus: bool = True
    slice_us: Annotated[int, Field(ge=100, le=100_000)] = 100
    warmup_delay_us_max: Annotated[int, Field(ge=0, le=600_000_000)] = 2000


class Matrix(Table):
    """matrix.toml, with what published sources add to it."""

    schema_: Literal[1] = Field(alias="schema")
    axes: Axes
    workloads: dict[Name, Workload]
    experiments: dict[Name, AnyExperiment] = {}
    servers: dict[Name, ServerTable]
    mixes: dict[Name, RequestMix] = {}
    loads: dict[Name, AskedLoad]
    tunings: dict[Name, Tuning] = {}
    jdk_homes: dict[Name, str] = {}  # JDKs in the user's own folders, by their names here
    profiles: dict[Name, Profile]
    scenarios: dict[Name, Scenario] = {}
    jvm: Jvm
    driver: DriverChoice
    remote: RemoteRules = RemoteRules()
    # The method's own constants, which a run records; a table in the file replaces some of them.
    server: Server = Server()
    warmup: WarmupRules = WarmupRules()
    measure: MeasureRules = MeasureRules()
    turns: Turns = Turns()
    thresholds: Thresholds = Thresholds()

    @property
    def protocols(self) -> dict[str, Protocol]:
        """The protocols of all profiles and of all sizes of scenarios, by key."""
        sizes = {
            f"scenarios.{name}.{scale}": one.size(scale) for name, one in self.scenarios.items() for scale in SCALES
        }
        return {**{f"profiles.{name}": profile for name, profile in self.profiles.items()}, **sizes}

    def stages(self, profile: str) -> tuple[str, ...]:
        """Return the profiles that are measured under this name, in order, with the named one last."""
        first = self.profiles[profile].first
        return (*(self.stages(first) if first else ()), profile)

    def timeout_s_of(self, workload: Workload) -> float:
        """Return how long the driver waits for an answer."""
        return workload.timeout_s or self.driver.timeout_s

    def has_cell(self, cell: CellKey) -> bool:
        """Return whether there can be such a cell; products of axes also pair servers' workloads with experiments'
        loads."""
        return self.why_no_cell(cell) is None

    def why_no_cell(self, cell: CellKey) -> str | None:
        """Return why there can be no such cell, and what comes nearest; None if there can be."""
        experiment, load = self.experiments.get(cell.workload), self.loads[cell.load]
        if experiment is not None:
            return experiment.why_not(cell, load)
        if isinstance(load, TaskLoad):
            return f"{cell.load} is a load of programs without a server, and {cell.workload} is served by one"
        if cell.wait_us and self.workloads[cell.workload].remote is None:
            calling = [name for name, workload in self.workloads.items() if workload.remote]
            return f"{cell.workload} calls no remote system that could answer late ({' and '.join(calling[:2])} do)"
        if cell.burn_us and self.workloads[cell.workload].own:
            return f"{cell.workload} is an application of your own, to whose requests no work can be added"
        return self._why_not_served(cell)

    def task_load(self, cell: CellKey) -> TaskLoad:
        """Return the load of a cell without a server. Raises: TypeError: the cell has a server."""
        if isinstance(load := self.loads[cell.load], TaskLoad):
            return load
        raise TypeError(f"{cell.cell_id} has a server")

    def _why_not_served(self, cell: CellKey) -> str | None:
        """Return why its server cannot serve the workload with this executor; None if it can."""
        kind, workload = server_kind(cell.server), self.workloads[cell.workload]
        if kind is None:
            return f"{cell.server} is of no known kind"
        if not workload.served.runs_on(kind, workload.front, workload.feature_set):
            if workload.own or kind.is_command:
                return _why_not_own(kind, cell.workload, workload)
            return f"{kind.title} has plain Servlets only, and {cell.workload} needs more"
        if not kind.has(unsized(cell.executor)):
            return f"{kind.title} has no executor {cell.executor} (it has {', '.join(kind.every_executor())})"
        if workload.database and kind.connection_pool not in (None, workload.database.pool):
            return f"{kind.title} brings its own pool of database connections, {kind.connection_pool}, and no other"
        return _why_no_arm(cell, workload.own) if workload.own and workload.is_command else None


def _why_no_arm(cell: CellKey, own: OwnApplication) -> str | None:
    if base_of(cell.executor) in own.arms:
        return None
    return f"{cell.workload} has no arm {base_of(cell.executor)} (it has {', '.join(own.arms)})"


def _why_not_own(kind: ServerKind, name: str, workload: Workload) -> str:
    if workload.is_command:
        return f"{name} is served by a command of its own, and by no other server"
    if kind.is_command:
        return f"{kind.title} serves what its own command starts, and {name} has none"
    able = ", ".join(one.title for one in server_kinds().values() if one.war)
    return f"{kind.title} deploys no WAR here, and {name} is one (allowed: {able})"
