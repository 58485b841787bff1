"""Each cell of a run as far as it is measured: read, compared with what it would be measured with now, or begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jdkmatrix.alone.parts import AloneParts
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.measure.code_version import measuring_code
from jdkmatrix.measure.draft import CellParts
from jdkmatrix.measure.identity import changes, host_inputs, identity_of
from jdkmatrix.records import AnyCell, CellKey, CellRecord, ExperimentRecord, HostFacts, Identity, PinningMethod
from jdkmatrix.store.runs import RunStore, UnreadableError


@dataclass(frozen=True)
class Conditions:
    """What all cells of a run have in common."""

    matrix: Matrix
    profile: Profile
    host: HostFacts
    pinning: PinningMethod

    def identity(self, key: CellKey, parts: CellParts | AloneParts) -> Identity:
        return identity_of(
            {
                "cell": key.model_dump(),
                "windows": self.profile.windows,
                "window_s": self.profile.window_s,
                "thresholds": self.matrix.thresholds.model_dump(),
                "precision": self.profile.promised_precision,
                "burn_rounds": parts.burn_rounds,
                "sut_cpus": list(parts.cpu_sets.sut),
                "driver_cpus": list(parts.cpu_sets.driver),
                "remote_cpus": list(parts.cpu_sets.remote),
                "remote": self.matrix.remote.model_dump() if parts.remote else None,
                "host": host_inputs(self.host, self.pinning),
                "measuring_code": measuring_code(),
                **(self._served(parts) if isinstance(parts, CellParts) else self._alone(key)),
                **parts.inputs,
            }
        )

    def _served(self, parts: CellParts) -> dict[str, Any]:
        return {
            "load": parts.load.model_dump(),
            "warmup": self.matrix.warmup.model_dump(),
            # How often a fork may be repeated decides none of them.
            "measure": self.matrix.measure.model_dump(exclude={"repeats_max"}),
            "driver": parts.driver.facts.model_dump(),
        }

    def _alone(self, key: CellKey) -> dict[str, Any]:
        return {"load": self.matrix.task_loads[key.load].model_dump()}

    def fresh(self, key: CellKey, parts: CellParts | AloneParts, identity: Identity) -> AnyCell:
        """The cell without a fork."""
        if isinstance(parts, AloneParts):
            return ExperimentRecord(
                key=key,
                load=self.matrix.task_loads[key.load],
                identity=identity,
                parameters=parts.experiment.model_dump(mode="json", exclude_none=True),
                burn_rounds=parts.burn_rounds,
                jvm_flags=dict(parts.jvm_flags),
                forks=(),
            )
        return CellRecord(
            key=key,
            load=parts.load,
            identity=identity,
            burn_rounds=parts.burn_rounds,
            jvm_flags=dict(parts.jvm_flags),
            forks=(),
        )


def open_cells(
    store: RunStore,
    conditions: Conditions,
    parts: Mapping[CellKey, CellParts | AloneParts],
    notice: Callable[[str], None],
) -> dict[CellKey, AnyCell]:
    """Every cell as far as it is measured; what cannot be read or was made of other parts is set aside."""
    return {key: _opened(store, conditions, key, one, notice) for key, one in parts.items()}


def _opened(
    store: RunStore, conditions: Conditions, key: CellKey, parts: CellParts | AloneParts, notice: Callable[[str], None]
) -> AnyCell:
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
    return found
