"""Applications that are not ours, unchanged: a jar and a WAR, seen from outside; and all that can be wrong with one."""

from __future__ import annotations

import os
import signal
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.reasons import Status
from jdkmatrix.run.try_own import try_once
from jdkmatrix.servers.base import InstalledServer, OwnParts
from jdkmatrix.servers.instance import Instance
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from jdkmatrix.subjects.parts import Parts
from jdkmatrix.subjects.served import outside
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.fork_setups import usual
from tests.support.project import C1_ALONE, brief_command, make_project, matrix, rewrite
from tests.support.real_parts import cpu_sets
from tests.support.records import in_whole
from tests.support.servers import RULES, on_liberty
from tests.support.shipped import MATRIX

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

PATH = "/items?id={random:1:1000}"


def compiled(java: Path, source: str, classes: Path, *options: str | Path) -> list[Path]:
    """For a Java release that every JDK here runs."""
    file = Path(__file__).with_name(source)
    subprocess.run([java.with_name("javac"), "--release", "21", *options, "-d", classes, file], check=True)
    return sorted(classes.glob("*.class"))


@pytest.fixture(scope="module")
def jar(java: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    with zipfile.ZipFile(folder / "my.jar", "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: OwnApplication\n")
        for file in compiled(java, "OwnApplication.java", folder / "classes"):
            archive.write(file, file.name)
    return folder / "my.jar"


def loaded(run: Path) -> LoadedRun:
    return in_whole(RunStore(run).load())


@pytest.mark.usefixtures("one_run_on_this_host")
def test_two_ways_to_start_a_jar_are_compared(jar: Path, tmp_path: Path) -> None:
    """And a run that goes on would measure again what another jar of that name has measured."""
    home, run = make_project(tmp_path / "project"), tmp_path / "run"
    mine = tmp_path / "my.jar"
    mine.write_bytes(jar.read_bytes())
    command = ("--command", f"java {C1_ALONE} -jar {mine} {{port}} {{address}}", "--path", PATH)
    arms = ("--arm", "pool=", "--arm", "virtual=-Dvirtual=true", "--executor", "pool", "--executor", "virtual")
    done = matrix(home, "run", "--profile", "short", *command, *arms, "--run", str(run), timeout_s=500)
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
        again.communicate(timeout=60)
    assert again.returncode == 128 + signal.SIGTERM


@pytest.mark.usefixtures("one_run_on_this_host")
def test_a_war_is_deployed_unchanged(parts: Parts, java: Path, tmp_path: Path) -> None:
    home, run = make_project(tmp_path / "project"), tmp_path / "run"
    short = f'"-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "{C1_ALONE}"'
    rewrite(home / "matrix.toml", ('"-Xms1g", "-Xmx1g", "-XX:+UseG1GC"', short))
    war, libraries = tmp_path / "shop.war", parts.workloads.file("tomcat-server.jar")
    with zipfile.ZipFile(war, "w") as archive:
        for file in compiled(java, "OwnServlet.java", tmp_path / "classes", "-cp", libraries):
            archive.write(file, f"WEB-INF/classes/{file.name}")
    servers = ("open-liberty", "tomcat", "jetty")
    on_each = (word for server in servers for word in ("--server", server))
    asked = ("--war", str(war), "--path", "/items/{random:1:9}", *on_each, "--executor", "virtual")
    done = matrix(home, "run", "--profile", "short", *asked, "--run", str(run), timeout_s=500)
    assert done.returncode == 0, done.stdout + done.stderr
    cells = {cell.key.server: cell for cell in loaded(run).cells}
    assert cells.keys() == {*servers}
    for cell in cells.values():
        seen = cell.forks[0].outside
        assert seen is not None and seen.carriers_cpu_share >= 0.1, cell.key.server
    assert "shop.war (sha256 " in (home / "site" / "runs" / "run" / "index.html").read_text("utf-8")


@pytest.fixture
def started(parts: Parts, jar: Path) -> Callable[..., Instance]:
    """An arm of a command that starts the jar with these arguments."""

    def made(arguments: str, *, executor: str = "pool", program: str = "java") -> Instance:
        command = f"{program} {{jvm_options}} {{arm}} -jar {jar} {arguments}"
        arms = {"pool": "", "virtual": "-Dvirtual=true"}
        own = OwnApplication.model_validate({"command": command, "arms": arms, "path": "/items"})
        kind = server_kind("command")
        assert kind is not None
        return Instance(
            server=InstalledServer(kind, "", ""), workloads=parts.workloads, application="",
            java=parts.java("temurin-21.0.8"), vm="hotspot", feature_set="", executor=executor,
            jvm_options=("-Xmx64m", C1_ALONE), rounds_per_us=0, properties={},
            own=OwnParts(own.application, command=own.words(executor), settings=own.settings()),
        )  # fmt: skip

    return made


def tried(parts: Parts, instance: Instance, path: str, first_response_timeout_s: float = 60) -> str:
    """What is told of it."""
    rules = RULES.model_copy(update={"first_response_timeout_s": first_response_timeout_s, "wrong_answer_s": 3})
    driver = next(iter(parts.drivers.values()))
    assert not isinstance(driver, str) and instance.own
    requests = OwnApplication.model_validate({"war": "x.war", "path": path}).requests
    served = usual(
        matrix=MATRIX.model_copy(update={"server": rules}), load=SaturateLoad(connections=10), driver=driver,
        instance=instance, mix=requests.below(instance.own.application.context_root, ""), cpu_sets=cpu_sets(),
    )  # fmt: skip
    with pytest.raises(MatrixError) as told:
        try_once(ServedCell(**served), path)
    return str(told.value)


@pytest.mark.parametrize(
    ("arguments", "path", "how", "told"),
    [
        ("{port} {address} ends-at-once", "/items", {}, ["ended with status 1", "IllegalStateException: no licence"]),
        ("{port} {address} never-listens", "/items", {},
         ["did not start within 1 s", "to GET /items; the port is closed"]),
        ("{port} {address}", "/broken", {},
         ["GET /broken is answered with status 500, and 2xx is needed (--path): no database"]),
        ("{port} 0.0.0.0", "/items", {}, ["where other hosts can reach it", "{address}, which is 127.0.0.1"]),
        ("{port} {address} ignores-the-switch", "/items", {"executor": "virtual"},
         ['"virtual" promises virtual threads, and they had 0.0 % of the CPU time', "“pool-#-thread-#” (8)"]),
        ("{port}", "/items", {"program": "no-such-java"}, ["cannot start no-such-java: No such file"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_application_is_told(
    parts: Parts, started: Callable[..., Instance], monkeypatch: pytest.MonkeyPatch, arguments: str, path: str,
    how: dict[str, str], told: list[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(outside, "LOOK_S", 1.0)
    monkeypatch.setattr(outside, "COUNT_S", 1.0)
    message = tried(parts, started(arguments, **how), path, 1 if arguments.endswith("never-listens") else 60)
    assert all(words in message for words in (*told, "it was started as: ")), message


def test_a_command_must_become_the_server(parts: Parts, started: Callable[..., Instance], jar: Path) -> None:
    message = tried(parts, started("{port} {address}", program='/bin/sh -c \'"$0" "$@" & wait\' {java}'), "/items")
    assert "another process's" in message and "a command must become the server (exec)" in message
    left = [one for one in psutil.process_iter(["cmdline"]) if str(jar) in (one.info["cmdline"] or ())]
    assert not left, "what it has started ends with it"


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("open-liberty", ["GET /broken/ has been answered with status 404", "CWWKM0101E"]),
        ("tomcat", ["ended with status 1", "broken.war does not deploy"]),
        ("jetty", ["ended with status 1", "broken.war"]),
    ],
)
def test_a_war_that_does_not_deploy_is_told(
    server: str, told: list[str], workloads: Workloads, parts: Parts, tmp_path: Path
) -> None:
    war = tmp_path / "broken.war"
    war.write_bytes(b"no archive")
    own = OwnApplication.model_validate({"war": str(war), "path": "/"})
    instance = replace(
        on_liberty(workloads, parts.java("temurin-25"), executor="virtual"), own=OwnParts(own.application, war=war)
    )
    if server != "open-liberty":
        instance = replace(instance, server=InstalledServer(server_kinds()[server], "", ""))
    message = tried(parts, instance, "/")
    assert all(words in message for words in told), message
