"""Applications of the user on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.project import called, make_project

COMMAND = ("--command", "java -jar my.jar {port}", "--path", "/items")
VIRTUAL = ("--arm", "pool=", "--arm", "virtual=-Dx=y")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my.jar").write_bytes(b"any")
    (tmp_path / "my.war").write_bytes(b"any")
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "project")


def planned(home: Path, *arguments: str) -> list[tuple[str, str, str]]:
    """Workload, server and executor of each cell."""
    done = called(home, "plan", "--profile", "short", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [(cell["workload"], cell["server"], cell["executor"]) for cell in json.loads(done.stdout)["cells"]]


def test_a_command_has_its_arms_and_an_aa_check(home: Path) -> None:
    cells = planned(home, *COMMAND, *VIRTUAL)
    assert {(server, executor) for _, server, executor in cells} == {
        ("command", "pool"),
        ("command", "virtual"),
        ("command", "pool-aa"),
    }
    assert {executor for _, _, executor in planned(home, *COMMAND)} == {"pool", "pool-aa"}
    assert {executor for _, _, executor in planned(home, *COMMAND, *VIRTUAL, "--executor", "virtual")} == {"virtual"}
    more = planned(home, *COMMAND, *VIRTUAL, "--arm", "virtual:-Xmx2g")
    assert {executor for _, _, executor in more} == {"pool", "virtual", "pool-aa", "virtual+xmx2g"}
    quota = planned(home, *COMMAND, "--cpu-quota", "0.5")
    assert all(workload.endswith("-quota-500m") and server == "command" for workload, server, _ in quota)


def test_a_war_has_the_executors_of_its_server(home: Path) -> None:
    cells = planned(home, "--war", "my.war", "--path", "/", "--server", "open-liberty", "--executor", "liberty")
    assert [(server, executor) for _, server, executor in cells] == [("open-liberty", "liberty")]


def test_what_is_measured_is_in_the_name(home: Path, tmp_path: Path) -> None:
    """By files, path and command."""
    names = {planned(home, *COMMAND)[0][0]}
    names.add(planned(home, *COMMAND[:-1], "/other")[0][0])
    names.add(planned(home, "--command", "java -jar my.jar {port} x", *COMMAND[2:])[0][0])
    (tmp_path / "my.jar").write_bytes(b"other")
    names.add(planned(home, *COMMAND)[0][0])
    assert len(names) == 4 and all(name.startswith("my-") for name in names)


def test_a_table_says_the_same(home: Path) -> None:
    with (home / "matrix.toml").open("a") as file:
        file.write(
            '\n[workloads.mine.own]\ncommand = "java -jar my.jar {port}"\npath = "/items"\n'
            'arms = { pool = "", virtual = "-Dx=y" }\n'
        )
    cells = planned(home, "--workload", "mine")
    assert {executor for _, _, executor in cells} == {"pool", "virtual", "pool-aa"}
    assert {(workload, server) for workload, server, _ in cells} == {("mine", "command")}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (COMMAND[:2], "--path: say what is asked of your application"),
        (("--path", "/"), "--path: of an application of your own, which --command or --war names"),
        (VIRTUAL, "--arm pool= and --arm virtual=OPTIONS: of an application of your own"),
        ((*COMMAND, "--war", "my.war"), "--command and --war exclude each other"),
        (("--war", "my.war", "--path", "/", *VIRTUAL), "belong to --command"),
        ((*COMMAND, "--workload", "banking"), "--workload: --command and --war are a workload of their own"),
        (("--command", "java -jar my.jar", "--path", "/"), "--command: command: it must listen on {port}"),
        (("--war", "my.jar", "--path", "/"), "--war: war: found"),
        ((*COMMAND, "--server", "jetty"), "is served by a command of its own, and by no other server"),
        ((*COMMAND, "--executor", "fixed-8"), "own command has no executor fixed-8 (it has pool, virtual)"),
        ((*COMMAND, "--burn", "50us"), "to whose requests no work can be added"),
        (
            ("--war", "my.war", "--path", "/", "--server", "helidon", "--executor", "helidon"),
            "Helidon SE deploys no WAR here",
        ),
    ],
)
def test_what_does_not_fit_is_told(home: Path, arguments: tuple[str, ...], told: str) -> None:
    done = called(home, "plan", *arguments)
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr
