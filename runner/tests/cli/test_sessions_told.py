"""How the sessions of a run are described, and how they end."""

from __future__ import annotations

import os
import pty
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jdkmatrix.cli import catalogue, running
from jdkmatrix.cli.recording import close_killed, complete_idle, end_session
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.cli.summary import summary_markdown
from jdkmatrix.host.facts import boot_id
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import MeasuredSpan
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import HostFacts, Session
from jdkmatrix.report.run_page.facts import started
from jdkmatrix.report.run_page.sessions import differences, windows_fact
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_of
from tests.support.judged_pages import PageOfRun, printed
from tests.support.pages import facts_of
from tests.support.project import ROOT
from tests.support.records import altered, with_forks
from tests.support.run_facts import host_facts
from tests.support.served_runs import QUICK, made_up, synthetic_run
from tests.support.sites import site_of
from tests.support.stepped_runs import searched


def session(number: int = 1, **changes: Any) -> Session:
    made = Session(
        number=number, started_at=f"2026-01-0{number}T10:00:00Z", ended_at=f"2026-01-0{number}T10:30:00Z",
        status="complete", tool_version="0.1.0", git_commit="c" * 40, git_dirty=False, command=("matrix", "run"),
        host=host_facts(), boot_id="b", confinement="cgroup cpuset",
    )  # fmt: skip
    return made.model_copy(update=changes)


def facts_with(**changes: Any) -> HostFacts:
    return host_facts().model_copy(update=changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"host": facts_with(load_1min=9.0)}, ""),
        ({"boot_id": "c"}, "the host was restarted in between"),
        ({"boot_id": None}, ""),
        ({"git_commit": "d" * 40}, "the commit differs (cccccccccccc, then dddddddddddd)"),
        ({"tool_version": "0.2"}, "the version of the tool differs (0.1.0, then 0.2)"),
        ({"confinement": "sched_setaffinity"}, "the CPU confinement differs (cgroup cpuset, then sched_setaffinity)"),
        ({"host": facts_with(kernel="6.2")}, "the kernel differs (6.2.0-synthetic, then 6.2)"),
        ({"host": facts_with(hostname_hash="1" * 12)}, "the host differs"),
        ({"host": facts_with(transparent_huge_pages="always")}, ""),
    ],
)
def test_what_differed_is_said(change: dict[str, Any], words: str) -> None:
    assert differences((session(), session(2, **change))) == ((words,) if words else ())


def of_sessions(loaded: LoadedRun, *sessions: Session) -> LoadedRun:
    return replace(loaded, run=loaded.run.model_copy(update={"sessions": sessions}))


def in_two_sessions(loaded: LoadedRun, **changes: Any) -> LoadedRun:
    """Move the second block of each cell to another session, where it repeats a spoilt attempt."""
    cells = []
    for cell in loaded.cells:
        first, second, *others = cell.forks
        reason = Reason(code="steal", message="the hypervisor took 7 % of the CPU time away")
        spoilt = second.model_copy(update={"status": Status.INVALID, "reasons": (reason,), "session": 2})
        again = second.model_copy(update={"attempt": 2, "session": 2})
        cells.append(cell.model_copy(update={"forks": (first, again, *others), "attempts": (spoilt,)}))
    return replace(of_sessions(loaded, session(), session(2, **changes)), cells=tuple(cells))


def test_page_and_summary_tell_sessions_and_attempts(tmp_path: Path) -> None:
    loaded = in_two_sessions(synthetic_run(tmp_path / "run", QUICK), boot_id="c")
    shown = PageOfRun(loaded)
    facts = facts_of(shown.page.lede)
    assert facts["Sessions"] == "2: 2026-01-01 10:00 UTC, 30 min, 4 forks; 2026-01-02 10:00 UTC, 30 min, 4 forks"
    assert facts["Measured"] == "2026-01-01 10:00 UTC", "the time between two sessions is none of measuring"
    notices = {notice.title: notice for notice in shown.notices}
    assert notices["Measured in 2 sessions"].weight == "warn"
    assert notices["Measured in 2 sessions"].text.startswith("The host was restarted in between. No block is split")
    assert "4 earlier attempts" in notices["Measured more than once"].text
    for text in (printed(loaded), summary_markdown(loaded).replace("\\", "")):
        assert "measured in 2 sessions; the host was restarted in between" in text
        assert "4 earlier attempts at forks do not count" in text
    site = site_of([loaded], tmp_path / "site")
    page = next((site / "cells").glob("*virtual*.html")).read_text()
    assert "in the run, attempt 2, session 2" in page
    assert "Fork 2, attempt 1" in page
    assert "the hypervisor took 7 % of the CPU time away" in page


def test_a_run_of_one_session_says_nothing_of_differences(tmp_path: Path) -> None:
    one = of_sessions(synthetic_run(tmp_path, QUICK), session())
    shown = PageOfRun(one)
    assert facts_of(shown.page.lede)["Sessions"] == "1"
    assert not [notice for notice in shown.notices if "session" in notice.title]
    assert "session" not in summary_markdown(one)


def test_the_share_of_time_in_windows_that_count(tmp_path: Path) -> None:
    """Both sessions took half an hour."""
    loaded = synthetic_run(tmp_path, QUICK)
    forks = [fork for cell in loaded.cells for fork in cell.forks if fork.usable]
    counted_s = sum(window.load.duration_s for fork in forks for window in fork.valid_windows)
    two = of_sessions(loaded, session(), session(2))
    (told,) = windows_fact(two)
    assert told.value == f"{100 * counted_s / 3600:.0f} % of that time"
    assert windows_fact(of_sessions(loaded, session(), session(2, ended_at=None))) == ()
    assert windows_fact(replace(two, cells=())) == ()


