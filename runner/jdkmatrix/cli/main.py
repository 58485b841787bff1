"""The command line `matrix`. Only typer is imported here: `matrix --help` must answer at once, and each command
imports what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from jdkmatrix.errors import MatrixError

if TYPE_CHECKING:
    from jdkmatrix.cli.selecting import Options

P = ParamSpec("P")
R = TypeVar("R")

EXIT_CODES = """Exit codes: 0 done; 1 a problem with input, parts or host, told in one message; 2 wrong use of the
command line (of `doctor`: this host is unfit); 3 the run is complete but has failed or invalid cells;
130 and 143 ended by Ctrl-C and SIGTERM, what was finished is kept."""

app = typer.Typer(
    name="matrix",
    help="Which executor serves requests better on my JDK, my CPUs and my task length: measure it, and show it.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
jdks_app = typer.Typer(help="The JDK catalogue: what is available here, from where, or why not.")
app.add_typer(jdks_app, name="jdks")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")]
ProfileOption = Annotated[str, typer.Option("--profile", "-p", help="A profile of matrix.toml.")]
WorkloadOption = Annotated[list[str] | None, typer.Option("--workload", help="Only this workload (repeatable).")]
JdkOption = Annotated[list[str] | None, typer.Option("--jdk", help="Only this JDK (repeatable).")]
ExecutorOption = Annotated[list[str] | None, typer.Option("--executor", help="Only this executor (repeatable).")]
CpusOption = Annotated[list[int] | None, typer.Option("--cpus", help="Only so many CPUs (repeatable).")]
BurnOption = Annotated[list[int] | None, typer.Option("--burn-us", help="Only this task duration (repeatable).")]
LoadOption = Annotated[list[str] | None, typer.Option("--load", help="Only this load (repeatable).")]
BlocksOption = Annotated[
    int | None, typer.Option("--blocks", min=1, help="So many, or with --max-blocks at least so many.")
]
MaxBlocksOption = Annotated[
    int | None, typer.Option("--max-blocks", min=1, help="Add blocks until the ratios are precise, up to so many.")
]
PrecisionOption = Annotated[
    float | None, typer.Option("--precision", min=0.0001, max=1, help="0.02: until each ratio is known to ± 2 %.")
]
WindowsOption = Annotated[int | None, typer.Option("--windows", min=1, help="Instead of the profile's.")]
WindowSOption = Annotated[float | None, typer.Option("--window-s", min=0.1, help="Instead of the profile's.")]
AaOption = Annotated[str | None, typer.Option("--aa", help="Measure this executor against itself, and no other.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Instead of matrix.toml's.")]


def told(command: Callable[P, R]) -> Callable[P, R]:
    """Turn a MatrixError into its message and exit code 1."""

    @wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except MatrixError as error:
            print(f"matrix: {error}", file=sys.stderr)
            raise typer.Exit(1) from None

    return wrapper


def _options(
    profile: str,
    workload: list[str] | None,
    jdk: list[str] | None,
    executor: list[str] | None,
    cpus: list[int] | None,
    burn_us: list[int] | None,
    load: list[str] | None,
    blocks: int | None,
    max_blocks: int | None,
    precision: float | None,
    windows: int | None,
    window_s: float | None,
    seed: int | None,
    aa: str | None,
) -> Options:
    from jdkmatrix.cli.selecting import Options

    named: dict[str, Sequence[str | int] | None]
    named = {"workload": workload, "jdk": jdk, "executor": executor, "cpus": cpus, "burn_us": burn_us, "load": load}
    only = {axis: tuple(values) for axis, values in named.items() if values}
    return Options(profile, only, blocks, max_blocks, precision, windows, window_s, seed, aa)


@app.command()
@told
def plan(
    profile: ProfileOption = "quick",
    workload: WorkloadOption = None,
    jdk: JdkOption = None,
    executor: ExecutorOption = None,
    cpus: CpusOption = None,
    burn_us: BurnOption = None,
    load: LoadOption = None,
    blocks: BlocksOption = None,
    max_blocks: MaxBlocksOption = None,
    precision: PrecisionOption = None,
    windows: WindowsOption = None,
    window_s: WindowSOption = None,
    seed: SeedOption = None,
    aa: AaOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the cells, the order of their forks, and how long they will take; measures nothing."""
    from jdkmatrix.cli import planning

    options = _options(
        profile,
        workload,
        jdk,
        executor,
        cpus,
        burn_us,
        load,
        blocks,
        max_blocks,
        precision,
        windows,
        window_s,
        seed,
        aa,
    )
    planning.show(options, as_json=as_json)


