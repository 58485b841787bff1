"""Cross-checks of matrix.toml: what no single value can tell. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from jdkmatrix.config.executors import tuning_of
from jdkmatrix.config.model import Matrix, Protocol, Selection, Workload
from jdkmatrix.errors import MatrixError

AXES = ("workload", "server", "jdk", "executor", "cpus", "burn_us", "load")


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
        *_workloads(matrix),
        *_tunings(matrix),
        *_profiles(matrix),
        *_warmup(matrix),
    ]


def _duplicates(matrix: Matrix) -> Iterator[str]:
    for axis in AXES:
        values = getattr(matrix.axes, axis)
        for value in {v for v in values if values.count(v) > 1}:
            yield f'axes.{axis}: "{value}" stands there twice'


def _definitions(matrix: Matrix) -> Iterator[str]:
    for axis, tables in (("workload", matrix.workloads), ("server", matrix.servers), ("load", matrix.loads)):
        for name in getattr(matrix.axes, axis):
            if name not in tables:
                yield f"axes.{axis}: {unknown(name, tables)}; add [{axis}s.{name}] or take it out"
    if matrix.driver.jdk not in matrix.axes.jdk:
        yield f"driver.jdk: {unknown(matrix.driver.jdk, matrix.axes.jdk)}"


def _workloads(matrix: Matrix) -> Iterator[str]:
    for name, workload in matrix.workloads.items():
        yield from (f"workloads.{name}.{text}" for text in _remote(workload))
        yield from (f"workloads.{name}.{text}" for text in _banking(workload))
        if workload.mix is not None and workload.mix not in matrix.mixes:
            yield f"workloads.{name}.mix: {unknown(workload.mix, matrix.mixes)}; add [mixes.{workload.mix}]"


def _remote(workload: Workload) -> Iterator[str]:
    remote = workload.remote
    if (workload.application == "banking") != (remote is not None):
        needs = "calls a remote system: say how it answers" if remote is None else "calls no remote system"
        yield f"remote: {workload.application} {needs}"
    if remote and (remote.spread == "lognormal") != (remote.sigma is not None):
        yield 'remote.sigma: belongs to spread = "lognormal", and only there'


def _banking(workload: Workload) -> Iterator[str]:
    bank = workload.application == "banking"
    if bank and workload.features == "restfulWS-3.1":
        yield (
            f'features: "{workload.features}" has no JSON binding, which banking needs '
            "(allowed with it: restfulWS-3.1-jsonb-3.0-servlet-6.0, microProfile-6.1)"
        )
    if workload.front == "servlet" and not bank:
        yield f"front: {workload.application} has no servlet"
    for key in ("mix", "accounts"):
        if bank != (getattr(workload, key) is not None):
            yield f"{key}: {workload.application} {'needs it' if bank else 'has none'}"


def _tunings(matrix: Matrix) -> Iterator[str]:
    for executor in matrix.axes.executor:
        asked = tuning_of(executor)
        if asked is not None and asked not in matrix.tunings:
            yield f'axes.executor: "{executor}": tuning {unknown(asked, matrix.tunings)}; add [tunings.{asked}]'
    for name, tuning in matrix.tunings.items():
        if not tuning.properties and not tuning.kernel:
            yield f"tunings.{name}: changes nothing; give it properties or kernel"
        for file in tuning.kernel:
            if ".." in file:
                yield f"tunings.{name}.kernel: {file}: a path without .. is needed"


def _profiles(matrix: Matrix) -> Iterator[str]:
    protocols: list[tuple[str, Protocol]] = [(f"profiles.{name}", found) for name, found in matrix.profiles.items()]
    for name, scenario in matrix.scenarios.items():
        protocols += [(f"scenarios.{name}.article", scenario.article), (f"scenarios.{name}.small", scenario.small)]
    for name, protocol in protocols:
        yield from (f"{name}.{text}" for text in _blocks(protocol))
        rules: list[tuple[str, Selection]] = [("select", protocol.select)]
        rules += [(f"exclude[{i}]", rule) for i, rule in enumerate(protocol.exclude)]
        rules += [(f"include[{i}]", rule) for i, rule in enumerate(protocol.include)]
        for where, rule in rules:
            yield from (f"{name}.{where}.{text}" for text in _selection(matrix, rule))


def _blocks(profile: Protocol) -> Iterator[str]:
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
