"""A question put together step by step."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli import ask as asking
from jdkmatrix.cli.ask import command, seconds, within
from jdkmatrix.cli.questions import AskedHost, AxisQuestion, answered, needed, taken_words
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.selection_options import DECIDED_BY_ASK
from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.tables import Database
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.topology import Topology
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import select_cells
from tests.support.machines import METERED, VM, machine
from tests.support.project import ROOT, called, make_project, matrix_command
from tests.support.shipped import FILES, MATRIX
from tests.support.waiting import HANGS_S

HERE = AskedHost(("temurin-21.0.8", "temurin-25"), 1, {"spring-boot-3.5": "3.5.6", "open-liberty-23.0.0.9": "23.0.0.9"})
LARGE = replace(HERE, cpus=47)
BY_AGROAL = "PostgreSQL, 10 connections by Agroal"


def default(question: AxisQuestion) -> str | int:
    return question.usual


def test_the_defaults_are_the_first_look() -> None:
    values = answered(MATRIX, {}, HERE, default)
    asked = select_cells(with_values(MATRIX, "quick", values), "quick")
    assert asked == select_cells(MATRIX, "quick")


@pytest.mark.parametrize("waits", [(0, 2000), (2000, 0)])
def test_of_several_delays_the_longest_decides_what_can_be_asked(waits: tuple[int, ...]) -> None:
    """The order in which they are given does not matter."""
    values = answered(MATRIX, {"jdk": ("temurin-25",), "wait_us": waits}, HERE, default)
    assert (values["workload"], values["load"]) == (("banking",), ("flood",))


def test_what_an_option_says_is_not_asked() -> None:
    titles: list[str] = []

    def choose(question: AxisQuestion) -> str | int:
        titles.append(question.title)
        return question.choices[-1][1]

    given_values: dict[str, tuple[str | int, ...]] = {
        "jdk": ("temurin-25",), "cpus": (1,), "burn_us": (300,), "load": ("rate-5000",), "server": ("jetty",)
    }  # fmt: skip
    values = answered(MATRIX, given_values, replace(HERE, cpus=8), choose)
    assert titles == ["How long does it wait for another system?"]
    assert values["executor"] == ("jetty", "virtual", "jetty-aa")
    assert {axis: values[axis] for axis in given_values} == given_values


def test_a_workload_that_calls_nobody_is_not_asked_how_long_it_waits() -> None:
    values = answered(MATRIX, {"workload": ("mp-ping",)}, HERE, lambda question: question.choices[-1][1])
    assert values["wait_us"] == (0,) and values["burn_us"] == (5000,)


@given(st.randoms(use_true_random=False), st.integers(1, 99))
def test_whatever_is_chosen_can_be_planned_and_said_in_fewer_words(source: object, cpus: int) -> None:
    choice = source.choice  # type: ignore[attr-defined]
    answers: list[str] = []

    def choose(question: AxisQuestion) -> str | int:
        if choice((True, False)):
            return question.usual
        answers.append(question.axis)
        return choice([value for _, value in question.choices] + ([question.read("7")] if question.read else []))  # type: ignore[no-any-return]

    values = answered(MATRIX, {}, replace(HERE, cpus=cpus), choose)
    cells = select_cells(with_values(parse_files(FILES, values), "quick", values), "quick")
    assert len(cells) == 3 and {cell.wait_us for cell in cells} == set(values["wait_us"])
    said = needed(MATRIX, values, (), answers)
    assert set(said) >= set(answers)
    assert select_cells(with_values(parse_files(FILES, said), "quick", said), "quick") == cells


@pytest.mark.parametrize(
    ("server", "virtual"),
    [("tomcat", "tomcat-virtual"), ("spring-boot-3.5", "spring-boot-virtual"), ("quarkus", "quarkus-virtual"),
     ("micronaut", "micronaut-virtual"), ("jetty", "virtual"), ("open-liberty", "virtual")],
)  # fmt: skip
def test_virtual_threads_are_those_of_the_switch_that_the_server_documents(server: str, virtual: str) -> None:
    values = answered(MATRIX, {"server": (server,)}, HERE, default)
    assert values["executor"][1] == virtual


def test_the_menu_of_servers_has_those_that_can_serve_the_workload() -> None:
    asked: dict[str, AxisQuestion] = {}
    answered(MATRIX, {"workload": ("banking",)}, HERE, lambda question: asked.setdefault(question.axis, question).usual)
    names = {name for _, name in asked["server"].choices}
    assert "open-liberty" in names and not names & {"jetty", "tomcat"}


@pytest.mark.parametrize(
    ("server", "wait_us", "offered"),
    [
        ("tomcat", 0, {"none": "mp-ping", "PostgreSQL, 10 connections by HikariCP": "bank", BY_AGROAL: "agroal"}),
        ("spring-boot", 0, {"none": "mp-ping", "PostgreSQL, 10 connections by HikariCP": "bank"}),
        ("open-liberty", 2000, None),  # such a bank calls no other system
    ],
)
def test_a_database_is_offered_where_it_can_be_and_as_a_bank_on_the_usual_jvm(
    server: str, wait_us: int, offered: dict[str, str] | None
) -> None:
    bank = MATRIX.workloads["bank-sql-10"]
    agroal = bank.model_copy(update={"database": Database(pool="agroal", connections=10)})
    other_heap = bank.model_copy(update={"database": Database(connections=20), "jvm": MATRIX.jvm})
    calling = {name: MATRIX.workloads[name] for name in ("mp-ping", "banking")}
    tables = {**calling, "bank": bank, "twin": bank, "agroal": agroal, "other-heap": other_heap}
    matrix, asked = MATRIX.model_copy(update={"workloads": tables}), dict[str, AxisQuestion]()
    given_values: dict[str, tuple[str | int, ...]] = {"server": (server,), "wait_us": (wait_us,)}
    values = answered(matrix, given_values, HERE, lambda question: asked.setdefault(question.axis, question).usual)
    assert (dict(asked["workload"].choices) if "workload" in asked else None) == offered
    assert matrix.workloads[str(values["workload"][0])].database is None, "unless it is chosen"


def test_a_server_has_the_executors_that_are_asked_for() -> None:
    given_values = {"executor": ("tomcat", "tomcat-virtual+carriers-2", "fixed-50")}
    assert answered(MATRIX, given_values, HERE, default)["server"] == ("tomcat",)


@pytest.mark.parametrize(
    ("given_values", "problem"),
    [
        ({"workload": ("mp-ping",), "wait_us": (20_000,)}, "--workload mp-ping --wait 20000us: mp-ping calls no"),
        ({"load": ("count-1000",)}, "--load count-1000: count-1000 is a load of programs without a server"),
        ({"executor": ("structured",)}, "--executor structured: no server has all of these executors"),
        (
            {"server": ("jetty",), "workload": ("banking",)},
            "--server jetty --workload banking: Eclipse Jetty has plain Servlets only",
        ),
        ({"server": ("helidon",)}, "--server helidon: ask compares a server’s own pool with virtual threads"),
        ({"server": ("open-liberty", "jetty")}, "--server open-liberty and jetty: each has a pool or virtual "),
    ],
)
def test_what_no_server_can_do_is_told_first(given_values: dict[str, tuple[str | int, ...]], problem: str) -> None:
    with pytest.raises(MatrixError, match=re.escape(problem)):
        answered(MATRIX, given_values, HERE, lambda question: pytest.fail(f"{question.title} was asked"))


def test_a_jdk_that_was_not_asked_for_is_told_with_where_others_are() -> None:
    """A menu lists only those that need not be fetched."""
    told = taken_words({"jdk": ("temurin-25",), "cpus": (2,)}, HERE)
    assert told == "temurin-25 (`matrix jdks` lists others, for --jdk), 2 CPUs"


def test_rows_of_a_menu_tell_each_other_apart_and_take_another_value() -> None:
    asked: dict[str, AxisQuestion] = {}
    answered(MATRIX, {}, LARGE, lambda question: asked.setdefault(question.axis, question).usual)
    words = [words for words, _ in asked["server"].choices]
    assert {"Spring Boot 3.5.6 (spring-boot-3.5)", "Open Liberty 23.0.0.9 (open-liberty-23.0.0.9)"} <= set(words)
    assert [number for _, number in asked["cpus"].choices] == [1, 2, 4, 8, 16, 32]
    read = {axis: question.read for axis, question in asked.items() if question.read}
    assert (read["cpus"]("47"), read["burn_us"]("300us"), read["wait_us"]("20 ms")) == (47, 300, 20_000)
    for axis, text, problem in (
        ("cpus", "48", "allowed: 1 to 47"),
        ("burn_us", "soon", "is not a valid time"),
        ("wait_us", "2h", "is not a valid time"),
    ):
        with pytest.raises(MatrixError, match=problem):
            read[axis](text)


@pytest.mark.parametrize(("text", "budget_s"), [("90s", 90), ("10m", 600), ("10 min", 600), ("2h", 7200)])
def test_a_budget_has_a_unit(text: str, budget_s: int) -> None:
    assert seconds(text) == budget_s


def test_a_budget_decides_how_many_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    options = Options("quick", {})
    few = within(options, block_s=200, before_s=0, budget_s=600)
    assert (few.blocks, few.max_blocks) == (3, None)
    assert command(["--burn", "300us"], {"jdk": ("temurin-25",)}, few) == (
        *("matrix", "run", "--burn", "300us", "--jdk", "temurin-25", "--blocks", "3"),
    )
    told = capsys.readouterr().out
    assert told.startswith("3 blocks, about 10 min, longer") and "--budget 17m allows 5" in told
    many = within(options, block_s=100, before_s=50, budget_s=1250)
    assert capsys.readouterr().out.startswith(
        "Until the ratio is known to ± 5 %: 5 to 12 blocks, 9 min to 21 min, longer where"
    )
    assert (many.blocks, many.max_blocks, many.precision) == (5, 12, 0.05)
    assert command([], {}, many)[-6:] == ("--blocks", "5", "--max-blocks", "12", "--precision", "0.05")
    assert within(options, block_s=1, before_s=0, budget_s=1e9).max_blocks == 1000, "no run may have more"
    with pytest.raises(
        MatrixError, match=r"60 s is too short: measuring the capacity .* takes 70 s, a block takes about 5 min, and "
    ):
        within(options, block_s=300, before_s=70, budget_s=60)
    with pytest.raises(MatrixError, match="--budget 12m is the minimum; --budget 27m allows 5"):
        within(options, block_s=300, before_s=70, budget_s=60)


@pytest.mark.parametrize("budget", [("--budget", "10m"), ("--budget=10m",)])
def test_whatever_was_typed_is_in_the_command_that_asks_the_same(budget: tuple[str, ...]) -> None:
    typed = ("--window-s", "5", "--seed=7", "--jdk-home", "my jdk", "--arm", "virtual:-Xss1m", "--cpu-quota", "500m")
    found = command([*typed[:3], "--yes", *budget, *typed[3:]], {"wait_us": (0,)}, Options("quick", {}, blocks=3))
    assert found == ("matrix", "run", *typed, "--wait", "0us", "--blocks", "3")


@given(st.floats(0.01, 5000), st.floats(0, 5000))
def test_the_least_budget_that_is_named_has_room_and_none_below_it(block_s: float, before_s: float) -> None:
    with pytest.raises(MatrixError) as refused:
        within(Options("quick", {}), block_s=block_s, before_s=before_s, budget_s=0)
    least, enough = re.findall(r"--budget (\w+)", str(refused.value))
    assert (within(Options("quick", {}), block_s=block_s, before_s=before_s, budget_s=seconds(least)).blocks or 0) >= 2
    assert within(Options("quick", {}), block_s=block_s, before_s=before_s, budget_s=seconds(enough)).max_blocks
    assert seconds(least) - (before_s + 2 * block_s) < (60 if least.endswith("m") else 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with the rules that hold outside tests, since these tests are about times."""
    made = make_project(tmp_path_factory.mktemp("project"))
    (made / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    return made


def test_without_a_terminal_it_only_says_what_it_would_measure(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ("ask", "--server", "tomcat", "--jdk", "temurin-25", "--budget", "10m")
    monkeypatch.setattr(sys, "argv", ["matrix", *typed])
    monkeypatch.setattr(sys, "stdin", None)  # as if it had been closed
    done = called(home, *typed)
    taken, compared, cost, *_, same = done.stdout.splitlines()
    assert taken == (
        "Not asked, so by default: 1 CPU, no added work, no remote delay, saturate-50 (throughput: as many requests as "
        "it can serve), workload mp-ping."
    )
    assert compared.startswith("Compared on Apache Tomcat") and "useVirtualThreads=true" in compared
    assert cost.startswith("2 blocks, about 7 min, longer") and "--budget 19m allows 5" in cost
    executors = "--executor tomcat --executor tomcat-virtual --executor tomcat-aa"
    assert same == (
        f"The same without questions: .venv/bin/matrix run --server tomcat --jdk temurin-25 {executors} --blocks 2"
    )
    refused = "matrix: nothing was measured: there is no terminal to confirm on; add --yes to start\n"
    assert (done.returncode, done.stderr) == (1, refused)
    assert not (home / "results").exists()


def test_what_is_fetched_or_built_is_said_before_the_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here nothing has been fetched or built yet."""
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "cache"))
    home = make_project(tmp_path / "project")
    (home / ".build").unlink(missing_ok=True)
    typed = ("--jdk", "temurin-27", "--budget", "10m")
    lacking = [
        line
        for subject in (("tomcat",), ("open-liberty",), ("tomcat", "--workload", "bank-sql-10"))
        for line in called(home, "ask", "--server", *subject, *typed).stdout.splitlines()
        if line.startswith("Not here yet, to be fetched or built before anything is measured: temurin-27, ")
    ]
    assert [re.sub(r" [0-9.]+ ", " … ", line).rpartition(", ")[2] for line in lacking] == [
        "Apache Tomcat (tomcat).",
        "Open Liberty … (open-liberty).",
        "PostgreSQL.",
    ]


def test_that_nothing_is_compared_is_said_before_it_is_asked_whether_to_measure(home: Path) -> None:
    told = called(home, "ask", "--executor", "virtual").stdout
    assert "No executors are compared: there is only virtual; add --executor liberty.\nUntil the ratio" in told


def test_where_all_is_said_nothing_is_told_to_be_as_usual(home: Path) -> None:
    """The front page prints such a command."""
    typed = "--server tomcat --jdk temurin-25 --cpus 1 --burn 200us --wait 0us --workload mp-ping --load saturate-50"
    assert called(home, "ask", *typed.split()).stdout.startswith("Compared on Apache Tomcat")


POOLED = [("--server", name) for name in MATRIX.servers if name not in ("helidon", "command")]


@pytest.mark.parametrize("subject", [*POOLED, ("--workload", "bank-sql-50")])
def test_the_usual_budget_has_room_for_as_many_blocks_as_decide(home: Path, subject: tuple[str, ...]) -> None:
    """That holds even for longer tasks than its menu has, at a share of a capacity that has to be measured first."""
    done = called(home, "ask", *subject, "--load", "share-50", "--burn", "20ms")
    assert "Until the ratio is known to ± 5 %: 5 to " in done.stdout


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--server", "tomcet"), '--server: "tomcet" is not known'),
        (("--server", "jetty", "--workload", "mp-ping", "--wait", "5ms"), "--workload mp-ping --server jetty --wait 5"),
        (("--profile", "quick"), "ask decides that itself: drop --profile, or use"),
        (("--scale", "small"), "ask decides that itself: drop --scale, or use"),
        (("--budget", "1s"), "--budget: 1 s is too short: a block takes about 4 min"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(home: Path, options: Sequence[str], problem: str) -> None:
    done = called(home, "ask", "--yes", *options)
    assert done.returncode == 1 and done.stderr.startswith(f"matrix: {problem}")
    assert done.stderr.count("\n") == 1 + problem.count("\n")


def test_its_help_has_no_option_that_it_refuses(home: Path) -> None:
    asks, runs = (called(home, command, "--help").stdout for command in ("ask", "run"))
    assert all(option in runs and option not in asks for option in DECIDED_BY_ASK)


SHARED = "; with `overlap = true` below [driver] in matrix.toml, at most cpus = "


@pytest.mark.parametrize(
    ("topology", "typed", "problem"),
    [
        (machine(1), (), f"cpus = 1 needs 1 + 1 for the driver; this host has 1{SHARED}1, which server and driver"),
        (VM, ("--cpus=9", "--cpus=2"), f"needs 2 + 1 for the driver; this host has 2: at most cpus = 1{SHARED}2, "),
        (METERED, ("--cpus", "4"), f" grants 4.5 of the 32 of this host: at most cpus = 3{SHARED}4, which"),
        (replace(VM, quota_cpus=0.5), (), " grants 0.5 of the 2 of this host\n"),
    ],
)
def test_cpus_that_this_host_has_not_are_told_before_anything_is_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch, topology: Topology, typed: Sequence[str], problem: str
) -> None:
    monkeypatch.setattr(asking, "read_topology", lambda: topology)
    monkeypatch.setattr(asking, "answered", lambda *_: pytest.fail("something was asked"))
    done = called(home, "ask", *typed)
    assert done.returncode == 1 and problem in done.stderr and done.stderr.count("\n") == 1


def test_what_cannot_be_measured_is_told_in_the_place_of_its_cost(home: Path) -> None:
    done = called(home, "ask", "--cpu-quota", "2")
    reason = "mp-ping-quota-2000m: a quota of 2 CPUs limits nothing on 1 CPU"
    assert done.stderr == f"matrix: none of the 3 cells can be measured here:\n  {reason}\n"
    assert "The same without questions" not in done.stdout


@pytest.mark.parametrize(("topology", "cpus"), [(VM, 1), (METERED, 3)])
def test_no_more_cpus_are_offered_than_the_server_can_have(
    home: Path, monkeypatch: pytest.MonkeyPatch, topology: Topology, cpus: int
) -> None:
    def told(_matrix: object, _given: object, here: AskedHost, _choose: object) -> None:
        raise MatrixError(f"here are {here.cpus}")

    monkeypatch.setattr(asking, "read_topology", lambda: topology)
    monkeypatch.setattr(asking, "answered", told)
    assert called(home, "ask").stderr == f"matrix: here are {cpus}\n"


DOWN, ENTER = "\x1b[B", "\r"


def test_arrow_keys_choose_and_another_value_is_typed(home: Path) -> None:
    """A menu starts with its usual value and ends with "another…", which is one row up from there."""
    steps = [
        ("Which server?", DOWN + ENTER),
        ("How long does a request compute?", DOWN * 6 + ENTER),
        ("(such as 300us or 20ms)", f"soon{ENTER}"),
        ("is not a valid time", f"\x15300us{ENTER}"),
        ("How long does it wait for another system?", ENTER),
        ("What matters most?", DOWN + ENTER),
        ("A database?", ENTER),
        ("Measure now?", "n"),
    ]
    shown = on_terminal(home, steps, "ask", "--jdk", "temurin-25", "--cpus", "1", "--budget=12m")
    assert "Open Liberty on Netty (beta) 26" in shown
    said = re.search(r"The same without questions: (.*?)\r\n", shown)
    assert said and said[1] == (
        ".venv/bin/matrix run --jdk temurin-25 --cpus 1 --server open-liberty-netty --burn 300us --wait 0us "
        "--load share-50 --workload mp-ping --blocks 2"
    )
    assert not (home / "results").exists()


def on_terminal(home: Path, steps: Sequence[tuple[str, str]], *arguments: str) -> str:
    """Return what it shows on a terminal on which these keys are hit, each once the text before it has appeared."""
    ours, its = pty.openpty()
    env = {**os.environ, "MATRIX_HOME": str(home), "TERM": "xterm", "COLUMNS": "200", "PROMPT_TOOLKIT_NO_CPR": "1"}
    with subprocess.Popen(matrix_command(*arguments), stdin=its, stdout=its, stderr=its, env=env) as started:
        os.close(its)
        shown = ""
        for expected, keys in steps:
            since = len(shown)
            while expected not in shown[since:]:
                shown += os.read(ours, 4096).decode("utf-8", "replace")
            os.write(ours, keys.encode())
        try:
            while more := os.read(ours, 4096):
                shown += more.decode("utf-8", "replace")
        except OSError:  # its end is closed
            pass
        assert started.wait(HANGS_S) == 0
    os.close(ours)
    return shown
