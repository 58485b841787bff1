"""Cross-checks of matrix.toml: errors that no single value reveals. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jdkmatrix.config.model import Axes, Matrix, Profile, Protocol, Selection, ServerTable, Workload
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.cell_key import AXES, NO_SERVER
from jdkmatrix.domain.executors import tuning_of
from jdkmatrix.domain.loads import SaturateLoad, TaskLoad
from jdkmatrix.domain.servers import feature_sets, server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.loads.kinds.relative import RelativeLoad
from jdkmatrix.validation import unknown

Templates = Mapping[str, tuple[str, ...]]


def problems(matrix: Matrix, templates: Templates) -> list[str]:
    """List every contradiction, each with the key it is at; an empty list when there is none. `templates`: names that
    may contain a number, by table, with N in its place."""
    return [
        *_definitions(matrix),
        *_workloads(matrix),
        *_relative_loads(matrix),
        *_tunings(matrix, templates),
        *_profiles(matrix, templates),
        *_calibration(matrix),
        *_warmup(matrix),
    ]


def _unsized(name: str, templates: Iterable[str]) -> str:
    """Say what a name that may contain a number should have been."""
    return f"{unknown(name, templates)}; N stands for a number"


def of_axes(listed: Axes, found: Axes) -> Iterator[str]:
    """Yield the errors of [axes] as the file has it. A matrix that a run recorded has all of its axes."""
    for axis in AXES:
        values, whole = getattr(listed, axis), getattr(found, axis)
        for value in {v for v in values if values.count(v) > 1}:
            yield f'axes.{axis}: "{value}" is listed twice'
        if values and set(values) != set(whole) and axis in ("workload", "server", "load"):
            yield f"axes.{axis}: its values follow from the tables; leave the key out"


def _definitions(matrix: Matrix) -> Iterator[str]:
    for name in matrix.workloads.keys() & matrix.experiments.keys():
        yield f"experiments.{name}: the name is also in [workloads]"
    for name, served in matrix.servers.items():
        yield from (f"servers.{name}{text}" for text in _server(name, served))
    if matrix.driver.jdk not in matrix.axes.jdk:
        yield f"driver.jdk: {unknown(matrix.driver.jdk, matrix.axes.jdk)}"


def _server(name: str, served: ServerTable) -> Iterator[str]:
    if name == NO_SERVER:
        yield ": the name is reserved for experiments without a server"
        return
    kind = server_kind(name)
    if kind is None:
        kinds = ", ".join(server_kinds())
        yield f": the name of a server must be that of its kind, or begin with it and a hyphen (allowed: {kinds})"
        return
    for key, value in (("artefact", served.artefact), ("feature_sets", served.feature_sets)):
        if bool(value) != kind.has_features:
            yield f".{key}: {kind.title} {'needs it' if kind.has_features else 'has none'}"


def _workloads(matrix: Matrix) -> Iterator[str]:
    for name, workload in matrix.workloads.items():
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
        if load.of.executor is not None and load.of.executor not in matrix.axes.executor:
            yield f"loads.{name}.of.executor: {unknown(load.of.executor, matrix.axes.executor)}"
        if load.of.wait_us not in matrix.axes.wait_us:
            yield f"loads.{name}.of.wait_us: {unknown(load.of.wait_us, matrix.axes.wait_us)}"


_NOT_OF_OWN = ("front", "remote", "accounts", "client", "memory_every_s", "database")


def _own(workload: Workload) -> Iterator[str]:
    """Yield the errors of the user's own application, about which nothing else is known."""
    for key in _NOT_OF_OWN:
        if key in workload.model_fields_set and getattr(workload, key) != type(workload).model_fields[key].default:
            yield f"{key}: an application of your own has none"
    if (workload.features is None) != workload.is_command:
        needed = f"a WAR needs one (allowed: {', '.join(feature_sets())})"
        yield f"features: {'a command has none' if workload.is_command else needed}"


def _served(workload: Workload) -> Iterator[str]:
    if (workload.application is None) == (workload.own is None):
        yield "application: either this or a table `own` is needed"
        return
    if workload.own:
        yield from _own(workload)
        return
    application = workload.served
    name = application.name
    fit = [name for name, features in feature_sets().items() if application.needs in (None, *features.has)]
    if workload.features not in fit:
        why = f'"{workload.features}" has no {application.needs}, which {name} needs'
        yield f"features: {why if workload.features else 'missing'} (allowed with {name}: {', '.join(fit)})"
    if workload.front not in application.fronts:
        (only,) = application.fronts
        other = "no servlet" if only == "rest" else 'nothing but a servlet; add front = "servlet"'
        yield f"front: {name} has {other}"
    if workload.client is not None and not application.calls_remote:
        yield f"client: {name} calls no remote system"
    for key, needed, missing, useless in (
        ("remote", application.calls_remote, "calls a remote system: say how it answers", "calls no remote system"),
        ("database", application.has_database, "needs it", "has none"),
        ("mix", application.has_mix, "needs it", "has none"),
        ("accounts", application.has_accounts, "needs it", "has none"),
    ):
        if needed != (getattr(workload, key) is not None):
            yield f"{key}: {name} {missing if needed else useless}"


