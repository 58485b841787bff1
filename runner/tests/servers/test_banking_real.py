"""The banking application on a real server, with a real remote system that fails on demand."""

from __future__ import annotations

import http.client
import json
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from jdkmatrix.domain.applications import BANKING_ACCOUNTS, REMOTE_TIMEOUT_MS, REMOTE_URL
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.http import Connection
from jdkmatrix.probes.process import JIT_THREADS
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.reading import text_if_readable
from jdkmatrix.servers.process import ServerProcess
from jdkmatrix.servers.proof import prove_executor
from tests.support.servers import RULES, on_liberty
from tests.support.waiting import HANGS_S, wait_until

pytestmark = pytest.mark.real

# Its threads end with their requests: none may be left. Starting another server would be a third of the test's time.
EXECUTOR = "virtual"
ACCOUNTS = 8
OPENING_MINOR = 100_000_000
BODY_BYTES = 1024
TIMEOUT_MS = 10_000
CLIENTS = 200
TRANSFERS_PER_CLIENT = 2
CPUS = tuple(sorted(os.sched_getaffinity(0)))

# X-Remote's orders: the status that is due, how its line begins, and how often it is due in all.
NEVER, ERROR, CLOSE = "fault=never", "fault=status-500", "fault=close&delay_us=20000"
FAULTS = {
    NEVER: (504, f"the remote system gave no answer within {TIMEOUT_MS} ms", 4),
    ERROR: (502, "the remote system answered with status 500: ", 40),
    CLOSE: (502, "the connection to the remote system broke: ", 40),
}
BUSINESS = ("/transfers", "/forward", "/accounts/")
FRONTS = ("", "/servlet")
SLOW = "delay_us=300000"
SLOW_ONES = 20


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    remote_bytes: str | None


@dataclass(frozen=True)
class Bank:
    server: ServerProcess
    remote: RemoteProcess

    def client(self, front: str = "") -> Client:
        return Client(self.server.base_url, front)


class Client:
    """One kept connection. `front` stands before the paths of business requests: "/servlet" goes past Jakarta REST."""

    def __init__(self, base_url: str, front: str) -> None:
        self._front = front
        parts = urlsplit(base_url)
        self._prefix = parts.path
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=HANGS_S)

    def ask(self, method: str, path: str, body: str | None = None, *, order: str | None = None) -> Answer:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if order is not None:
            headers["X-Remote"] = order
        front = self._front if path.startswith(BUSINESS) else ""
        self._http.request(method, self._prefix + front + path, body=body, headers=headers)
        response = self._http.getresponse()
        return Answer(response.status, response.read().decode(), response.getheader("X-Remote-Bytes"))

    def get(self, path: str, *, order: str | None = None) -> Answer:
        return self.ask("GET", path, order=order)

    def transfer(self, key: str, source: int, target: int, amount_minor: object, *, order: str | None = None) -> Answer:
        accounts = {"from": f"{source:06}", "to": f"{target:06}"}
        body = {**accounts, "amount_minor": amount_minor, "currency": "EUR", "idempotency_key": key}
        return self.ask("POST", "/transfers", json.dumps(body), order=order)

    def audit(self) -> dict[str, Any]:
        audit: dict[str, Any] = json.loads(self.get("/audit").text)
        return audit

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="module")
def remote(workloads: Workloads, java: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteProcess]:
    log_dir = tmp_path_factory.mktemp("remote")
    with RemoteProcess(workloads.file("remote.jar"), java, cpus=CPUS[:1], log_dir=log_dir) as process:
        process.wait_ready()
        yield process


@pytest.fixture(scope="module")
def bank(
    workloads: Workloads, java: Path, remote: RemoteProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bank]:
    folder = tmp_path_factory.mktemp("bank")
    features, url = "restfulWS-3.1-jsonb-3.0-servlet-6.0", f"{remote.url}?delay_us=1000&size_bytes={BODY_BYTES}"
    told = {REMOTE_URL: url, REMOTE_TIMEOUT_MS: str(TIMEOUT_MS), BANKING_ACCOUNTS: str(ACCOUNTS)}
    instance = on_liberty(
        workloads, java, application="banking", feature_set=features, executor=EXECUTOR, properties=told
    )
    with ServerProcess(instance.lay_out(folder / "server", folder / "logs"), cpus=CPUS, rules=RULES) as server:
        server.wait_ready()
        yield Bank(server, remote)
    log = (folder / "logs" / "messages.log").read_text(encoding="utf-8")
    assert " E " not in "".join(line[:120] for line in log.splitlines()), "neither its start nor a fault is an error"


@pytest.fixture
def client(bank: Bank) -> Iterator[Client]:
    with closing(bank.client()) as made:
        yield made


