"""Observe from outside an application that reports nothing about itself: whether it is what its table says, and on
which threads it serves."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple

from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.quantities import per_cent
from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.http import Connection, excerpt
from jdkmatrix.loads.base import lead_s
from jdkmatrix.probes.java_threads import JavaThreads, find_carriers, look_at_threads, with_their_pools
from jdkmatrix.probes.process import Reading, cpu_ns_of, cpu_share_of, glance, read_threads, thread_cpu_ns
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.servers.instance import Instance
from jdkmatrix.servers.outside import busiest_groups, check_carriers, groups_words, is_as_promised, unnumbered
from jdkmatrix.servers.process import ServerProcess
from jdkmatrix.servers.proof import ProofError

LOOK_S = 3.0  # of load, in which as many dumps are taken as there is time for
COUNT_S = 2.0  # of load that nothing disturbs
ANSWERS_S_MAX = 12.0  # of load, until a JVM has compiled most of what it runs
_SHOWN_NAMES = 5


def check_own(server: ServerProcess, connection: Connection, instance: Instance, path: str) -> None:
    """Raises:
    ServerError: other hosts can reach it, its process is another program than the cell's JVM, or a request like those
        of the load is not answered with status 2xx.
    HttpError: no answer.
    """
    server.check_only_on_loopback()
    if instance.server.kind.is_command:
        server.check_runs(instance.java)
    status, body = connection.get(path)
    if status // 100 != 2:
        raise server.error(f"GET {path} is answered with status {status}, but 2xx is needed (--path): {excerpt(body)}")


def prove_from_outside(
    pid: int, executor: str, path: str, session: DriverSession, load: SaturateLoad, *, java: Path, scratch: Path
) -> tuple[OutsideProof, frozenset[str]]:
    """Take thread dumps under `load`, a closed loop of GET `path`, then the CPU time of threads under the same; also
    return what the kernel calls the carriers of virtual threads.

    Raises:
        ProofError: requests run on other threads than the executor's name promises.
        MatrixError: the JVM does not say; or as DriverSession.run.
    """
    dumps = _look(pid, lambda: session.warm(load, LOOK_S, label="proof-dumps"), java, scratch)
    names = {tid: name for one in dumps for tid, name in one.platform.items()}
    virtual = {tid: name for one in dumps for tid, name in (one.virtual or {}).items()}
    caught = frozenset(tid for one in dumps for tid in one.carriers)
    carrying = with_their_pools(caught, names) if caught else find_carriers(pid, java, names)
    if isinstance(carrying, str):
        raise ProofError(f"on which threads it serves cannot be seen from outside: {carrying}")
    before = Reading(glance(pid), read_threads(pid))
    answers = session.warm(load, COUNT_S, label="proof-count").answers
    after = Reading(glance(pid), read_threads(pid))
    carriers = frozenset(_kind(after.threads[tid].name) for tid in carrying if tid in after.threads)
    share = _share_of(carriers, names.keys() - carrying, names, before, after, executor=executor)
    busiest = busiest_groups(before, after, names)
    check_carriers(share, executor, f"most was used by {groups_words(busiest)}")
    proof = OutsideProof(
        path=path,
        dumps=len(dumps),
        virtual_threads=len(virtual),
        virtual_names=tuple(dict.fromkeys(map(unnumbered, virtual.values())))[:_SHOWN_NAMES],
        carriers=tuple(sorted(names[tid] for tid in carrying)),
        carriers_cpu_share=share,
        answers=answers,
        busiest=busiest,
    )
    return proof, carriers


class AnswerTimes(NamedTuple):
    """Seconds that answers take under a load: half of them no more than `typical_s`, and each at least `least_s`."""

    typical_s: float
    least_s: float


def slowest(told: Collection[AnswerTimes]) -> AnswerTimes:
    return AnswerTimes(max(one.typical_s for one in told), max(one.least_s for one in told))


def time_answers(session: DriverSession, load: SaturateLoad) -> AnswerTimes:
    """Find out how long answers take under a closed loop, until they come soon enough to need no lead or for as long as
    a cold server may get faster. A window that ends before half of them have come says nothing, and the next is twice
    as long; if all do, they take as long as the soonest and the slowest in the last one, which may not have come.

    Raises:
        MatrixError: as DriverSession.run.
    """
    spent_s, window_s, last, found = 0.0, 1.0, AnswerTimes(0.0, 0.0), AnswerTimes(math.inf, math.inf)
    while spent_s < ANSWERS_S_MAX and lead_s(load, found.typical_s) > 0:
        told = session.warm(load, window_s, label=f"proof-answers-{spent_s:g}")
        seen, given_up = told.uncorrected, told.lower_bounds or 0
        spent_s += window_s
        last = AnswerTimes(seen.max_us / 1e6, seen.min_us / 1e6) if seen else AnswerTimes(window_s, window_s)
        if seen is None or 2 * given_up >= seen.count:
            window_s *= 2
            continue
        found = AnswerTimes(min(found.typical_s, seen.percentiles_us["50"] / 1e6), min(found.least_s, last.least_s))
    return found if math.isfinite(found.typical_s) else last


def _share_of(
    carriers: Collection[str],
    others: Collection[int],
    names: Mapping[int, str],
    before: Reading,
    after: Reading,
    *,
    executor: str,
) -> float:
    """Return the share of the CPU time that was used by threads with the kernel's names of `carriers`.

    Raises:
        ProofError: `others` of that name, which newer JVMs shorten in its middle, are no carriers, and without what
            they used, the share would say something else of the executor.
    """
    share = cpu_share_of(carriers, before, after)
    used_ns = {
        tid: thread_cpu_ns(tid, before, after)
        for tid in others
        if tid in after.threads and after.threads[tid].name.startswith(tuple(carriers))
    }
    mistaken_ns, total_ns = sum(used_ns.values()), cpu_ns_of(tuple(carriers), before, after)
    exact = share * (1 - mistaken_ns / total_ns) if total_ns > 0 else share
    if is_as_promised(share, executor) != is_as_promised(exact, executor):
        told = names[max(used_ns, key=lambda tid: used_ns[tid])]
        raise ProofError(
            "on which threads it serves cannot be seen from outside: the kernel has one name for carriers of virtual "
            f'threads and for "{told}", which is not one; with it, they used {per_cent(share)} of the CPU time under '
            f"load, and without it {per_cent(exact)}"
        )
    return share


def _kind(name: str) -> str:
    """Return how the names of a pool's threads begin, as the kernel shows them: newer JVMs cut long names in the middle
    and keep the number at the end, which is another for a carrier that replaces one that idled and ended."""
    head, cut, _ = name.partition("..")
    return head + cut


def _look(pid: int, load: Callable[[], object], java: Path, scratch: Path) -> list[JavaThreads]:
    """Raises: MatrixError: the JVM does not say."""
    over = Event()
    dumps: list[JavaThreads] = []

    def look() -> None:
        while not over.is_set():
            found = look_at_threads(pid, java, scratch)
            if found.fault is not None:  # nobody knows, and asking again may help
                raise MatrixError(f"on which threads it serves cannot be seen from outside: {found.fault}")
            dumps.append(found)

    with ThreadPoolExecutor(1) as looker:
        looks = looker.submit(look)
        try:
            load()
        finally:
            over.set()
        looks.result()
    return dumps
