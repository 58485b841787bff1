"""What a reader may ask for though no run here has measured it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.servers import own_pool, virtual_of


@dataclass(frozen=True)
class Offered:
    """`values`: by axis; `served`: pairs of a workload and a server that serves it with its own pool and with virtual
    threads, and whether requests can wait for a remote system."""

    values: Mapping[str, tuple[str | int, ...]]
    served: tuple[Mapping[str, Any], ...]


def offered(matrix: Matrix) -> Offered:
    """All that is on the axes, and loads that a profile has."""
    selects = [rule for profile in matrix.profiles.values() for rule in (profile.select, *profile.include)]
    named = {load for rule in selects if rule.load not in (None, "all") for load in rule.load or ()}
    loads = tuple(load for load in matrix.axes.load if load in named and not isinstance(matrix.loads[load], TaskLoad))
    served = tuple(_served(matrix, loads[0]))
    return Offered(
        values={
            "server": matrix.axes.server,
            "jdk": matrix.axes.jdk,
            "cpus": matrix.axes.cpus,
            "burn_us": matrix.axes.burn_us,
            "wait_us": matrix.axes.wait_us,
            "workload": tuple(dict.fromkeys(one["workload"] for one in served)),
            "load": loads,
        },
        served=served,
    )


def _served(matrix: Matrix, load: str) -> Iterator[Mapping[str, Any]]:
    for workload, table in matrix.workloads.items():
        for server in matrix.servers:
            cells = [
                CellKey(workload=workload, server=server, jdk="", executor=executor, cpus=1, burn_us=0, load=load)
                for executor in (own_pool(server), virtual_of(server))
            ]
            if all(map(matrix.has_cell, cells)):
                yield {"workload": workload, "server": server, "waits": table.remote is not None}
