"""Pages of many runs: made by several processes, or taken over from the existing site unless anything that they are
made of has changed; and faults that stop no other run."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from multiprocessing import active_children
from operator import methodcaller
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import catalogue
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.html import page
from jdkmatrix.report.site import build, render_runs, replace_folder
from jdkmatrix.report.site.build import Background, Built, build_site
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.render_runs import PROCESSES_MAX, RenderedRun, SiteRun, processes, writers
from jdkmatrix.report.site.run_pages import RunWriter
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support import sites
from tests.support.experiment_runs import experiments_of
from tests.support.served_runs import QUICK, made_up
from tests.support.shipped import JDKS, LOADS, MATRIX, REGISTRY, TEMPLATES
from tests.support.sites import background, later, stored
from tests.support.waiting import HANGS_S

# Of eight runs, two are made at a time. The first cell is written before processes are forked for the others. Each
# sleeping process misses its first SIGTERM, as it may miss one that comes right before it falls asleep.
SLEEPERS = """
import os, signal, sys, time
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread, get_ident
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.report.site import render_runs
from jdkmatrix.store.runs import RunStore

def fall_asleep(first, cell):
    if cell != first:
        end = signal.getsignal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda *_: signal.signal(signal.SIGTERM, end))
        os.write(1, b"z")
        time.sleep(600)
    return cell

def load(run):
    loaded = RunStore(run).load()
    return replace(loaded, whole=partial(fall_asleep, loaded.cells[0]))

def stop_here():
    sys.stdin.readline()
    signal.pthread_kill(get_ident(), signal.SIGINT)

if __name__ == "__main__":
    run, site, templates = map(Path, sys.argv[1:])
    render_runs.processes, render_runs.writers = lambda *_: 2, lambda *_: [2] * 8
    runs = [render_runs.SiteRun("sleeper", partial(load, run)) for _ in range(8)]
    Thread(target=stop_here, daemon=True).start()
    with stoppable():
        list(render_runs.make_all(runs, site, templates, ()))
