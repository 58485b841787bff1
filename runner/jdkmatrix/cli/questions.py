"""The questions of `matrix ask`, one after another, and the complete question that the answers add up to. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.cli.written_values import microseconds
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.catalogue import executor_kinds
from jdkmatrix.domain.cell_key import BURN_US_MAX, WAIT_US_MAX, CellKey
from jdkmatrix.domain.executors import aa_arm, row_of, unsized
from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.domain.servers import own_pool, server_kind, title_of, title_with_release, virtual_of
from jdkmatrix.errors import MatrixError
from jdkmatrix.report.words.sentences import database_words, delay_of, tasks_of
from jdkmatrix.run.asked import options_of
from jdkmatrix.run.plan import axis_values

PROFILE = "quick"
_CPUS_LISTED = 8
_FULL_BELOW_US = 300  # with this much, the server was the limit on two CPUs; less was not measured

Values = dict[str, tuple[str | int, ...]]
Choose = Callable[["AxisQuestion"], str | int]


@dataclass(frozen=True)
class AxisQuestion:
    """One choice to make: values of an axis with their wording, the usual one first. `read`: parses another value that
    is typed, as in `such_as`, and raises MatrixError; None: there is no other."""

    axis: str
    title: str
    choices: tuple[tuple[str, str | int], ...]
    read: Callable[[str], int] | None = None
    such_as: str = ""

    @property
    def usual(self) -> str | int:
        return self.choices[0][1]


@dataclass(frozen=True)
class AskedHost:
    """This host: the `jdks` that need not be fetched, how many `cpus` a server can have, the `releases` of servers by
    name, as far as they are known."""

    jdks: Sequence[str]
    cpus: int
    releases: Mapping[str, str]

    def server_words(self, server: str) -> str:
        """Describe a server: "Spring Boot 3.5.6 (spring-boot-3.5)"."""
        return f"{title_with_release(server, self.releases.get(server, ''))} ({server})"


def answered(matrix: Matrix, given: Mapping[str, Sequence[str | int]], here: AskedHost, choose: Choose) -> Values:
    """Return the values to measure, by axis: `given` stays, `choose` decides what has more than one choice.

    Raises:
        MatrixError: the server has nothing to compare, none has what is compared, or no workload can be that.
    """
    values: Values = {axis: tuple(chosen) for axis, chosen in given.items()}
    if "server" in values:
        _check_served(matrix, values)
    for question in questions(matrix, values, here):
        no_choice = len(question.choices) == 1 and question.read is None
        values[question.axis] = (question.usual if no_choice else choose(question),)
    server = str(values["server"][0])
    if "executor" not in values:
        values["executor"] = (own_pool(server), virtual_of(server), aa_arm(own_pool(server)))
    return values


def _has_both(server: str) -> bool:
    kind = server_kind(server)
    return kind is not None and kind.has(kind.virtual)


def _check_both(servers: Sequence[str]) -> None:
    """Raises: MatrixError: one is known, and has no pool or no virtual threads; or not all have the same."""
    for server in servers:
        if server_kind(server) and not _has_both(server):
            pool = own_pool(server)
            raise MatrixError(
                f"--server {server}: ask compares a server’s own pool with virtual threads, and {title_of(server)} has "
                f"only {pool}; `matrix run --server {server} --executor {pool} --executor {aa_arm(pool)}` measures it"
            )
    if len({(own_pool(server), virtual_of(server)) for server in servers}) > 1:
        raise MatrixError(
            f"--server {' and '.join(servers)}: each has a pool or virtual threads of its own; ask about one at a "
            "time, or name with --executor what to compare"
        )


def _check_served(matrix: Matrix, given: Values) -> None:
    """Raises: MatrixError: the server that is given has nothing to compare, or the workload cannot be that there."""
    if "executor" not in given:
        _check_both([str(server) for server in given["server"]])
    if "workload" in given and (reason := _why_not(matrix, given, str(given["server"][0]))):
        raise MatrixError(f"{_words(given)}: {reason}")


def _servers(matrix: Matrix, given: Values) -> list[str]:
    """List the servers that have the given executors, or else both that are compared, and can serve what is given.

    Raises:
        MatrixError: there is none.
    """
    asked = [unsized(str(executor)) for executor in given.get("executor", ())]
    kinds = {name: kind for name in matrix.servers if (kind := server_kind(name))}
    able = [n for n, kind in kinds.items() if (all(map(kind.has, asked)) if asked else _has_both(n))]
    reasons = {name: _why_not(matrix, given, name) for name in able}
    if found := [name for name, reason in reasons.items() if reason is None]:
        return found
    reason = next(iter(reasons.values()), "no server has all of these executors")
    raise MatrixError(f"{_words(given)}: {reason}")


def _words(given: Values) -> str:
    """Format options as on the command line, without times of 0, which nobody gives for an application of their own."""
    return " ".join(options_of({axis: values for axis, values in given.items() if values != (0,)}))


def questions(matrix: Matrix, values: Values, here: AskedHost) -> Iterator[AxisQuestion]:
    """Yield question after question, since what may be chosen depends on earlier answers; `values` gets each meanwhile.

    Raises:
        MatrixError: as _servers; no workload can be what is chosen.
    """
    if "server" not in values:
        shown = ((here.server_words(name), name) for name in _servers(matrix, values))
        yield AxisQuestion("server", "Which server?", tuple(shown))
    if "jdk" not in values:
        usual = axis_values(matrix, matrix.profiles[PROFILE].select, "jdk")
        yield AxisQuestion(
            "jdk", "Which JDK?", tuple((str(name), name) for name in dict.fromkeys((*usual, *here.jdks)))
        )
    if "cpus" not in values:
        yield _cpus(here.cpus)
    if "burn_us" not in values:
        times = [(work_words(us) if us else "next to nothing", us) for us in (0, 50, 100, 500, 1000, 5000)]
        read = partial(microseconds, "--burn", BURN_US_MAX)
        yield AxisQuestion("burn_us", "How long does a request compute?", tuple(times), read, "such as 300us or 20ms")
    if "wait_us" not in values:
        waits = [us for us in (2000, 20_000, 200_000) if _can_wait(matrix, values, us)]
        times = [("it calls no other system", 0), *((wait_words(us), us) for us in waits)]
        read = partial(microseconds, "--wait", WAIT_US_MAX)
        title = "How long does it wait for another system?"
        yield AxisQuestion("wait_us", title, tuple(times), read if waits else None, "such as 300us or 20ms")
    if "load" not in values:
        flat_out = "flood" if any(values["wait_us"]) else "saturate-50"
        offered = tuple((_LOADS[name], name) for name in (flat_out, "share-50"))
        yield AxisQuestion("load", "What matters most?", offered)
    if "workload" not in values:
        yield _database(matrix, values)


_MOST = "throughput: as many requests as it can serve"
_LOADS = {
    "saturate-50": _MOST,
    "flood": _MOST,
    "share-50": "CPU per request, and p99: at half of what the pool can serve",
}


def _cpus(most: int) -> AxisQuestion:
    listed = range(1, most + 1) if most <= _CPUS_LISTED else (2**power for power in range(most.bit_length()))
    choices = tuple((plural(number, "CPU"), number) for number in listed)
    read = partial(_number, most) if most > _CPUS_LISTED else None
    return AxisQuestion("cpus", "How many CPUs does the server have?", choices, read, f"a number up to {most}")


def _number(most: int, text: str) -> int:
    if not (text.strip().isdecimal() and 1 <= int(text) <= most):
        raise MatrixError(f'"{text}" is not a number of CPUs (allowed: 1 to {most})')
    return int(text)


def _can_wait(matrix: Matrix, values: Values, wait_us: int) -> bool:
    return None in _reasons(matrix, {"load": ("saturate-50",), **values, "wait_us": (wait_us,)}).values()


def _why_not(matrix: Matrix, given: Values, server: str) -> str | None:
    """Return why no workload can be what is given on this server; None if one can."""
    asked: Values = {"load": ("saturate-50",), "wait_us": (0,), **given, "server": (server,)}
    reasons = _reasons(matrix, asked).values()
    return None if None in reasons else next(iter(reasons), None)


def _database(matrix: Matrix, values: Values) -> AxisQuestion:
    """Offer, for each database, the first workload that has it and fits what is asked, on a JVM with the usual options.

    Raises:
        MatrixError: none can.
    """
    server = str(values["server"][0])
    found: dict[str, str] = {}
    for name, reason in _reasons(matrix, values).items():
        database, jvm = matrix.workloads[name].database, matrix.workloads[name].jvm
        if reason is None and (database is None or jvm is None):
            found.setdefault(database_words(database), name)
    if not found:
        raise MatrixError(f"no workload on {title_of(server)} can do that; choose one with --workload")
    little = min(map(int, values["burn_us"])) < _FULL_BELOW_US
    title = "A database? With so little work, it may saturate before the server does." if little else "A database?"
    return AxisQuestion("workload", title, tuple(found.items()))


def _reasons(matrix: Matrix, values: Values) -> dict[str, str | None]:
    """Return, for each workload that `values` allow, why it cannot be what they ask for; None if it can."""
    server, load = str(values["server"][0]), str(values["load"][0])
    point = {"server": server, "jdk": "", "executor": own_pool(server), "cpus": 1, "burn_us": 0, "load": load}
    usual = matrix.model_copy(update={"loads": {load: matrix.loads.get(load) or matrix.loads["saturate-50"]}})
    cells = (
        CellKey.model_validate({**point, "workload": name, "wait_us": max(map(int, values["wait_us"]))})
        for name in matrix.workloads
        if name in values.get("workload", (name,))
    )
    return {cell.workload: usual.why_no_cell(cell) for cell in cells}


def needed(matrix: Matrix, values: Values, given: Iterable[str], answers: Iterable[str]) -> Values:
    """Return the values that `matrix run` must be told besides those `given`, to measure the same: the answers, and
    whatever the profile would otherwise choose differently."""
    select = matrix.profiles[PROFILE].select

    def is_usual(axis: str, found: tuple[str | int, ...]) -> bool:
        cannot_wait = axis == "wait_us" and found == (0,) and not _can_wait(matrix, values, 1)
        return cannot_wait or found == tuple(axis_values(matrix, select, axis))

    return {
        axis: found
        for axis, found in values.items()
        if axis not in given and (axis in answers or not is_usual(axis, found))
    }


def taken_words(values: Values, here: AskedHost) -> str:
    """Describe values: "Apache Tomcat 11.0.10 (tomcat), temurin-25, 1 CPU, ..."; executors are described separately."""
    words: dict[str, Callable[[str | int], str]] = {
        "server": lambda name: here.server_words(str(name)),
        "jdk": lambda name: f"{name} (`matrix jdks` lists others, for --jdk)",
        "cpus": lambda number: plural(int(number), "CPU"),
        "burn_us": lambda us: tasks_of(int(us)),
        "wait_us": lambda us: delay_of(int(us)) if us else "no remote delay",
        "load": lambda name: f"{name} ({_LOADS[str(name)]})",
        "workload": lambda name: f"workload {name}",
    }
    return ", ".join(words.get(axis, str)(value) for axis, (value, *_) in values.items() if axis != "executor")


def compared_words(server: str) -> str:
    """Describe the server's own pool and its virtual threads, with their switch where the server brings them along."""
    kind, pool, virtual = server_kind(server), own_pool(server), virtual_of(server)
    own = kind.executors.get(virtual) if kind else None
    switch = f"; switch: {own.switch}" if own else ""
    both = [executor_kinds()[row_of(name)].words for name in (pool, virtual)]
    return (
        f"{virtual} ({both[1]}{switch}) with {pool} ({both[0]}), and {pool} with itself as {aa_arm(pool)}, which shows "
        "what chance alone does"
    )
