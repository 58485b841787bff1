"""The database of an application: a PostgreSQL with a fresh folder of data for each fork, beside the server.

It listens on loopback and nowhere else, and trusts whoever connects. It refuses to run as root; then it runs as nobody,
with its data and, where that user cannot reach them, a copy of its programs in a folder of its own. Every wait here has
an upper bound and ends in DatabaseError.
"""

from __future__ import annotations

import math
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import IO, Self

import psutil

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.watchdog import file_sizes
from jdkmatrix.host import launch
from jdkmatrix.host.file_systems import file_system_of, mounted
from jdkmatrix.host.ports import server_port
from jdkmatrix.probes.process import SutGoneError, cpu_time_ns
from jdkmatrix.provision.postgres import Postgres
from jdkmatrix.records.database import DatabaseFacts

LOG = "database.log"
_INITDB_LOG = "database.initdb.log"
# A database on a disk of its own would wait for it; here all data of a fork are thrown away. initdb would choose
# shared_buffers by what the host gives it, up to this.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",
    "log_timezone": "UTC",
}
# Data of 41 MB when fresh, and a log of transactions in which a checkpoint begins at half of max_wal_size (1 GB).
ROOM_BYTES_MIN = 2**30
_PREFIX = "jdk-matrix-postgres-"  # of folders; then come the PID namespace and the pid of whoever made one
_OTHERS_CONNECTIONS = 10  # of the audit, and those that PostgreSQL keeps for superusers
_START_TIMEOUT_S = 60.0
_POLL_S = 0.02
_GRACE_S = 10.0
_READY = "database system is ready to accept connections"
# Connections refused, backends killed, a full disk; what a statement did wrong is an ERROR, and none of these. Nor is a
# connection that the other end dropped, as a server does that dies.
_TROUBLE = re.compile(
    r"^.*(?:\bPANIC: |\bFATAL: (?! *connection to client lost)|No space left on device|was terminated by signal"
    r"|could not fork).*$",
    re.MULTILINE,
)


class DatabaseError(MatrixError):
    """The database did not start, died, refused connections or could not write."""


