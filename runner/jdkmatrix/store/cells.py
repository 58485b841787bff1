"""A cell and its forks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from jdkmatrix.domain.cell_key import OWN_JDK, CellKey
from jdkmatrix.domain.record import Record
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.records.forks import Fork

# The facts of a host that may change from run to run; on virtual machines also which CPU is behind the same model name,
# which the kernel's mitigations tell.
_SET_UP = ("governor", "boost", "mitigations", "transparent_huge_pages", "clocksource", "confinement")


class Identity(Record):
    """Everything that decides the result; `digest` is the sha256 of `inputs` as canonical JSON."""

    digest: str
    inputs: dict[str, Any]

    @property
    def settings(self) -> str:
        """A digest of what was set for the cell by name: the parameters of its workload or experiment, the mix of
        requests, the JVM's options and the files that they name, how the host was set up, the release of a database,
        and the files of a user's JDK, whose builds may all have one version. What is not set is left out, so that a
        parameter added later changes nothing."""
        names = ["workload", "experiment", "mix", "jvm_options"]
        if str(self.inputs.get("cell", {}).get("jdk", "")).startswith(OWN_JDK):
            names.append("jdk_files_sha256")
        if "option_files" in self.inputs:
            names.append("option_files")
        told = {name: _set(self.inputs.get(name)) for name in names}
        host = self.inputs.get("host", {})
        told["host"] = _set({name: host.get(name) for name in _SET_UP})
        if postgresql := self.inputs.get("postgresql"):
            told["postgresql"] = postgresql[0]
        return digest_of(told)


def digest_of(told: Mapping[str, Any]) -> str:
    """Return the sha256 of a value that is JSON: equal values give equal digests whatever the order of their keys."""
    canonical = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _set(table: Any) -> Any:
    return {name: value for name, value in table.items() if value} if isinstance(table, dict) else table


class CellRecord(Record):
    """A cell and its forks. `parameters`: the table of matrix.toml for its workload or experiment."""

    schema_version: Literal[3] = 3
    key: CellKey
    load: AnyLoad
    identity: Identity
    parameters: dict[str, Any]
    burn_rounds: int  # the fixed work of one request or task; 0 for burn_us = 0
    jvm_flags: dict[str, str] = {}  # flags of the JVM on this cell's CPUs that are not at their default (HotSpot)
    forks: tuple[Fork, ...]
    attempts: tuple[Fork, ...] = ()  # replaced by a later attempt, whole, in the order of measurement
