"""Which profiles measure what: what the page answers with where nothing was measured. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any

from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.report.cells.judgements import NUMERATOR
from jdkmatrix.report.site.digest import PICKED

Values = Sequence[str | int]
Product = Mapping[str, Values]
Box = dict[str, Any]


def offers(matrix: Matrix) -> list[Box]:
    """Products of axis values under which a profile measures virtual threads and a server's pool: `profile`, and for
    every axis that a reader picks its values. In the order of matrix.toml."""
    return [
        {"profile": name, **box}
        for name in matrix.profiles
        for stage in matrix.stages(name)
        for box in _boxes(matrix, matrix.profiles[stage])
    ]


def _boxes(matrix: Matrix, profile: Profile) -> Iterator[Box]:
    for include in (None, *profile.include):
        whole: list[Product] = [{axis: _values(matrix, axis, profile.select, include) for axis in AXES}]
        for axes in whole if include else reduce(_without, profile.exclude, whole):
            for workload, server in product(axes["workload"], axes["server"]):
                if box := _box(matrix, axes, str(workload), str(server)):
                    yield box


def _without(products: list[Product], excluded: Selection) -> list[Product]:
    """The rest of these when a product is taken out: again products, which do not overlap."""
    named = {axis: values for axis in AXES if (values := getattr(excluded, axis)) is not None and values != "all"}
    found: list[Product] = []
    for axes in products:
        inside = dict(axes)
        for axis, values in named.items():
            found.append({**inside, axis: [value for value in axes[axis] if value not in values]})
            inside[axis] = [value for value in axes[axis] if value in values]
    return [axes for axes in found if all(axes.values())] if named else products


def _box(matrix: Matrix, axes: Product, workload: str, server: str) -> Box | None:
    """None where it measures nothing that could be compared."""
    if not {NUMERATOR, own_pool(server)} <= set(axes["executor"]):
        return None

    def is_cell(load: str | int, wait_us: str | int) -> bool:
        sample = {**{axis: values[0] for axis, values in axes.items()}, "load": load, "wait_us": wait_us}
        fixed = {"workload": workload, "server": server}
        return all(
            matrix.has_cell(CellKey.model_validate({**sample, **fixed, "executor": executor}))
            for executor in (NUMERATOR, own_pool(server))
        )

    waits = [wait for wait in axes["wait_us"] if any(is_cell(load, wait) for load in axes["load"])]
    loads = [load for load in axes["load"] if waits and is_cell(load, waits[0])]
    if not loads or workload in matrix.experiments:
        return None
    fixed = {"workload": [workload], "server": [server], "wait_us": waits, "load": loads}
    return {axis: fixed.get(axis, list(axes[axis])) for axis in PICKED}


def _values(matrix: Matrix, axis: str, select: Selection, include: Selection | None) -> Values:
    own = getattr(include, axis) if include else None
    asked = own if own is not None else getattr(select, axis)
    found: Values = getattr(matrix.axes, axis) if asked is None or asked == "all" else asked
    return found
