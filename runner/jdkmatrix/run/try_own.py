"""Start each user application once before anything is measured, to tell what is wrong with it in one message."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.domain.tables import Limits
from jdkmatrix.drivers.base import Target
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.fork.resource_limits import limited
from jdkmatrix.fork.watchdog import Watchdog
from jdkmatrix.host.http import Connection
from jdkmatrix.servers.kinds import check_folder
from jdkmatrix.servers.process import ServerProcess
from jdkmatrix.subjects.served.kind import START_AND_STOP_S
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.subjects.served.outside import AnswerTimes, check_own, prove_from_outside, slowest, time_answers

Arm = tuple[str, str, str]  # a workload, a server, an executor
Tried = dict[Arm, AnswerTimes]


def own_cells(setups: Mapping[CellKey, CellSetup]) -> dict[CellKey, ServedCell]:
    """Return the cells of users' applications."""
    return {key: one for key, one in setups.items() if isinstance(one, ServedCell) and one.workload.own}


def arm_of(key: CellKey) -> Arm:
    return key.workload, key.server, base_of(key.executor)


def try_own(setups: Mapping[CellKey, CellSetup], tried: Tried, say: Callable[[str], None]) -> None:
    """Try each arm on the first JDK that it has, under the closed loop of most connections on the fewest CPUs, where
    answers take longest. `tried`: those that were tried before, and how long their answers took; these are added.

    Raises:
        MatrixError: names the workload and the arm, with the end of the log.
    """
    for key, setup in sorted(own_cells(setups).items(), key=_slowest_first):
        own, arm = setup.workload.own, arm_of(key)
        if own is None or arm in tried:
            continue
        told, first = (f"GET {own.application.context_root}{one}" for one in (own.example, own.ready_path))
        asked = told if first == told else f"{first}, then {told}"
        say(
            f"{key.workload}, {arm[2]}: starting it once to see that it answers {asked} with status 2xx, within "
            f"{setup.matrix.server.first_response_timeout_s:g} s"
        )
        with refused(f"{key.workload}, {arm[2]}", of=MatrixError):
            first_s, tried[arm] = try_once(setup, own.example)
        takes = f"half of the answers to {plural(setup.load.connections, 'request')} at once take up to "
        takes += f"{digits(tried[arm].typical_s * 1000, 2)} ms"
        say(f"{key.workload}, {arm[2]}: answers {told}, {after_words(first_s)}; {takes}")


def _slowest_first(cell: tuple[CellKey, ServedCell]) -> tuple[bool, int, int]:
    key, load = cell[0], cell[1].load
    return not load.in_windows.is_closed_loop, -load.connections, key.cpus


def knowing_answers(setups: Mapping[CellKey, CellSetup], tried: Mapping[Arm, AnswerTimes]) -> dict[CellKey, CellSetup]:
    """Return the cells, those of users' applications knowing how long answers take: of the slowest arm of each that was
    tried, so that all arms are measured alike."""
    told = grouped((workload, answers) for (workload, *_), answers in tried.items())
    own = ((key, one) for key, one in own_cells(setups).items() if key.workload in told)
    return {**setups, **{key: one.knowing(slowest(told[key.workload])) for key, one in own}}


def after_words(first_s: float) -> str:
    """Say how long after its start it answers, and what that does to the estimate of the time."""
    late_s = first_s - START_AND_STOP_S
    more = f"; each fork takes some {late_s:.0f} s more than estimated" if late_s > START_AND_STOP_S else ""
    return f"{first_s:.1f} s after its start{more}"


def try_once(setup: ServedCell, path: str) -> tuple[float, AnswerTimes]:
    """Start it once, with its CPU quota, ask it for `path`, see under a closed loop of its requests which threads serve
    them and how long that takes, and end it; return the seconds to its first answer, too.

    Raises:
        MatrixError: as ServerProcess.wait_ready, Watchdog.check, `check_own` and `prove_from_outside`; says how it was
            started. Or it cannot run below the folder of temporary files.
    """
    instance, rules, cpus = setup.instance, setup.matrix.server, setup.cpu_sets
    load = SaturateLoad(connections=setup.load.connections)
    with tempfile.TemporaryDirectory(prefix="jdk-matrix-own-") as name:
        folder = Path(name)
        check_folder(instance.server.kind.name, folder)
        launch = instance.lay_out(folder / "server", folder / "logs")
        target = Target(
            url=f"{launch.base_url}{path}",
            cpus=cpus.driver,
            log_dir=folder / "logs",
            timeout_s=setup.timeout_s,
            requests=setup.mix,
            connections=load.connections,
        )
        try:
            quota = Limits(cpu_quota_cpus=setup.limits.cpu_quota_cpus)
            with (
                limited(quota, setup.confiner.group("sut", cpus.sut)) as box,
                ServerProcess(launch, cpus=cpus.sut, cgroups=box.cgroups, rules=rules) as server,
                _flood_first(Watchdog(folder / "logs", rules, server.kill)),
                Connection(launch.base_url, timeout_s=rules.answer_timeout_s) as connection,
            ):
                first_response_s = server.wait_ready()
                check_own(server, connection, instance, path)
                with setup.driver.open(target) as session:
                    session.wait_ready()
                    executor, java = instance.executor, instance.java
                    prove_from_outside(server.pid, executor, path, session, load, java=java, scratch=folder)
                    return first_response_s, time_answers(session, load)
        except MatrixError as error:
            command = instance.server.kind.is_command
            started = f"\nit was started as: {shlex.join(launch.command)}" if command else ""
            raise MatrixError(f"{error}{started}") from None


@contextmanager
def _flood_first(watchdog: Watchdog) -> Iterator[None]:
    """Watch a server; where it was ended for its logs, that is told instead of what followed."""
    with watchdog:
        try:
            yield
        except MatrixError:
            watchdog.check()
            raise
