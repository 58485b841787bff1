"""Measure forks of any kind, by themselves or in turns, and record whatever happens."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from jdkmatrix.doctor.base import Host
from jdkmatrix.domain.loads import CellLoad, CountLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.database import DatabaseProcess
from jdkmatrix.fork.faults import INTERNAL_ERROR, KINDS, code_of
from jdkmatrix.fork.fork_record import ForkDraft, Listener, Round, fork_record_of
from jdkmatrix.fork.kernel import KernelError, kernel_settings
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.store.removal import remove_tree

_PORTS = 65_535  # the most connections that can lead to one address


class RunningFork:
    """A fork, started and warmed on enter; then measured by itself (`measure`), or in turns (`rewarm`, `window`).

    A failure of what is measured raises nothing: it ends the fork with its processes and becomes its result, with all
    that was seen, the reason and the logs. Ctrl-C passes through, with all processes ended.
    """

    def __init__(self, draft: ForkDraft, listener: Listener) -> None:
        self._draft = draft
        self._measurement = draft.cell.begin(draft, listener)
        self._processes = ExitStack()  # what is open
        self._fork: Fork | None = None  # once it has ended

    def __enter__(self) -> Self:
        self._go_on(self._open)
        return self

    def __exit__(self, *stopped: object) -> None:
        """End what is still open, without a record: what stopped it is not this fork's fault."""
        with suppress(Exception):  # it would replace what stopped it
            self._processes.__exit__(GeneratorExit, GeneratorExit(), None)

    def measure(self) -> None:
        """Measure all its own windows, one after another."""
        self._go_on(lambda: self._measurement.measure(None))

    def rewarm(self, duration_s: float) -> None:
        """Load it for `duration_s` and discard the results: others were started since it was warm."""
        self._go_on(lambda: self._measurement.rewarm(duration_s))

    def window(self, turn: Round) -> None:
        self._go_on(lambda: self._measurement.measure(turn))

    def close(self) -> Fork:
        """Run the final checks, end its processes and return its record."""
        self._go_on(self._processes.close)
        return self._fork or fork_record_of(self._draft, self._measurement)

    def _go_on(self, act: Callable[[], None]) -> None:
        """Call `act`, unless the fork has ended; an error in it ends the fork."""
        if self._fork:
            return
        try:
            try:
                act()
            except BaseException as error:
                self._processes.__exit__(type(error), error, error.__traceback__)
                raise
            return
        except Exception as error:
            _raise_what_stopped_the_run(error)
            self._fail(_outcome_behind(error) or error)
        self._fork = fork_record_of(self._draft, self._measurement)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, MatrixError):
            self._draft.fail(code_of(error), str(error), figures=error.figures)
            return
        self._draft.fail(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        with suppress(OSError):  # which may be what went wrong
            (self._draft.log_dir / "traceback.txt").write_text(traceback.format_exc())

    def _open(self) -> None:
        draft, cell, processes = self._draft, self._draft.cell, self._processes
        processes.callback(remove_tree, draft.scratch)
        host = Host(root=Path("/"), results=draft.log_dir)
        processes.enter_context(kernel_settings(host, cell.kernel))
        remote, database = None, None
        if cell.remote:
            place = {**self._beside(), "connections": _at_once(cell.load)}
            remote = processes.enter_context(RemoteProcess(cell.remote.jar, cell.remote.java, **place))
            draft.remote_command = tuple(remote.command)
            remote.wait_ready()
        if cell.database:
            asked = cell.database.asked
            process = DatabaseProcess(cell.database.postgres, connections=asked.connections, **self._beside())
            database = processes.enter_context(process)
            draft.database = database.facts
        processes.enter_context(self._measurement.opened(remote, database))

    def _beside(self) -> dict[str, Any]:
        """Return where a remote system runs, or the database that takes its place."""
        cell, cpus = self._draft.cell, self._draft.cell.cpu_sets.remote
        place = {"cpus": cpus, "cgroup": cell.confiner.group("remote", cpus)}
        return {**place, "log_dir": self._draft.log_dir, "slice_us": cell.matrix.remote.slice_us}


def _at_once(load: AnyLoad) -> int:
    """Return how many requests may wait for a remote system at the same time."""
    match load:
        case CellLoad():
            return load.connections
        case CountLoad():
            return min(load.count, _PORTS)
    return 0


def _raise_what_stopped_the_run(error: BaseException) -> None:
    """Raise what stopped the run, such as Ctrl-C, where the error replaced it because something could not then be ended
    in order."""
    for behind in _behind(error):
        if not isinstance(behind, Exception | GeneratorExit):
            raise behind


def _outcome_behind(error: Exception) -> MatrixError | None:
    """Return what the server did, where the error is that something could not be put back or removed afterwards: that
    alone would be a fault, and an outcome would be measured again."""
    if isinstance(error, MatrixError) and not isinstance(error, CgroupError | KernelError):
        return None
    errors = (behind for behind in _behind(error) if isinstance(behind, MatrixError))
    return next((behind for behind in errors if KINDS[code_of(behind)] == "outcome"), None)


def _behind(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception that was being handled when `error` was raised, the one behind that, and so on."""
    while error.__context__:
        error = error.__context__
        yield error


def measure_fork(draft: ForkDraft, listener: Listener, when_measured: Callable[[], object] = lambda: None) -> Fork:
    """Measure one fork by itself, from start to end. `when_measured` is called when only its end is left."""
    with RunningFork(draft, listener) as fork:
        fork.measure()
        when_measured()
        return fork.close()


def in_turns(
    starting: Iterable[RunningFork],
    orders: Collection[Sequence[int]],
    *,
    rewarm_s: float,
    lead_s: float,
    round_s: float,
    when_warm: Sequence[Round] = (),
    when_measured: Callable[[], object] = lambda: None,
) -> tuple[Fork, ...]:
    """Return the records of forks that start and warm one after another, and then take a short window each, round after
    round: drift of the host meets the forks of a round within a second or two of each other. When a fork has ended, the
    others go on.

    `starting` is asked for each fork when the one before is warm; `orders`: for every round, the order of the forks, by
    their numbers from 0 on; `when_warm`: the windows that each takes by itself before the next one starts;
    `when_measured` is called when only their end is left. Whatever stops it, no fork is left open.
    """
    forks: list[RunningFork] = []
    with ExitStack() as opened:
        for fork in starting:
            forks.append(opened.enter_context(fork))
            for turn in when_warm:
                fork.window(turn)
        for fork in forks:
            fork.rewarm(rewarm_s)
        for number, order in enumerate(orders, start=1):
            for place in order:
                forks[place].window(Round(number, lead_s, round_s, len(orders)))
        when_measured()
        return tuple(fork.close() for fork in forks)