@app.command()
@told
def run(
    profile: ProfileOption = "quick",
    workload: WorkloadOption = None,
    jdk: JdkOption = None,
    executor: ExecutorOption = None,
    cpus: CpusOption = None,
    burn_us: BurnOption = None,
    load: LoadOption = None,
    blocks: BlocksOption = None,
    max_blocks: MaxBlocksOption = None,
    precision: PrecisionOption = None,
    windows: WindowsOption = None,
    window_s: WindowSOption = None,
    seed: SeedOption = None,
    aa: AaOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run, as it was started: the newest, or --run.")
    ] = False,
    directory: Annotated[
        Path | None, typer.Option("--run", help="The run's folder; by default a new one below results/.")
    ] = None,
    site: Annotated[Path | None, typer.Option("--site", help="Where the site goes; by default site/.")] = None,
) -> None:
    """Measure a profile, write the site, and print a summary."""
    from jdkmatrix.cli import running

    options = _options(
        profile,
        workload,
        jdk,
        executor,
        cpus,
        burn_us,
        load,
        blocks,
        max_blocks,
        precision,
        windows,
        window_s,
        seed,
        aa,
    )
    raise typer.Exit(running.run(options, resume=resume, directory=directory, site=site))


@app.command()
@told
def report(
    runs: Annotated[list[Path] | None, typer.Argument(help="Folders of runs; by default the newest.")] = None,
    site: Annotated[Path | None, typer.Option("--site", help="Where the site goes; by default site/.")] = None,
) -> None:
    """Write the static site of one or more runs."""
    from jdkmatrix.cli import reporting

    reporting.report(runs or [], site)


@app.command()
@told
def setup(profile: ProfileOption = "quick") -> None:
    """Get and build everything that a profile needs, and measure nothing."""
    from jdkmatrix.cli import running

    running.set_up(profile)


@jdks_app.callback(invoke_without_command=True)
@told
def jdks(context: typer.Context, as_json: JsonOption = False) -> None:
    """List every entry: where it comes from here, or why it is not available."""
    if context.invoked_subcommand is None:
        from jdkmatrix.cli import catalogue

        catalogue.show(as_json=as_json)


@jdks_app.command("fetch")
@told
def jdks_fetch(jdk_id: Annotated[str, typer.Argument(metavar="ID", help="An entry of the catalogue.")]) -> None:
    """Download, verify and unpack one JDK; nothing is left behind when it fails."""
    from jdkmatrix.cli import catalogue

    catalogue.fetch_one(jdk_id)


@app.command()
@told
def doctor(
    as_json: JsonOption = False,
    tune: Annotated[bool, typer.Option("--tune", help="Change what disturbs, as root; asks first.")] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Put back what --tune found, as root.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --tune: do not ask.")] = False,
) -> None:
    """Say whether this host can measure: 0 ready, 1 noisy, 2 unfit. Or change what disturbs, and put it back."""
    if tune + restore + as_json > 1:
        raise MatrixError("doctor takes one of --json, --tune and --restore")
    if yes and not tune:
        raise MatrixError("--yes answers what --tune asks: give both, or neither")
    if tune or restore:
        from jdkmatrix.cli import tuning

        raise typer.Exit(tuning.tune_host(yes=yes) if tune else tuning.restore_host())
    from jdkmatrix.cli import examining

    raise typer.Exit(examining.show(as_json=as_json))


@app.command()
@told
def schema() -> None:
    """Print the JSON Schema of matrix.toml."""
    import json

    from jdkmatrix.config.model import Matrix

    print(json.dumps(Matrix.model_json_schema(by_alias=True), indent=2))


@app.command()
def version() -> None:
    """Print the version."""
    from jdkmatrix import __version__

    print(f"matrix {__version__}")


def main() -> None:
    app()


if __name__ == "__main__":
    main()
