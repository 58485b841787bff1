"""Whole runs of the command line: kill -9, resume, SIGTERM, the site."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support import waiting
from tests.support.project import brief_command, called, make_project, matrix
from tests.support.records import in_whole

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("one_run_on_this_host")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    command, env = brief_command("run", *arguments), {**os.environ, "MATRIX_HOME": str(home), "COLUMNS": "200"}
    return subprocess.Popen(command, cwd=home, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    def there() -> bool:
        if condition():
            return True
        assert process.poll() is None, process.communicate()[0]
        return False

    waiting.wait_until(there, "the run did not get there")


def cells_on_disk(run: Path) -> list[Path]:
    return sorted((run / "cells").glob("*.json"))


def java_below(home: Path) -> Iterator[psutil.Process]:
    """Yield the servers and drivers whose files are in this project."""
    for process in psutil.process_iter(["name", "environ", "cmdline"]):
        if process.info["name"] == "java" and str(home) in " ".join(
            [*(process.info["cmdline"] or ()), *(process.info["environ"] or {}).values()]
        ):
            yield process


def all_gone(home: Path) -> None:
    waiting.wait_until(lambda: not any(java_below(home)), "still running")


def loaded(run: Path) -> LoadedRun:
    return in_whole(RunStore(run).load())


def want_a_jdk_that_cannot_be_had(home: Path) -> None:
    text = (home / "matrix.toml").read_text()
    text = text.replace('jdk = ["temurin-25"]\nexecutor', 'jdk = ["temurin-25", "no-such-place"]\nexecutor')
    text = text.replace('"semeru-21", "semeru-25",', '"semeru-21", "semeru-25", "no-such-place",', 1)
    (home / "matrix.toml").write_text(text)
    catalogue = json.loads((home / "jdks.json").read_text())
    entry = next(entry for entry in catalogue["entries"] if entry["id"] == "temurin-25.0.3")
    catalogue["entries"].append({**entry, "id": "no-such-place", "version": "25.0.99+1", "archives": {}})
    (home / "jdks.json").unlink()
    (home / "jdks.json").write_text(json.dumps(catalogue))


def test_kill_9_and_resume(home: Path) -> None:
    """The run also asks for a JDK that cannot be had, which is told and shown."""
    want_a_jdk_that_cannot_be_had(home)
    run = home / "results" / "killed"
    process = start(home, "--profile", "short", "--run", "results/killed", "--site", "site")
    wait_until(lambda: len(cells_on_disk(run)) == 1, process)
    wait_until(lambda: any(java_below(home)), process)
    process.kill()
    process.communicate()
    all_gone(home)
    before = loaded(run)
    assert before.run.status == "running"
    assert not before.problems
    (first,) = before.cells[0].forks

    resumed = matrix(home, "run", "--resume", "--run", str(run))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "1 block was cut off or lacks forks; measuring it again as a whole" in resumed.stdout
    after = loaded(run)
    assert after.run.status == "complete"
    assert after.run.run_id == before.run.run_id == run.name
    assert after.run.seed == before.run.seed
    assert len(after.cells) == 2
    assert [fork.session for cell in after.cells for fork in cell.forks] == [2, 2], "no block is split"
    assert all(fork.status is not Status.FAILED for cell in after.cells for fork in cell.forks)
    (kept,) = (fork for cell in after.cells for fork in cell.attempts)
    assert kept.reasons[-1].message == "the whole block was measured again in session 2"
    assert kept.model_copy(update={"reasons": first.reasons}) == first, "what was finished is kept whole"
    assert all((run / "cells" / path).is_file() for path in kept.logs.values())
    assert sorted(after.run.order) == sorted([*before.run.order, before.cells[0].key.fork_label(1, attempt=2)])
    ends = [(session.status, session.ended_at is None) for session in after.run.sessions]
    assert ends == [("interrupted", True), ("complete", False)], "nobody said when the first one ended"
    assert len({session.boot_id for session in after.run.sessions}) == 1
    assert "measured in 2 sessions" not in resumed.stdout, "no fork of the first one stands"
    (page,) = (home / "site" / "runs" / run.name / "cells").glob(f"*.temurin-25.{before.cells[0].key.executor}.*.html")
    assert "Fork 1, attempt 1" in page.read_text()
    assert "not testable here: mp-ping-on-jetty.no-such-place.virtual" in resumed.stdout
    assert "no-such-place" in (home / "site" / "runs" / run.name / "index.html").read_text()

    idle = called(home, "run", "--resume", "--run", str(run))
    assert idle.returncode == 0
    assert "nothing to do" in idle.stdout
    assert (loaded(run).cells, loaded(run).run) == (after.cells, after.run), "nothing was left to do"


def test_a_run_keeps_others_away_and_when_stopped_what_is_finished(home: Path) -> None:
    """It is stopped by Ctrl-C; SIGTERM, which ends a slice, is tried in test_own_application.py."""
    run = home / "results" / "stopped"
    process = start(home, "--profile", "short", "--blocks", "5", "--run", str(run))
    wait_until(lambda: len(cells_on_disk(run)) == 1, process)
    wait_until(lambda: any(java_below(home)), process)
    second = called(home, "run", "--profile", "short", "--run", str(home / "results" / "second"))
    assert second.returncode == 1
    assert "another run is measuring" in second.stderr
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=waiting.HANGS_S)
    assert process.returncode == 128 + signal.SIGINT, output
    assert "Traceback" not in output
    all_gone(home)
    assert not (run / "scratch").exists()
    record = RunRecord.model_validate_json((run / "run.json").read_bytes())
    assert record.status == "interrupted"
    assert record.ended_at is not None
    assert loaded(run).cells


MISSION_IN_SMALL = """
[profiles.mission-in-small]
description = "the stages of `mission`, far too short to mean anything"
extends = "short"
first = "short"
[profiles.mission-in-small.select]
load = ["share-50"]
"""


def test_a_run_of_stages_shows_its_first_answer_while_it_goes_on(home: Path) -> None:
    with (home / "matrix.toml").open("a") as file:
        file.write(MISSION_IN_SMALL)
    run, page = home / "results" / "staged", home / "site" / "index.html"
    process = start(home, "--profile", "mission-in-small", "--run", str(run))
    try:
        wait_until(page.exists, process)
        shown = page.read_text("utf-8")
        assert "mp-ping on Eclipse Jetty, rate-500" in shown and 'id="conditions"' not in shown
        assert loaded(run).run.status == "running"
        wait_until(lambda: len(cells_on_disk(run)) == 4, process)
    finally:
        output, _ = process.communicate(timeout=waiting.HANGS_S)
    assert process.returncode == 0, output
    first = output.index("stage short: 1 block")
    assert first < output.index("first, the capacities that loads are derived from: 1 fork")
    after = loaded(run)
    assert [(one.key.burn_us, one.key.load) for one in after.run.capacities] == [(0, "saturate-50")]
    assert [cell.key.load for cell in after.cells] == ["rate-500"] * 2 + ["share-50"] * 2
    drivers = {fork.driver for cell in after.cells for fork in cell.forks if cell.key.load == "share-50"}
    assert len(drivers) == 1, "one driver for both executors"
    assert 'id="conditions"' in page.read_text("utf-8"), "with a second condition it opens on a map"
    all_gone(home)
