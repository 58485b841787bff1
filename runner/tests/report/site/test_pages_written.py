"""The written site: its files, what may not get into it, the script that draws charts, and how it takes its place."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import resource
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.errors import MatrixError
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.report.blocks.kinds import TAIL_LINES, WebPage
from jdkmatrix.report.cell_page import logs
from jdkmatrix.report.html.page import as_json, as_script
from jdkmatrix.report.site import build, replace_folder
from jdkmatrix.report.site.build import build_site
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.history_page import history_pages
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.readable import UnreadableError
from tests.support import charting
from tests.support.experiment_runs import experiments_of
from tests.support.hostile_runs import hostile_experiments, hostile_run
from tests.support.judged_pages import PageOfRun
from tests.support.pages import Elements, assert_links_lead_somewhere
from tests.support.project import ROOT, matrix_command
from tests.support.records import with_forks
from tests.support.served_runs import QUICK, made_up, synthetic_run, with_scenario
from tests.support.sites import background, built, later, site_of, stored

ONE = replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1)


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    return synthetic_run(tmp_path / "run", ONE)


def test_the_site_has_the_records_of_run_and_cells_which_are_read_once(tmp_path: Path, loaded: LoadedRun) -> None:
    read: list[CellKey] = []

    def whole(cell: CellRecord) -> CellRecord:
        read.append(cell.key)
        return cell

    site = site_of([replace(loaded, whole=whole)], tmp_path / "site")
    assert read == [cell.key for cell in loaded.cells]
    for cell in loaded.cells:
        record = (site / cell_page(cell.key)).with_suffix(".json").read_text("utf-8")
        assert CellRecord.model_validate_json(record) == cell
    assert RunRecord.model_validate_json((site / "run.json").read_text("utf-8")) == loaded.run


def test_a_record_on_the_site_is_the_file_that_was_measured(tmp_path: Path, loaded: LoadedRun) -> None:
    """The record is the same file under another name, not a link out of the site; a link in the results is followed."""
    store = stored(tmp_path / "measured", loaded)
    one, two = (store.cell_path(cell.key) for cell in loaded.cells[:2])
    elsewhere = one.rename(tmp_path / "elsewhere.json")
    one.symlink_to(elsewhere)
    site = site_of([store.load()], tmp_path / "site")
    for cell, measured in zip(loaded.cells, (elsewhere, two), strict=False):
        shown = (site / cell_page(cell.key)).with_suffix(".json")
        assert not shown.is_symlink() and shown.samefile(measured)


def test_every_page_has_the_menu_and_every_link_leads_to_a_file_of_the_site(tmp_path: Path, loaded: LoadedRun) -> None:
    """The security policy of no page allows anything from elsewhere."""
    site_of([later(loaded, "older", "2024-01-01"), loaded], tmp_path / "site")
    site = (tmp_path / "site").resolve()
    pages = {page: Elements(page) for page in site.rglob("*.html")}
    of_the_site, by_axis = 5, 6  # one is a condition's history; a server, a JDK, two executors, a workload, a host
    assert len(pages) == of_the_site + by_axis + 2 * (2 + len(loaded.cells))
    assert_links_lead_somewhere(pages)
    newest, of_all = f"runs/{loaded.run.run_id}/", {"claims/index.html", "history/index.html", "by/index.html"}
    asked = {"runs/older/index.html", f"{newest}index.html#reading", f"{newest}method.html", *of_all}
    assert asked <= set(pages[site / "index.html"].targets)
    for page, read in pages.items():
        up = "../" * (len(page.relative_to(site).parts) - 1)
        assert not up or {f"{up}{path}" for path in ("index.html#runs", *of_all)} <= set(read.targets), page
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page.read_text("utf-8"))
        assert policy[1].startswith("default-src &#39;none&#39;") or policy[1].startswith("default-src 'none'")
        assert "unsafe" not in policy[1] and "http" not in policy[1] and "*" not in policy[1]


def test_logs_are_shown_by_their_end_and_copied_whole(tmp_path: Path, loaded: LoadedRun) -> None:
    site = site_of([loaded], tmp_path / "site")
    cell = loaded.cells[0].key.cell_id
    page = (site / "cells" / f"{cell}.html").read_text("utf-8")
    assert "SYNTHETIC line 259" in page and "SYNTHETIC line 60\n" in page
    assert "SYNTHETIC line 59\n" not in page
    (copy,) = (site / "cells" / f"{cell}.files").iterdir()
    assert copy.suffix == ".txt"
    assert copy.read_text("utf-8").count("\n") == 260


def test_no_log_outside_of_the_run_is_read(tmp_path: Path, loaded: LoadedRun) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text("TOP SECRET")
    (loaded.directory / "logs" / "link.log").symlink_to(secret)
    (loaded.directory / "logs" / "elsewhere").symlink_to(tmp_path)
    (loaded.directory / "logs" / "circle").symlink_to("circle")
    paths = {
        "dots": "../../secret.log", "absolute": str(secret), "link": "../logs/link.log", "missing": "../logs/none.log",
        "linked folder": "../logs/elsewhere/secret.log", "through it": "../logs/elsewhere/.", "up": "../logs/..",
        "circle": "../logs/circle", "within it": "../logs/circle/x",
        "nul": "a\0b", "nul in its folder": "a\0b/c", "folder": "../logs",
    }  # fmt: skip
    site = site_of([with_forks(loaded, lambda _, fork: fork.model_copy(update={"logs": paths}))], tmp_path / "site")
    page = (site / "cells" / f"{loaded.cells[0].key.cell_id}.html").read_text("utf-8")
    assert page.count("outside the run") == 6
    assert page.count("there is no such file") == 4
    assert page.count("cannot be read") == 2
    for file in (tmp_path / "site").rglob("*"):
        assert not file.is_symlink()
        assert file.is_dir() or b"TOP SECRET" not in file.read_bytes()


def test_a_tail_is_cut_at_lines_and_cleaned(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m \x00\xff\tend\n")
    assert logs.tail(log) == ("red \ufffd\tend", False)
    log.write_text("".join(f"{i:06d} {'x' * 90}\n" for i in range(20_000)))
    text, cut = logs.tail(log)
    lines = text.splitlines()
    assert len(lines) == TAIL_LINES and lines[-1].startswith("019999")
    assert all(re.match(r"\d{6} x+$", line) for line in lines)
    assert cut
    log.write_text("".join(f"{i} {'x' * 4096}\n" for i in range(300)))
    text, cut = logs.tail(log)
    assert cut and len(text.splitlines()) < TAIL_LINES, "long lines: what was read has few"
    log.write_text("y" * 600_000)
    assert logs.tail(log) == ("y" * 512 * 1024, True)


def test_a_finished_site_takes_the_old_ones_place(tmp_path: Path, loaded: LoadedRun) -> None:
    site = tmp_path / "site"
    site_of([loaded], site)
    (site / "stale.html").write_text("old")
    site_of([loaded], site)
    assert not (site / "stale.html").exists() and (site / "index.html").is_file()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    mask = os.umask(0)
    os.umask(mask)
    assert os.stat(site).st_mode & 0o777 == 0o777 & ~mask  # noqa: PTH116


@pytest.mark.parametrize(("number", "left"), [(signal.SIGTERM, 0), (signal.SIGKILL, 1)])
def test_a_report_that_is_stopped_leaves_the_old_site_and_the_next_one_tidies_up(
    tmp_path: Path, loaded: LoadedRun, number: signal.Signals, left: int
) -> None:
    site = tmp_path / "site"
    stored(tmp_path / "runs" / "one", loaded)
    site_of([loaded], site)
    (site / "here-before").touch()
    command = matrix_command("report", str(tmp_path / "runs" / "one"), "--site", str(site))
    with subprocess.Popen(command, env={**os.environ, "MATRIX_HOME": str(ROOT)}) as report:
        while not list(tmp_path.glob(".site.*")):
            assert report.poll() is None
        report.send_signal(number)
    assert report.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert (site / "here-before").exists()
    assert len(list(tmp_path.glob(".site.*"))) == left
    site_of([loaded], site)
    assert list(tmp_path.glob(".site.*")) == []


def test_a_disk_without_room_is_one_message_and_the_old_site_stays(tmp_path: Path, loaded: LoadedRun) -> None:
    """The disk may fill up in a file of all runs, or in a run's own pages, which is not the fault of that run."""
    site_of([loaded], tmp_path / "site")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}

    def full() -> LoadedRun:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told = r"site: the site cannot be written: No space left on device; the folder stays as it was"
    with pytest.raises(MatrixError, match=told):
        build_site([SiteRun("run", full)], tmp_path / "site", background())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(MatrixError, match="the site cannot be written: File too large; the folder stays as it was"):
            site_of([loaded], tmp_path / "site")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_a_run_that_fits_on_no_page_of_all_is_left_out_of_them(
    tmp_path: Path, loaded: LoadedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's own pages can be written, but not its ratios beside those of other runs."""

    def stumbles(runs: Sequence[RunDigest]) -> dict[str, WebPage]:
        if "odd" in {run.run_id for run in runs}:
            raise OverflowError("math range error")
        return history_pages(runs)

    monkeypatch.setattr(build, "history_pages", stumbles)
    runs = [later(loaded, name, f"2024-01-0{day}") for day, name in enumerate(("old", "odd", "new"), start=1)]
    made = built(runs, tmp_path / "site")
    assert [run.run_id for run in made.runs] == ["new", "old"]
    assert len(made.unreadable) == 1 and made.unreadable[0].startswith("run odd: cannot be shown: OverflowError")
    assert made.unreadable[0] in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert sorted(path.name for path in (tmp_path / "site" / "runs").iterdir()) == ["new", "old"]
    with pytest.raises(UnreadableError, match="run odd: cannot be shown"):
        built(runs[1:2], tmp_path / "site")


def test_loads_that_nobody_can_ask_for_any_more_are_told(tmp_path: Path, loaded: LoadedRun) -> None:
    for loads, told in (({"saturate-N"}, ""), ({"rate-N"}, '"saturate-50"')):
        build_site([SiteRun("run", lambda: loaded)], tmp_path / "site", replace(background(), loads=frozenset(loads)))
        page = (tmp_path / "site" / "index.html").read_text("utf-8")
        assert re.search(rf'"other_loads": ?\[{told}\]', page)


def test_a_folder_of_somebody_else_is_never_replaced(tmp_path: Path, loaded: LoadedRun) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("cat")
    (tmp_path / "file").write_text("text")
    for name in ("photos", "file"):
        with pytest.raises(MatrixError, match="not a site of this tool"):
            site_of([loaded], tmp_path / name)
    assert (tmp_path / "photos" / "cat.png").read_text() == "cat"


class NoExchange:
    def renameat2(self, *_: object) -> int:
        return -1


@pytest.mark.parametrize("library", [NoExchange(), object()], ids=["file system", "C library"])
def test_where_there_is_no_exchange_it_is_served_by_renames(
    library: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: library)
    for text in ("one", "two"):
        with replace_folder.replacing(site) as fresh:
            (fresh / "index.html").write_text(text)
    assert (site / "index.html").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_where_the_second_rename_fails_the_old_site_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, rename = tmp_path / "site", Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == site and (self / "new").exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    with replace_folder.replacing(site) as fresh:
        (fresh / "old").touch()
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: NoExchange())
    monkeypatch.setattr(Path, "rename", failing)
    with (
        pytest.raises(MatrixError, match="Input/output error; the folder stays as it was"),
        replace_folder.replacing(site) as fresh,
    ):
        (fresh / "new").touch()
    assert (site / "old").exists()


