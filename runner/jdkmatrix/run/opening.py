"""Open each cell of a run: read what is measured, compare it with what it would be measured with now, or begin it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.run.code_version import measuring_code
from jdkmatrix.run.identity import changes, host_inputs, identity_of
from jdkmatrix.store.cells import CellRecord, Identity
from jdkmatrix.store.outline import outline
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore

Aside = Literal["unreadable", "superseded"]


def identity(key: CellKey, setup: CellSetup) -> Identity:
    """Return the identity of this cell on this host: everything that decides its result."""
    matrix, profile, cpus = setup.matrix, setup.profile, setup.cpu_sets
    return identity_of(
        {
            "cell": key.model_dump(),
            "windows": profile.windows,
            "window_s": profile.window_s,
            "protocol": profile.protocol,
            "turns": matrix.turns.model_dump(),
            "thresholds": matrix.thresholds.model_dump(),
            "precision": profile.promised_precision,
            "burn_rounds": setup.burn_rounds,
            "sut_cpus": list(cpus.sut),
            "driver_cpus": list(cpus.driver),
            "remote_cpus": list(cpus.remote),
            "remote": matrix.remote.model_dump() if setup.remote or setup.database else None,
            "host": host_inputs(setup.host, setup.confiner.method),
            "measuring_code": measuring_code(),
            **setup.inputs,
        }
    )


def open_cells(
    store: RunStore, setups: Mapping[CellKey, CellSetup], notice: Callable[[str], None] | None
) -> dict[CellKey, CellRecord]:
    """Return every cell as far as it is measured, in outline. Those that cannot be read, or were made from other parts,
    are set aside if there is a `notice` to tell."""
    opened = {}
    for key, setup in setups.items():
        opened[key], unfit = _opened(store, key, setup)
        if unfit and notice:
            how, why = unfit
            notice(f"{why}; kept as {store.set_aside(key, how).name}; the cell is measured again")
    return opened


def _opened(store: RunStore, key: CellKey, setup: CellSetup) -> tuple[CellRecord, tuple[Aside, str] | None]:
    """Return the cell and, if what is on disk does not fit it, how that is set aside, and why."""
    now = identity(key, setup)
    fresh = CellRecord(
        key=key,
        load=setup.load,
        identity=now,
        parameters=setup.workload.model_dump(mode="json", exclude_none=True),
        burn_rounds=setup.burn_rounds,
        jvm_flags=dict(setup.jvm_flags),
        forks=(),
    )
    try:
        found = store.read_cell(key)
    except UnreadableError as error:
        return fresh, ("unreadable", str(error))
    if found is None:
        return fresh, None
    if found.identity.digest != now.digest:
        inputs = now.model_dump(mode="json")["inputs"]  # as they are read back, with lists for tuples
        return fresh, ("superseded", f"{key.cell_id}: changed: {changes(found.identity.inputs, inputs)}")
    return outline(found), None
