"""Assign CPUs to the server, the driver and the remote system. Pure.

One set is reserved for all sizes of the matrix that fit beside the same driver and remote system, so that cells of 1, 2
and 4 CPUs are comparable: a smaller cell gets some of the larger one's server CPUs, driver and remote keep theirs, the
rest idle. Every sensible way to reserve is built and the one that gives up least is taken; each cell says what that is.

Not handled: which CPUs serve which interrupts; the lowest, CPU 0, is assumed to serve most.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jdkmatrix.host.topology import CoreKind, Cpu, Topology

# In the order in which they are given up, the smallest loss first.
_MESSAGES = {
    "uses-cpu-0": "the server uses CPU 0, which serves most interrupts",
    "driver-on-other-node": "the driver, the remote system or the database is on a different NUMA node from the server",
    "foreign-siblings": "others, outside this process's limits, may use sibling threads of the server's CPUs",
    "uncounted": "/proc/stat does not show the times of these CPUs, as under lxcfs: the load of others goes unnoticed",
    "crosses-l3": "the server's CPUs are in several L3 domains",
    "crosses-numa": "the server's CPUs are on several NUMA nodes",
    "mixed-core-kinds": "the server's CPUs are of several kinds, performance and efficiency cores",
    "unbalanced": "the kernel does not move threads between isolated CPUs: some can queue while others idle",
    "shares-cores": "a sibling thread of a server CPU is in use, by the server itself or by the driver",
    "remote-shares-driver": "the remote system or the database shares the driver's CPUs: each can make the other late",
    "overlapped": "server and driver share CPUs: the figures are no measure of the server alone",
}


@dataclass(frozen=True)
class Compromise:
    """A requirement that this host could not meet, as a stable code and in words."""

    code: str
    message: str


@dataclass(frozen=True)
class CpuSets:
    """CPU numbers in ascending order. `sut` is disjoint from the others unless `overlapped`. `compromises`: what was
    given up, the smallest loss first; sharing cores is not one where it was asked for."""

    sut: tuple[int, ...]
    driver: tuple[int, ...]
    overlapped: bool
    remote: tuple[int, ...] = ()
    compromises: tuple[Compromise, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        """The CPUs of server, driver and remote system, in ascending order."""
        return tuple(sorted({*self.sut, *self.driver, *self.remote}))


class TooFewCpusError(ValueError):
    """This host cannot give the cell its CPUs; the message says how many are missing."""


@dataclass(frozen=True)
class _Request:
    """The host, and the CPUs that the programs beside the server need, which are the same for every size of a cell."""

    topology: Topology
    driver_cpus: int
    remote_cpus: int
    smt: bool

    @property
    def others(self) -> int:
        """The number of CPUs beside the server's."""
        return self.driver_cpus + self.remote_cpus


@dataclass(frozen=True)
class _Core:
    """A physical core. `threads`: those that this process may use; `foreign`: there are others."""

    threads: tuple[Cpu, ...]
    foreign: bool

    @property
    def first(self) -> Cpu:
        return self.threads[0]

    @property
    def is_bad(self) -> bool:
        """True if the server should avoid it: it has CPU 0, or others use it."""
        return self.foreign or any(cpu.cpu == 0 for cpu in self.threads)


@dataclass(frozen=True)
class _Reserved:
    """`free`: CPUs for the server, best first. `others`: the driver's, then the remote's."""

    free: tuple[Cpu, ...]
    others: tuple[Cpu, ...]


@dataclass(frozen=True)
class _Way:
    """One way to reserve: the server starts in the L3 domain of `home`, on cores of `kind`."""

    home: Cpu
    kind: CoreKind
    far: tuple[int, int, int]  # where driver and remote go: ranks of the rest of the node, the domain, other nodes
    leave_kind: bool  # driver and remote prefer cores of the other kind
    packed: bool  # driver and remote use all threads of a core before the next core
    humble: bool  # driver and remote first take the cores that are bad for the server, not last