def _tunings(matrix: Matrix, templates: Templates) -> Iterator[str]:
    for executor in matrix.axes.executor:
        asked = tuning_of(executor)
        if asked is not None and asked not in matrix.tunings:
            names = templates.get("tunings", ())
            yield f'tunings: "{executor}": {_unsized(asked, names)}; add [tunings.{asked}]'
    for name, tuning in matrix.tunings.items():
        if not (tuning.properties or tuning.jvm_options or tuning.kernel):
            yield f"tunings.{name}: changes nothing; give it properties, jvm_options or kernel"
        for file in tuning.kernel:
            if ".." in file:
                yield f"tunings.{name}.kernel: {file}: a path without .. is needed"


def _profiles(matrix: Matrix, templates: Templates) -> Iterator[str]:
    for name, profile in matrix.profiles.items():
        yield from (f"profiles.{name}.first: {text}" for text in _first(matrix, name, profile))
    for name, protocol in matrix.protocols.items():
        yield from (f"{name}.{text}" for text in _blocks(protocol))
        rules: list[tuple[str, Selection]] = [("select", protocol.select)]
        rules += [(f"exclude[{i}]", rule) for i, rule in enumerate(protocol.exclude)]
        rules += [(f"include[{i}]", rule) for i, rule in enumerate(protocol.include)]
        for where, rule in rules:
            yield from (f"{name}.{where}.{text}" for text in _selection(matrix, rule, templates))


def _first(matrix: Matrix, name: str, profile: Profile) -> Iterator[str]:
    """Check `first`: stages of one run must promise the same, since the run states its promise as a whole."""
    if profile.first is None:
        return
    first = matrix.profiles.get(profile.first)
    if first is None:
        yield unknown(profile.first, matrix.profiles)
        return
    seen = {name}
    before: str | None = profile.first
    while before is not None and before in matrix.profiles and before not in seen:
        seen.add(before)
        before = matrix.profiles[before].first
    if before in seen:
        yield f'"{profile.first}" leads back to "{before}"'
    if (first.promised_precision, first.max_blocks) != (profile.promised_precision, profile.max_blocks):
        yield (
            f'"{profile.first}" has precision = {first.promised_precision:g} and max_blocks = {first.max_blocks}, and '
            f"this profile {profile.promised_precision:g} and {profile.max_blocks}: they must be equal within one run"
        )


def _blocks(profile: Protocol) -> Iterator[str]:
    for i, rule in enumerate(profile.include):
        if rule.blocks is not None and rule.blocks > profile.blocks:
            yield f"include[{i}].blocks: found {rule.blocks}; at most the {profile.blocks} of the profile are allowed"
    if profile.max_rounds is not None and profile.max_rounds < profile.rounds:
        yield f"max_rounds: found {profile.max_rounds}; must be at least the {profile.rounds} rounds of the first block"
    try:
        profile.stopping  # noqa: B018 - its rules are checked where they are defined
    except MatrixError as error:
        yield f"max_blocks: {error}"


def _selection(matrix: Matrix, rule: Selection, templates: Templates) -> Iterator[str]:
    for axis in AXES:
        values = getattr(rule, axis)
        if values is None or values == "all":
            continue
        if not values:
            yield f"{axis}: an empty list selects nothing; leave the key out"
        allowed = getattr(matrix.axes, axis)
        for value in values:
            if value not in allowed and axis == "load":
                yield f"{axis}: {_unsized(value, templates['loads'])}"
            elif value not in allowed:
                yield f"{axis}: {unknown(value, allowed)}"
    yield from _arms(matrix, rule)


def _arms(matrix: Matrix, rule: Selection) -> Iterator[str]:
    """Find executors and loads that a rule names for experiments that lack them, so that they would select no cell."""
    named = rule.workload if isinstance(rule.workload, tuple) else ()
    experiments = {name: found for name in named if (found := matrix.experiments.get(name))}
    if len(experiments) < len(named):
        return
    for executor in rule.executor if isinstance(rule.executor, tuple) else ():
        if experiments and not any(experiment.has_arm(executor) for experiment in experiments.values()):
            arms = dict.fromkeys(arm for experiment in experiments.values() for arm in experiment.ARMS)
            yield f'executor: {", ".join(experiments)} has no "{executor}" (allowed: {", ".join(arms)})'
    for name in rule.load if isinstance(rule.load, tuple) else ():
        load = matrix.loads.get(name)
        fits = isinstance(load, TaskLoad) and any(experiment.has_load(load) for experiment in experiments.values())
        if experiments and load is not None and not fits:
            kinds = dict.fromkeys(kind for experiment in experiments.values() for kind in experiment.load_kinds())
            yield f'load: {", ".join(experiments)} cannot have "{name}" (allowed: kind {", ".join(kinds)})'


def _calibration(matrix: Matrix) -> Iterator[str]:
    rules = matrix.measure
    if rules.calibration_spread_wanted > rules.calibration_spread_max:
        yield (
            f"measure.calibration_spread_wanted: found {rules.calibration_spread_wanted:g}; at most "
            f"calibration_spread_max = {rules.calibration_spread_max:g} is allowed"
        )


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
