"""The pages and files of one run, in its own folder of the site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.gc_pause import gc_paused
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.blocks.inline import METHOD_PAGE, cell_page, file_stem, say
from jdkmatrix.report.blocks.kinds import Prose, WebPage
from jdkmatrix.report.cell_page import logs
from jdkmatrix.report.cell_page.page import CellLinks
from jdkmatrix.report.cell_page.page import cell_page as page_of
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.exports import BLOCK_COLUMNS, as_csv, blocks, results, verdicts
from jdkmatrix.report.html.method import method_page
from jdkmatrix.report.html.page import Pages
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.report.site.digest import RunDigest, digest, run_folder
from jdkmatrix.report.site.replace_folder import link_or_copy
from jdkmatrix.stats.histograms import percentile_distribution
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore

_ROOT = "../../"  # from a run's folder
_CELL_ROOT = f"../{_ROOT}"


@dataclass(frozen=True)
class CellFiles:
    """The files that a site has for a run's cells. `pages`: a page for each, else a few lines that say where its
    figures are. `records_at`: the address of the run's own files, of which the site then has no copies."""

    pages: bool
    records_at: str | None


IN_FULL = CellFiles(pages=True, records_at=None)


class RunWriter:
    """Writer of a run's pages. `registry`: today's claims. `cells`: their number; each can be written by itself."""

    def __init__(
        self, loaded: LoadedRun, site: Path, pages: Pages, registry: Sequence[ClaimRecord], files: CellFiles
    ) -> None:
        self._judged, self._pages, self._files = JudgedRun(loaded, registry), pages, files
        self._folder = site / run_folder(loaded.run.run_id)
        (self._folder / "cells").mkdir(parents=True)
        self.cells = len(loaded.cells)

    def write_index(self) -> RunDigest:
        judged, run, pages = self._judged, self._judged.run, self._pages
        notices = run_notices(judged)
        experiments = experiment_sections(judged.experiments)
        for name, text in {
            "index.html": pages.render(run_page(judged, experiments, notices, _ROOT)),
            METHOD_PAGE: pages.render(method_page(run, *pages.tried, _ROOT)),
            "run.json": run.model_dump_json(indent=1),
            "results.csv": as_csv(results(judged)),
            "blocks.csv": as_csv(blocks(judged), BLOCK_COLUMNS),
            "verdicts.json": json.dumps(verdicts(judged.claims), indent=1, allow_nan=False) + "\n",
        }.items():
            (self._folder / name).write_text(text, "utf-8")
        return digest(judged, notices)

    def write_cells(self, places: range) -> None:
        for outline in self._judged.loaded.cells[places.start : places.stop]:
            with gc_paused():
                page = self._page(outline) if self._files.pages else self._brief(outline)
                text = self._pages.render(page, scripts=("report.js",) if self._files.pages else ())
                (self._folder / cell_page(outline.key)).write_text(text, "utf-8")

    def _page(self, outline: CellRecord) -> WebPage:
        judged = self._judged
        cell = judged.cell(outline.key)
        record = judged.loaded.whole(outline)
        published = logs.publish_all(judged.loaded, record, self._folder / "cells")
        links = self._links(outline, record, self._hgrm(cell))
        return page_of(cell, record, judged, published, links, _CELL_ROOT)

    def _brief(self, outline: CellRecord) -> WebPage:
        """Build what stands in place of the cell's page, so that every link to it leads to what there is."""
        key, run_id = outline.key, self._judged.run.run_id
        section = "experiments" if self._judged.experiments.get(key) else "cells"
        words = say("no_page", cell_id=key.cell_id, run_id=run_id, section=section, links=self._links(outline))
        return WebPage(
            heading=f"{key.executor} on {key.jdk}",
            blocks=(Prose(words, css=""),),
            root=_CELL_ROOT,
            up="../index.html",
            run_id=run_id,
            plain=True,
        )

    def _hgrm(self, cell: CellStats) -> str | None:
        """Write the latencies of all its requests beside its record, for plotters that read HdrHistogram's format."""
        if cell.latency is None or cell.latency.histogram is None:
            return None
        name = f"{file_stem(cell.key.cell_id)}.hgrm"
        (self._folder / "cells" / name).write_text(percentile_distribution(cell.latency.histogram), "utf-8")
        return name

    def _links(self, outline: CellRecord, record: CellRecord | None = None, hgrm: str | None = None) -> CellLinks:
        """Link the cell's record, which is among the run's own files or copied beside the page. `record`: the whole of
        it, if it was read."""
        if self._files.records_at is not None:
            return CellLinks(self._files.records_at, elsewhere=True, hgrm=hgrm)
        loaded, name = self._judged.loaded, f"{file_stem(outline.key.cell_id)}.json"
        published = self._folder / "cells" / name
        measured = RunStore(loaded.directory).cell_path(outline.key)
        if measured.is_file():
            link_or_copy(measured, published)
        else:
            published.write_text((record or loaded.whole(outline)).model_dump_json(indent=1), "utf-8")
        return CellLinks(name, hgrm=hgrm)
