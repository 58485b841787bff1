"""Apply the axis values that the command line asks for to a profile. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.plan import axis_values, cells_of

Values = Mapping[str, Sequence[str | int]]  # by axis; only values that are on it


def with_values(matrix: Matrix, name: str, asked: Values, *, everywhere: Collection[str] = ()) -> Matrix:
    """Return the matrix with a profile `name` that has only cells with these values: those of its own cells that have
    them; if one of the values is in none of them, what is asked for replaces what it selects.

    A value that none of its rules has replaces the others everywhere, so that the profile keeps its shape. Values that
    its rules have, but not together, become one product, without what it includes or excludes. `everywhere`: axes whose
    values belong together, so that they replace the others in any case.

    Raises:
        MatrixError: there can be no cell with one of the values; says why, and what can be had.
    """
    if not asked:
        return matrix
    names = matrix.stages(name)
    stages = [matrix.profiles[stage] for stage in names]
    new = {axis for axis, values in asked.items() if not set(values) <= _had(matrix, stages, axis)} | {*everywhere}
    kept = {stage: _narrowed(matrix, profile, asked, new) for stage, profile in zip(names, stages, strict=True)}
    found = matrix.model_copy(update={"profiles": {**matrix.profiles, **kept}})
    if _lacking(found, name, asked) is None:
        return found
    select = matrix.profiles[name].select.model_copy(update={axis: tuple(values) for axis, values in asked.items()})
    alone = matrix.profiles[name].model_copy(update={"select": select, "exclude": (), "include": (), "first": None})
    found = matrix.model_copy(update={"profiles": {**matrix.profiles, name: alone}})
    if lacking := _lacking(found, name, asked):
        raise MatrixError(_why_not(found, name, asked, *lacking))
    return found


def _had(matrix: Matrix, stages: Iterable[Profile], axis: str) -> set[str | int]:
    """Return the values of an axis that any rule of these profiles names."""
    selects = (profile.select for profile in stages)
    naming = (rule for profile in stages for rule in profile.include if getattr(rule, axis) is not None)
    return {value for rule in (*selects, *naming) for value in axis_values(matrix, rule, axis)}


def _narrowed(matrix: Matrix, profile: Profile, asked: Values, new: set[str]) -> Profile:
    """Narrow its rules to what is asked for of their values; on the axes `new`, to all. A rule may have none left."""

    def changed(rule: Selection, axes: Iterable[str]) -> dict[str, tuple[str | int, ...]]:
        return {
            axis: tuple(v for v in asked[axis] if axis in new or v in axis_values(matrix, rule, axis)) for axis in axes
        }

    include = (
        rule.model_copy(update=changed(rule, [axis for axis in asked if getattr(rule, axis) is not None]))
        for rule in profile.include
    )
    select = profile.select.model_copy(update=changed(profile.select, asked))
    return profile.model_copy(update={"select": select, "include": tuple(include)})


def _lacking(matrix: Matrix, name: str, asked: Values) -> tuple[str, str | int] | None:
    """Return the first value asked for that no cell of the profile has."""
    cells = tuple(cells_of(matrix, name))
    there = {axis: {getattr(cell, axis) for cell in cells} for axis in asked}
    return next(((axis, one) for axis, values in asked.items() for one in values if one not in there[axis]), None)


def _why_not(matrix: Matrix, name: str, asked: Values, axis: str, value: str | int) -> str:
    """Return the most frequent reason against this value; axes not asked for have the profile's first value."""
    select = matrix.profiles[name].select
    axes = [(value,) if one == axis else asked.get(one, axis_values(matrix, select, one)[:1]) for one in AXES]
    points = (CellKey.model_validate(dict(zip(AXES, point, strict=True))) for point in product(*axes))
    ((reason, _),) = Counter(map(matrix.why_no_cell, points)).most_common(1)
    own = any(workload.own for one in asked.get("workload", ()) if (workload := matrix.workloads.get(str(one))))
    implied = ("burn_us", "wait_us") if own else ()  # nobody says that no work is added to a user's application
    given = options_of({one: values for one, values in asked.items() if one not in implied})
    if reason is None:  # a cell like this exists, but the profile has none with this value
        reason = "an experiment has no server" if axis == "server" else "no cell of the profile has it"
    return f"{' '.join(given)}: {reason}"


def options_of(asked: Values) -> list[str]:
    """Return the values as command-line words, two for each: "--wait", "2000us"."""
    return [
        word
        for axis, values in asked.items()
        for value in values
        for word in (f"--{axis.removesuffix('_us')}", f"{value}us" if axis.endswith("_us") else str(value))
    ]
