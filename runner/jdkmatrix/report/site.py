"""Write the site: the newest run at its root, every other run in a folder below `runs`, each with a page per cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.cells import CellRecord
from jdkmatrix.report import logs
from jdkmatrix.report.cell_view import view_cell
from jdkmatrix.report.cellstats import Cells, State
from jdkmatrix.report.charts import DASHES, executor_order
from jdkmatrix.report.experiments.cell_view import view_experiment_cell
from jdkmatrix.report.experiments.cells import Experiments
from jdkmatrix.report.experiments.view import view_experiments
from jdkmatrix.report.exports import results_csv, verdicts
from jdkmatrix.report.heat import legend
from jdkmatrix.report.judgements import NUMERATOR, judge_run
from jdkmatrix.report.method import view_method
from jdkmatrix.report.names import METHOD_PAGE, cell_page, file_stem
from jdkmatrix.report.page import Pages, vega_library
from jdkmatrix.report.published import judged_claims
from jdkmatrix.report.replace_folder import replacing
from jdkmatrix.report.run_view import view_run
from jdkmatrix.report.views import CellView
from jdkmatrix.report.wording import STATE_MEANING
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.terms.cell_key import CellKey

_LIBRARY = "assets/vega.js"


@dataclass(frozen=True)
class _Place:
    """Where one run's pages are; `root` leads from there to the site's root."""

    run: LoadedRun
    folder: str
    root: str

    @property
    def index(self) -> str:
        return f"{self.folder}index.html"


def build_site(runs: Sequence[LoadedRun], out_dir: Path, *, templates: Path) -> Path:
    """Write the site of these runs to `out_dir` and return the path of its index.html.

    The newest run is the front page. The folder takes its place in one step: until then a site that stood there stays.

    Raises:
        MatrixError: no run, two runs of one id, `out_dir` is something else than a site, or a template is missing.
    """
    if not runs:
        raise MatrixError("no run to report: give at least one")
    places = _places(runs)
    pages = Pages(
        templates,
        page_of=lambda key: _link(cell_page(key)),
        numerator=NUMERATOR,
        heat_legend=legend(),
        dashes=DASHES,
        statuses=tuple((state.value, STATE_MEANING[state]) for state in State),
        tail_lines=logs.TAIL_LINES,
        method_page=METHOD_PAGE,
    )
    with replacing(out_dir) as fresh:
        library = fresh / _LIBRARY
        library.parent.mkdir()
        library.write_text(vega_library(), "utf-8")
        for place in places:
            _write_run(place, places, fresh, pages)
    return out_dir.resolve() / "index.html"


def _places(runs: Sequence[LoadedRun]) -> tuple[_Place, ...]:
    newest, *older = sorted(runs, key=lambda loaded: (loaded.run.started_at, loaded.run.run_id), reverse=True)
    ids = [loaded.run.run_id for loaded in runs]
    twice = sorted({run_id for run_id in ids if ids.count(run_id) > 1})
    if twice:
        raise MatrixError(f"run {', '.join(twice)} was given twice: every run of a site needs an id of its own")
    return (
        _Place(newest, "", ""),
        *(_Place(loaded, f"runs/{file_stem(loaded.run.run_id)}/", "../../") for loaded in older),
    )


def _write_run(place: _Place, places: Sequence[_Place], site: Path, pages: Pages) -> None:
    loaded = place.run
    folder = site / place.folder
    (folder / "cells").mkdir(parents=True)
    cells = Cells(loaded.run, loaded.cells)
    experiments = Experiments(loaded.run, loaded.cells)
    order = executor_order(key.executor for key in (*cells.keys, *experiments.keys))
    judgements = judge_run(cells)
    view = view_run(loaded, cells)
    shown = view_experiments(experiments, order)
    others = [
        {"run_id": other.run.run.run_id, "href": _link(f"{place.root}{other.index}")}
        for other in places
        if other is not place
    ]
    (folder / "index.html").write_text(
        pages.render(
            "index.html.j2",
            view=view,
            experiments=shown,
            other_runs=others,
            specs={**view.charts, **shown.charts},
            library_inline=True,
        ),
        "utf-8",
    )
    (folder / METHOD_PAGE).write_text(
        pages.render(
            "method.html.j2",
            view=view_method(loaded.run, pages.provoked),
            run_id=loaded.run.run_id,
            specs={},
            library_inline=False,
        ),
        "utf-8",
    )
    (folder / "run.json").write_text(loaded.run.model_dump_json(indent=1), "utf-8")
    (folder / "results.csv").write_text(results_csv(loaded.run.run_id, cells, judgements, experiments), "utf-8")
    told = verdicts(judged_claims(loaded.run, cells, experiments))
    (folder / "verdicts.json").write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", "utf-8")
    for cell in cells:
        published = logs.publish_all(loaded, cell.record, folder / "cells")
        cell_view = view_cell(cell, cells, judgements, loaded.run, order, published)
        _write_cell("cell-served.html.j2", cell_view, cell.record, place, folder, pages)
    for lone in experiments:
        published = logs.publish_all(loaded, lone.record, folder / "cells")
        lone_view = view_experiment_cell(lone, experiments, loaded.run, order, published)
        _write_cell("cell-experiment.html.j2", lone_view, lone.record, place, folder, pages)


def _write_cell(template: str, view: CellView, record: CellRecord, place: _Place, folder: Path, pages: Pages) -> None:
    """The cell's page and its record."""
    (folder / cell_page(record.key)).write_text(
        pages.render(
            template,
            view=view,
            run_id=place.run.run.run_id,
            record_href=_link(_record(record.key)),
            vega_src=f"../{place.root}{_LIBRARY}",
            specs=view.charts,
            library_inline=False,
        ),
        "utf-8",
    )
    (folder / "cells" / _record(record.key)).write_text(record.model_dump_json(indent=1), "utf-8")


def _record(key: CellKey) -> str:
    return f"{file_stem(key.cell_id)}.json"


def _link(path: str) -> str:
    return quote(path, safe="/.")
