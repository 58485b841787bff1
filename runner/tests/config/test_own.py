"""The user's own applications in matrix.toml: what is allowed there, and what is started for each arm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jdkmatrix.config.load import parse_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.config.own import OwnApplication
from jdkmatrix.config.request_mix import RequestTemplate, example
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.errors import MatrixError
from tests.support.shipped import FILES

SPRING = "java -jar my.jar --server.port={port}"
VIRTUAL = "-Dspring.threads.virtual.enabled=true"


def own(command: str, **changes: object) -> OwnApplication:
    return OwnApplication.model_validate(
        {"command": command, "arms": {"pool": "", "virtual": VIRTUAL}, "path": "/items", **changes}
    )


@pytest.mark.parametrize(
    ("command", "started"),
    [
        (SPRING, ["{java}", "{jvm_options}", VIRTUAL, "-jar", "my.jar", "--server.port={port}"]),
        ("java -jar a.jar {port} {arm}", ["{java}", "{jvm_options}", "-jar", "a.jar", "{port}", VIRTUAL]),
        ("A=1 B={port} java {jvm_options} -cp x y", ["{java}", "{jvm_options}", VIRTUAL, "-cp", "x", "y"]),
        ("java -Dx={{y}}{port} a {port}", ["{java}", "{jvm_options}", VIRTUAL, "-Dx={{y}}{port}", "a", "{port}"]),
        ("./run {java} {jvm_options} {port}", ["./run", "{java}", "{jvm_options}", VIRTUAL, "{port}"]),
    ],
)
def test_an_arm_is_the_command_with_its_options(command: str, started: list[str]) -> None:
    found = own(command)
    assert found.words("virtual") == started
    assert found.words("pool") == [word for word in started if word != VIRTUAL]
    assert found.settings() == ({"A": "1", "B": "{port}"} if command.startswith("A=1") else {})


def test_braces_in_the_options_of_an_arm_are_no_placeholders() -> None:
    found = own(SPRING, arms={"pool": "-Dx={y}"})
    assert [word.format(java="", port="") for word in found.words("pool") if "x=" in word] == ["-Dx={y}"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"command": "java -jar my.jar"}, "must listen on {port}"),
        ({"command": "java -jar my.jar {prt} {port}"}, "{prt} is not a placeholder here (allowed: java, port"),
        ({"command": "java -jar my.jar {port:d}"}, '"{port:d}": a placeholder is a name in braces and nothing else'),
        ({"command": "java {jvm_options:} {port}"}, "such as {jvm_options}"),
        ({"command": "java -jar my.jar {port} }"}, "double a brace that is not part of a placeholder"),
        ({"command": "java -Xmx2g -jar my.jar {port}"}, "-Xmx2g belongs to the cell"),
        ({"command": "java -XX:MaxHeapSize=4g -jar my.jar {port}"}, "-XX:MaxHeapSize=4g belongs to the cell"),
        ({"command": "JAVA_TOOL_OPTIONS='-Da=b -Xmx4g' java -jar my.jar {port}"}, "-Xmx4g belongs to the cell"),
        (
            {"command": SPRING, "arms": {"pool": "-XX:MaxRAMPercentage=50"}},
            "-XX:MaxRAMPercentage=50 belongs to the cell",
        ),
        ({"command": SPRING, "arms": {"pool": "-XX:+UseSerialGC"}}, "-XX:+UseSerialGC belongs to the cell"),
        ({"command": "./my.sh {port}"}, "it has no {jvm_options}"),
        ({"command": "java x{arm} {port}"}, '"x{arm}": {jvm_options} and {arm} must be words of their own'),
        ({"command": "java {arm} x {arm} {port}"}, "{arm} is in it more than once"),
        ({"command": "A=1"}, "there is no program in it"),
        ({"command": "java 'x {port}"}, "No closing quotation"),
        ({"command": SPRING, "arms": {}}, "arms: a command has pool"),
        ({"command": SPRING, "arms": {"virtual": ""}}, "pool and what is compared with it"),
        ({"command": SPRING, "arms": {"tuned": ""}}, "'pool' or 'virtual'"),
        ({"command": SPRING, "path": "items"}, "it must begin with /"),
        ({"command": SPRING, "war": "x.war"}, "either war or command is needed"),
        ({"command": None, "arms": {}}, "either war or command is needed"),
        ({"command": None, "war": "x.war"}, "a WAR has none"),
        ({"command": None, "war": "x.jar", "arms": {}}, "should match pattern"),
    ],
)
def test_what_cannot_be_is_told(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(problem)):
        own(**{"command": SPRING, **changes})  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 15))
def test_an_example_is_what_the_driver_may_send(one: int, other: int, width: int) -> None:
    low, high = sorted((one, other))
    path = f"/a/{{random:{low}:{high}}}?b={{unique:{width}}}"
    found = re.fullmatch(r"/a/([0-9]+)\?b=([0-9]+)", example(path))
    assert found is not None
    assert (int(found[1]), len(found[1]), int(found[2]), len(found[2])) == (low, len(str(high)), 1, width)
    assert RequestTemplate(method="GET", path=path).path == path


MINE = {"own": {"command": SPRING, "arms": {"pool": ""}, "path": "/"}}
SHOP = {"own": {"war": "shop.war", "path": "/"}, "features": "restfulWS-3.1"}


def test_a_table_that_the_command_line_makes_takes_the_place_of_no_other() -> None:
    """Two arms of the same name would be one."""
    files = {**FILES, "profiles/mine.toml": {"tunings": {"xmx2g": {"description": "a", "jvm_options": ["-Xmx2g"]}}}}
    made = {"description": "-Xmx2g", "jvm_options": ["-Xms2g", "-Xmx2g"]}
    with pytest.raises(MatrixError, match=r"tunings\.xmx2g: the command line makes it, but another table"):
        parse_files(files, tables={"tunings": {"xmx2g": made}})


def matrix_with(**workloads: object) -> Matrix:
    return parse_files(FILES, tables={"workloads": workloads})


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({**MINE, "application": "mp-ping"}, "either this or a table `own` is needed"),
        ({}, "either this or a table `own` is needed"),
        ({**MINE, "features": "restfulWS-3.1"}, "a command has none"),
        ({"own": SHOP["own"]}, "a WAR needs one (allowed: restfulWS-3.1,"),
        ({**MINE, "memory_every_s": 1}, "memory_every_s: an application of your own has none"),
        ({**SHOP, "front": "servlet"}, "front: an application of your own has none"),
        ({**MINE, "database": {"connections": 10}}, "database: an application of your own has none"),
    ],
)
def test_what_no_such_workload_has(table: dict[str, object], problem: str) -> None:
    with pytest.raises(MatrixError, match=re.escape(problem)):
        matrix_with(mine=table)


@pytest.mark.parametrize(
    ("changes", "why_not"),
    [
        ({"workload": "mine", "server": "command", "executor": "pool"}, None),
        ({"workload": "mine", "server": "command", "executor": "fixed-8"}, "own command has no executor fixed-8"),
        ({"workload": "mine", "server": "command", "executor": "virtual"}, "mine has no arm virtual (it has pool)"),
        (
            {"workload": "mine", "server": "jetty", "executor": "virtual"},
            "by a command of its own, and by no other",
        ),
        ({"workload": "mp-ping", "server": "command", "executor": "virtual"}, "and mp-ping has none"),
        ({"workload": "shop", "executor": "liberty"}, None),
        ({"workload": "shop", "server": "tomcat", "executor": "tomcat"}, None),
        ({"workload": "shop", "server": "quarkus", "executor": "quarkus"}, "(allowed: Open Liberty, Eclipse Jetty,"),
        ({"workload": "shop", "executor": "virtual", "burn_us": 50}, "to whose requests no work can be added"),
    ],
)
def test_which_cells_there_are(changes: dict[str, object], why_not: str | None) -> None:
    matrix = matrix_with(mine=MINE, shop=SHOP)
    key = {"jdk": "temurin-25", "cpus": 1, "burn_us": 0, "load": "saturate-10", **changes}
    found = matrix.why_no_cell(CellKey.model_validate(key))
    assert found is None if why_not is None else found is not None and why_not in found
