"""What has to be said of the executors that a selection compares. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of, reference, references
from jdkmatrix.domain.servers import virtual_of
from jdkmatrix.run.plan import cells_of


def words_of_arms(matrix: Matrix, options: Options) -> Iterator[str]:
    """Which executors are added, since arms with options of their own are compared with them; that nothing is compared,
    where the command line chooses executors. `matrix` has what is selected."""
    for plain in options.added:
        arms = ", ".join(arm for arm in options.arms if base_of(arm) == plain)
        yield f"{plain} is measured, too, since it is what {arms} is compared with."
    if "executor" in options.asked:
        yield from _not_compared(matrix, options.profile)


def _not_compared(matrix: Matrix, profile: str) -> Iterator[str]:
    groups: dict[CellKey, list[str]] = {}
    for cell in set(cells_of(matrix, profile)):
        groups.setdefault(cell.group, []).append(cell.executor)
    if not groups or any(_has_pair(names, group.server) for group, names in groups.items()):
        return
    group, names = next(iter(groups.items()))
    missing = "another --executor"
    if group.workload in matrix.workloads:
        base = reference(names[0], group.server)
        missing = f"--executor {virtual_of(group.server) if base in names else base}"
    only = f"there is only {names[0]}" if len(names) == 1 else f"there are only {' and '.join(sorted(names))}"
    yield f"No executors are compared: {only}; add {missing}."


def _has_pair(names: list[str], server: str) -> bool:
    return any(base != name and base in names for name, base in references(names, server).items())
