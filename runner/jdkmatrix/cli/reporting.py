"""`matrix report`: from result folders to the site. `matrix summary`: one of them in words."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jdkmatrix.claims.load import load_claims
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.errors import MatrixError, visible
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.store.readable import fault, readable
from jdkmatrix.store.runs import REFERENCE, RunStore, all_runs, began, check_recorded, is_run, latest_run

if TYPE_CHECKING:
    from jdkmatrix.report.site.build import Built
    from jdkmatrix.store.loaded import LoadedRun

EXIT_WITH_FAILURES = 3


def report(
    runs: Sequence[Path],
    site: Path | None,
    *,
    cell_pages: int | None = None,
    records_at: Sequence[str] = (),
    verdicts_into: Path | None = None,
    show: bool = False,
) -> int:
    """Write the site of `runs`, or of all in the folder of results, and say where it is; return the exit code.
    `cell_pages`, `records_at` (as FOLDER=URL): see write_site. `verdicts_into`: a Markdown file whose table of verdicts
    is rewritten; `show`: open it in a browser, too."""
    from jdkmatrix.cli.verdict_table import VERDICTS, put_between, verdict_table
    from jdkmatrix.report.site.claims_page import host_verdicts

    project = find_project()
    addresses, folders = addresses_of(records_at), folders_of(runs or [project.results])
    if unused := addresses.keys() - {folder.resolve().parent for folder in folders}:
        raise MatrixError(f"--records-at {min(unused)}: none of the runs shown is in it")
    with stoppable():
        built = write_site(project, folders, site, cell_pages=cell_pages, records_at=addresses)
    print(visible(f"site: {built.index}"))
    if verdicts_into is not None:
        put_between(verdicts_into, VERDICTS, verdict_table(host_verdicts(claims_of_today(project), built.runs)))
    if show and not webbrowser.open(built.index.as_uri()):
        print("matrix: no browser could be started", file=sys.stderr)
    damaged = [*built.unreadable, *(text for run in built.runs for text in run.damaged)]
    return EXIT_WITH_FAILURES if tell_damage(damaged) else 0


def export(run: str | None, form: str) -> int:
    """Print the results of a run, or of the newest, for other programs; return the exit code.

    Raises:
        MatrixError: no run is there, or it cannot be read.
    """
    from jdkmatrix.report import exports
    from jdkmatrix.report.judged_run import JudgedRun

    loaded = load_run(run)
    registry = claims_of_today(find_project())
    with readable(loaded.directory):
        judged = JudgedRun(loaded, registry)
        forms: dict[str, Callable[[], object]] = {
            "csv": lambda: exports.as_csv(exports.results(judged)),
            "blocks": lambda: exports.as_csv(exports.blocks(judged), exports.BLOCK_COLUMNS),
            "json": lambda: {
                "run_id": loaded.run.run_id,
                "results": exports.as_json(exports.results(judged)),
                "verdicts": exports.verdicts(judged.claims),
            },
            "jmh": lambda: exports.jmh(judged),
            "bigger-is-better": lambda: exports.better(judged.cells, bigger=True),
            "smaller-is-better": lambda: exports.better(judged.cells, bigger=False),
            "bencher": lambda: exports.bencher(judged.cells),
            "openmetrics": lambda: exports.openmetrics(judged),
            "badge": lambda: exports.badges(judged),
        }
        found = forms[form]()
        if not isinstance(found, str):
            print(json.dumps(found, indent=1, allow_nan=False))
        else:
            if isinstance(sys.stdout, TextIOWrapper):  # programs read it, whatever the terminal can show
                sys.stdout.reconfigure(encoding="utf-8")
            print(found, end="")
    return EXIT_WITH_FAILURES if tell_damage(loaded.damaged) else 0


def summarise(run: str | None, *, as_markdown: bool) -> int:
    """Print what `run`, or the newest run, came to; return the exit code.

    Raises:
        MatrixError: no run is there, or it cannot be read.
    """
    from jdkmatrix.cli.console import console_here
    from jdkmatrix.cli.summary import print_summary, summary_markdown

    loaded = load_run(run)
    registry = claims_of_today(find_project())
    with readable(loaded.directory):
        if as_markdown:
            print(summary_markdown(loaded, registry))
        else:
            print_summary(loaded, console_here(), registry)
    return EXIT_WITH_FAILURES if tell_damage(loaded.damaged) else 0


def why_not_written(error: Exception) -> str:
    """Say in a line what keeps a site from being written; for anything but a MatrixError, also where it occurred."""
    return str(error) if isinstance(error, MatrixError) else fault(error)


def tell_damage(damaged: Sequence[str]) -> bool:
    """Say on stderr which result files are damaged or missing; return whether any are."""
    for text in damaged:
        print(f"matrix: {visible(text)}", file=sys.stderr)
    return bool(damaged)


def folders_of(named: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders of these runs, and of the runs inside folders of results.

    Raises:
        MatrixError: one is neither, or was stopped before it was a run.
    """
    found: dict[Path, Path] = {}
    for folder in named:
        if not folder.is_dir():
            raise MatrixError(f"{folder}: neither a run nor a folder of runs")
        check_recorded(folder)
        runs = (folder,) if is_run(folder) else all_runs(folder)
        found.update((run.resolve(), run) for run in runs)
    return tuple(found.values())