@dataclass(eq=False)
class DatabaseProcess:
    """Starts on enter, with an empty database and room for `connections` of the application; is ended on exit, and its
    data are gone.

    `cgroup`: the folder of the cgroup that it starts in (None: the runner's own); `slice_us`: the time slice that its
    processes ask for; `log_dir` exists and gets its log. `folder`: in which its own is made; None: the host's for
    temporary files. Enter it in a thread that lives as long as the database should: see `launch`.
    """

    postgres: Postgres
    _: KW_ONLY
    connections: int
    cpus: Sequence[int]
    log_dir: Path
    cgroup: Path | None = None
    slice_us: int | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        self._log = self.log_dir / LOG
        self._initdb_log = self.log_dir / _INITDB_LOG
        self._user = _unprivileged() if os.geteuid() == 0 else None
        self._port = server_port()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._data, programs = stack.enter_context(self._folder())
            self._initialise(programs)
            self._process = stack.enter_context(self._started(programs))
            self._wait_ready()
            self.facts = DatabaseFacts(
                version=self.postgres.version,
                command=self.command,
                data_bytes=sum(size for _, size in file_sizes(self._data)),
                file_system=file_system_of(self._data, mounted()),
                user=pwd.getpwuid(self._user.uid if self._user else os.geteuid()).pw_name,
            )
            self._until_exit = stack.pop_all()
        return self

    def __exit__(self, *stopped: object) -> None:
        self._until_exit.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        """For JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self._port}/postgres?user=postgres"

    def check(self) -> None:
        """Raises: DatabaseError: it has ended, or its log tells of trouble that no statement brings about."""
        status = self._process.poll()
        trouble = _TROUBLE.search(self._log.read_text(errors="replace"))
        if status is not None:
            raise DatabaseError(f"the database {launch.how_ended(status)}{launch.stderr_tail(self._log)}")
        if trouble:
            raise DatabaseError(f"the database is in trouble; its log says: {trouble[0].strip()}")

    def cpu_s(self) -> float:
        """CPU time of all its processes, also of those that have ended (to 10 ms).

        Raises:
            DatabaseError: it has ended.
        """
        if self._process.poll() is not None:
            self.check()
        try:
            postmaster = psutil.Process(self.pid)
            ended = postmaster.cpu_times()
            total_s = cpu_time_ns(self.pid) / 1e9 + ended.children_user + ended.children_system
            for child in postmaster.children():
                try:
                    total_s += cpu_time_ns(child.pid) / 1e9
                except SutGoneError:
                    continue  # it ended while we read
        except (SutGoneError, psutil.Error):
            self.check()
            raise DatabaseError("the database has ended") from None
        return total_s

    @contextmanager
    def _folder(self) -> Iterator[tuple[Path, Path]]:
        """A folder for its data, and where its programs are for the user that runs them."""
        where = self.folder or Path(tempfile.gettempdir())
        _remove_abandoned(where)
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-", dir=where))
        except OSError as error:
            raise DatabaseError(f"no folder for the database in {where}: {error.strerror}") from None
        try:
            programs = self.postgres.home
            if self._user:
                os.chown(folder, *self._user)
                if not _everyone_reaches(programs):
                    programs = shutil.copytree(programs, folder / "programs", symlinks=True)
                    for one in (programs, *programs.rglob("*")):  # a strict umask has closed them to others
                        os.chown(one, *self._user, follow_symlinks=False)
            yield folder / "data", programs
        except OSError as error:
            raise DatabaseError(f"the database’s folder {folder}: {error.strerror}") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _initialise(self, programs: Path) -> None:
        command = [
            *(str(programs / "bin" / "initdb"), "-D", str(self._data), "-U", "postgres", "-A", "trust"),
            *("--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C"),
        ]
        with self._initdb_log.open("wb") as sink:
            process = self._spawn(command, sink)
            try:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_START_TIMEOUT_S)
            finally:
                status = launch.terminate(process, grace_s=_GRACE_S)
        if status != 0:
            raise DatabaseError(f"initdb {launch.how_ended(status)}{launch.stderr_tail(self._initdb_log)}")

    @contextmanager
    def _started(self, programs: Path) -> Iterator[subprocess.Popen[bytes]]:
        settings = {
            **_SETTINGS,
            "port": str(self._port),
            "max_connections": str(self.connections + _OTHERS_CONNECTIONS),
        }
        options = (option for name, value in settings.items() for option in ("-c", f"{name}={value}"))
        self.command = (str(programs / "bin" / "postgres"), "-D", str(self._data), *options)
        with self._log.open("wb") as sink:
            process = self._spawn(self.command, sink)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGQUIT)  # at once, with all its processes and its shared memory
                try:
                    process.wait(_GRACE_S)
                except subprocess.TimeoutExpired:
                    process.kill()  # its processes see that, and end
            process.wait()

    def _spawn(self, command: Sequence[str], sink: IO[bytes]) -> subprocess.Popen[bytes]:
        return launch.spawn(
            command,
            cpus=self.cpus,
            cgroups=[self.cgroup] if self.cgroup else [],
            slice_us=self.slice_us,
            user=self._user,
            dies_by=signal.SIGQUIT,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            cwd=self._data.parent,
            stdout=sink,
            stderr=sink,
        )

    def _wait_ready(self) -> None:
        until = time.monotonic() + _START_TIMEOUT_S
        while _READY not in self._log.read_text(errors="replace"):
            self.check()
            if time.monotonic() > until:
                tail = launch.stderr_tail(self._log)
                raise DatabaseError(f"the database was not ready within {_START_TIMEOUT_S:.0f} s{tail}")
            time.sleep(_POLL_S)


def room_bytes(where: Path) -> int:
    """What is free there for a database, once those of processes that are gone are removed."""
    _remove_abandoned(where)
    return shutil.disk_usage(where).free


def why_no_room(free_bytes: int, where: str) -> str | None:
    """Why a database has no room for its data in the folder `where`; None where it has. Pure."""
    if free_bytes >= ROOM_BYTES_MIN:
        return None
    free = f"{where} has {math.floor(free_bytes / 2**30 * 100) / 100:.2f} GiB free"
    return f"its data need {ROOM_BYTES_MIN / 2**30:g} GiB, and {free} (TMPDIR names another folder)"


def _prefix() -> str:
    """Of the processes that we can see: a pid of another container is none of ours."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"{_PREFIX}{namespace}-"


def _remove_abandoned(where: Path) -> None:
    """Remove the databases of processes that are gone: one that was killed left its own behind."""
    for folder in where.glob(f"{(prefix := _prefix())}*"):
        pid = folder.name.removeprefix(prefix).split("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> launch.User:
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise DatabaseError("PostgreSQL refuses to run as root, and this host has no user `nobody`") from None
    return launch.User(nobody.pw_uid, nobody.pw_gid)


def _everyone_reaches(folder: Path) -> bool:
    return all(one.stat().st_mode & 0o001 for one in (folder, *folder.resolve().parents))
