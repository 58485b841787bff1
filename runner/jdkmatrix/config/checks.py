"""Cross-checks of matrix.toml: what no single value can tell. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from jdkmatrix.config.executors import tuning_of
from jdkmatrix.config.experiments import Fanout, Spawn, arms_of, has_arm, has_load, load_kinds_of
from jdkmatrix.config.model import Matrix, Protocol, Selection, Workload
from jdkmatrix.config.relative_loads import RelativeLoad
from jdkmatrix.config.tables import RemoteAnswers
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.loads import AXES, NO_SERVER, SaturateLoad

# What an application needs of a feature set beyond Jakarta REST.
_NEEDS = {"banking": "JSON binding", "pinning": "servlets"}


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
        *_relative_loads(matrix),
        *_experiments(matrix),
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
    axes: tuple[tuple[str, tuple[tuple[str, Mapping[str, object]], ...]], ...] = (
        ("workload", (("workloads", matrix.workloads), ("experiments", matrix.experiments))),
        ("server", (("servers", matrix.servers),)),
        ("load", (("loads", matrix.loads), ("task_loads", matrix.task_loads))),
    )
    for axis, tables in axes:
        defined = [name for _, table in tables for name in table]
        for name in getattr(matrix.axes, axis):
            if name not in defined:
                places = " or ".join(f"[{key}.{name}]" for key, _ in tables)
                yield f"axes.{axis}: {unknown(name, defined)}; add {places} or take it out"
        for name in sorted({name for name in defined if defined.count(name) > 1}):
            yield f"{tables[1][0]}.{name}: the name stands in [{tables[0][0]}] too"
    if NO_SERVER in matrix.servers:
        yield f"servers.{NO_SERVER}: the name is kept for experiments without a server"
    if matrix.driver.jdk not in matrix.axes.jdk:
        yield f"driver.jdk: {unknown(matrix.driver.jdk, matrix.axes.jdk)}"


def _workloads(matrix: Matrix) -> Iterator[str]:
    for name, workload in matrix.workloads.items():
        yield from (f"workloads.{name}.{text}" for text in _remote(workload))
        yield from (f"workloads.{name}.{text}" for text in _served(workload))
        if workload.mix is not None and workload.mix not in matrix.mixes:
            yield f"workloads.{name}.mix: {unknown(workload.mix, matrix.mixes)}; add [mixes.{workload.mix}]"


def _relative_loads(matrix: Matrix) -> Iterator[str]:
    closed = [name for name, load in matrix.loads.items() if isinstance(load, SaturateLoad)]
    for name, load in matrix.loads.items():
        if not isinstance(load, RelativeLoad):
            continue
        if load.of.load not in closed:
            yield f"loads.{name}.of.load: {unknown(load.of.load, closed)}: closed loops of a fixed size"
        if load.of.executor not in matrix.axes.executor:
            yield f"loads.{name}.of.executor: {unknown(load.of.executor, matrix.axes.executor)}"
        if load.of.wait_us not in matrix.axes.wait_us:
            yield f"loads.{name}.of.wait_us: {unknown(load.of.wait_us, matrix.axes.wait_us)}"


def _experiments(matrix: Matrix) -> Iterator[str]:
    for name, experiment in matrix.experiments.items():
        if isinstance(experiment, Fanout):
            yield from (f"experiments.{name}.{text}" for text in _spread(experiment.remote))
        if isinstance(experiment, Spawn) and (experiment.task == "sleep") != (experiment.sleep_s is not None):
            yield f'experiments.{name}.sleep_s: belongs to task = "sleep", and only there'
        if isinstance(experiment, Spawn) and experiment.sink != "null" and experiment.task != "print":
            yield f'experiments.{name}.sink: belongs to task = "print", and only there'
        if isinstance(experiment, Spawn) and experiment.cold and experiment.task == "sleep":
            yield f"experiments.{name}.cold: what a sleeping thread costs is told after a rehearsal"


def _spread(remote: RemoteAnswers) -> Iterator[str]:
    if (remote.spread == "lognormal") != (remote.sigma is not None):
        yield 'remote.sigma: belongs to spread = "lognormal", and only there'


def _remote(workload: Workload) -> Iterator[str]:
    remote = workload.remote
    if (workload.application == "banking") != (remote is not None):
        needs = "calls a remote system: say how it answers" if remote is None else "calls no remote system"
        yield f"remote: {workload.application} {needs}"
    if remote:
        yield from _spread(remote)


def _served(workload: Workload) -> Iterator[str]:
    name = workload.application
    if name in _NEEDS and workload.features == "restfulWS-3.1":
        yield (
            f'features: "{workload.features}" has no {_NEEDS[name]}, which {name} needs '
            "(allowed with it: restfulWS-3.1-jsonb-3.0-servlet-6.0, microProfile-6.1)"
        )
    if workload.front == "servlet" and name == "mp-ping":
        yield f"front: {name} has no servlet"
    if workload.front == "rest" and name == "pinning":
        yield f'front: {name} has nothing but a servlet; add front = "servlet"'
    if workload.client is not None and name != "banking":
        yield f"client: {name} calls no remote system"
    for key, applications in (("mix", ("banking", "pinning")), ("accounts", ("banking",))):
        needed = name in applications
        if needed != (getattr(workload, key) is not None):
            yield f"{key}: {name} {'needs it' if needed else 'has none'}"


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
    yield from _arms(matrix, rule)


def _arms(matrix: Matrix, rule: Selection) -> Iterator[str]:
    """Executors and loads that a rule names for an experiment which has not got them: no cell would come of them."""
    named = rule.workload if isinstance(rule.workload, tuple) else ()
    experiments = {name: found for name in named if (found := matrix.experiments.get(name))}
    if len(experiments) < len(named):
        return
    for executor in rule.executor if isinstance(rule.executor, tuple) else ():
        if experiments and not any(has_arm(experiment, executor) for experiment in experiments.values()):
            arms = dict.fromkeys(arm for experiment in experiments.values() for arm in arms_of(experiment))
            yield f'executor: {", ".join(experiments)} has no "{executor}" (allowed: {", ".join(arms)})'
    for name in rule.load if isinstance(rule.load, tuple) else ():
        load = matrix.task_loads.get(name)
        if experiments and not any(load and has_load(experiment, load) for experiment in experiments.values()):
            kinds = dict.fromkeys(kind for experiment in experiments.values() for kind in load_kinds_of(experiment))
            yield f'load: {", ".join(experiments)} cannot have "{name}" (allowed: kind {", ".join(kinds)})'


def _warmup(matrix: Matrix) -> Iterator[str]:
    rules = matrix.warmup
    if rules.tail_s_min > rules.tail_s_max:
        yield f"warmup.tail_s_min: found {rules.tail_s_min:g}; at most tail_s_max = {rules.tail_s_max:g} is allowed"
    tail_s = max(rules.tail_s_max, rules.tail_windows * rules.window_s)
    needed_s = rules.moderate_s + tail_s + rules.window_s
    if rules.max_s < needed_s:
        yield (
            f"warmup.max_s: {rules.max_s:g} is shorter than moderate_s + window_s + the longest tail (tail_s_max, "
            f"or tail_windows × window_s) = {needed_s:g}"
        )