def test_bad_input_is_one_message(tmp_path: Path, loaded: LoadedRun) -> None:
    with pytest.raises(MatrixError, match="no run to report"):
        site_of([], tmp_path / "site")
    with pytest.raises(MatrixError, match=r"page\.html\.j2, .* missing"):
        site_of([loaded], tmp_path / "site", templates=tmp_path)
    assert not (tmp_path / "site").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_data_for_scripts_cannot_end_its_element_and_nan_is_none(data: object) -> None:
    text = str(as_json(data))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == data
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"x": float("nan")})


@pytest.mark.real
def test_the_script_that_draws_is_what_the_locked_package_bundles() -> None:
    _, script = charting.shipped()
    assert script == charting.bundled(), "to write it anew: python -m tests.support.charting"


def test_that_script_carries_its_licences_and_cannot_end_the_element_it_stands_in() -> None:
    licences, script = charting.shipped()
    assert "University of Washington Interactive Data Lab" in licences and "Mike Bostock" in licences
    assert script.startswith("(() => {\n") and script.endswith("\n})();\n")
    assert as_script(licences + script) == licences + script
    assert as_script("'</script><!--'") == "'<\\/script><\\!--'"


def test_a_page_of_experiments_only_has_nothing_empty(tmp_path: Path) -> None:
    site = site_of([experiments_of(accidents=True)], tmp_path / "site")
    elements = Elements(site / "index.html")
    assert not {"answers", "cells", "cells-table", "precision"} & set(elements.ids)
    assert {*(f"experiment-{kind}" for kind in BY_NAME), "reading", "reproduce"} <= set(elements.ids)
    for words in ("0 of 0", "request executor", "CPU per request", "Closed and open loop", "fresh server process"):
        assert words not in elements.text


def test_a_page_with_servers_only_says_nothing_of_experiments() -> None:
    elements = Elements(PageOfRun(made_up(replace(QUICK, blocks=1))).html)
    assert {"answers", "cells", "cells-table"} <= set(elements.ids)
    assert "ithout a server" not in elements.text and not any(one.startswith("alone") for one in elements.ids)


@pytest.mark.parametrize(("hostile", "pages"), [(hostile_run, 4), (hostile_experiments, 6)])
def test_hostile_text_becomes_no_element(tmp_path: Path, hostile: Callable[[Path], LoadedRun], pages: int) -> None:
    """Hostile text becomes no element on pages of its run or of all runs, and leads nowhere outside of the site."""
    own = site_of([hostile(tmp_path / "run"), with_scenario(made_up(QUICK))], tmp_path / "site")
    shown = [own / "index.html", *(own / "cells").glob("*.html")]
    assert len(shown) == pages
    for page in (tmp_path / "site").rglob("*.html"):
        elements = Elements(page)
        assert not {"img", "iframe", "object", "embed"} & set(elements.tags)
        assert not any(name.startswith("on") for name, _ in elements.attributes)
        for target in elements.targets:
            path = (page.parent / target.partition("#")[0]).resolve()
            assert not target.startswith("javascript:")
            assert path.is_relative_to((tmp_path / "site").resolve()) or target.startswith(("#", "https://"))
        if page in shown:
            assert elements.tags.count("script") == (3 if "page-charts" in elements.ids else 1)
            assert "onerror" in elements.text and "{{ 7*7 }}" in elements.text
