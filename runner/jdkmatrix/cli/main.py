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
    help="Measure which executor serves requests better with your JDK, CPUs and task duration, and show the results.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would take half of the time allowed for --help
    context_settings={"help_option_names": ["-h", "--help"]},
)
jdks_app = typer.Typer(
    help="List the JDK catalogue: where this host gets each JDK from, or why it is not available.",
    short_help="List, fetch and update the JDKs of the catalogue.",
    rich_markup_mode=None,
)
app.add_typer(jdks_app, name="jdks")

RunArgument = Annotated[str | None, typer.Argument(metavar="RUN", help="Folder or id; by default the newest run.")]
RunsArgument = Annotated[list[Path] | None, typer.Argument(help="Runs, or folders of runs; by default results/.")]
SiteOption = Annotated[
    Path | None, typer.Option("--site", resolve_path=True, help="Folder to write the site to; by default site/.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a CI job summary.")]


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
    """Measure which executor serves requests better with your JDK, CPUs and task duration, and show the results."""


@app.command(short_help="Show what would be measured, and how long it would take.")
@with_selection
def plan(options: Options, as_json: JsonOption = False) -> None:
    """Show the cells to measure and how long they will take (with --json, also the order of forks); measure nothing."""
    from jdkmatrix.cli import planning

    planning.show(options, as_json=as_json)


@app.command(short_help="Measure, write the site, print a summary.")
@with_selection
def run(
    options: Options,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue a run (the newest, or --run) with the options it was started with. If it has finished, "
            "measure the blocks again that faults of the host have spoilt.",
        ),
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option("--run", resolve_path=True, help="Folder of the run; by default a new one in results/."),
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
        str, typer.Option("--budget", metavar="TIME", help="Time that measuring is expected to take: 90s, 10m, 2h.")
    ] = "30m",
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: use the default for whatever no option sets, and measure.")
    ] = False,
) -> None:
    """Ask what to measure (server, database, JDK, CPUs, task, delay, load), say how long it will take, and measure
    until the ratio is known or no time is left. Each option given answers its question. Without a terminal, ask
    nothing, and measure only with --yes."""
    from jdkmatrix.cli import ask as asking

    raise typer.Exit(asking.ask(options, budget=budget, yes=yes))


@app.command(short_help="List the published experiments.")
def scenarios(
    name: Annotated[str | None, typer.Argument(help="Show only this one, and what was published about it.")] = None,
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
            help="Write pages for at most this many cells, newest runs first; by default for all.",
        ),
    ] = None,
    records_at: Annotated[
        list[str] | None,
        typer.Option(
            "--records-at",
            metavar="FOLDER=URL",
            help="The runs in FOLDER are published at URL followed by their name: link to the records of their cells "
            "there instead of copying them.",
        ),
    ] = None,
    verdicts_into: Annotated[
        Path | None, typer.Option("--verdicts-into", help="Also update the table of verdicts in this Markdown file.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the site in a browser.")] = False,
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
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8000,
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
            help="csv: every figure as a table; json: the same, with the verdicts on claims; blocks: the blocks behind "
            "each ratio; jmh: throughput as JMH writes it; bigger- and smaller-is-better, bencher: to track over "
            "commits, as github-action-benchmark or Bencher reads it; openmetrics: for Prometheus; badge: one for each "
            "condition.",
        ),
    ] = "csv",
) -> None:
    """Print the results of a run for other programs."""
    from jdkmatrix.cli import reporting

    raise typer.Exit(reporting.export(run, form))


@app.command(short_help="Print the tables and verdicts of a run.")
def summary(run: RunArgument = None, as_markdown: MarkdownOption = False) -> None:
    """Print the tables and verdicts of a run, as at its end, but judged against today's published claims."""
    from jdkmatrix.cli import reporting

    raise typer.Exit(reporting.summarise(run, as_markdown=as_markdown))


@app.command(short_help="Say what got better or worse between two runs, JDKs or executors.")
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="BEFORE [AFTER]", help="Folders or ids of one run or two.")],
    jdk: Annotated[
        list[str] | None, typer.Option("--jdk", metavar="ID", help="Twice: two JDKs of one run, or one of each run.")
    ] = None,
    executor: Annotated[
        list[str] | None, typer.Option("--executor", metavar="NAME", help="The same for two executors.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="How much worse a figure may get; 0.05 is 5 %.")
    ] = 0.05,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a self-contained page.")
    ] = None,
) -> None:
    """Say what got better or worse, and what else changed. Exit code 4: something got significantly worse; 5: that
    cannot be ruled out."""
    from jdkmatrix.cli import comparing

    if as_json and as_markdown:
        raise MatrixError("compare takes either --json or --markdown, not both")
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
            raise MatrixError(f"--json is for listing the catalogue: {context.invoked_subcommand} does not take it")
    else:
        from jdkmatrix.cli import catalogue

        catalogue.show(as_json=as_json)


@jdks_app.command("fetch")
def jdks_fetch(jdk_id: Annotated[str, typer.Argument(metavar="ID", help="An entry of the catalogue.")]) -> None:
    """Download, verify and unpack one JDK, unless such a build is here. Nothing is left behind if that fails."""
    from jdkmatrix.cli import catalogue

    catalogue.fetch_one(jdk_id)


@jdks_app.command("update")
def jdks_update(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Entries of the catalogue; by default all that follow their vendor."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the change to jdks.json, instead of only showing it.")
    ] = False,
) -> None:
    """Look up the vendors' newer builds. What would change in jdks.json is shown as a diff.

    The replaced build is kept as ID-prev. Checksums are those that the vendors publish over HTTPS, and are trusted on
    first use; `matrix jdks fetch` verifies a build against them, unless it is already here.
    """
    from jdkmatrix.cli import catalogue

    catalogue.update(ids or [], write=write)


@app.command(short_help="Check whether this host is fit to measure on.")
def doctor(
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="As root: change settings that disturb measurements, after asking.")
    ] = False,
    restore: Annotated[bool, typer.Option("--restore", help="As root: put back what --tune has changed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --tune: do not ask.")] = False,
) -> None:
    """Check whether this host is fit to measure on (exit code 0 ready, 1 noisy, 2 unfit), or change its settings
    (--tune) and put them back (--restore)."""
    if tune + restore + as_json + as_markdown > 1:
        raise MatrixError("doctor takes only one of --json, --markdown, --tune and --restore")
    if yes and not tune:
        raise MatrixError("--yes answers the question that --tune asks: give both, or neither")
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
