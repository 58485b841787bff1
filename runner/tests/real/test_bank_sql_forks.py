"""A fork of the bank on a database: its books, its connections, and a database that dies."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from jdkmatrix.domain.applications import BANKING_ACCOUNTS, DATABASE_CONNECTIONS, DATABASE_POOL, DATABASE_WAIT_MS_MAX
from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.domain.tables import Database
from jdkmatrix.figures.metrics import IN_USE, IN_USE_PEAK, OF_DATABASES, TIMEOUTS, WAIT_P99
from jdkmatrix.fork.faults import faults_of
from jdkmatrix.fork.fork_record import DatabaseParts, ForkDraft, Listener
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.provision.postgres import provision_postgres
from jdkmatrix.provision.project import find_project
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.proof import place_of
from tests.support.databases import DatabaseClient, password_in
from tests.support.fork_setups import usual
from tests.support.real_parts import ForkOf, Once, Silent, subject_of, with_subject
from tests.support.waiting import has_ended, wait_until

pytestmark = pytest.mark.real

BANK: dict[str, Any] = {
    "workload": "bank-sql-10",
    "server": "tomcat",
    "load": "saturate-50",
    "feature_set": "restfulWS-3.1-jsonb-3.0-servlet-6.0",
}


def on_a_database(setup: ForkDraft, asked: Database, *, in_flight: int) -> ForkDraft:
    subject = subject_of(setup)
    properties = {
        BANKING_ACCOUNTS: "1000",
        DATABASE_POOL: asked.pool,
        DATABASE_CONNECTIONS: str(asked.connections),
        DATABASE_WAIT_MS_MAX: str(asked.wait_ms_max),
    }
    return with_subject(
        setup,
        load=SaturateLoad(connections=in_flight),
        instance=replace(subject.instance, application="bank-sql", properties=properties),
        workload=subject.matrix.workloads["bank-sql-10"].model_copy(update={"database": asked}),
        mix=subject.matrix.mixes["bank-day"].below("/bank-sql/servlet", ""),
        cpu_sets=replace(subject.cpu_sets, remote=subject.cpu_sets.driver),
        database=DatabaseParts(provision_postgres(find_project().root, say=print), asked),
    )


def databases() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True) if one.name() == "postgres"]


@dataclass
class Meddler:
    """A listener that runs `sql` in the database right before its books are checked, and stays connected."""

    sql: str
    client: DatabaseClient | None = None

    def step(self, text: str) -> None:
        if text == "checking the books":
            command = next(words for one in databases() if "-D" in (words := one.cmdline()))
            port = next(word.removeprefix("port=") for word in command if word.startswith("port="))
            password = password_in(Path(command[command.index("-D") + 1]).parent / "pgpass")
            self.client = DatabaseClient(f"jdbc:postgresql://127.0.0.1:{port}/postgres", password)
            assert self.client.ask(self.sql) is None


HOLD = "begin; select * from account where id = '000001' for update"


@pytest.mark.parametrize(
    ("server", "executor", "pool", "listener", "open_transactions"),
    [
        ("tomcat", "tomcat-virtual", "agroal", Silent(), 0),
        ("jetty", "jetty", "hikari", Meddler(HOLD), 1),
        ("open-liberty", "liberty", "agroal", Silent(), 0),
        ("spring-boot", "spring-boot-virtual", "hikari", Silent(), 0),
        ("quarkus", "quarkus-virtual", "agroal", Silent(), 0),
    ],
)
def test_its_books_are_kept_and_its_connections_and_open_transactions_are_watched(
    fork_of: ForkOf,
    server: str,
    executor: str,
    pool: Literal["hikari", "agroal"],
    listener: Listener,
    open_transactions: int,
) -> None:
    cell = {**BANK, "server": server}
    asked = Database(connections=10, pool=pool)
    setup = on_a_database(fork_of("temurin-25", executor, **cell), asked, in_flight=50)
    if server != "tomcat":  # which is as busy as it can be; the others leave the tests beside them some CPU
        setup = with_subject(setup, load=RateLoad(rate_rps=500, connections=50))
    fork = measure_fork(setup, listener)
    assert fork.status is not Status.FAILED, fork.reasons
    assert fork.audit.conserved and fork.audit.accounts == 1000
    assert fork.audit.transfers_answered == fork.audit.transfers_done > 0
    assert fork.audit.open_transactions == open_transactions
    assert fork.database is not None and "max_connections=20" in fork.database.command
    (window,) = fork.windows
    assert window.served.on(place_of(executor)) == window.served.begun >= window.load.completed
    assert window.load.errors.total == window.load.non_2xx == 0
    assert window.database is not None and 0 < window.database.cpu_s < window.database.span_s * 2
    valid = fork.model_copy(update={"windows": (window.model_copy(update={"reasons": ()}),)})
    figures = {one: figure.value for one in OF_DATABASES if (figure := one.of(valid, setup.cell.load))}
    assert figures.keys() == set(OF_DATABASES)
    assert 0 < figures[IN_USE] <= figures[IN_USE_PEAK] and 1 <= figures[IN_USE_PEAK] <= 10
    assert figures[WAIT_P99] > 0 and figures[TIMEOUTS] == 0
    assert not databases()


@dataclass
class Threads:
    """A listener that notes threads' names right after the load, as far as the kernel shows them: 15 characters."""

    names: frozenset[str] = frozenset()

    def step(self, text: str) -> None:
        if text == "checking the books":
            ours = psutil.Process().children(recursive=True)
            tasks = [task for one in ours for task in Path("/proc", str(one.pid), "task").glob("*/comm")]
            self.names = frozenset(task.read_text().rstrip() for task in tasks if task.exists())