def beside(
    topology: Topology, *, sut_cpus: int, driver_cpus: int | None, remote_cpus: int | None, smt: bool = False
) -> tuple[int, int]:
    """Return how many CPUs the driver and the remote system have. None: as many as the server, or as the host has left,
    but at least one. 0: there is none. Where the server can have whole cores, with `smt` false one for each of its
    CPUs, all CPUs of those cores count as taken.

    Beside a server on one CPU whose requests do no work, the driver's CPU was busy for 52 to 76 % of the time, and the
    remote system, where each request was only forwarded, used 66 % of one."""
    asked = (driver_cpus, remote_cpus)
    threads = sorted(map(len, topology.cores), reverse=True)
    servers = sut_cpus if smt or len(threads) <= sut_cpus else sum(threads[:sut_cpus])
    left = min(topology.busy_at_most - sut_cpus, len(topology.cpus) - servers) - sum(filter(None, asked))
    each = max(1, min(sut_cpus, left // max(1, asked.count(None))))
    driver, remote = (each if cpus is None else cpus for cpus in asked)
    return driver, remote


def assign(
    topology: Topology,
    *,
    sut_cpus: int,
    driver_cpus: int,
    overlap: bool,
    remote_cpus: int = 0,
    share_remote: bool = False,
    smt: bool = False,
    axis: Iterable[int] = (),
) -> CpuSets:
    """Assign the CPUs of a cell with `sut_cpus` CPUs in a matrix whose cells have the numbers of CPUs in `axis`.

    The server's CPUs are of one kind and in one L3 domain, without CPU 0; nobody uses their sibling threads; driver and
    remote are on other cores of the same NUMA node, in another L3 domain where there is one. CPUs without a timer tick
    are preferred for the server; isolated ones only where it needs no more than one, because the kernel does not
    balance threads over several. What the host cannot give is given up in the order of `_MESSAGES`.

    `share_remote`: the remote system may have the driver's CPUs where there are none for itself. `overlap`: server and
    driver may share CPUs where there are too few for both. `smt`: the server gets whole cores with all their threads.

    Raises:
        TooFewCpusError: the host has too few.
    """
    request = _Request(topology, driver_cpus, remote_cpus, smt)
    limit = request.topology.busy_at_most
    sizes = tuple(sorted({size for size in (*axis, sut_cpus) if size + request.others <= limit}))
    if sut_cpus in sizes:
        reserved = _reserve(request, sizes)
        return _cpu_sets(request, reserved.free[:sut_cpus], *_split(request, reserved.others))
    share_remote = share_remote and driver_cpus > 0
    if share_remote and remote_cpus and sut_cpus + driver_cpus <= limit:
        without = assign(topology, sut_cpus=sut_cpus, driver_cpus=driver_cpus, overlap=False, smt=smt, axis=axis)
        by_number = {cpu.cpu: cpu for cpu in topology.cpus}
        sut, driver = ([by_number[number] for number in numbers] for numbers in (without.sut, without.driver))
        return _cpu_sets(request, sut, driver, driver)
    if not overlap or max(sut_cpus, driver_cpus, remote_cpus) > limit:
        together = limit if max(driver_cpus, remote_cpus) <= limit else 0
        most = together if overlap else limit - (driver_cpus if share_remote else request.others)
        raise TooFewCpusError(_too_few(request, sut_cpus) + (f": at most cpus = {most}" if most > 0 else ""))
    if limit > request.others:
        reserved = _reserve(request, sizes or (limit - request.others,))
        # The remote system only waits: share its CPUs before the driver's.
        shared = reserved.free[: limit - request.others] + reserved.others[::-1]
        return _cpu_sets(request, shared[:sut_cpus], *_split(request, reserved.others))
    alone = _Request(topology, 0, 0, smt)
    usable = _reserve(alone, (limit,)).free[:limit]
    others = tuple(itertools.islice(itertools.cycle(usable[::-1]), request.others))
    return _cpu_sets(request, usable[:sut_cpus], *_split(request, others))


def _split(request: _Request, others: Sequence[Cpu]) -> tuple[Sequence[Cpu], Sequence[Cpu]]:
    return others[: request.driver_cpus], others[request.driver_cpus :]


@lru_cache(maxsize=64)
def _reserve(request: _Request, sizes: tuple[int, ...]) -> _Reserved:
    """Return the reservation that gives up least, summed over the cells; how bad a loss is comes before how often."""
    cores = _cores(request.topology)
    ways = [(way, _built(request, way, cores, sizes[-1])) for way in _ways(cores)]
    return min(ways, key=lambda pair: _penalty(request, pair[0], pair[1], sizes))[1]


def _ways(cores: Sequence[_Core]) -> list[_Way]:
    homes = {(core.first.node, core.first.l3): core.first for core in cores}.values()  # a domain can span nodes
    kinds = sorted({core.first.kind for core in cores})
    either = (False, True)
    return [
        _Way(home, kind, far, leave_kind, packed, humble)
        for home in homes
        for kind in kinds
        for far in (((0, 1, 2), (0, 2, 1), (1, 2, 0)) if len({core.first.node for core in cores}) > 1 else ((0, 1, 2),))
        for leave_kind in (either if len(kinds) > 1 else (False,))
        for packed in (either if any(len(core.threads) > 1 for core in cores) else (False,))
        for humble in (either if any(core.is_bad for core in cores) else (False,))
    ]


def _built(request: _Request, way: _Way, cores: Sequence[_Core], largest: int) -> _Reserved:
    others = _threads(sorted(cores, key=lambda core: _rank_for_others(core, way)), packed=way.packed)[: request.others]
    for_sut = sorted(cores, key=lambda core: _rank_for_sut(core, way, several=largest > 1))
    taken = {cpu.core for cpu in others}
    untouched = [core for core in for_sut if core.first.core not in taken]
    touched = [core for core in for_sut if core.first.core in taken]
    free = _threads(untouched, packed=request.smt) + _threads(touched, packed=request.smt)
    return _Reserved(free=tuple(cpu for cpu in free if cpu not in others), others=others)


def _rank_for_sut(core: _Core, way: _Way, *, several: bool) -> tuple[int, ...]:
    cpu = core.first
    return (
        several and cpu.isolated,
        cpu.kind != way.kind,
        cpu.node != way.home.node,
        cpu.package != way.home.package,
        cpu.l3 != way.home.l3,
        -cpu.l3,  # fill one domain before the next
        core.foreign,
        not cpu.isolated,
        not cpu.tickless,
        -cpu.cpu,  # CPU 0 last
    )


def _rank_for_others(core: _Core, way: _Way) -> tuple[int, ...]:
    cpu = core.first
    node, domain, elsewhere = way.far
    here = domain if cpu.l3 == way.home.l3 else node
    return (
        cpu.isolated,
        way.leave_kind and cpu.kind == way.kind,
        here if cpu.node == way.home.node else elsewhere,
        cpu.package != way.home.package,
        cpu.kind == "efficiency",
        core.is_bad != way.humble,
        cpu.tickless,
        cpu.cpu,
    )


def _threads(cores: Iterable[_Core], *, packed: bool) -> tuple[Cpu, ...]:
    """List the CPUs core by core with all their threads, or first the first threads of all cores."""
    columns = [core.threads for core in cores]
    if packed:
        return tuple(itertools.chain.from_iterable(columns))
    rows = itertools.zip_longest(*columns)
    return tuple(cpu for row in rows for cpu in row if cpu is not None)


def _penalty(request: _Request, way: _Way, reserved: _Reserved, sizes: Sequence[int]) -> tuple[float, ...]:
    parts = _split(request, reserved.others)
    codes = [code for size in sizes for code in _given_up(request, reserved.free[:size], *parts)]
    *worse, least = (codes.count(code) for code in reversed(_MESSAGES))
    sut = reserved.free[: sizes[-1]]
    return (
        *worse,
        sut[0].kind != "performance",  # CPU 0 rather than efficiency cores
        least,
        -sum(cpu.isolated for cpu in sut) if len(sut) == 1 else 0,
        -sum(cpu.tickless for cpu in sut),
        any(cpu.l3 == way.home.l3 for cpu in reserved.others),
        way.packed,
        any(cpu.cpu == 0 for cpu in reserved.others),
        -way.home.cpu,
    )


def _given_up(request: _Request, sut: Sequence[Cpu], driver: Sequence[Cpu], remote: Sequence[Cpu]) -> list[str]:
    """Return the codes of what these sets give up, the smallest loss first."""
    others = (*driver, *remote)
    nodes = {cpu.node for cpu in sut}
    cores = {cpu.core for cpu in sut}
    found = {
        "uses-cpu-0": any(cpu.cpu == 0 for cpu in sut),
        "driver-on-other-node": not {cpu.node for cpu in others} <= nodes,
        "foreign-siblings": not cores.isdisjoint(cpu.core for cpu in request.topology.withheld),
        "uncounted": any(cpu.cpu in request.topology.uncounted for cpu in (*sut, *others)),
        "crosses-l3": len({cpu.l3 for cpu in sut}) > 1,
        "crosses-numa": len(nodes) > 1,
        "mixed-core-kinds": len({cpu.kind for cpu in sut}) > 1,
        "unbalanced": any(len(group) > 1 and any(cpu.isolated for cpu in group) for group in (sut, driver, remote)),
        "shares-cores": _shares_cores(sut, others if request.smt else (*sut, *others)),
        "remote-shares-driver": not set(driver).isdisjoint(remote),
        "overlapped": not set(sut).isdisjoint(others),
    }
    return [code for code in _MESSAGES if found[code]]


def _shares_cores(sut: Sequence[Cpu], users: Iterable[Cpu]) -> bool:
    """Return whether `users` includes a sibling hyperthread of a `sut` CPU."""
    threads: dict[int, set[int]] = {}
    for cpu in sut:
        threads.setdefault(cpu.core, set()).add(cpu.cpu)
    return any(threads.get(user.core, set()) - {user.cpu} for user in users)


def _cores(topology: Topology) -> tuple[_Core, ...]:
    threads: dict[int, list[Cpu]] = {}
    for cpu in sorted(topology.cpus, key=lambda cpu: (cpu.isolated, cpu.cpu)):  # half a core can be isolated
        threads.setdefault(cpu.core, []).append(cpu)
    foreign = {cpu.core for cpu in topology.withheld}
    return tuple(_Core(tuple(cpus), foreign=core in foreign) for core, cpus in threads.items())


def _cpu_sets(request: _Request, sut: Sequence[Cpu], driver: Sequence[Cpu], remote: Sequence[Cpu]) -> CpuSets:
    codes = _given_up(request, sut, driver, remote)
    return CpuSets(
        sut=_numbers(sut),
        driver=_numbers(driver),
        remote=_numbers(remote),
        overlapped="overlapped" in codes,
        compromises=tuple(Compromise(code, _MESSAGES[code]) for code in codes),
    )


def _numbers(cpus: Iterable[Cpu]) -> tuple[int, ...]:
    return tuple(sorted(cpu.cpu for cpu in cpus))


def _too_few(request: _Request, sut_cpus: int) -> str:
    topology = request.topology
    needs = f"cpus = {sut_cpus} needs {sut_cpus} + {request.driver_cpus} for the driver"
    if request.remote_cpus:
        needs += f" + {request.remote_cpus} for the remote system or the database"
    usable = len(topology.cpus)
    online = usable + len(topology.withheld)
    switched_off = f", and {len(topology.offline)} that are switched off" if topology.offline else ""
    if topology.quota_cpus is not None and request.topology.busy_at_most < usable:
        return f"{needs}; the cgroup's CPU quota grants {topology.quota_cpus:g} of the {online} of this host"
    if topology.limit is not None:
        return f"{needs}; {topology.limit} allows {usable} of the {online} of this host{switched_off}"
    return f"{needs}; this host has {usable}{switched_off}"
