"""Whatever can be wrong with an application that is not ours is told when it is tried, before any measurement."""

from __future__ import annotations

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
from jdkmatrix.run.try_own import try_once
from jdkmatrix.servers.base import InstalledServer, OwnParts
from jdkmatrix.servers.instance import Instance
from jdkmatrix.subjects.parts import Parts
from jdkmatrix.subjects.served import outside
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.fork_setups import usual
from tests.support.own_application import make_war
from tests.support.project import C1_ALONE
from tests.support.real_parts import cpu_sets, driver_of
from tests.support.servers import RULES, on_liberty
from tests.support.shipped import MATRIX

pytestmark = pytest.mark.real


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


def cell_of(parts: Parts, instance: Instance, path: str, first_response_timeout_s: float = 60) -> ServedCell:
    rules = RULES.model_copy(update={"first_response_timeout_s": first_response_timeout_s, "wrong_answer_s": 3})
    assert instance.own
    requests = OwnApplication.model_validate({"war": "x.war", "path": path}).requests
    served = usual(
        matrix=MATRIX.model_copy(update={"server": rules}), load=SaturateLoad(connections=10), driver=driver_of(parts),
        instance=instance, mix=requests.below(instance.own.application.context_root, ""), cpu_sets=cpu_sets(),
    )  # fmt: skip
    return ServedCell(**served)


def tried(parts: Parts, instance: Instance, path: str, first_response_timeout_s: float = 60) -> str:
    """Try the instance and return what is told of it."""
    with pytest.raises(MatrixError) as told:
        try_once(cell_of(parts, instance, path, first_response_timeout_s), path)
    return str(told.value)


@pytest.fixture
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter looks from outside: each is a closed loop on all CPUs."""
    monkeypatch.setattr(outside, "LOOK_S", 1.0)
    monkeypatch.setattr(outside, "COUNT_S", 0.5)
    monkeypatch.setattr(outside, "ANSWERS_S_MAX", 1.0)


@pytest.mark.parametrize(
    ("arguments", "path", "how", "told"),
    [
        ("{port} {address} ends-at-once", "/items", {}, ["ended with status 1", "IllegalStateException: no licence"]),
        ("{port} {address} never-listens", "/items", {},
         ["did not start within 1 s", "to GET /items; the port is closed"]),
        ("{port} {address}", "/broken", {},
         ["GET /broken is answered with status 500, but 2xx is needed (--path): no database"]),
        ("{port} 0.0.0.0", "/items", {}, ["where other hosts can reach it", "{address}, which is 127.0.0.1"]),
        ("{port} {address} ignores-the-switch", "/items", {"executor": "virtual"},
         ['"virtual" promises virtual threads, but they used 0.0 % of the CPU time', "“pool-#-thread-#” (8)"]),
        ("{port}", "/items", {"program": "no-such-java"}, ["cannot start no-such-java: No such file"]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("short_looks")
def test_what_is_wrong_with_an_application_is_told(
    parts: Parts, started: Callable[..., Instance], arguments: str, path: str, how: dict[str, str], told: list[str]
) -> None:
    message = tried(parts, started(arguments, **how), path, 1 if arguments.endswith("never-listens") else 60)
    assert all(words in message for words in (*told, "it was started as: ")), message


def test_an_application_that_floods_its_log_is_ended(parts: Parts, started: Callable[..., Instance]) -> None:
    cell = cell_of(parts, started("{port}", program="/bin/sh -c 'exec yes'"), "/items")
    rules = cell.matrix.server.model_copy(update={"log_bytes_max": 10_000_000})
    with pytest.raises(MatrixError, match=r"^the logs of this fork have reached .* MB, and server\.log_bytes_max"):
        try_once(replace(cell, matrix=cell.matrix.model_copy(update={"server": rules})), "/items")


def test_a_command_must_become_the_server(parts: Parts, started: Callable[..., Instance], jar: Path) -> None:
    message = tried(parts, started("{port} {address}", program='/bin/sh -c \'"$0" "$@" & wait\' {java}'), "/items")
    assert "belongs to another process" in message and "a command must become the server (exec)" in message
    left = [one for one in psutil.process_iter(["cmdline"]) if str(jar) in (one.info["cmdline"] or ())]
    assert not left, "what it has started ends with it"


def of_war(server: str, war: Path, path: str, workloads: Workloads, parts: Parts) -> Instance:
    own = OwnApplication.model_validate({"war": str(war), "path": path})
    instance = replace(
        on_liberty(workloads, parts.java("temurin-25"), executor="virtual"), own=OwnParts(own.application, war=war)
    )
    if server == "open-liberty":
        return instance
    return replace(instance, server=InstalledServer(server_kinds()[server], "", ""))


@pytest.mark.parametrize("server", ["tomcat", "jetty"])
@pytest.mark.usefixtures("short_looks")
def test_a_war_is_deployed_unchanged_and_served_by_virtual_threads(
    server: str, workloads: Workloads, parts: Parts, java: Path, tmp_path: Path
) -> None:
    """For Open Liberty, tests/real/test_own_application.py measures forks of it."""
    war = make_war(java, workloads, tmp_path / "shop.war")
    first_s, _ = try_once(cell_of(parts, of_war(server, war, "/items/7", workloads, parts), "/items/7"), "/items/7")
    assert first_s > 0


@pytest.mark.usefixtures("short_looks")
def test_how_long_answers_take_decides_whether_turns_are_too_short(
    parts: Parts, started: Callable[..., Instance]
) -> None:
    """No table says that each request waits 200 ms."""
    cell = replace(cell_of(parts, started("{port} {address}", executor="virtual"), "/slow"), why_no_turns=None)
    _, answers = try_once(cell, "/slow")
    assert answers.typical_s >= answers.least_s >= 0.2
    known = cell.knowing(answers)
    assert known.own_answer_s >= 0.2 and "so a turn may have none for that long" in (known.why_no_turns or "")


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
    message = tried(parts, of_war(server, war, "/", workloads, parts), "/")
    assert all(words in message for words in told), message
