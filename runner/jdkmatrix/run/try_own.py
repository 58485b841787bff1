"""Start each application of the user once before anything is measured: what is wrong with it is told in one message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.subjects.served.own import Trial


def try_own(setups: Mapping[CellKey, CellSetup], say: Callable[[str], None]) -> None:
    """On the first JDK that each arm has.

    Raises:
        MatrixError: names the workload and the arm, with the end of the log.
    """
    tried: set[tuple[str, str, str]] = set()
    for key, setup in setups.items():
        arm = key.workload, key.server, base_of(key.executor)
        if not isinstance(setup, ServedCell) or setup.workload.own is None or arm in tried:
            continue
        tried.add(arm)
        path = setup.workload.own.example
        trial = Trial(
            setup.instance,
            path,
            setup.mix or setup.workload.own.requests,
            SaturateLoad(connections=setup.load.connections),
            setup.driver,
            setup.cpu_sets.sut,
            setup.cpu_sets.driver,
            setup.matrix.server,
        )
        try:
            first_s = trial.run()
        except MatrixError as error:
            raise MatrixError(f"{key.workload}, {arm[2]}: {error}") from None
        say(f"{key.workload}, {arm[2]}: answers GET {path}, {first_s:.1f} s after its start")
