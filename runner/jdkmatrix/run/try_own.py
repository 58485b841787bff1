"""Start each application of the user once before anything is measured: what is wrong with it is told in one message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.subjects.served.own import try_once

Arm = tuple[str, str, str]  # a workload, a server, an executor


def own_cells(setups: Mapping[CellKey, CellSetup]) -> dict[CellKey, ServedCell]:
    """Those of an application of the user."""
    return {key: one for key, one in setups.items() if isinstance(one, ServedCell) and one.workload.own}


def try_own(setups: Mapping[CellKey, CellSetup], tried: set[Arm], say: Callable[[str], None]) -> None:
    """On the first JDK that each arm has. `tried`: those that were before; these are added.

    Raises:
        MatrixError: names the workload and the arm, with the end of the log.
    """
    for key, setup in own_cells(setups).items():
        arm = key.workload, key.server, base_of(key.executor)
        if setup.workload.own is None or arm in tried:
            continue
        tried.add(arm)
        own, rules = setup.workload.own, setup.matrix.server
        told, first = (f"GET {own.application.context_root}{one}" for one in (own.example, own.ready_path))
        asked = told if first == told else f"{first}, then {told}"
        say(
            f"{key.workload}, {arm[2]}: started once to see that it answers {asked} with status 2xx, within "
            f"{rules.first_response_timeout_s:g} s"
        )
        try:
            first_s = try_once(
                setup.instance,
                own.example,
                setup.mix or own.requests,
                SaturateLoad(connections=setup.load.connections),
                setup.driver,
                setup.cpu_sets.sut,
                setup.cpu_sets.driver,
                rules,
            )
        except MatrixError as error:
            raise MatrixError(f"{key.workload}, {arm[2]}: {error}") from None
        say(f"{key.workload}, {arm[2]}: answers {told}, {first_s:.1f} s after its start")