"""
ONE = replace(QUICK, blocks=1, windows=1)
LARGE = replace(QUICK, burn_us=tuple(range(5)), blocks=1, windows=1)


@pytest.fixture(scope="module")
def served() -> LoadedRun:
    """Return a run with more cells than a process writes at a time."""
    return made_up(LARGE)


def load_nothing() -> None:
    """Load nothing: these runs are only counted."""


@pytest.mark.parametrize(
    ("cells", "cpus", "at_a_time", "for_cells"),
    [
        ([], 8, 1, []), ([199], 8, 1, [1]), ([10_000], 8, 1, [8]), ([10_000], 64, 1, [PROCESSES_MAX]),
        ([10_000, 99], 2, 2, [2, 1]), ([99, 100], 8, 1, [1, 1]), ([100, 100], 8, 2, [1, 1]),
        ([1000, 1000], 8, 2, [4, 4]), ([100, 100], 1, 1, [1, 1]), ([1000] * 100, 64, PROCESSES_MAX, [1] * 100),
    ],
)  # fmt: skip
def test_processes_start_where_they_pay(cells: list[int], cpus: int, at_a_time: int, for_cells: list[int]) -> None:
    runs = [SiteRun("run", load_nothing, cells=count) for count in cells]  # type: ignore[arg-type]
    assert (processes(runs, cpus), writers(runs, cpus)) == (at_a_time, for_cells)


def built(site: Path, *stores: RunStore) -> Built:
    """Build a site of these stores."""
    runs = [SiteRun(str(store.directory), store.load, store.stamp()) for store in stores]
    return build_site(runs, site, background())


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_many_processes_write_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun) -> None:
    stored(tmp_path / "runs" / "served", served)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    stored(tmp_path / "runs" / "experiments", experiments_of(forks=1))
    stored(tmp_path / "runs" / "again", later(served, "again", "2024-01-01"))
    stores = [RunStore(tmp_path / "runs" / name) for name in ("served", "broken", "experiments", "again", "again")]

    def site(count: int) -> tuple[Built, dict[Path, bytes]]:
        monkeypatch.setattr(render_runs, "processes", lambda *_: count)
        monkeypatch.setattr(render_runs, "writers", lambda *_: [count] * len(stores))
        folder = tmp_path / f"site-{count}"
        return built(folder, *stores), files_in(folder)

    (one, files), (two, same_files) = site(1), site(2)
    assert [run.run_id for run in two.runs] == [run.run_id for run in one.runs] and len(two.runs) == 3
    assert two.unreadable == one.unreadable and len(two.unreadable) == 2
    assert same_files == files


class Sent(tuple[ClaimRecord, ...]):
    """A registry that knows how often it was sent to another process."""

    times: ClassVar = 0

    def __reduce__(self) -> tuple[type, tuple[()]]:
        Sent.times += 1
        return tuple, ()


def test_what_all_runs_take_is_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun) -> None:
    monkeypatch.setattr(render_runs, "processes", lambda *_: 2)
    runs = [SiteRun("run", partial(replace, served)) for _ in range(5)]
    made = list(render_runs.make_all(runs, tmp_path, TEMPLATES, Sent()))
    assert len(made) == 5 and not any(isinstance(one, str) for one in made)
    assert 0 < Sent.times <= 2


def odd(last: CellRecord, cell: CellRecord) -> CellRecord:
    if cell == last:
        raise OverflowError("too large")
    return cell


def kill_me(last: CellRecord, cell: CellRecord) -> CellRecord:
    if cell == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return cell


def with_last_cell(spoilt: Callable[[CellRecord, CellRecord], CellRecord], run: LoadedRun) -> LoadedRun:
    return replace(run, whole=partial(spoilt, run.cells[-1]))


def test_a_fault_of_one_cell_is_the_same_message_wherever_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun
) -> None:
    run = SiteRun("run", partial(with_last_cell, odd, served))
    told: list[RenderedRun | str] = []
    for count in (1, 2):
        monkeypatch.setattr(render_runs, "writers", lambda *_, count=count: [count])
        told += render_runs.make_all([run], tmp_path / str(count), TEMPLATES, ())
    assert told[0] == told[1]
    assert str(told[0]).startswith("run: cannot be shown: OverflowError in report/site/run_pages.py")


@pytest.mark.parametrize("for_their_cells", [1, 2])
def test_a_process_that_is_killed_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: LoadedRun, for_their_cells: int
) -> None:
    monkeypatch.setattr(render_runs, "processes", lambda *_: 2)
    monkeypatch.setattr(render_runs, "writers", lambda *_: [for_their_cells] * 2)
    runs = [SiteRun("run", partial(with_last_cell, kill_me, served))] * 2
    with pytest.raises(MatrixError, match="was killed; the kernel does so when memory runs out"):
        list(render_runs.make_all(runs, tmp_path, TEMPLATES, ()))
    assert not active_children()


def stop_in_another_thread(waiting: subprocess.Popen[bytes]) -> None:
    assert waiting.stdin is not None
    waiting.stdin.write(b"stop\n")
    waiting.stdin.flush()


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (methodcaller("send_signal", signal.SIGKILL), -9),
        (methodcaller("send_signal", signal.SIGINT), 130),
        (methodcaller("send_signal", signal.SIGTERM), 143),
        (stop_in_another_thread, 130),
    ],
    ids=["SIGKILL", "SIGINT", "SIGTERM", "SIGINT in another thread"],
)
def test_no_process_outlives_its_parent(
    tmp_path: Path, served: LoadedRun, stop: Callable[[subprocess.Popen[bytes]], None], status: int
) -> None:
    stored(tmp_path / "run", served)
    program, errors = tmp_path / "sleepers.py", tmp_path / "errors"
    program.write_text(SLEEPERS)
    command = [sys.executable, str(program), str(tmp_path / "run"), str(tmp_path), str(TEMPLATES)]
    pipe = subprocess.PIPE
    with errors.open("wb") as err, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=err) as waiting:
        try:
            assert waiting.stdout is not None
            assert waiting.stdout.read(4) == b"zzzz"
            workers = psutil.Process(waiting.pid).children(recursive=True)
            stop(waiting)
            waiting.wait(HANGS_S)
        except BaseException:
            waiting.kill()
            raise
    assert waiting.returncode == status
    if status > 0:
        name = signal.Signals(status - 128).name
        assert errors.read_text() == f"matrix: stopped by {name}; finished work is kept\n"
    assert len(workers) == 8  # two for runs with two each for cells, one that forks the first, one that tidies up
    _, alive = psutil.wait_procs(workers, timeout=HANGS_S)
    for one in alive:
        one.kill()
    assert alive == []


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the runs whose pages are made from now on, not taken over."""
    ids: list[str] = []
    real = RunWriter.write_index

    def counting(writer: RunWriter) -> RunDigest:
        told = real(writer)
        ids.append(told.run_id)
        return told

    monkeypatch.setattr(RunWriter, "write_index", counting)
    return ids


