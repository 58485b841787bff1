"""Runs of applications that are not ours, unchanged: a jar and a WAR, seen from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import zipfile
from pathlib import Path

import pytest

from jdkmatrix.records.reasons import Status
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from jdkmatrix.subjects.parts import Parts
from tests.support.own_application import PATH, make_war
from tests.support.project import C1_ALONE, brief_command, make_project, matrix, rewrite
from tests.support.records import in_whole
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real


def loaded(run: Path) -> LoadedRun:
    return in_whole(RunStore(run).load())


@pytest.mark.usefixtures("one_run_on_this_host")
def test_two_ways_to_start_a_jar_are_compared(jar: Path, tmp_path: Path) -> None:
    """A run that is resumed would measure again what another jar of that name has measured."""
    home, run = make_project(tmp_path / "project"), tmp_path / "run"
    mine = tmp_path / "my.jar"
    mine.write_bytes(jar.read_bytes())
    command = ("--command", f"java {C1_ALONE} -jar {mine} {{port}} {{address}}", "--path", PATH)
    arms = ("--arm", "pool=", "--arm", "virtual=-Dvirtual=true", "--executor", "pool", "--executor", "virtual")
    done = matrix(home, "run", "--profile", "short", *command, *arms, "--run", str(run))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "virtual: answers GET /items?id=0001" in done.stdout
    first = loaded(run)
    forks = {cell.key.executor: cell.forks[0] for cell in first.cells}
    assert set(forks) == {"pool", "virtual"}
    assert {fork.status for fork in forks.values()} <= {Status.OK, Status.NOT_STEADY}
    for executor, fork in forks.items():
        assert fork.outside is not None and fork.proof is None
        assert C1_ALONE in fork.driver_command, "tests/support/brief.py"
        (window,) = fork.windows
        assert window.load.succeeded > 0 and window.load.non_2xx == 0
        assert window.served is None and window.sut.gc_count is None and window.sut.jit_share >= 0
        assert window.sut.carriers_cpu_share is not None
        if executor == "virtual":
            assert fork.outside.carriers and set(fork.outside.virtual_names) <= {"on-#"}, "whom a dump catches is luck"
            assert window.sut.carriers_cpu_share >= 0.1
        else:
            assert (fork.outside.virtual_threads, fork.outside.carriers, window.sut.carriers_cpu_share) == (0, (), 0)
            assert fork.outside.busiest[0].name == "pool-#-thread-#"
    (workload,) = {cell.key.workload for cell in first.cells}
    assert workload.startswith("my-") and {cell.key.server for cell in first.cells} == {"command"}
    pages = home / "site" / "runs" / "run"
    front = (pages / "index.html").read_text("utf-8")
    assert "Proven from outside" in front and "my.jar (sha256 " in front
    assert (
        "from outside, under a closed loop of GET /items?id=0001"
        in next(pages.glob("cells/*virtual*.html")).read_text()
    )

    with zipfile.ZipFile(mine, "a") as archive:
        archive.writestr("another", "file")
    told = {**os.environ, "MATRIX_HOME": str(home), "COLUMNS": "200"}
    resuming = brief_command("run", "--resume", "--run", str(run))
    with subprocess.Popen(resuming, env=told, stdout=subprocess.PIPE, text=True) as again:
        assert again.stdout is not None
        assert any("the files of your application" in line for line in again.stdout)
        again.terminate()
        again.communicate(timeout=HANGS_S)
    assert again.returncode == 128 + signal.SIGTERM


@pytest.mark.usefixtures("one_run_on_this_host")
def test_a_war_is_deployed_unchanged(java: Path, parts: Parts, tmp_path: Path) -> None:
    """Other servers are covered in tests/real/test_own_tried.py."""
    home, run = make_project(tmp_path / "project"), tmp_path / "run"
    short = f'"-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "{C1_ALONE}"'
    rewrite(home / "matrix.toml", ('"-Xms1g", "-Xmx1g", "-XX:+UseG1GC"', short))
    war = make_war(java, parts.workloads, tmp_path / "shop.war")
    asked = ("--war", str(war), "--path", "/items/{random:1:9}", "--server", "open-liberty", "--executor", "virtual")
    done = matrix(home, "run", "--profile", "short", *asked, "--run", str(run))
    assert done.returncode == 0, done.stdout + done.stderr
    (cell,) = loaded(run).cells
    seen = cell.forks[0].outside
    assert cell.key.server == "open-liberty" and seen is not None and seen.carriers_cpu_share >= 0.1
    assert "shop.war (sha256 " in (home / "site" / "runs" / "run" / "index.html").read_text("utf-8")
