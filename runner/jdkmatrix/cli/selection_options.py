"""The options by which `plan` and `run` choose what is measured; both take all of them.

Only typer is imported here (see main).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
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
        list[str] | None, typer.Option("--workload", metavar="NAME", help="Workload to measure; repeatable.")
    ] = None,
    server: Annotated[list[str] | None, typer.Option("--server", metavar="NAME", help="Server; repeatable.")] = None,
    jdk: Annotated[
        list[str] | None, typer.Option("--jdk", metavar="ID", help="JDK listed by matrix jdks; repeatable.")
    ] = None,
    jdk_home: Annotated[
        list[Path] | None,
        typer.Option(
            "--jdk-home",
            metavar="DIR",
            exists=True,
            file_okay=False,
            resolve_path=True,
            help="The JDK in this folder, which no hash pins; repeatable.",
        ),
    ] = None,
    executor: Annotated[
        list[str] | None,
        typer.Option("--executor", metavar="NAME", help="Executor: liberty, virtual, fixed-50, …; repeatable."),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="ARM",
            help="An executor with JVM options of its own: 'virtual:-XX:+UseParallelGC'. With --command: pool= or "
            "virtual=OPTIONS.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--command",
            metavar="COMMAND",
            help="An application of your own: 'java -jar my.jar --server.port={port}'.",
        ),
    ] = None,
    war: Annotated[
        Path | None,
        typer.Option(
            "--war",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            help="An application of your own that a server deploys.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--path", metavar="PATH", help="Path of every request to it: '/api/orders?id={random:1:1000}'."),
    ] = None,
    ready: Annotated[
        str | None,
        typer.Option("--ready", metavar="PATH", help="Path that answers once it is ready; by default --path."),
    ] = None,
    cpus: Annotated[
        list[int] | None,
        typer.Option("--cpus", metavar="N", min=1, max=1024, help="Number of CPUs for the server; repeatable."),
    ] = None,
    cpu_quota: Annotated[
        list[str] | None,
        typer.Option(
            "--cpu-quota",
            metavar="CPUS",
            help="CPU quota for the server, like a container's limit: 0.5 or 500m; repeatable.",
        ),
    ] = None,
    burn: Annotated[
        list[str] | None,
        typer.Option("--burn", "--burn-us", metavar="TIME", help="How long each request computes: 300us; repeatable."),
    ] = None,
    wait: Annotated[
        list[str] | None,
        typer.Option(
            "--wait", "--wait-us", metavar="TIME", help="How late the remote system answers: 20ms; repeatable."
        ),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option("--load", metavar="NAME", help="Load: saturate-50, share-50, 5000/s, …; repeatable."),
    ] = None,
    blocks: Annotated[
        int | None, typer.Option("--blocks", min=1, help="Number of blocks; with --max-blocks the minimum.")
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option("--max-blocks", min=1, help="At least 5 blocks, and more until ratios are precise, up to this."),
    ] = None,
    precision: Annotated[
        float | None, typer.Option("--precision", min=0.0001, max=1, help="0.02: until each ratio is known to ± 2 %.")
    ] = None,
    no_stopping: Annotated[
        bool, typer.Option("--no-stopping", help="Only the profile's blocks, however imprecise the ratios are.")
    ] = False,
    windows: Annotated[
        int | None, typer.Option("--windows", min=1, help="Windows per fork, where forks take no turns.")
    ] = None,
    window_s: Annotated[float | None, typer.Option("--window-s", min=0.1, help="Seconds per window, likewise.")] = None,
    protocol: Annotated[
        Literal["interleaved", "separate"] | None,
        typer.Option(
            "--protocol",
            help="interleaved: the executors of a block take turns; separate: one after another. By default as the "
            "profile says.",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=2, help="Rounds per fork, where forks take turns (--protocol).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Repeat the order of forks of the run with this seed.")
    ] = None,
    aa: Annotated[str | None, typer.Option("--aa", help="Measure only this executor, against itself.")] = None,
) -> Options:
    from jdkmatrix.cli.arms import arms
    from jdkmatrix.cli.own import own_table
    from jdkmatrix.cli.selecting import Options
    from jdkmatrix.cli.written_values import load_names, microseconds, quotas
    from jdkmatrix.domain.cell_key import BURN_US_MAX, WAIT_US_MAX
    from jdkmatrix.jdks.own import own_ids

    if profile is not None and scenario is not None:
        raise MatrixError("--profile and --scenario exclude each other: give one of them")
    if scenario is None and scale != "auto":
        raise MatrixError("--scale needs a --scenario")
    homes = own_ids(jdk_home or ())
    own, other_arms = own_table(command, war, path, ready, arm or ())
    if own and workload:
        raise MatrixError("--workload: --command and --war are a workload of their own")
    armed, tunings = arms(other_arms)
    named: dict[str, Sequence[str | int] | None] = {
        "workload": [*own] or workload, "server": server, "jdk": [*(jdk or ()), *homes],
        "executor": [*(executor or ()), *armed], "cpus": cpus,
        "burn_us": microseconds("--burn", burn or (), BURN_US_MAX),
        "wait_us": microseconds("--wait", wait or (), WAIT_US_MAX), "load": load_names(load or ()),
    }  # fmt: skip
    return Options(
        profile=profile or "quick",
        values={axis: tuple(dict.fromkeys(values)) for axis, values in named.items() if values},
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
        tables={"jdk_homes": homes, "tunings": tunings, "workloads": own},
        quotas_cpus=quotas(cpu_quota or ()),
        arms=armed,
    )
