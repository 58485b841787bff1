"""Prove where requests run: the server may be configured for one executor and serve from another.

Before the load, by asking request by request; under load, by what the requests themselves counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.executors import has_own_threads, is_per_request, is_virtual
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.http import Connection
from jdkmatrix.records.forks import Proof
from jdkmatrix.records.readings import HOOK_CALLS, WindowReading
from jdkmatrix.records.served import Place, Served

_SHOWN_NAMES = 5


class ProofError(MatrixError):
    """Requests do not run where the cell says; `figures`: the counts that show it."""

    def __init__(self, message: str, figures: Mapping[str, float] | None = None) -> None:
        super().__init__(message)
        self.figures = figures or {}


class HooksError(ProofError):
    """The hooks that plugged the executor in are still called: requests ran where they should, at another price."""


@dataclass(frozen=True)
class Whoami:
    """One answer of `GET /whoami`."""

    executor: str
    thread: str
    thread_id: int
    virtual: bool


def prove_executor(connection: Connection, executor: str, *, requests: int) -> Proof:
    """Ask `requests` times over one kept-alive connection, then judge.

    Raises:
        ProofError: an answer came from another executor or kind of thread, or the connection was not kept.
        HttpError: no answer.
    """
    answers: list[Whoami] = []
    ports: set[int | None] = set()
    for _ in range(requests):
        answer = connection.get_json("/whoami")
        ports.add(connection.local_port)
        answers.append(
            Whoami(
                executor=str(answer["executor"]),
                thread=str(answer["thread"]),
                thread_id=int(answer["thread_id"]),
                virtual=bool(answer["virtual"]),
            )
        )
    if len(ports) != 1 or None in ports:
        raise ProofError("the server does not keep its connections open: the proof saw only the first request of each")
    return judge(answers, executor)


def judge(answers: Sequence[Whoami], executor: str) -> Proof:
    """Check that every answer is from `executor` and its kind of thread, and that a thread per request shows as many
    threads as requests. Pure.

    Raises:
        ProofError: says how many of the answers are wrong and shows one.
    """
    virtual = is_virtual(executor)
    wrong = [a for a in answers if a.executor != executor or a.virtual != virtual]
    if wrong:
        kind = "virtual" if wrong[0].virtual else "platform"
        raise ProofError(
            f'{len(wrong)} of {len(answers)} requests did not run on "{executor}": '
            f'executor "{wrong[0].executor}", {kind} thread "{wrong[0].thread}"'
        )
    threads = {a.thread_id for a in answers}
    if is_per_request(executor) and len(threads) < len(answers):
        raise ProofError(
            f'"{executor}" must start a thread for each request, but {len(answers)} requests ran on {len(threads)}'
        )
    names = dict.fromkeys(a.thread for a in answers)
    return Proof(
        requests=len(answers),
        executor=executor,
        virtual=virtual,
        distinct_threads=len(threads),
        thread_names=tuple(names)[:_SHOWN_NAMES],
    )


def place_of(executor: str) -> Place:
    """Return the owner of the threads that the requests of `executor` run on."""
    if has_own_threads(executor):
        return "servers"
    return "plugged_virtual" if is_virtual(executor) else "plugged_platform"


def check_served(served: Served, executor: str) -> None:
    """Check that every request of a window ran where `executor` says, and that, if the threads are ours and each
    request needs its own, one was started for each request not sent before. Pure.

    Raises:
        ProofError: says how many did not.
    """
    begun = served.begun
    wrong = begun - served.on(place_of(executor))
    if wrong:
        raise ProofError(
            f'{wrong:,} of {begun:,} requests under load did not run on "{executor}": {_places(served)}',
            {"wrong": wrong, "begun": begun},
        )
    started, counted = served.threads_started, not has_own_threads(executor)
    if counted and is_per_request(executor) and (started is None or started < begun - served.left_over):
        raise ProofError(
            f'"{executor}" must start a thread for each request, but {started or 0:,} were started for {begun:,} '
            "requests under load",
            {"threads_started": started or 0, "begun": begun},
        )


def check_hooks(readings: Sequence[WindowReading]) -> None:
    """Check that what plugged the executor in is gone; otherwise each look-up of a service under load costs what it
    does not cost the server's own pool. Pure.

    Raises:
        HooksError: says how often the hooks were called in the window.
    """
    calls = sum(one.value for one in readings if one.metric == HOOK_CALLS)
    if calls:
        raise HooksError(
            f"the hooks that plugged the executor in are still there: they were called {calls:,.0f} times under load",
            {HOOK_CALLS: calls},
        )


def _places(served: Served) -> str:
    places = (
        (served.servers, "the server's own threads"),
        (served.plugged_virtual, "virtual threads of the plugged executor"),
        (served.plugged_platform, "platform threads of the plugged executor"),
        (served.elsewhere, "threads of unknown origin"),
    )
    return ", ".join(f"{count:,} on {where}" for count, where in places if count)
