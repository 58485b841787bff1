"""The database of a fork as a process: its user, who can reach it, how it ends, how its troubles are reported."""

from __future__ import annotations

import _thread
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from jdkmatrix.fork.database import DatabaseError, DatabaseProcess
from jdkmatrix.provision.postgres import Postgres, provision_postgres
from jdkmatrix.provision.project import find_project
from tests.support.databases import DatabaseClient, password_in
from tests.support.programs import program
from tests.support.waiting import has_ended, wait_until

pytestmark = pytest.mark.real

CPUS = tuple(sorted(os.sched_getaffinity(0)))[:1]


@pytest.fixture(scope="module")
def postgres() -> Postgres:
    return provision_postgres(find_project().root, say=print)


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give temporary files a folder of their own that every user can pass through: other tests run beside this one."""
    place = Path(tempfile.mkdtemp(prefix="jdk-matrix-test-"))
    place.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    yield
    wait_until(lambda: not any(one.name() == "postgres" for one in psutil.Process().children(recursive=True)))
    assert not list(place.glob("jdk-matrix-postgres-*"))
    shutil.rmtree(place)


def connected_to(database: DatabaseProcess) -> DatabaseClient:
    return DatabaseClient(database.url, password_in(database.password_file))


def test_it_runs_unprivileged_on_its_cpus_and_answers_on_loopback_alone(postgres: Postgres, tmp_path: Path) -> None:
    with DatabaseProcess(postgres, connections=3, cpus=CPUS, log_dir=tmp_path) as database:
        postmaster = psutil.Process(database.pid)
        every = [postmaster, *postmaster.children()]
        assert len(every) > 3
        assert all(one.uids().effective not in (0, -1) and one.cpu_affinity() == list(CPUS) for one in every)
        assert database.facts.user == (pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() else "nobody")
        assert {one.laddr.ip for one in postmaster.net_connections() if one.status == "LISTEN"} == {"127.0.0.1"}
        assert database.facts.version == postgres.version and database.facts.data_bytes > 10_000_000
        assert {"fsync=off", "shared_buffers=128MB"} < set(database.facts.command)
        assert database.facts.file_system
        before_s = database.cpu_s()
        with connected_to(database) as client:
            assert client.ask("select sum(n) from generate_series(1, 3000000) as n") is None
            during_s = database.cpu_s()
        assert during_s > before_s
        wait_until(lambda: len(postmaster.children()) < len(every))
        # That includes a process that has ended, once the postmaster has heard of it.
        wait_until(lambda: database.cpu_s() - before_s > (during_s - before_s) / 2)
        database.check()
    assert all(has_ended(one.pid) for one in every)
    assert "database system is shut down" in (tmp_path / "database.log").read_text()


def test_another_user_of_the_host_is_refused(postgres: Postgres, tmp_path: Path) -> None:
    """The superuser of a database may run programs as whoever runs the database."""
    with DatabaseProcess(postgres, connections=3, cpus=CPUS, log_dir=tmp_path) as database:
        kept = [one for one in database.password_file.parent.iterdir() if one.is_file()]
        assert {stat.S_IMODE(one.stat().st_mode) for one in kept} == {0o600}
        with DatabaseClient(database.url, "guessed") as client:
            assert client.refused == 'password authentication failed for user "postgres"'
        password = password_in(database.password_file)
        assert len(password) == 32 and password not in " ".join((database.url, *database.facts.command))
    assert password not in "".join(one.read_text() for one in tmp_path.iterdir())


def test_who_refuses_connections_or_loses_a_process_is_told_by_its_log(postgres: Postgres, tmp_path: Path) -> None:
    with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path) as database:
        with ExitStack() as clients:
            refused = [clients.enter_context(connected_to(database)).refused for _ in range(12)]
        assert refused == [None] * 11 + ["sorry, too many clients already"]
        with pytest.raises(DatabaseError, match=r"its log says: .* FATAL:  sorry, too many clients already$"):
            database.check()
    with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path) as database:
        connected_to(database).reset_while_answering("select repeat('x', 1000) from generate_series(1, 1000000)")
        wait_until(lambda: "connection to client lost" in (tmp_path / "database.log").read_text())
        database.check()  # as when a server dies, which is no trouble of the database's
    with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path) as database:
        with connected_to(database) as client:
            children = psutil.Process(database.pid).children()
            next(one for one in children if "postgres 127" in one.cmdline()[0]).kill()
            client.ask("select 1")
        wait_until(lambda: "terminated by signal 9" in (tmp_path / "database.log").read_text())
        with pytest.raises(DatabaseError, match=r"its log says: .* was terminated by signal 9: Killed"):
            database.check()


def test_a_killed_postmaster_is_told_and_leaves_no_process(postgres: Postgres, tmp_path: Path) -> None:
    with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path) as database:
        children = psutil.Process(database.pid).children()
        os.kill(database.pid, signal.SIGKILL)
        os.waitid(os.P_PID, database.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(DatabaseError, match=r"^the database was killed by signal 9; the end of "):
            database.cpu_s()
        wait_until(lambda: all(has_ended(one.pid) for one in children))


def test_it_ends_with_whoever_started_it(postgres: Postgres, tmp_path: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(f"""\
        import time
        from pathlib import Path
        from jdkmatrix.fork.database import DatabaseProcess
        from jdkmatrix.provision.postgres import postgres_at
        release = postgres_at(Path({str(postgres.home)!r}))
        with DatabaseProcess(release, connections=1, cpus={CPUS}, log_dir=Path({str(tmp_path)!r})) as one:
            print(one.pid, one.facts.command[2], flush=True)
            time.sleep(600)
        """)
    )
    process = subprocess.Popen([sys.executable, str(parent)], stdout=subprocess.PIPE, text=True)
    pid, data = process.stdout.readline().split()
    every = [psutil.Process(int(pid)), *psutil.Process(int(pid)).children()]
    process.kill()
    process.communicate()
    wait_until(lambda: all(has_ended(one.pid) for one in every))
    assert Path(data).exists()
    with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path):
        assert not Path(data).parent.exists(), "the next one removes what was left"


def test_a_full_disk_is_told_by_its_log(postgres: Postgres, tmp_path: Path) -> None:
    disk = Path(tempfile.mkdtemp())
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "none", disk], capture_output=True, check=False
        )
        if mounted.returncode:
            pytest.skip("this user may not mount a small file system")
        disk.chmod(0o755)
        with DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path, folder=disk) as database:
            with connected_to(database) as client:
                said = client.ask("create table t as select repeat(n::text, 20) from generate_series(1, 9000000) as n")
            assert said is not None
            with pytest.raises(DatabaseError, match=r"its log says: .*No space left on device"):
                database.check()
    finally:
        if os.path.ismount(disk):
            subprocess.run(["umount", disk], check=True)
        disk.rmdir()


def test_what_makes_its_data_ends_when_it_is_stopped(postgres: Postgres, tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "database.initdb.log"
    program(home / "bin" / "initdb", "#!/bin/sh\necho $$\nexec sleep 600\n")

    def stop() -> None:
        wait_until(lambda: log.exists() and "\n" in log.read_text())
        _thread.interrupt_main()

    database = DatabaseProcess(Postgres(home, postgres.version, ""), connections=1, cpus=CPUS, log_dir=tmp_path)
    stopping = threading.Thread(target=stop)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    stopping.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            database.__enter__()
    finally:
        stopping.join()
        signal.signal(signal.SIGINT, before)
    assert not psutil.pid_exists(int(log.read_text()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs it as another user")
def test_programs_that_a_strict_umask_keeps_for_root_are_started_anyway(postgres: Postgres, tmp_path: Path) -> None:
    home = tmp_path / "home"
    program(home / "bin" / "initdb", "#!/bin/sh\nexit 3\n")
    for folder in (home, home / "bin"):
        folder.chmod(0o700)
    kept = Postgres(home, postgres.version, "")
    with pytest.raises(DatabaseError, match=r"^initdb ended with exit status 3"):
        DatabaseProcess(kept, connections=1, cpus=CPUS, log_dir=tmp_path).__enter__()


def test_what_cannot_start_says_why(postgres: Postgres, tmp_path: Path) -> None:
    program(tmp_path / "home" / "bin" / "initdb", "#!/bin/sh\necho no locale >&2\nexit 1\n")
    broken = Postgres(tmp_path / "home", postgres.version, "")
    with pytest.raises(DatabaseError, match=r"(?s)^initdb ended with exit status 1; the end of .*no locale"):
        DatabaseProcess(broken, connections=1, cpus=CPUS, log_dir=tmp_path).__enter__()
    with pytest.raises(DatabaseError, match=r"^cannot make a folder for the database in .*: No such file"):
        DatabaseProcess(postgres, connections=1, cpus=CPUS, log_dir=tmp_path, folder=tmp_path / "no").__enter__()
