"""A run: where, when, with which parts."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import DEFAULT_SERVER, CellKey
from jdkmatrix.domain.record import Record
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.records.forks import ConfinementMethod
from jdkmatrix.records.provenance import Provenance


class CpuFacts(Record):
    model: str
    microcode: str | None
    online: tuple[int, ...]
    allowed: tuple[int, ...]  # this process may use these
    packages: int
    cores: int
    smt: bool
    governor: str | None
    driver: str | None
    boost: str | None
    mitigations: dict[str, str]


class HostFacts(Record):
    hostname_hash: str
    system: str  # "x86_64-linux"
    kernel: str
    os: str
    libc: str
    cpu: CpuFacts
    memory_bytes: int
    swap_bytes: int
    scheduler: str | None
    virtualisation: str | None  # None: none seen
    clocksource: str | None
    load_1min: float
    irq_time_accounting: bool | None = None  # True if process clocks leave interrupts out; None: not known
    limits: dict[str, str]
    # None: the kernel does not tell.
    transparent_huge_pages: str | None = None  # "always", "madvise", "never"
    kernel_command_line: str | None = None  # values that may be secret are masked
    kernel_command_line_sha256: str | None = None  # of the text above

    @property
    def id(self) -> str:
        """An id that tells hosts apart without naming them: also those of one name, if their CPUs or what they run on
        differ. So each has one description, and a host before its SMT was switched off is another one."""
        machine = f"{self.cpu.model} {len(self.cpu.online)} {self.virtualisation}"
        return hashlib.sha256(f"{self.hostname_hash} {machine}".encode()).hexdigest()[:12]

    @property
    def memory_gib(self) -> int:
        """The memory in whole GiB: a hypervisor may take single pages, and give them back."""
        return in_gib(self.memory_bytes)


def in_gib(memory_bytes: int) -> int:
    return round(memory_bytes / 2**30)


class KnownBug(Record):
    id: str
    summary: str
    url: str | None = None


class JdkRecord(Record):
    """One entry of the catalogue, and what became of it on this host in this run."""

    id: str
    vendor: str
    vm: Literal["hotspot", "openj9"]
    catalogue_version: str  # as jdks.json says; "rolling" if the source has only its newest
    selected: bool
    available: bool
    source: str | None  # "nix", "cache", "host", "archive", "registry", "own"
    reason: str | None  # why it is not available
    notice: str | None = None  # e.g. the version obtained differs from the recorded one
    version: str | None = None  # as the JDK itself says
    version_output: str | None = None  # `java -version`
    release: dict[str, str] = {}  # its `release` file
    known_bugs: tuple[KnownBug, ...] = ()


class DriverFacts(Record):
    name: str
    version: str
    sha256: str | None
    jdk: str | None  # catalogue id of the JDK it runs on
    java_version: str | None


class ServerFacts(Record):
    name: str
    version: str
    sha256: str  # of the archive
    id: str = DEFAULT_SERVER  # on axis `server`


class Calibration(Record):
    """Rounds of burn that take a microsecond on an idle CPU of this host, as counted by `jdk`. It holds for all JDKs of
    a run: what differs between two calibrations is the host's clock at that moment, not the JDK."""

    jdk: str
    rounds_per_us: float
    repeats: int
    spread: float  # (max - min) / median over the repeats
    spread_wanted: float | None = None  # a larger one is reported: the clock moved meanwhile
    cpu: int
    clock_speed: float | None = None  # as Window.clock_speed, the fastest of readings before and after it
    clock_reader: str | None = None  # what read it: readings of two cannot be compared


class BasisCapacity(Record):
    """The throughput of one fork in a closed loop before the plan was complete; loads that are shares of it follow from
    that. The fork itself is one of the run's if an earlier stage measured it, else in its folder `capacity`.
    `throughput_rps` is None if it was of no use, and `why_not` says why."""

    key: CellKey
    throughput_rps: float | None
    why_not: str | None = None


class Stopping(Record):
    """Blocks were added until every ratio was known to ± `precision` (a share), which is why intervals are at 97 %."""

    precision: float
    min_blocks: int
    max_blocks: int


class ScenarioRecord(Record):
    """The published experiment that a run repeats. `published`: ids of what is published; `claims`: what was known of
    them at the time of the run; `scale_words`: how this run's size compares with the published one."""

    name: str
    scale: Literal["article", "small"]
    scale_words: str
    description: str
    published: tuple[str, ...]
    claims: tuple[ClaimRecord, ...]


class Session(Record):
    """One stretch of measuring, by one process of this tool. A run that was cut off, or that faults of the host have
    left gaps in, goes on in another; no block is split over two.

    `ended_at` is None while it goes on, and if it was killed; a session that was killed is "interrupted" as soon as
    there is a later one. `duration_s`: as Fork.duration_s, and None where `ended_at` is. `boot_id`: the kernel's, a new
    one after each boot of the host; None: not shown."""

    number: int  # 1..
    started_at: str
    ended_at: str | None
    duration_s: float | None = None
    status: Literal["running", "complete", "interrupted"]
    tool_version: str
    git_commit: str | None
    git_dirty: bool | None
    command: tuple[str, ...]
    host: HostFacts
    boot_id: str | None
    confinement: ConfinementMethod
    why_not_cgroup: str | None = None


class NotTestable(Record):
    key: CellKey
    reason: str


class RunRecord(Record):
    """Facts of a whole run are those of its first session; each session has its own host and command."""

    schema_version: Literal[3] = 3
    run_id: str
    profile: str
    scenario: ScenarioRecord | None = None  # None: the profile is one of matrix.toml's own
    # Axes that the command line narrowed; "aa": the executor that it measures against itself.
    selection: dict[str, tuple[str | int, ...]]
    seed: int
    ended_at: str | None  # None: still running, or killed
    status: Literal["running", "complete", "interrupted"]
    # matrix.toml as resolved for this run, without published scenarios: the one that it repeats is its profile.
    matrix: dict[str, Any]
    servers: tuple[ServerFacts, ...]  # none where every cell is an experiment without one
    drivers: tuple[DriverFacts, ...]
    jdks: tuple[JdkRecord, ...]
    calibrations: tuple[Calibration, ...]  # none where nothing burns
    capacities: tuple[BasisCapacity, ...] = ()  # none where no load is a share of one
    cells: tuple[CellKey, ...]  # planned, in the order of the report
    not_testable: tuple[NotTestable, ...]
    # "CELL_ID#FORK" in the order of execution, over all sessions; a repeated attempt is "CELL_ID#FORK.ATTEMPT"
    # (CellKey.fork_label). While the run is not complete: the first attempts of all that may run.
    order: tuple[str, ...]
    stopping: Stopping | None = None  # None: the number of blocks was fixed beforehand
    promised_precision: float  # the share to which the protocol promises to know a ratio
    provenance: Provenance
    notes: tuple[str, ...] = ()  # what a reader must know, e.g. SUT and driver overlap
    sessions: Annotated[tuple[Session, ...], Field(min_length=1)]

    @property
    def refused(self) -> dict[CellKey, str]:
        """The cells that cannot be measured here, and why."""
        return {entry.key: entry.reason for entry in self.not_testable}

    @property
    def testable(self) -> tuple[CellKey, ...]:
        """The planned cells without those refused."""
        refused = self.refused
        return tuple(key for key in self.cells if key not in refused)

    def load_table(self, name: str) -> str:
        """Return matrix.toml's table of this load as JSON; of a relative load, without what it came to."""
        table = (self.matrix.get("loads") or {}).get(name) or {}
        return json.dumps({field: value for field, value in table.items() if value}, sort_keys=True)

    @property
    def first_session(self) -> Session:
        return self.sessions[0]

    @property
    def latest_session(self) -> Session:
        """The last session. Everything that decides a result is equal for all current forks (Identity), so their host
        is its host."""
        return self.sessions[-1]

    @property
    def started_at(self) -> str:
        return self.first_session.started_at