@pytest.mark.parametrize(
    ("changes", "took_s"),
    [
        ({}, 1800),
        ({"duration_s": 900.0}, 900),
        ({"duration_s": 900.0, "ended_at": "2026-01-01T08:00:29Z"}, 900),
        ({"ended_at": "2026-01-01T08:00:29Z"}, None),
        ({"ended_at": "2026-01-01T10:30:00"}, None),
    ],
)
def test_setting_a_clock_changes_no_duration(tmp_path: Path, changes: dict[str, Any], took_s: int | None) -> None:
    loaded = synthetic_run(tmp_path, QUICK)
    timed = session(**changes)
    facts = facts_of(PageOfRun(of_sessions(loaded, timed)).page.lede)
    assert facts["Measured"] == "2026-01-01 10:00 UTC" + (f", {took_s // 60} min" if took_s else "")
    assert ("In windows" in facts) == (took_s is not None)
    times = {name: getattr(timed, name) for name in ("started_at", "ended_at", "duration_s")}
    assert started(loaded.cells[0].forks[0].model_copy(update=times)).value == facts["Measured"]


@pytest.fixture(autouse=True)
def as_without_nohup() -> Iterator[None]:
    """Restore the default SIGHUP handling: the tests themselves may run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("module", "work", "command"),
    [
        (running, "set_up_parts", lambda: running.set_up(Options("quick", {}))),
        (catalogue, "fetch", lambda: catalogue.fetch_one("temurin-25")),
    ],
    ids=["setup", "jdks fetch"],
)
def test_getting_parts_is_stopped_in_order(
    module: ModuleType,
    work: str,
    command: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(*_: object, **__: object) -> None:
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL, "it would end the tests"
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setenv("MATRIX_HOME", str(ROOT))
    monkeypatch.setattr(module, "is_measuring", lambda: False, raising=False)
    monkeypatch.setattr(module, work, stopped)
    with pytest.raises(SystemExit) as ending:
        command()
    assert ending.value.code == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "matrix: stopped by SIGTERM; finished work is kept\n"


HUNG_UP = """
import sys, time
from pathlib import Path
from jdkmatrix.cli.stopping import StoppedError, stoppable
with stoppable():
    try:
        print("ready", flush=True)
        for _ in range(6000):
            time.sleep(0.01)
    except StoppedError:
        print("stopped", flush=True)
        Path(sys.argv[1]).write_text("in order")
        raise
"""


def test_work_ends_in_order_when_its_terminal_is_closed(tmp_path: Path) -> None:
    """What it prints meanwhile goes nowhere. The child sleeps in short steps, since a signal that comes between
    Python's last look at signals and a sleep is seen only after the sleep."""
    ended = tmp_path / "ended"
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, [sys.executable, "-c", HUNG_UP, str(ended)])
    assert b"ready" in os.read(terminal, 100)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGHUP
    assert ended.read_text() == "in order"


def test_nohup_is_not_undone() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_two_sessions_alike_are_told_and_no_warning(tmp_path: Path) -> None:
    loaded = in_two_sessions(synthetic_run(tmp_path, QUICK))
    (notice,) = [n for n in PageOfRun(loaded).notices if "sessions" in n.title]
    assert (notice.weight, notice.text.partition(". ")[0]) == ("info", "Nothing that was recorded differs between them")


def test_a_run_that_was_killed_behind_its_last_fork_is_complete_when_nothing_is_left(tmp_path: Path) -> None:
    """A run that is complete stays as it is."""
    run = synthetic_run(tmp_path, QUICK).run
    assert complete_idle(run, order=()) == run
    assert close_killed([session(status="running", ended_at=None)])[0].status == "interrupted"
    killed = run.model_copy(update={"status": "running", "sessions": (session(status="running", ended_at=None),)})
    found = complete_idle(killed, order=("a#1",))
    assert (found.status, found.order, found.sessions[0].status) == ("complete", ("a#1",), "interrupted")
    assert end_session(killed, "complete", "now", 7.5).sessions[0].ended_at == "now"


def test_this_host_says_when_it_was_started() -> None:
    assert len(boot_id() or "") == 36


def test_windows_of_a_search_and_what_a_program_measured_are_time_in_windows() -> None:
    def told(loaded: LoadedRun) -> int:
        (fact,) = windows_fact(loaded)
        return int(str(fact.value).partition(" ")[0])

    quick = made_up(QUICK)
    found = searched(quick)
    windows = [window for cell in found.cells for fork in cell.forks for window in fork.every_window if window.valid]
    assert told(found) == round(100 * sum(one.load.duration_s for one in windows) / (67 * 60)) > told(quick)

    def spanned(_: CellRecord, fork: Fork) -> Fork:
        span = MeasuredSpan(start_monotonic_ns=0, end_monotonic_ns=10 * 10**9)
        return altered(fork, {"result": fork.result.model_copy(update={"measured_span": span})})

    programs = experiments_of("hang")
    forks = sum(len(cell.forks) for cell in programs.cells)
    assert told(with_forks(programs, spanned)) == round(100 * 10 * forks / (9 * 60))
