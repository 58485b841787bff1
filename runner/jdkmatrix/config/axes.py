"""The axes of a matrix: what it lists, what it has tables of, and what else it selects. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jdkmatrix.config.model import Axes, Matrix, Protocol
from jdkmatrix.domain.servers import server_kind

Values = tuple[str | int, ...]
TABLES = {"workload": ("workloads", "experiments"), "server": ("servers",), "load": ("loads",)}


def axes_of(matrix: Matrix) -> Axes:
    """Workloads, servers and loads are those that have a table, in the order of the tables; JDKs are listed. Executors
    are those that the servers bring along, those that they can be given, and what else is listed or selected. Numbers
    are in ascending order."""
    protocols = tuple(_protocols(matrix))
    listed: Mapping[str, Values] = dict(matrix.axes)

    def selected(axis: str, first: Iterable[str | int] = ()) -> Values:
        rules = (rule for protocol in protocols for rule in (protocol.select, *protocol.include))
        named = (values for rule in rules if (values := getattr(rule, axis)) is not None and values != "all")
        return tuple(dict.fromkeys((*first, *listed[axis], *(value for values in named for value in values))))

    return matrix.axes.model_copy(
        update={
            **{
                axis: tuple(name for table in tables for name in getattr(matrix, table))
                for axis, tables in TABLES.items()
            },
            "executor": selected("executor", _of_servers(matrix)),
            **{axis: tuple(sorted(selected(axis))) for axis in ("cpus", "burn_us", "wait_us")},
        }
    )


def _of_servers(matrix: Matrix) -> Iterator[str]:
    """Without those whose name has a number."""
    kinds = [kind for name in matrix.servers if (kind := server_kind(name))]
    names = (
        *(name for kind in kinds for name in kind.executors),
        *(n for kind in kinds for n in kind.every_executor()),
    )
    yield from (name for name in names if not name.endswith("-N"))


def _protocols(matrix: Matrix) -> Iterator[Protocol]:
    yield from matrix.profiles.values()
    for scenario in matrix.scenarios.values():
        yield from (scenario.article, scenario.small)