def test_it_is_ready_without_the_remote_system_and_has_the_probes(bank: Bank, client: Client) -> None:
    bank.remote.stats(reset=True)
    assert json.loads(client.get("/accounts").text) == {
        "accounts": ACCOUNTS, "opening_balance_minor": OPENING_MINOR, "currency": "EUR", "entries_kept": 32,
        "idempotency_keys_kept": 1024,
    }  # fmt: skip
    with Connection(bank.server.base_url, timeout_s=HANGS_S) as connection:
        assert prove_executor(connection, EXECUTOR, requests=20).virtual
        assert connection.get_json("/burn?rounds=1000&repeats=2")["rounds"] == 1000
    assert client.audit()["conserved"] is True
    assert bank.remote.stats().answered == 0


@pytest.mark.parametrize(("front", "payer"), [("", 6), ("/servlet", 4)])
def test_each_business_request_calls_the_remote_system_once(bank: Bank, front: str, payer: int) -> None:
    client = bank.client(front)
    bank.remote.stats(reset=True)
    client.get("/gauges?reset=peak")
    payee = f"{payer + 1:06}"
    asked = (f"/accounts/{payee}", f"/accounts/{payee}/statement?page=0&size=2", "/forward", "/forward?burn_us=50")
    answers = [client.transfer("once", payer, payer + 1, 250), *map(client.get, asked)]
    assert [answer.status for answer in answers] == [201, 200, 200, 200, 200]
    assert {answer.remote_bytes for answer in answers} == {str(BODY_BYTES)}
    booked, balance, statement = (json.loads(answer.text) for answer in answers[:3])
    assert set(booked) == {"transfer_id", "from_balance_minor", "to_balance_minor"}
    assert balance == {"account": payee, "balance_minor": booked["to_balance_minor"], "currency": "EUR"}
    assert (statement["credits_minor"], statement["debits_minor"]) == (250, 0)
    assert statement["entries"] == [
        {"transfer_id": booked["transfer_id"], "counterparty": f"{payer:06}", "amount_minor": 250,
         "balance_minor": booked["to_balance_minor"]}
    ]  # fmt: skip
    assert len(answers[3].text) == BODY_BYTES and json.loads(answers[3].text).keys() == {"pad"}
    assert bank.remote.stats().answered == len(answers)
    gauges = json.loads(client.get("/gauges").text)
    assert (gauges["in_flight"], gauges["in_flight_peak"]) == (0, 1)
    client.close()


@pytest.mark.parametrize("front", FRONTS)
def test_what_is_wrong_is_said_in_lines_and_moves_nothing(bank: Bank, front: str) -> None:
    client = bank.client(front)
    before = client.audit()
    client.transfer(f"taken{front}", 0, 1, 5)
    answers = {
        "the same key": (client.transfer(f"taken{front}", 0, 1, 6), 409, "idempotency_key: account 000000 used it"),
        "too much": (client.transfer("a", 0, 1, 900_000_000), 422, "account 000000 has "),
        "no account": (client.transfer("a", 3, ACCOUNTS, 5), 404, "there is no account 000008"),
        "a part of a cent": (client.transfer("a", 0, 1, 1.5), 400, "amount_minor: expected a whole number"),
        "more than a long": (client.transfer("a", 0, 1, 2**64 + 1), 400, "amount_minor: expected a whole number"),
        "a word": (client.transfer("a", 0, 1, "much"), 400, "body: not the JSON that was expected"),
        "half a body": (client.ask("POST", "/transfers", '{"from":'), 400, "body: not the JSON that was expected"),
        "no body": (client.ask("POST", "/transfers", "null"), 400, "body: expected a transfer as JSON"),
        "another account": (client.get("/accounts/abc"), 404, 'there is no account "abc"'),
        "another page": (client.get("/accounts/000000/statement?page=x"), 400, "page: expected a whole number"),
        "another fault": (client.get("/forward", order="fault=x"), 502, "the remote system answered with status 400"),
        "no fault": (client.get("/forward", order="fault"), 400, "X-Remote: expected parameters as in"),
        "no burn": (client.get("/forward?burn_us=x"), 400, "burn_us: expected a whole number"),
    }
    for what, (answer, status, begin) in answers.items():
        assert (answer.status, answer.text.count("\n")) == (status, 1), (what, answer)
        assert answer.text.startswith(begin), (what, answer)
    everything = client.ask("POST", "/transfers", "{}")
    assert (everything.status, everything.text.count("\n")) == (400, 5)
    assert client.audit()["transfers_done"] == before["transfers_done"] + 1
    client.close()


