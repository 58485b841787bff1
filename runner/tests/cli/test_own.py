"""The user's own applications on the command line."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from jdkmatrix.cli import ask as asking
from jdkmatrix.cli.own import from_anywhere
from jdkmatrix.cli.questions import AskedHost, questions
from jdkmatrix.config.model import Matrix
from jdkmatrix.errors import MatrixError
from tests.support.project import called, called_with_few_files, make_project

COMMAND = ("--command", "java -jar my.jar {port}", "--path", "/items")
VIRTUAL = ("--arm", "pool=", "--arm", "virtual=-Dx=y")


def archive(path: Path, entry: str = "any") -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(entry, "")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("my.jar", "my.war"):
        archive(tmp_path / name)
    (tmp_path / "text.war").write_text("no archive")
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "project")


def planned(home: Path, *arguments: str) -> list[tuple[str, str, str]]:
    """Return the workload, server and executor of each cell."""
    done = called(home, "plan", "--profile", "short", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [(cell["workload"], cell["server"], cell["executor"]) for cell in json.loads(done.stdout)["cells"]]


def test_a_command_has_its_arms_and_an_aa_check(home: Path) -> None:
    assert {executor for _, _, executor in planned(home, *COMMAND, *VIRTUAL)} == {"pool", "virtual", "pool-aa"}
    assert {executor for _, _, executor in planned(home, *COMMAND)} == {"pool", "pool-aa"}
    assert {executor for _, _, executor in planned(home, *COMMAND, *VIRTUAL, "--executor", "virtual")} == {"virtual"}
    more = planned(home, *COMMAND, *VIRTUAL, "--arm", "virtual:-Xmx2g")
    assert {executor for _, _, executor in more} == {"pool", "virtual", "pool-aa", "virtual+xmx2g"}
    quota = planned(home, *COMMAND, "--cpu-quota", "0.5")
    assert all(workload.endswith("-quota-500m") and server == "command" for workload, server, _ in quota)


def test_a_word_of_a_command_may_be_longer_than_the_name_of_a_file(home: Path) -> None:
    names = ("--command", f"java -cp my.jar:{'x' * 300}.jar Main {{port}}", "--path", "/items")
    assert {executor for _, _, executor in planned(home, *names)} == {"pool", "pool-aa"}


def test_a_war_has_the_executors_of_its_server(home: Path) -> None:
    cells = planned(home, "--war", "my.war", "--path", "/", "--server", "open-liberty", "--executor", "liberty")
    assert [(server, executor) for _, server, executor in cells] == [("open-liberty", "liberty")]


def test_a_command_without_virtual_threads_is_told_what_is_missing(home: Path) -> None:
    told = "compared only with itself: add --arm virtual=OPTIONS"
    assert told in called(home, "plan", *COMMAND).stdout
    for more in (VIRTUAL, ("--aa", "pool")):
        assert told not in called(home, "plan", *COMMAND, *more).stdout


def test_the_menu_of_servers_for_a_war_has_those_that_deploy_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offered(matrix: Matrix, given: Mapping[str, tuple[str | int, ...]], here: AskedHost, _choose: object) -> None:
        question = next(questions(matrix, dict(given), here))
        raise MatrixError(" ".join(str(name) for _, name in question.choices))

    monkeypatch.setattr(asking, "answered", offered)
    names = called(home, "ask", "--war", "my.war", "--path", "/").stderr.split()
    assert {"open-liberty", "tomcat", "jetty"} <= {*names} and not {"quarkus", "spring-boot"} & {*names}


def test_a_war_is_asked_about_on_no_server_that_deploys_none(home: Path) -> None:
    done = called(home, "ask", "--war", "my.war", "--path", "/", "--server", "quarkus")
    assert re.match(r"matrix: --workload my-[0-9a-f]{8} --server quarkus: Quarkus deploys no WAR here", done.stderr)


def test_it_can_be_asked_about(home: Path) -> None:
    """Too few open files keep it from being measured."""
    done = called_with_few_files(home, "ask", "--yes", "--budget", "1h", *COMMAND, "--load", "saturate-20")
    same = f".venv/bin/matrix run {shlex.join(COMMAND)} --load saturate-20 --blocks 5 --max-blocks "
    assert f"The same without questions: {same}" in done.stdout, done.stderr
    assert done.stderr.startswith("matrix: this process may open only 12 files")


def test_what_is_measured_is_in_the_name(home: Path, tmp_path: Path) -> None:
    """The name depends on files, path and command."""
    names = {planned(home, *COMMAND)[0][0]}
    names.add(planned(home, *COMMAND[:-1], "/other")[0][0])
    names.add(planned(home, "--command", "java -jar my.jar {port} x", *COMMAND[2:])[0][0])
    archive(tmp_path / "my.jar", "other")
    names.add(planned(home, *COMMAND)[0][0])
    assert len(names) == 4 and all(name.startswith("my-") for name in names)


def test_a_table_says_the_same(home: Path) -> None:
    with (home / "matrix.toml").open("a") as file:
        file.write(
            '\n[workloads.mine.own]\ncommand = "java -jar my.jar {port}"\npath = "/items"\n'
            'arms = { pool = "", virtual = "-Dx=y" }\n'
        )
    missing = called(home, "plan", "--workload", "mine")
    place = f"matrix: {home}/matrix.toml: workloads.mine.own: -jar my.jar: there is no such file"
    assert (missing.returncode, missing.stderr.startswith(place)) == (1, True)
    archive(home / "my.jar")
    cells = planned(home, "--workload", "mine")
    assert {executor for _, _, executor in cells} == {"pool", "virtual", "pool-aa"}
    assert {(workload, server) for workload, server, _ in cells} == {("mine", "command")}


def test_a_command_line_is_kept_so_that_it_can_be_given_elsewhere(home: Path, tmp_path: Path) -> None:
    typed = ("--command", "java -jar my.jar {port} 'a b'", "--war=my.war", "--jdk-home", "jdk", "--path", "my.jar",
             "--arm", "pool=-jar my.jar -Dx=y", "--arm=virtual:-Xss1m",
             "--arm", "virtual:-javaagent:my.jar=a")  # fmt: skip
    assert from_anywhere(typed, tmp_path) == (
        "--command", f"java -jar {tmp_path}/my.jar '{{port}}' 'a b'", f"--war={tmp_path}/my.war",
        "--jdk-home", f"{tmp_path}/jdk", "--path", "my.jar", "--arm", f"pool=-jar {tmp_path}/my.jar -Dx=y",
        "--arm=virtual:-Xss1m", "--arm", f"virtual:-javaagent:{tmp_path}/my.jar=a",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*COMMAND, "--path", "/other"), "matrix: --path: found /items and /other; give one at a time"),
        (COMMAND[:2], "--path: say what requests ask your application for"),
        ((*COMMAND, *VIRTUAL, "--arm", "virtual=-Dx=z"), "--arm virtual=-Dx=z: an application has one arm virtual"),
        (("--path", "/"), "--path: only for an application of your own; name it with --command or --war"),
        (VIRTUAL, "--arm pool= and --arm virtual=OPTIONS: only for an application of your own"),
        ((*COMMAND, "--war", "my.war"), "--command and --war cannot be combined"),
        (("--war", "my.war", "--path", "/", *VIRTUAL), "only for --command"),
        ((*COMMAND, "--workload", "banking"), "--workload: the application of --command or --war is the workload"),
        (("--command", "java -jar my.jar", "--path", "/"), "matrix: --command: it must listen on {port}"),
        ((*COMMAND[:2], "--path", "items"), "matrix: --path 'items': it must begin with /"),
        ((*COMMAND, "--arm", "virtual=-Xmx1g"), "matrix: --arm virtual: -Xmx1g belongs to the cell"),
        (
            (*COMMAND, "--arm", "pool"),
            '--arm: "pool" is not an arm of a command (allowed: pool= or pool=OPTIONS, virtual=',
        ),
        ((*COMMAND, "--arm", "fast=-Dx=y"), '--arm: "fast=-Dx=y" is not an arm of a command'),
        ((*COMMAND, "--ready", "up"), "matrix: --ready: path = 'up': it must begin with /"),
        ((*COMMAND, "--ready", "/größe"), "matrix: --ready: path = '/größe': it must begin with / and have only"),
        (
            (*COMMAND, "--ready", "/my app/up"),
            "matrix: --ready: path = '/my app/up': it must begin with / and have only",
        ),
        (
            (*COMMAND, "--ready", "/up/{unique:3}"),
            "matrix: --ready: '/up/{unique:3}' has fields, but must be a single path",
        ),
        (("--war", "my.jar", "--path", "/"), "matrix: --war: found"),
        (("--war", "text.war", "--path", "/"), "text.war: it is not an archive, as a WAR is"),
        (("--command", "java -Dx=y -jar no.jar {port}", "--path", "/"), "-jar no.jar: there is no such file (looked"),
        (("--war", "my.war", "--path", "/", "--server", "spring-boot"), "Spring Boot 4 deploys no WAR here, and"),
    ],
)
def test_what_does_not_fit_is_told(home: Path, arguments: tuple[str, ...], told: str) -> None:
    done = called(home, "plan", *arguments)
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr
