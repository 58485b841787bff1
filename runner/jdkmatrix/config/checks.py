"""Cross-checks of matrix.toml: what no single value can tell. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.errors import MatrixError

AXES = ("workload", "jdk", "executor", "cpus", "burn_us", "load")


def unknown(found: object, allowed: Iterable[object]) -> str:
    """`found` is none of `allowed`: what it should have been, in one phrase."""
    names = [str(name) for name in allowed]
    close = difflib.get_close_matches(str(found), names, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return f'"{found}" is not known{hint} (allowed: {", ".join(names)})'


def problems(matrix: Matrix) -> list[str]:
    """Every contradiction, each with the key it is at; an empty list when there is none."""
    return [
        *_duplicates(matrix),
        *_definitions(matrix),
        *_profiles(matrix),
        *_warmup(matrix),
    ]


def _duplicates(matrix: Matrix) -> Iterator[str]:
    for axis in AXES:
        values = getattr(matrix.axes, axis)
        for value in {v for v in values if values.count(v) > 1}:
            yield f'axes.{axis}: "{value}" stands there twice'


def _definitions(matrix: Matrix) -> Iterator[str]:
    for axis, tables in (("workload", matrix.workloads), ("load", matrix.loads)):
        for name in getattr(matrix.axes, axis):
            if name not in tables:
                yield f"axes.{axis}: {unknown(name, tables)}; add [{axis}s.{name}] or take it out"
    for name, workload in matrix.workloads.items():
        if workload.application == "banking" and workload.features == "restfulWS-3.1":
            yield (
                f'workloads.{name}.features: "{workload.features}" has no JSON binding, which banking needs '
                "(allowed with it: restfulWS-3.1-jsonb-3.0, microProfile-6.1)"
            )
    if matrix.driver.jdk not in matrix.axes.jdk:
        yield f"driver.jdk: {unknown(matrix.driver.jdk, matrix.axes.jdk)}"


def _profiles(matrix: Matrix) -> Iterator[str]:
    for name, profile in matrix.profiles.items():
        yield from (f"profiles.{name}.{text}" for text in _blocks(profile))
        rules: list[tuple[str, Selection]] = [("select", profile.select)]
        rules += [(f"exclude[{i}]", rule) for i, rule in enumerate(profile.exclude)]
        rules += [(f"include[{i}]", rule) for i, rule in enumerate(profile.include)]
        for where, rule in rules:
            yield from (f"profiles.{name}.{where}.{text}" for text in _selection(matrix, rule))


def _blocks(profile: Profile) -> Iterator[str]:
    for i, rule in enumerate(profile.include):
        if rule.blocks is not None and rule.blocks > profile.blocks:
            yield f"include[{i}].blocks: found {rule.blocks}; at most the {profile.blocks} of the profile are allowed"
    if profile.max_blocks is None:
        if profile.precision is not None:
            yield "precision: has no effect without max_blocks"
        return
    try:
        profile.stopping  # noqa: B018 - its rules are checked where they are defined
    except MatrixError as error:
        yield f"max_blocks: {error}"


def _selection(matrix: Matrix, rule: Selection) -> Iterator[str]:
    for axis in AXES:
        values = getattr(rule, axis)
        if values is None or values == "all":
            continue
        if not values:
            yield f"{axis}: an empty list selects nothing; leave the key out"
        allowed = getattr(matrix.axes, axis)
        for value in values:
            if value not in allowed:
                yield f"{axis}: {unknown(value, allowed)}; it is not on axes.{axis}"


def _warmup(matrix: Matrix) -> Iterator[str]:
    rules = matrix.warmup
    needed_s = rules.moderate_s + (rules.tail_windows + 1) * rules.window_s
    if rules.max_s < needed_s:
        yield f"warmup.max_s: {rules.max_s:g} is shorter than moderate_s + (tail_windows + 1) × window_s = {needed_s:g}"