@pytest.mark.parametrize(
    ("server", "pool", "thread"), [("tomcat", "agroal", "agroal-"), ("spring-boot", "hikari", "HikariPool-1")]
)
def test_requests_that_get_no_connection_in_time_are_counted(
    fork_of: ForkOf, server: str, pool: Literal["hikari", "agroal"], thread: str
) -> None:
    """This includes those of Spring’s repositories, whose transactions wrap what the pool refuses with."""
    asked, threads = Database(pool=pool, connections=1, wait_ms_max=250), Threads()
    profile = usual(window_s=2)["profile"]  # long enough that a slow machine answers many
    cell = {**BANK, "server": server}
    executor = f"{server}-virtual"
    setup = on_a_database(fork_of("temurin-25", executor, **cell), asked, in_flight=450)
    fork = measure_fork(with_subject(setup, profile=profile), threads)
    assert fork.status is not Status.FAILED, fork.reasons
    assert any(name.startswith(thread) for name in threads.names), threads.names
    (window,) = fork.windows
    assert window.served.on(place_of(executor)) == window.served.begun >= window.load.completed
    refused = next(one.value for one in window.readings if one.metric == "connection_timeouts")
    assert window.load.late_non_2xx is not None
    assert refused > 0 and window.load.non_2xx + window.load.late_non_2xx > 0
    assert any(reason.code == "errors" for reason in window.shortfalls)
    assert next(one.value for one in window.readings if one.metric == "connections_in_use_peak") == 1
    assert fork.audit is not None and fork.audit.conserved and fork.audit.open_transactions == 0


NEWEST = "transfer_id = (select max(transfer_id) from transfer)"
UNDONE = f"""
    with gone as (delete from transfer where {NEWEST} returning payer, payee, amount_minor)
    update account set balance_minor = balance_minor + case when id = payer then amount_minor else -amount_minor end
    from gone where id in (payer, payee)"""


@pytest.mark.parametrize(
    ("done", "contradicting", "lost"),
    [
        (UNDONE, "0 accounts contradict", 1),  # every balance is what the other transfers make it
        # Like a balance that was read while another transfer changed it.
        (f"update transfer set payer_minor = payer_minor - 1 where {NEWEST}", "1 account contradicts", 0),
    ],
)
def test_a_transfer_that_is_lost_or_told_a_wrong_balance_is_found(
    fork_of: ForkOf, done: str, contradicting: str, lost: int
) -> None:
    setup = on_a_database(fork_of("temurin-25", "tomcat", **BANK), Database(connections=10), in_flight=50)
    fork = measure_fork(with_subject(setup, load=RateLoad(rate_rps=200, connections=10)), Meddler(done))
    (reason,) = fork.reasons
    assert fork.status is Status.FAILED and reason.code == "lost-update"
    assert contradicting in reason.message
    kept, answered = re.findall(r"; ([0-9,]+) transfers are recorded, ([0-9,]+) were answered$", reason.message)[0]
    assert int(kept.replace(",", "")) == int(answered.replace(",", "")) - lost


def test_a_database_that_dies_is_the_reason(fork_of: ForkOf) -> None:
    setup = on_a_database(fork_of("temurin-25", "tomcat", **BANK), Database(connections=10), in_flight=50)
    ours: list[psutil.Process] = []

    def kill() -> None:
        ours.extend(databases())
        next(one for one in ours if "-D" in one.cmdline()).kill()

    fork = measure_fork(setup, Once(kill))
    assert fork.status is Status.FAILED
    (reason,) = fork.reasons
    assert reason.code == "database" and reason.message.startswith("the database was killed by signal 9; the end of ")
    assert "database system is ready to accept connections" in reason.message
    assert faults_of(fork) == ("database",)
    assert "database.log" in fork.logs
    assert len(ours) > 1, "its own processes, too, which then have another parent"
    wait_until(lambda: all(has_ended(one.pid) for one in ours))