def load_run(named: str | None) -> LoadedRun:
    """Load a run that is named by the path of its folder, or by its id; None: the newest.

    Raises:
        MatrixError: there is none, or it cannot be read.
    """
    results = find_project().results
    if named is None:
        return RunStore(latest_run(results)).load()
    for folder in (Path(named), results / named, results / REFERENCE / named):
        if is_run(folder):
            return RunStore(folder).load()
        check_recorded(folder)
    raise MatrixError(f"{named}: neither the folder of a run nor the id of one in {results}")


def claims_of_today(project: Project) -> tuple[ClaimRecord, ...]:
    """Return the published claims by which runs are judged.

    Raises:
        MatrixError: a published source cannot be read.
    """
    registry = load_claims(project.published)
    return registry.records(registry.claims)


def addresses_of(named: Sequence[str]) -> dict[Path, str]:
    """Parse FOLDER=URL; return addresses by folder.

    Raises:
        MatrixError: one is not FOLDER=URL.
    """
    found: dict[Path, str] = {}
    for text in named:
        folder, _, url = text.partition("=")
        if not Path(folder).is_dir() or not url.startswith(("https://", "http://")):
            raise MatrixError(f"--records-at {text}: must be FOLDER=URL, an existing folder and an http(s) address")
        place = Path(folder).resolve()
        if found.setdefault(place, url) != url:
            raise MatrixError(f"--records-at {text}: {folder} is already at {found[place]}")
    return found


def _newest(runs: Sequence[Path], *, cells_max: int) -> tuple[Path, ...]:
    """Return the runs that began last, as many as together have at most `cells_max` cells."""
    newest_first = sorted(runs, key=began, reverse=True)
    together = accumulate(RunStore(run).count_cells() for run in newest_first)
    return tuple(run for run, cells in zip(newest_first, together, strict=True) if cells <= cells_max)


def write_site(
    project: Project,
    runs: Sequence[Path],
    site: Path | None,
    *,
    cell_pages: int | None = None,
    records_at: Mapping[Path, str] | None = None,
) -> Built:
    """Write the site of the runs in these folders. `cell_pages`: how many cells may have a page; the newest runs take
    them, each for all of its cells. `records_at`: by folder, the address below which each run in it lies, by its name.

    Raises:
        MatrixError: as build_site; matrix.toml or a published source cannot be read.
    """
    from jdkmatrix.report.site.build import Background, build_site
    from jdkmatrix.report.site.render_runs import SiteRun
    from jdkmatrix.report.site.run_pages import CellFiles

    tables = read_files(project.matrix)
    matrix, loads = parse_files(tables), frozenset(name for one in tables.values() for name in one.get("loads", ()))
    jdks = frozenset((*(entry.id for entry in load_catalogue(project.jdks).entries), *matrix.jdk_homes))
    registry = load_claims(project.published, matrix.scenarios)
    in_full = frozenset(runs if cell_pages is None else _newest(runs, cells_max=cell_pages))
    found = []
    for store in map(RunStore, runs):
        base = (records_at or {}).get(store.directory.resolve().parent)
        files = CellFiles(store.directory in in_full, None if base is None else f"{base}{quote(store.directory.name)}")
        found.append(SiteRun(str(store.directory), store.load, f"{store.stamp()} {files}", store.count_cells(), files))
    return build_site(found, site or project.site, Background(project.templates, matrix, registry, jdks, loads))