def test_under_faults_nothing_is_lost_moved_twice_or_left_behind(bank: Bank) -> None:
    with closing(bank.client()) as client:
        warm_up(bank)
        before = client.audit()
        balances = [balance(client, account) for account in range(ACCOUNTS)]
        threads = threads_of(bank)
        bank.remote.stats(reset=True)

        plans = [plan(number) for number in range(CLIENTS)]
        orders = Counter(step.order for steps in plans for step in steps)
        counts = {order: count for order, (_, _, count) in FAULTS.items()}
        plain = CLIENTS * TRANSFERS_PER_CLIENT - SLOW_ONES - sum(counts.values())
        assert orders == Counter({**counts, SLOW: SLOW_ONES}) + Counter({None: plain})
        with ThreadPoolExecutor(CLIENTS) as clients:
            for result in [clients.submit(play, bank, steps) for steps in plans]:
                result.result()

        steps = [step for steps in plans for step in steps]
        for step in steps:
            balances[step.source] -= step.amount_minor
            balances[step.target] += step.amount_minor
        stats = bank.remote.stats()
        assert [balance(client, account) for account in range(ACCOUNTS)] == balances
        audit = client.audit()
        assert audit["conserved"] is True and audit["contradictions"] == 0
        assert audit["transfers_done"] == before["transfers_done"] + len(steps), "each moved money once"
        # Every step and its replay were answered; a fault was one call.
        assert stats.answered == 2 * len(steps)
        faults = stats.faults
        assert {NEVER: faults.never, ERROR: faults.status_500, CLOSE: faults.close} == counts
        assert (stats.in_flight, stats.abandoned, stats.refused) == (0, counts[NEVER], 0), "who waits no more hangs up"
        wait_until(lambda: threads_of(bank) <= threads, "threads were left behind")
        assert json.loads(client.get("/gauges").text)["in_flight"] == 0


@dataclass(frozen=True)
class Step:
    key: str
    source: int
    target: int
    amount_minor: int
    order: str | None


def plan(number: int) -> list[Step]:
    """Return one client's steps; all clients together order what FAULTS says, beginning with the longest waits."""
    others: list[str | None] = [SLOW] * SLOW_ONES
    for order in (ERROR, CLOSE):
        others += [order] * FAULTS[order][2]
    others += [None] * (CLIENTS * TRANSFERS_PER_CLIENT - FAULTS[NEVER][2] - len(others))
    # 7 and their number have no common divisor: each is taken once, and they are spread.
    orders = [NEVER] * FAULTS[NEVER][2] + [others[i * 7 % len(others)] for i in range(len(others))]
    return [
        Step(
            key=f"{number}-{n}",
            source=(number + n) % ACCOUNTS,
            target=(number + n + 1 + number % (ACCOUNTS - 1)) % ACCOUNTS,
            amount_minor=1 + number + n,
            order=orders[n * CLIENTS + number],
        )
        for n in range(TRANSFERS_PER_CLIENT)
    ]


def play(bank: Bank, steps: list[Step]) -> None:
    """Play each step as it is ordered, again if it was to fail, and then replay it."""
    with closing(bank.client()) as client:
        for step in steps:
            answer = transfer(client, step, order=step.order)
            if step.order in FAULTS:
                status, begin, _ = FAULTS[step.order]
                assert (answer.status, answer.text.count("\n")) == (status, 1), (step, answer)
                assert answer.text.startswith(begin), (step, answer)
                answer = transfer(client, step, order=None)
            assert (answer.status, answer.remote_bytes) == (201, str(BODY_BYTES)), (step, answer)
            assert transfer(client, step, order=None) == answer


def transfer(client: Client, step: Step, *, order: str | None) -> Answer:
    return client.transfer(step.key, step.source, step.target, step.amount_minor, order=order)


def balance(client: Client, account: int) -> int:
    return int(json.loads(client.get(f"/accounts/{account:06}").text)["balance_minor"])


def warm_up(bank: Bank) -> None:
    """Start all threads that a server needs once and keeps."""

    def forward(_: int) -> int:
        with closing(bank.client()) as client:
            return client.get("/forward").status

    for at_once in (CLIENTS // 20, CLIENTS):  # so many at once are too much for a cold server on a busy host
        with ThreadPoolExecutor(at_once) as clients:
            assert set(clients.map(forward, range(2 * CLIENTS))) == {200}


def threads_of(bank: Bank) -> int:
    """Count the threads of the server's process without the JIT's, which come and go."""
    tasks = Path(f"/proc/{bank.server.pid}/task").iterdir()
    names = (text_if_readable(task / "comm") for task in tasks)  # None for a thread that ended meanwhile
    return sum(not name.startswith(JIT_THREADS) for name in names if name is not None)
