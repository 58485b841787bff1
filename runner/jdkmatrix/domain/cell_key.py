"""One point of the matrix."""

from __future__ import annotations

from typing import NamedTuple

from jdkmatrix.domain.record import Record

AXES = ("workload", "server", "jdk", "executor", "cpus", "burn_us", "wait_us", "load")

BURN_US_MAX = 10_000_000
WAIT_US_MAX = 600_000_000

# Ids and records that name no server, old ones included, mean this one: a part of their format, and nobody's choice.
DEFAULT_SERVER = "open-liberty"
OWN_JDK = "own-"  # prefix of the ids of the user's own JDKs
NO_SERVER = "none"  # for an experiment, which is a program of its own


class TaskSize(NamedTuple):
    """The work of one request: computing, and waiting for the remote system."""

    burn_us: int
    wait_us: int


class CellKey(Record):
    """One point in the product of all axes. `server`: a name from matrix.toml's [servers], or `NO_SERVER`; `workload`
    is then a name from [experiments]."""

    workload: str
    server: str = DEFAULT_SERVER
    jdk: str
    executor: str
    cpus: int
    burn_us: int  # the work of one request or task
    wait_us: int = 0  # how late the remote system answers; 0: at once, or there is none
    load: str  # a name from matrix.toml's [loads]

    @property
    def cell_id(self) -> str:
        """Readable and safe as a file name; unique because every axis value is in it."""
        return f"{self.served}.{self.jdk}.{self.executor}.{self._size_id}.{self.load}"

    @property
    def group_id(self) -> str:
        """The cell_id without the executor: equal for all cells whose executors are compared."""
        return f"{self.served}.{self.jdk}.{self._size_id}.{self.load}"

    @property
    def _size_id(self) -> str:
        wait = f".wait-{self.wait_us}us" if self.wait_us else ""
        return f"cpus-{self.cpus}.burn-{self.burn_us}us{wait}"

    @property
    def group(self) -> CellKey:
        """The key without the executor: equal for all cells whose executors are compared."""
        return self.model_copy(update={"executor": ""})

    def fork_label(self, fork: int, attempt: int = 1) -> str:
        """Return the label of one process of this cell: "CELL_ID#2"; for its second attempt "CELL_ID#2.2"."""
        return f"{self.cell_id}#{fork}" + (f".{attempt}" if attempt > 1 else "")

    @property
    def task(self) -> TaskSize:
        return TaskSize(self.burn_us, self.wait_us)

    @property
    def has_server(self) -> bool:
        return self.server != NO_SERVER

    @property
    def served(self) -> str:
        """The workload, with its server unless that is the usual one."""
        return self.workload if self.server in (DEFAULT_SERVER, NO_SERVER) else f"{self.workload}-on-{self.server}"
