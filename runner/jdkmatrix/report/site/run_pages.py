"""The pages and files of one run, in its own folder of the site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.cell_page import logs
from jdkmatrix.report.cell_page.cell_view import view_cell
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.charts.shapes import on_a_page
from jdkmatrix.report.experiments.cell_view import view_experiment_cell
from jdkmatrix.report.experiments.view import view_experiments
from jdkmatrix.report.exports import as_csv, results, verdicts
from jdkmatrix.report.html.method import view_method
from jdkmatrix.report.html.names import METHOD_PAGE, cell_page, file_stem
from jdkmatrix.report.html.page import DRAWS, Pages
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.report.site.digest import RunDigest, digest
from jdkmatrix.report.site.replace_folder import link_or_copy
from jdkmatrix.report.site.templates import link
from jdkmatrix.report.views import CellView
from jdkmatrix.stats.histograms import percentile_distribution
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore

LIBRARY = f"assets/{DRAWS}"
_ROOT = "../../"  # from a run's folder


@dataclass(frozen=True)
class CellFiles:
    """What the site has of a run's cells. `pages`: a page for each; without, a few lines that say where its figures
    are. `records_at`: the address of the run's own files, of which the site then has no copies."""

    pages: bool
    records_at: str | None


IN_FULL = CellFiles(pages=True, records_at=None)


def run_folder(run_id: str) -> str:
    """Seen from the site's root."""
    return f"runs/{file_stem(run_id)}/"


def write_run(
    loaded: LoadedRun, site: Path, pages: Pages, registry: Sequence[ClaimRecord], files: CellFiles
) -> RunDigest:
    """`registry`: the claims of today."""
    folder = site / run_folder(loaded.run.run_id)
    (folder / "cells").mkdir(parents=True)
    run = JudgedRun(loaded, registry)
    cells, experiments, order, judgements = run.cells, run.experiments, run.order, run.judgements
    view = view_run(run)
    shown = view_experiments(experiments, order)
    for name, text in {
        "index.html": pages.render(
            "run.html.j2",
            library=f"{_ROOT}{LIBRARY}",
            view=view,
            experiments=shown,
            home=f"{_ROOT}index.html",
            charts=on_a_page({**view.charts, **shown.charts}),
        ),
        METHOD_PAGE: pages.render(
            "method.html.j2", view=view_method(loaded.run, pages.tried), run_id=loaded.run.run_id
        ),
        "run.json": loaded.run.model_dump_json(indent=1),
        "results.csv": as_csv(results(run)),
        "verdicts.json": _json(verdicts(run.claims)),
    }.items():
        (folder / name).write_text(text, "utf-8")
    told = digest(run, view, run_folder(loaded.run.run_id))
    if not files.pages:
        for brief in loaded.cells:
            _write_brief(brief, loaded, folder, pages, files)
        return told
    for cell in cells:
        record = loaded.whole(cell.record)
        published = logs.publish_all(loaded, record, folder / "cells")
        cell_view = view_cell(cell, record, cells, judgements, loaded.run, order, published)
        _write_cell("cell-served.html.j2", cell_view, record, loaded, folder, pages, files, _hgrm(cell, folder))
    for lone in experiments:
        record = loaded.whole(lone.record)
        published = logs.publish_all(loaded, record, folder / "cells")
        lone_view = view_experiment_cell(CellStats(record), experiments, loaded.run, order, published)
        _write_cell("cell-experiment.html.j2", lone_view, record, loaded, folder, pages, files)
    return told


def _hgrm(cell: CellStats, folder: Path) -> str | None:
    """Write the latencies of all its requests beside its record, for plotters that read HdrHistogram's text format."""
    if cell.latency is None or cell.latency.histogram is None:
        return None
    name = f"{file_stem(cell.key.cell_id)}.hgrm"
    (folder / "cells" / name).write_text(percentile_distribution(cell.latency.histogram), "utf-8")
    return link(name)


def _write_cell(
    template: str,
    view: CellView,
    record: CellRecord,
    loaded: LoadedRun,
    folder: Path,
    pages: Pages,
    files: CellFiles,
    hgrm_href: str | None = None,
) -> None:
    """The cell's page and its record."""
    (folder / cell_page(record.key)).write_text(
        pages.render(
            template,
            library=f"../{_ROOT}{LIBRARY}",
            view=view,
            run_id=loaded.run.run_id,
            record_href=_publish_record(record, loaded, folder, files),
            records_elsewhere=files.records_at is not None,
            hgrm_href=hgrm_href,
            charts=on_a_page(view.charts),
        ),
        "utf-8",
    )


def _write_brief(record: CellRecord, loaded: LoadedRun, folder: Path, pages: Pages, files: CellFiles) -> None:
    """In the place of the cell's page, so that every link to it leads to what there is. `record`: in outline."""
    (folder / cell_page(record.key)).write_text(
        pages.render(
            "cell-brief.html.j2",
            scripts=(),
            key=record.key,
            run_id=loaded.run.run_id,
            record_href=_publish_record(record, loaded, folder, files),
            records_elsewhere=files.records_at is not None,
        ),
        "utf-8",
    )


def _publish_record(record: CellRecord, loaded: LoadedRun, folder: Path, files: CellFiles) -> str:
    """Where it is, seen from the cell's page: among the run's own files, or copied beside the page."""
    if files.records_at is not None:
        return files.records_at
    name = f"{file_stem(record.key.cell_id)}.json"
    published = folder / "cells" / name
    measured = RunStore(loaded.directory).cell_path(record.key)
    if measured.is_file():
        link_or_copy(measured, published)
    else:
        published.write_text(loaded.whole(record).model_dump_json(indent=1), "utf-8")
    return link(name)


def _json(data: object) -> str:
    return json.dumps(data, indent=1, allow_nan=False) + "\n"
