"""The database of an application: a PostgreSQL beside the server, with a fresh data folder for each fork.

It listens on loopback only, and asks for a password that only this process and the application are told: its superuser
may run programs, and loopback is open to every user of the host. PostgreSQL refuses to run as root: under root it runs
as nobody, with its data and, where that user cannot reach them, a copy of its programs in a folder of its own. Every
wait here has an upper bound and ends in DatabaseError.
"""

from __future__ import annotations

import math
import os
import pwd
import re
import secrets
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

PASSWORD_FILE = "org.postgresql.pgpassfile"  # the system property by which pgJDBC finds it
LOG = "database.log"
_INITDB_LOG = "database.initdb.log"
# A database with a disk of its own would wait for it; here all data of a fork are thrown away. initdb would choose
# shared_buffers by what the host allows, up to this value.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",
    "log_timezone": "UTC",
}
# Fresh data of 41 MB, and a transaction log in which a checkpoint begins at half of max_wal_size (1 GB).
ROOM_BYTES_MIN = 2**30
_PREFIX = "jdk-matrix-postgres-"  # of folder names; the PID namespace and the pid of the maker follow
_OTHERS_CONNECTIONS = 10  # for the audit, and those that PostgreSQL reserves for superusers
_START_TIMEOUT_S = 60.0
_POLL_S = 0.02
_GRACE_S = 10.0
_READ_AGAIN = 5  # times, where children end while they are read
_READY = "database system is ready to accept connections"
# Refused connections, killed backends, a full disk. A failed statement is an ERROR and does not count; nor does a
# connection that the other end dropped, as a dying server does.
_TROUBLE = re.compile(
    r"^.*(?:\bPANIC: |\bFATAL: (?! *connection to client lost)|No space left on device|was terminated by signal"
    r"|could not fork).*$",
    re.MULTILINE,
)


class DatabaseError(MatrixError):
    """The database did not start, died, refused connections or could not write."""


@dataclass(eq=False)
class DatabaseProcess:
    """A database, started empty on enter with room for `connections` of the application; on exit it is ended and its
    data are deleted.

    `cgroup`: the folder of the cgroup that it starts in (None: the runner's own); `slice_us`: the time slice that its
    processes request; `log_dir` must exist and receives its log. `folder`: where its own folder is made; None: the
    host's folder for temporary files. Enter it in a thread that lives as long as the database should: see `launch`.
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
    def password_file(self) -> Path:
        """The file with its password, as libpq and pgJDBC read it. No other user can."""
        return self._data.parent / "pgpass"

    @property
    def url(self) -> str:
        """The JDBC URL, without the password."""
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
        """Return the CPU time of all its processes, including those that have ended (to 10 ms).

        Raises:
            DatabaseError: it has ended.
        """
        if self._process.poll() is not None:
            self.check()
        try:
            postmaster = psutil.Process(self.pid)
            for _ in range(_READ_AGAIN):
                ended_s, total_s = _of_ended_s(postmaster), cpu_time_ns(self.pid) / 1e9
                for child in postmaster.children():
                    with suppress(SutGoneError):
                        total_s += cpu_time_ns(child.pid) / 1e9
                if _of_ended_s(postmaster) == ended_s:
                    break  # else one has ended meanwhile, and may stand in neither sum
        except (SutGoneError, psutil.Error):
            self.check()
            raise DatabaseError("the database has ended") from None
        return total_s + ended_s

    @contextmanager
    def _folder(self) -> Iterator[tuple[Path, Path]]:
        """Yield a folder for its data, and the folder of its programs that its user can reach."""
        where = self.folder or Path(tempfile.gettempdir())
        _remove_abandoned(where)
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-", dir=where))
        except OSError as error:
            raise DatabaseError(f"cannot make a folder for the database in {where}: {error.strerror}") from None
        try:
            programs = self.postgres.home
            if self._user:
                os.chown(folder, *self._user)
                if not everyone_reaches(programs):
                    programs = shutil.copytree(programs, folder / "programs", symlinks=True)
                    for one in (programs, *programs.rglob("*")):  # a strict umask has closed them to others
                        os.chown(one, *self._user, follow_symlinks=False)
            yield folder / "data", programs
        except OSError as error:
            raise DatabaseError(f"the database’s folder {folder}: {error.strerror}") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _initialise(self, programs: Path) -> None:
        password = secrets.token_hex(16)
        given = self._write_secret(self._data.parent / "password", password)
        self._write_secret(self.password_file, f"127.0.0.1:*:*:postgres:{password}")
        command = [
            *(str(programs / "bin" / "initdb"), "-D", str(self._data), "-U", "postgres"),
            *("-A", "scram-sha-256", f"--pwfile={given}"),
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

    def _write_secret(self, path: Path, text: str) -> Path:
        path.touch(0o600, exist_ok=False)
        path.write_text(f"{text}\n", "ascii")
        if self._user:
            os.chown(path, *self._user)
        return path

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
                    process.kill()  # its processes notice, and end
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
    """Return the bytes that are free there for a database, after removing those of processes that are gone."""
    _remove_abandoned(where)
    return shutil.disk_usage(where).free


def why_no_room(free_bytes: int, where: str) -> str | None:
    """Say why a database has no room for its data in the folder `where`; None where it has. Pure."""
    if free_bytes >= ROOM_BYTES_MIN:
        return None
    free = f"{where} has {math.floor(free_bytes / 2**30 * 100) / 100:.2f} GiB free"
    return f"its data need {ROOM_BYTES_MIN / 2**30:g} GiB, but {free} (TMPDIR may name another folder)"


def _of_ended_s(postmaster: psutil.Process) -> float:
    """Return the CPU time of its children that have ended and were waited for."""
    ended = postmaster.cpu_times()
    return float(ended.children_user + ended.children_system)


def _prefix() -> str:
    """Return the folder prefix for the processes that we can see: a pid of another container is not one of ours."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"{_PREFIX}{namespace}-"


def _remove_abandoned(where: Path) -> None:
    """Remove the databases of processes that are gone: a killed one leaves its own behind."""
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


def everyone_reaches(folder: Path) -> bool:
    """Return whether every user may enter the folder and those that it is in."""
    return all(one.stat().st_mode & 0o001 for one in (folder, *folder.resolve().parents))
