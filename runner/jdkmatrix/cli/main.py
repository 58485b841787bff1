"""The command line `matrix`. Only typer is imported here: `matrix --help` must answer at once, and each command
imports what it uses."""

from __future__ import annotations

import sys
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jdkmatrix.cli.exit_codes import EXIT_CODES, Commands
from jdkmatrix.cli.selection_options import DECIDED_BY_ASK, with_selection
from jdkmatrix.errors import MatrixError

if TYPE_CHECKING:
    from jdkmatrix.cli.selecting import Options

app = typer.Typer(
    name="matrix",
    cls=Commands,
    help="Measure which executor serves requests better on your JDK, your CPUs and your task duration, and show it.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would take half of the time allowed for --help
    context_settings={"help_option_names": ["-h", "--help"]},
)
jdks_app = typer.Typer(
    help="The JDK catalogue: where each JDK comes from here, or why it is not available.",
    short_help="The JDK catalogue.",
    rich_markup_mode=None,
)
app.add_typer(jdks_app, name="jdks")

RunArgument = Annotated[str | None, typer.Argument(metavar="RUN", help="Its folder or id; by default the newest.")]
RunsArgument = Annotated[list[Path] | None, typer.Argument(help="Folders of runs, or of results; by default results/.")]
SiteOption = Annotated[
    Path | None, typer.Option("--site", resolve_path=True, help="Where the site goes; by default site/.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MarkdownOption = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown, for the job summary of a CI service.")
]


def _tell_version(asked: bool) -> None:
    if asked:
        from jdkmatrix import __version__
        from jdkmatrix.run.code_version import measuring_code

        print(f"matrix {__version__}, measuring code {measuring_code()[:12]}")
        raise typer.Exit


@app.callback()
def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure which executor serves requests better on your JDK, your CPUs and your task duration, and show it."""


@app.command(short_help="Show what would be measured, and how long it takes.")
@with_selection
def plan(options: Options, as_json: JsonOption = False) -> None:
    """Show the cells and how long they will take, with --json also the order of their forks; measure nothing."""
    from jdkmatrix.cli import planning

    planning.show(options, as_json=as_json)


@app.command(short_help="Measure, write the site, print a table.")
@with_selection
def run(
    options: Options,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue a run as it was started: the newest, or --run. If it has finished, measure again the blocks "
            "that faults of the host have spoilt.",
        ),
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option("--run", resolve_path=True, help="The run's folder; by default a new one in results/."),
    ] = None,
    site: SiteOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also print each window and round.")] = False,
) -> None:
    """Measure a profile or a scenario, write the site, and print a summary."""
    from jdkmatrix.cli import running

    raise typer.Exit(running.run(options, resume=resume, directory=directory, site=site, verbose=verbose))


@app.command(short_help="Ask what to measure, and measure until the answer is known.")
@partial(with_selection, decided_by_ask=DECIDED_BY_ASK)
def ask(
    options: Options,
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="How long it may take: 90s, 10m, 2h.")
    ] = "30m",
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: take the defaults where no option says otherwise, and measure.")
    ] = False,
) -> None:
    """Ask what to measure (server, database, JDK, CPUs, task, delay, load), say what it costs, and measure until the
    ratio is known or the budget is spent. An option answers its question. Without a terminal it asks nothing, and
    measures only with --yes."""
    from jdkmatrix.cli import ask as asking

    raise typer.Exit(asking.ask(options, budget=budget, yes=yes))


@app.command(short_help="List the published experiments.")
def scenarios(
    name: Annotated[str | None, typer.Argument(help="Only this one, and what was published about it.")] = None,
) -> None:
    """List the published experiments that can be repeated: how long both sizes take, and which do not fit this host."""
    from jdkmatrix.cli import scenarios as listing

    listing.show(name)


@app.command(short_help="Write the static site.")
def report(
    runs: RunsArgument = None,
    site: SiteOption = None,
    cell_pages: Annotated[
        int | None,
        typer.Option(
            "--cell-pages",
            min=0,
            help="Pages for at most this many cells, those of the newest runs; by default for all.",
        ),
    ] = None,
    records_at: Annotated[
        list[str] | None,
        typer.Option(
            "--records-at",
            metavar="FOLDER=URL",
            help="The runs in FOLDER are published at URL followed by their name: the site links there instead of "
            "copying their cells' records.",
        ),
    ] = None,
    verdicts_into: Annotated[
        Path | None, typer.Option("--verdicts-into", help="Write the table of verdicts into this Markdown file, too.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
) -> None:
    """Write the static site: a front page that answers for the condition you pick, and the pages of every run."""
    from jdkmatrix.cli import reporting

    raise typer.Exit(
        reporting.report(
            runs or [], site, cell_pages=cell_pages, records_at=records_at or [], verdicts_into=verdicts_into, show=show
        )
    )


@app.command(short_help="Serve the site at 127.0.0.1.")
def serve(
    runs: RunsArgument = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any port that is free.")] = 8000,
) -> None:
    """Serve the site at 127.0.0.1, and rewrite it when results change and nothing is measuring; Ctrl-C ends it."""
    from jdkmatrix.cli import serving

    serving.serve(runs or [], port)


@app.command()
def export(
    run: RunArgument = None,
    form: Annotated[
        Literal[
            "csv", "blocks", "json", "jmh", "bigger-is-better", "smaller-is-better", "bencher", "openmetrics", "badge"
        ],
        typer.Option(
            "--format",
            help="Every figure as a table (csv), or with the verdicts on claims (json); the blocks behind each ratio; "
            "throughput as JMH writes it; for tracking over commits, as github-action-benchmark or Bencher reads it; "
            "for Prometheus; or a badge for each condition.",
        ),
    ] = "csv",
) -> None:
    """Print the results of a run for other programs."""
    from jdkmatrix.cli import reporting

    raise typer.Exit(reporting.export(run, form))


@app.command(short_help="Print the tables and verdicts of a run.")
def summary(run: RunArgument = None, as_markdown: MarkdownOption = False) -> None:
    """Print the tables and verdicts of a run, as at its end, judged by today's published claims."""
    from jdkmatrix.cli import reporting

    raise typer.Exit(reporting.summarise(run, as_markdown=as_markdown))


