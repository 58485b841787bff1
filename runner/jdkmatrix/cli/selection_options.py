"""The options by which `plan` and `run` choose what is measured; both take all of them.

Only typer is imported here (see main).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from jdkmatrix.errors import MatrixError

if TYPE_CHECKING:
    from jdkmatrix.cli.selecting import Options


class ScaleChoice(StrEnum):
    AUTO = "auto"
    ARTICLE = "article"
    SMALL = "small"


class MeasuredHow(StrEnum):
    INTERLEAVED = "interleaved"
    SEPARATE = "separate"


ProfileOption = Annotated[
    str | None, typer.Option("--profile", "-p", help="A profile of matrix.toml; by default quick.")
]
ScenarioOption = Annotated[
    str | None,
    typer.Option(
        "--scenario", "-s", help="A published experiment instead (see matrix scenarios); in-turn: the one of this week."
    ),
]
ScaleOption = Annotated[
    ScaleChoice,
    typer.Option("--scale", help="Of the scenario: as published, small, or the larger one that fits this host."),
]
WorkloadOption = Annotated[
    list[str] | None, typer.Option("--workload", metavar="NAME", help="Only this workload (repeatable).")
]
ServerOption = Annotated[
    list[str] | None, typer.Option("--server", metavar="NAME", help="Only this server (repeatable).")
]
JdkOption = Annotated[list[str] | None, typer.Option("--jdk", metavar="ID", help="Only this JDK (repeatable).")]
ExecutorOption = Annotated[
    list[str] | None, typer.Option("--executor", metavar="NAME", help="Only this executor (repeatable).")
]
CpusOption = Annotated[
    list[int] | None, typer.Option("--cpus", metavar="N", help="Only this number of CPUs (repeatable).")
]
BurnOption = Annotated[
    list[int] | None, typer.Option("--burn-us", metavar="US", help="Only this task duration (repeatable).")
]
WaitOption = Annotated[
    list[int] | None, typer.Option("--wait-us", metavar="US", help="Only this delay of the remote system (repeatable).")
]
LoadOption = Annotated[list[str] | None, typer.Option("--load", metavar="NAME", help="Only this load (repeatable).")]
BlocksOption = Annotated[
    int | None, typer.Option("--blocks", min=1, help="Number of blocks; with --max-blocks the minimum.")
]
MaxBlocksOption = Annotated[
    int | None, typer.Option("--max-blocks", min=1, help="Add blocks until the ratios are precise, up to this number.")
]
PrecisionOption = Annotated[
    float | None, typer.Option("--precision", min=0.0001, max=1, help="0.02: until each ratio is known to ± 2 %.")
]
StoppingOption = Annotated[
    bool, typer.Option("--no-stopping", help="Only the profile's blocks, however imprecise the ratios are.")
]
WindowsOption = Annotated[int | None, typer.Option("--windows", min=1, help="Windows per fork.")]
WindowSOption = Annotated[float | None, typer.Option("--window-s", min=0.1, help="Seconds per window.")]
ProtocolOption = Annotated[
    MeasuredHow | None,
    typer.Option(
        "--protocol",
        help="interleaved: the executors of a block take turns; separate: one after another. By default as the profile "
        "says.",
    ),
]
RoundsOption = Annotated[int | None, typer.Option("--rounds", min=2, help="Rounds per fork, where they take turns.")]
AaOption = Annotated[str | None, typer.Option("--aa", help="Measure only this executor, against itself.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Repeat the order of forks of the run with this seed.")
]


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
    """With their annotations evaluated; that of Options is not looked at, and its module not imported."""
    hints = get_type_hints(function, localns={"Options": object}, include_extras=True)
    return [p.replace(annotation=hints[p.name]) for p in inspect.signature(function).parameters.values()]


def _selected(
    profile: ProfileOption = None,
    scenario: ScenarioOption = None,
    scale: ScaleOption = ScaleChoice.AUTO,
    workload: WorkloadOption = None,
    server: ServerOption = None,
    jdk: JdkOption = None,
    executor: ExecutorOption = None,
    cpus: CpusOption = None,
    burn_us: BurnOption = None,
    wait_us: WaitOption = None,
    load: LoadOption = None,
    blocks: BlocksOption = None,
    max_blocks: MaxBlocksOption = None,
    precision: PrecisionOption = None,
    no_stopping: StoppingOption = False,
    windows: WindowsOption = None,
    window_s: WindowSOption = None,
    protocol: ProtocolOption = None,
    rounds: RoundsOption = None,
    seed: SeedOption = None,
    aa: AaOption = None,
) -> Options:
    from jdkmatrix.cli.selecting import Options

    if profile is not None and scenario is not None:
        raise MatrixError("--profile and --scenario exclude each other: give one of them")
    if scenario is None and scale is not ScaleChoice.AUTO:
        raise MatrixError("--scale needs a --scenario")
    named: dict[str, Sequence[str | int] | None] = {
        "workload": workload,
        "server": server,
        "jdk": jdk,
        "executor": executor,
        "cpus": cpus,
        "burn_us": burn_us,
        "wait_us": wait_us,
        "load": load,
    }
    return Options(
        profile=profile or "quick",
        only={axis: tuple(values) for axis, values in named.items() if values},
        blocks=blocks,
        max_blocks=max_blocks,
        precision=precision,
        stop_early=not no_stopping,
        windows=windows,
        window_s=window_s,
        protocol=protocol.value if protocol else None,
        rounds=rounds,
        seed=seed,
        aa=aa,
        scenario=scenario,
        scale=scale.value,
    )
