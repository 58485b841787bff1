"""The options by which `plan`, `run`, `ask` and `setup` choose what to measure; each takes all of them.

Only typer is imported here (see main).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from jdkmatrix.errors import MatrixError

if TYPE_CHECKING:
    from jdkmatrix.cli.selecting import Options


def _option(name: str, kind: Any, text: str, *also: str, default: Any = None, **more: Any) -> inspect.Parameter:
    """Build the option --NAME, with the help `text`; `also`: its other names."""
    option = typer.Option(f"--{name.replace('_', '-')}", *also, help=text, **more)
    annotation: Any = Annotated[kind | None if default is None else kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class _Once(inspect.Parameter):
    """An option that might be taken for repeatable; all values are kept, so that `_only` can refuse a second one."""


def _once(name: str, kind: Any, text: str, *also: str, **more: Any) -> _Once:
    option = _option(name, list[kind], text, *also, **more)
    return _Once(option.name, option.kind, default=option.default, annotation=option.annotation)


def _repeatable(name: str, metavar: str, text: str, *also: str, kind: Any = str, **more: Any) -> inspect.Parameter:
    return _option(name, list[kind], text, *also, metavar=metavar, **more)


_FOLDER = {"exists": True, "file_okay": False, "resolve_path": True}
_FILE = {"exists": True, "dir_okay": False, "resolve_path": True}
_SCALES, _PROTOCOLS = Literal["auto", "article", "small"], Literal["interleaved", "separate"]

_OPTIONS = (
    _once("profile", str, "Profile from matrix.toml or profiles/; by default quick.", "-p", metavar="NAME"),
    _once(
        "scenario",
        str,
        "Published experiment instead of a profile (see matrix scenarios); in-turn: this week's.",
        "-s",
        metavar="NAME",
    ),
    _option(
        "scale",
        _SCALES,
        "Size of the scenario: article (as published), small, or auto (as published if it fits this host, else small).",
        default="auto",
    ),
    _repeatable("workload", "NAME", "Workload to measure; repeatable."),
    _repeatable("server", "NAME", "Server to measure; repeatable."),
    _repeatable("jdk", "ID", "JDK to measure (see matrix jdks); repeatable."),
    _repeatable("jdk_home", "DIR", "Folder of a JDK of your own, not pinned; repeatable.", kind=Path, **_FOLDER),
    _repeatable("executor", "NAME", "Executor to measure: liberty, virtual, fixed-50, …; repeatable."),
    _repeatable(
        "arm",
        "ARM",
        "Executor with JVM options of its own: 'virtual:-XX:+UseParallelGC'; with --command, pool=OPTIONS or "
        "virtual=OPTIONS; repeatable.",
    ),
    _once(
        "command",
        str,
        "Command that starts an application of your own: 'java -jar my.jar --server.port={port}'.",
        metavar="COMMAND",
    ),
    _once("war", Path, "WAR of an application of your own, which the --server deploys.", metavar="FILE", **_FILE),
    _once("path", str, "Path that requests ask your application for: '/orders?id={random:1:1000}'.", metavar="PATH"),
    _once("ready", str, "Path that your application answers once it is ready; by default --path.", metavar="PATH"),
    _repeatable("cpus", "N", "Number of CPUs for the server; repeatable.", kind=int, min=1, max=1024),
    _repeatable("cpu_quota", "CPUS", "CPU quota for the server, like a container's limit: 0.5 or 500m; repeatable."),
    _repeatable("burn", "TIME", "CPU work of each request: 300us; repeatable.", "--burn-us"),
    _repeatable("wait", "TIME", "How long the remote system takes to answer: 20ms; repeatable.", "--wait-us"),
    _repeatable("load", "NAME", "Load: saturate-50 (closed loop), share-50, 5000/s (constant rates), …; repeatable."),
    _option("blocks", int, "Number of blocks; with --max-blocks, the minimum.", min=1),
    _option("max_blocks", int, "Measure 5 blocks or more, up to this many, until the ratios are precise.", min=1),
    _option("precision", float, "How precise is enough: 0.02 means each ratio to ± 2 %.", min=0.0001),
    _option("no_stopping", bool, "Add no blocks to the profile's, however imprecise the ratios are.", default=False),
    _option("windows", int, "Windows per fork, with --protocol separate.", min=1),
    _option("window_s", float, "Seconds per window, with --protocol separate.", min=0.1),
    _option(
        "protocol",
        _PROTOCOLS,
        "interleaved: the executors of a block take turns; separate: they are measured one after another; by default "
        "what the profile says.",
    ),
    _option("rounds", int, "Rounds per fork, with --protocol interleaved.", min=2),
    _option("seed", int, "Repeat the order of forks of a run with this seed.", min=0),
    _once("aa", str, "Measure only this executor, against itself.", metavar="NAME"),
)
_AS_GIVEN = (
    "scenario", "scale", "blocks", "max_blocks", "precision", "windows", "window_s", "protocol", "rounds", "seed", "aa",
)  # fmt: skip


# The options that `ask` decides itself.
DECIDED_BY_ASK = (
    "--profile",
    "--scenario",
    "--scale",
    "--blocks",
    "--max-blocks",
    "--precision",
    "--no-stopping",
    "--aa",
)


def with_selection(command: Callable[..., None], *, decided_by_ask: Container[str] = ()) -> Callable[..., None]:
    """Give `command`, whose first parameter is an `Options`, these options besides its own. Those in `decided_by_ask`
    are refused, and left out of its help."""
    hints = get_type_hints(command, localns={"Options": object}, include_extras=True)  # its module is not imported
    _, *own = inspect.signature(command).parameters.values()

    @wraps(command)
    def wrapper(**values: Any) -> None:
        asked = {option.name: _only(option, values.pop(option.name)) for option in _OPTIONS}
        given = tuple(_written(option) for option in _OPTIONS if asked[option.name] != option.default)
        if refused := [option for option in given if option in decided_by_ask]:
            raise MatrixError(f"ask decides that itself: drop {', '.join(refused)}, or use `matrix run`")
        command(replace(_selected(asked), given=given), **values)

    others = (one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in own)
    parameters = [*(_hidden(one) if _written(one) in decided_by_ask else one for one in _OPTIONS), *others]
    # Typer reads both.
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _written(option: inspect.Parameter) -> str:
    return f"--{option.name.replace('_', '-')}"


def _hidden(option: inspect.Parameter) -> inspect.Parameter:
    kind, info = option.annotation.__origin__, copy(option.annotation.__metadata__[0])
    info.hidden = True
    return option.replace(annotation=Annotated[kind, info])


def _only(option: inspect.Parameter, given: Any) -> Any:
    """Raises: MatrixError: several values of an option that takes one, of which all but the last would be forgotten."""
    if not isinstance(option, _Once) or given is None:
        return given
    if len({*given}) > 1:
        raise MatrixError(f"--{option.name}: found {' and '.join(map(str, given))}; give one at a time")
    return next(iter(given), None)


def _selected(asked: Mapping[str, Any]) -> Options:
    """Raises: MatrixError: two of them exclude each other, or a value is not what the option takes."""
    from jdkmatrix.cli.own import own_table
    from jdkmatrix.cli.selecting import Options
    from jdkmatrix.cli.written_values import arms, load_name, microseconds, quota_cpus
    from jdkmatrix.domain.cell_key import BURN_US_MAX, WAIT_US_MAX
    from jdkmatrix.jdks.own import own_ids

    if asked["profile"] is not None and asked["scenario"] is not None:
        raise MatrixError("--profile and --scenario cannot be combined: give one of them")
    if asked["scenario"] is None and asked["scale"] != "auto":
        raise MatrixError("--scale needs a --scenario")
    homes = own_ids(asked["jdk_home"] or ())
    own, other_arms = own_table(asked["command"], asked["war"], asked["path"], asked["ready"], asked["arm"] or ())
    if own and asked["workload"]:
        raise MatrixError("--workload: the application of --command or --war is the workload")
    armed, tunings = arms(other_arms)
    named: dict[str, Sequence[str | int] | None] = {
        "workload": [*own] or asked["workload"],
        "server": asked["server"],
        "jdk": [*(asked["jdk"] or ()), *homes],
        "executor": [*(asked["executor"] or ()), *armed],
        "cpus": asked["cpus"],
        "burn_us": [microseconds("--burn", BURN_US_MAX, text) for text in asked["burn"] or ()],
        "wait_us": [microseconds("--wait", WAIT_US_MAX, text) for text in asked["wait"] or ()],
        "load": [*map(load_name, asked["load"] or ())],
    }
    return Options(
        profile="quick" if asked["profile"] is None else asked["profile"],
        values={axis: tuple(dict.fromkeys(values)) for axis, values in named.items() if values},
        stop_early=not asked["no_stopping"],
        tables={"jdk_homes": homes, "tunings": tunings, "workloads": own},
        quotas_cpus=tuple(map(quota_cpus, asked["cpu_quota"] or ())),
        arms=armed,
        **{name: asked[name] for name in _AS_GIVEN},
    )