class Site:
    """A run, and its site in a folder of its own."""

    def __init__(self, folder: Path, loaded: LoadedRun, made: list[str], patch: pytest.MonkeyPatch) -> None:
        self.loaded, self.made, self.patch = loaded, made, patch
        self.store = stored(folder / "run", loaded)
        self.log = folder / "run" / "logs" / "messages.log"
        self.log.write_text("one")
        self.folder, self.templates = folder / "site", folder / "templates"
        shutil.copytree(TEMPLATES, self.templates)
        self.background = Background(self.templates, MATRIX, REGISTRY, JDKS, LOADS)

    def is_made(self) -> bool:
        """Write the site and return whether the run's pages were made, not taken over."""
        self.made.clear()
        run = SiteRun("run", self.store.load, self.store.stamp())
        build_site([run], self.folder, self.background)
        return bool(self.made)

    def other_library(self) -> None:
        self.patch.setattr(f"{build.__name__}.version", lambda name: "0" if name == "scipy" else version(name))

    def other_catalogue(self) -> None:
        others = {**catalogue(), "virtual": catalogue()["virtual"].model_copy(update={"words": "other words"})}
        self.patch.setattr(page, "catalogue", lambda: others)

    def other_application(self) -> None:
        others = {**applications(), "banking": applications()["banking"].model_copy(update={"ready_path": "/other"})}
        self.patch.setattr(page, "applications", lambda: others)

    def other_claims(self) -> None:
        first, *others = REGISTRY.sources
        name, claim = next(iter(first.claims.items()))
        said = {**first.claims, name: claim.model_copy(update={"published": "something else"})}
        changed = (first.model_copy(update={"claims": said}), *others)
        self.background = replace(self.background, claims=REGISTRY.model_copy(update={"sources": changed}))


CHANGES: dict[str, Callable[[Site], object]] = {
    "a record": lambda site: site.store.save_cell(site.loaded.cells[0]),
    "a record that is gone": lambda site: site.store.cell_path(site.loaded.cells[0].key).unlink(),
    "the run": lambda site: site.store.save_run(site.loaded.run),
    "a log": lambda site: site.log.write_text("two"),
    "a log that is gone": lambda site: site.log.unlink(),
    "the code": lambda site: site.patch.setattr(build, "_code", lambda: "another"),
    "a library": Site.other_library,
    "an application": Site.other_application,
    "Python": lambda site: site.patch.setattr(sys, "version", f"{sys.version} of another build"),
    "a template": lambda site: (site.templates / "reading.html.j2").write_text("other words", "utf-8"),
    "the style": lambda site: (site.templates / "report.css").write_text("", "utf-8"),
    "executors": Site.other_catalogue,
    "claims": Site.other_claims,
}


@pytest.fixture
def site(tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, made_up(ONE), made, monkeypatch)


def test_what_pages_are_made_of_changed(site: Site) -> None:
    assert site.is_made() and not site.is_made()
    for name, change in CHANGES.items():
        change(site)
        assert site.is_made(), name
    assert not site.is_made()


def test_what_matrix_toml_says_is_on_pages_that_are_always_made(site: Site) -> None:
    site.is_made()
    assert "another-jdk" not in (site.folder / "index.html").read_text("utf-8")
    axes = MATRIX.axes.model_copy(update={"jdk": (*MATRIX.axes.jdk, "another-jdk")})
    site.background = replace(site.background, matrix=MATRIX.model_copy(update={"axes": axes}))
    assert not site.is_made()
    assert "another-jdk" in (site.folder / "index.html").read_text("utf-8")


def test_only_a_run_that_changed_is_made_again(tmp_path: Path, made: list[str]) -> None:
    """A run whose digest is damaged or names another folder is made again, too: such a digest is not believed."""
    loaded = made_up(ONE)
    first = stored(tmp_path / "a", later(loaded, "a", "2024-01-01"))
    second = stored(tmp_path / "b", later(loaded, "b", "2024-01-02"))
    folder = tmp_path / "site"
    site = built(folder, first, second)
    assert sorted(made) == ["a", "b"]
    before = files_in(folder)
    again = built(folder, first, second)
    assert len(made) == 2 and again.runs == site.runs
    assert files_in(folder) == before
    digest = folder / "runs" / "a" / "digest.json"
    kept = json.loads(digest.read_text())
    for text in ("", "[]", json.dumps({**kept, "run": {**kept["run"], "folder": "../../"}})):
        digest.write_text(text)
        made.clear()
        built(folder, first, second)
        assert made == ["a"]
    second.cell_path(loaded.cells[0].key).write_text("{")
    changed = built(folder, first, second)
    assert made == ["a", "b"]
    assert [bool(run.damaged) for run in changed.runs] == [True, False]


def test_a_file_that_cannot_be_taken_over_leaves_no_part_of_its_run(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next site would find such a part, with the stamp of the whole."""
    loaded, folder = made_up(ONE), tmp_path / "site"
    runs = [stored(tmp_path / name, later(loaded, name, "2024-01-01")) for name in ("a", "b")]
    built(folder, *runs)
    whole, real = files_in(folder), replace_folder.link_or_copy

    def failing(source: str | Path, target: str | Path) -> None:
        if Path(source).parts[-2:] == ("a", "results.csv"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(source))
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(replace_folder, "link_or_copy", failing)
        site = built(folder, *runs)
    assert [run.run_id for run in site.runs] == ["b"] and "Permission denied" in site.unreadable[0]
    assert not (folder / "runs" / "a").exists()
    made.clear()
    built(folder, *runs)
    assert made == ["a"] and files_in(folder) == whole


def test_a_run_that_stands_twice_or_cannot_be_read_is_told_on_the_front_page_and_stops_no_other(tmp_path: Path) -> None:
    """A reference run may be shown first by itself, and then beside a copy of it among the results."""
    loaded = made_up(replace(QUICK, blocks=1, windows=2))
    store = stored(tmp_path / "a", loaded)
    built(tmp_path / "site", store)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    broken = stored(tmp_path / "broken", later(loaded, "other", "2024-01-01"))
    path = broken.cell_path(loaded.cells[0].key)
    text = path.read_text()
    start = text.index('"histogram": "') + len('"histogram": "')
    path.write_text(f"{text[:start]}AAAA{text[start + 4 :]}")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "run.json").write_text("{")
    site = built(tmp_path / "site", RunStore(tmp_path / "copy"), store, broken, RunStore(tmp_path / "odd"))
    assert [run.run_id for run in site.runs] == [loaded.run.run_id]
    assert len(site.unreadable) == 3 and not (tmp_path / "site" / "runs" / "other").exists()
    page = site.index.read_text("utf-8")
    assert "occurs twice" in page and "odd/run.json: not a readable result" in page


def test_a_run_whose_summary_cannot_be_written_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = made_up(QUICK)
    real = RunWriter.write_index

    def spoiling(writer: RunWriter) -> RunDigest:
        found = real(writer)
        if found.run_id != "bad":
            return found
        condition = found.conditions[0]
        spoilt = replace(condition, advice=(replace(condition.advice[0], ratio=math.nan), *condition.advice[1:]))
        return replace(found, conditions=(spoilt, *found.conditions[1:]))

    monkeypatch.setattr(RunWriter, "write_index", spoiling)
    site = sites.built([later(loaded, run_id, "2024-01-01") for run_id in ("bad", "good")], tmp_path / "site")
    assert [run.run_id for run in site.runs] == ["good"]
    assert [text.partition(":")[0] for text in site.unreadable] == ["bad"]
    assert [path.name for path in (tmp_path / "site" / "runs").iterdir()] == ["good"]
