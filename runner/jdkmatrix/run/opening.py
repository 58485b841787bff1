"""Each cell of a run as far as it is measured: read, compared with what it would be measured with now, or begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.fork_record import CellParts
from jdkmatrix.records.forks import ConfinementMethod
from jdkmatrix.records.run import HostFacts
from jdkmatrix.run.code_version import measuring_code
from jdkmatrix.run.identity import changes, host_inputs, identity_of
from jdkmatrix.store.cells import CellRecord, Identity
from jdkmatrix.store.outline import outline
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore


@dataclass(frozen=True)
class Conditions:
    """What all cells of a run have in common."""

    matrix: Matrix
    profile: Profile
    host: HostFacts
    confinement: ConfinementMethod

    def identity(self, key: CellKey, parts: CellParts) -> Identity:
        return identity_of(
            {
                "cell": key.model_dump(),
                "windows": self.profile.windows,
                "window_s": self.profile.window_s,
                "protocol": self.profile.protocol,
                "turns": self.matrix.turns.model_dump(),
                "thresholds": self.matrix.thresholds.model_dump(),
                "precision": self.profile.promised_precision,
                "burn_rounds": parts.burn_rounds,
                "sut_cpus": list(parts.cpu_sets.sut),
                "driver_cpus": list(parts.cpu_sets.driver),
                "remote_cpus": list(parts.cpu_sets.remote),
                "remote": self.matrix.remote.model_dump() if parts.remote else None,
                "host": host_inputs(self.host, self.confinement),
                "measuring_code": measuring_code(),
                **parts.inputs,
            }
        )

    def fresh(self, key: CellKey, parts: CellParts, identity: Identity) -> CellRecord:
        """The cell without a fork."""
        return CellRecord(
            key=key,
            load=parts.subject.load,
            identity=identity,
            parameters=dict(parts.subject.parameters),
            burn_rounds=parts.burn_rounds,
            jvm_flags=dict(parts.jvm_flags),
            forks=(),
        )


def open_cells(
    store: RunStore,
    conditions: Conditions,
    parts: Mapping[CellKey, CellParts],
    notice: Callable[[str], None],
) -> dict[CellKey, CellRecord]:
    """Every cell as far as it is measured, in outline; what cannot be read or was made of other parts is set aside."""
    return {key: _opened(store, conditions, key, one, notice) for key, one in parts.items()}


def _opened(
    store: RunStore, conditions: Conditions, key: CellKey, parts: CellParts, notice: Callable[[str], None]
) -> CellRecord:
    identity = conditions.identity(key, parts)
    fresh = conditions.fresh(key, parts, identity)
    try:
        found = store.read_cell(key)
    except UnreadableError as error:
        aside = store.set_aside(key, "unreadable")
        notice(f"{error}; kept as {aside.name}, the cell is measured again")
        return fresh
    if found is None:
        return fresh
    if found.identity.digest != identity.digest:
        aside = store.set_aside(key, "superseded")
        changed = changes(found.identity.inputs, identity.inputs)
        notice(f"{key.cell_id}: changed: {changed}; kept as {aside.name}, the cell is measured again")
        return fresh
    return outline(found)