@app.command(short_help="Say what got better or worse: between two runs, JDKs or executors.")
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="BEFORE [AFTER]", help="Folders or ids of two runs, or of one.")],
    jdk: Annotated[
        list[str] | None, typer.Option("--jdk", metavar="ID", help="Two JDKs: of one run, or one of each.")
    ] = None,
    executor: Annotated[
        list[str] | None, typer.Option("--executor", metavar="NAME", help="Two executors, likewise.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="By how much a figure may be worse, as a share.")
    ] = 0.05,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write it as a page, too: one file.")
    ] = None,
) -> None:
    """Say what got better or worse, and what else changed. Exit code 4: something got significantly worse; 5: that
    cannot be ruled out."""
    from jdkmatrix.cli import comparing

    if as_json and as_markdown:
        raise MatrixError("compare takes one of --json and --markdown")
    values = {axis: given for axis, given in (("jdk", jdk), ("executor", executor)) if given}
    raise typer.Exit(comparing.compare(runs, values, threshold, as_json=as_json, as_markdown=as_markdown, html=html))


@app.command(short_help="Fetch and build what is needed; measure nothing.")
@with_selection
def setup(options: Options) -> None:
    """Fetch and build everything that a profile or a scenario needs; measure nothing."""
    from jdkmatrix.cli import running

    running.set_up(options)


@jdks_app.callback(invoke_without_command=True)
def jdks(context: typer.Context, as_json: JsonOption = False) -> None:
    """List every entry of the catalogue: where it comes from on this host, or why it is not available."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise MatrixError(f"--json lists the catalogue: {context.invoked_subcommand} does not take it")
    else:
        from jdkmatrix.cli import catalogue

        catalogue.show(as_json=as_json)


@jdks_app.command("fetch")
def jdks_fetch(jdk_id: Annotated[str, typer.Argument(metavar="ID", help="An entry of the catalogue.")]) -> None:
    """Download, verify and unpack one JDK; nothing is left behind when it fails."""
    from jdkmatrix.cli import catalogue

    catalogue.fetch_one(jdk_id)


@jdks_app.command("update")
def jdks_update(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Entries of the catalogue; by default all that follow a vendor."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write jdks.json; without it the change is only shown.")
    ] = False,
) -> None:
    """Ask the vendors for newer builds, and show what would change in jdks.json as a diff.

    The build that is replaced is kept as ID-prev. Checksums are those that the vendors publish over HTTPS. They are
    trusted on first use; `matrix jdks fetch` verifies against them, unless that build is already here.
    """
    from jdkmatrix.cli import catalogue

    catalogue.update(ids or [], write=write)


@app.command(short_help="Say whether this host is fit to measure on.")
def doctor(
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Change settings that disturb measuring, as root; asks first.")
    ] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Put back what --tune has changed, as root.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --tune: do not ask.")] = False,
) -> None:
    """Say whether this host is fit to measure on (exit code 0 ready, 1 noisy, 2 unfit), or change its settings and put
    them back."""
    if tune + restore + as_json + as_markdown > 1:
        raise MatrixError("doctor takes one of --json, --markdown, --tune and --restore")
    if yes and not tune:
        raise MatrixError("--yes answers the question of --tune: give both, or neither")
    if tune or restore:
        from jdkmatrix.cli import tuning

        raise typer.Exit(tuning.tune_host(yes=yes) if tune else tuning.restore_host())
    from jdkmatrix.cli import examining

    raise typer.Exit(examining.show(as_json=as_json, as_markdown=as_markdown))


@app.command(short_help="Print the JSON Schema of matrix.toml.")
def schema() -> None:
    """Print the JSON Schema of matrix.toml, profiles and published scenarios."""
    import json

    from jdkmatrix.config.schema import file_schema

    print(json.dumps(file_schema(), indent=2))


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # characters that a terminal cannot show stop nothing
            stream.reconfigure(errors="replace")
    app()


if __name__ == "__main__":
    main()
