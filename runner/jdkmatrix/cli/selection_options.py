"""The options by which `plan` and `run` choose what is measured; both take all of them.

Only typer is imported here (see main).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from jdkmatrix.errors import MatrixError

if TYPE_CHECKING:
    from jdkmatrix.cli.selecting import Options


def with_selection(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command`, whose first parameter is an `Options`, these options beside its own."""
    chosen = _parameters(_selected)
    _, *own = _parameters(command)

    @wraps(command)
    def wrapper(**values: Any) -> None:
        asked = {parameter.name: values.pop(parameter.name) for parameter in chosen}
        given = tuple(
            f"--{parameter.name.replace('_', '-')}"
            for parameter in chosen
            if asked[parameter.name] != parameter.default
        )
        command(replace(_selected(**asked), given=given), **values)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*chosen, *own)]
    # Typer reads both.
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters with evaluated annotations; that of Options is not looked at, and its module not imported."""
    hints = get_type_hints(function, localns={"Options": object}, include_extras=True)
    return [p.replace(annotation=hints[p.name]) for p in inspect.signature(function).parameters.values()]


def _selected(
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="A profile of matrix.toml; by default quick.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            "-s",
            help="A published experiment instead (see matrix scenarios); in-turn: the one of this week.",
        ),
    ] = None,
    scale: Annotated[
        Literal["auto", "article", "small"],
        typer.Option("--scale", help="Of the scenario: as published, small, or the larger one that fits this host."),
    ] = "auto",
    workload: Annotated[
        list[str] | None, typer.Option("--workload", metavar="NAME", help="Only this workload (repeatable).")
    ] = None,
    server: Annotated[
        list[str] | None, typer.Option("--server", metavar="NAME", help="Only this server (repeatable).")
    ] = None,
    jdk: Annotated[list[str] | None, typer.Option("--jdk", metavar="ID", help="Only this JDK (repeatable).")] = None,
    executor: Annotated[
        list[str] | None, typer.Option("--executor", metavar="NAME", help="Only this executor (repeatable).")
    ] = None,
    cpus: Annotated[
        list[int] | None, typer.Option("--cpus", metavar="N", help="Only this number of CPUs (repeatable).")
    ] = None,
    burn_us: Annotated[
        list[int] | None, typer.Option("--burn-us", metavar="US", help="Only this task duration (repeatable).")
    ] = None,
    wait_us: Annotated[
        list[int] | None,
        typer.Option("--wait-us", metavar="US", help="Only this delay of the remote system (repeatable)."),
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option("--load", metavar="NAME", help="Only this load (repeatable).")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option("--blocks", min=1, help="Number of blocks; with --max-blocks the minimum.")
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option("--max-blocks", min=1, help="Add blocks until the ratios are precise, up to this number."),
    ] = None,
    precision: Annotated[
        float | None, typer.Option("--precision", min=0.0001, max=1, help="0.02: until each ratio is known to ± 2 %.")
    ] = None,
    no_stopping: Annotated[
        bool, typer.Option("--no-stopping", help="Only the profile's blocks, however imprecise the ratios are.")
    ] = False,
    windows: Annotated[int | None, typer.Option("--windows", min=1, help="Windows per fork.")] = None,
    window_s: Annotated[float | None, typer.Option("--window-s", min=0.1, help="Seconds per window.")] = None,
    protocol: Annotated[
        Literal["interleaved", "separate"] | None,
        typer.Option(
            "--protocol",
            help="interleaved: the executors of a block take turns; separate: one after another. By default as the "
            "profile says.",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=2, help="Rounds per fork, where they take turns.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Repeat the order of forks of the run with this seed.")
    ] = None,
    aa: Annotated[str | None, typer.Option("--aa", help="Measure only this executor, against itself.")] = None,
) -> Options:
    from jdkmatrix.cli.selecting import Options

    if profile is not None and scenario is not None:
        raise MatrixError("--profile and --scenario exclude each other: give one of them")
    if scenario is None and scale != "auto":
        raise MatrixError("--scale needs a --scenario")
    named: dict[str, Sequence[str | int] | None] = {
        "workload": workload, "server": server, "jdk": jdk, "executor": executor, "cpus": cpus, "burn_us": burn_us,
        "wait_us": wait_us, "load": load,
    }  # fmt: skip
    return Options(
        profile=profile or "quick",
        only={axis: tuple(values) for axis, values in named.items() if values},
        blocks=blocks,
        max_blocks=max_blocks,
        precision=precision,
        stop_early=not no_stopping,
        windows=windows,
        window_s=window_s,
        protocol=protocol,
        rounds=rounds,
        seed=seed,
        aa=aa,
        scenario=scenario,
        scale=scale,
    )
