"""A cell and its forks."""

from __future__ import annotations

from typing import Any, Literal

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.record import Record
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.records.forks import Fork


class Identity(Record):
    """Everything that decides the result; `digest` is the sha256 of `inputs` as canonical JSON."""

    digest: str
    inputs: dict[str, Any]


class CellRecord(Record):
    """`parameters`: of what is measured, its table of matrix.toml: a workload or an experiment."""

    schema_version: Literal[3] = 3
    key: CellKey
    load: AnyLoad
    identity: Identity
    parameters: dict[str, Any]
    burn_rounds: int  # the fixed work of one request or task; 0 for burn_us = 0
    jvm_flags: dict[str, str] = {}  # flags of the JVM on this cell's CPUs that are not at their default (HotSpot)
    forks: tuple[Fork, ...]
    attempts: tuple[Fork, ...] = ()  # measured and replaced by a later attempt, whole, in the order of measurement
