"""A question put together step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.ask import Step, answered, command, seconds, within
from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import select_cells
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

FILES = read_files(ROOT / "matrix.toml")
JDKS = ("temurin-21.0.8", "temurin-25")


def default(step: Step) -> str | int:
    return step.choices[0][1]


def test_the_defaults_are_the_first_look() -> None:
    values = answered(MATRIX, {}, JDKS, 2, default)
    asked = select_cells(with_values(MATRIX, "quick", values), "quick")
    assert asked == select_cells(MATRIX, "quick")


def test_what_an_option_says_is_not_asked() -> None:
    titles: list[str] = []

    def choose(step: Step) -> str | int:
        titles.append(step.title)
        return step.choices[-1][1]

    given_values: dict[str, tuple[str | int, ...]] = {
        "jdk": ("temurin-25",), "cpus": (1,), "burn_us": (300,), "load": ("rate-5000",), "server": ("jetty",)
    }  # fmt: skip
    values = answered(MATRIX, given_values, JDKS, 8, choose)
    assert titles == ["How long does it wait for another system?"]
    assert values["executor"] == ("jetty", "virtual", "jetty-aa")
    assert {axis: values[axis] for axis in given_values} == given_values


def test_a_workload_that_calls_nobody_is_not_asked_how_long_it_waits() -> None:
    values = answered(MATRIX, {"workload": ("mp-ping",)}, JDKS, 2, lambda step: step.choices[-1][1])
    assert values["wait_us"] == (0,) and values["burn_us"] == (5000,)


@given(st.randoms(use_true_random=False), st.integers(1, 16))
def test_whatever_is_chosen_can_be_planned(source: object, cpus: int) -> None:
    choice = source.choice  # type: ignore[attr-defined]
    values = answered(MATRIX, {}, JDKS, cpus, lambda step: choice([value for _, value in step.choices]))
    cells = select_cells(with_values(parse_files(FILES, values), "quick", values), "quick")
    assert len(cells) == 3 and {cell.wait_us for cell in cells} == set(values["wait_us"])


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
    capsys.readouterr()
    many = within(options, block_s=100, before_s=50, budget_s=1250)
    assert capsys.readouterr().out == "Until the ratio is known to ± 5%: 5 to 12 blocks, 9 min to 21 min.\n"
    assert (many.blocks, many.max_blocks, many.precision) == (5, 12, 0.05)
    assert command([], {}, many)[-6:] == ("--blocks", "5", "--max-blocks", "12", "--precision", "0.05")
    assert within(options, block_s=1, before_s=0, budget_s=1e9).max_blocks == 1000, "no run may have more"
    with pytest.raises(MatrixError, match=r"60 s is too short: 70 s go to .*, a block takes about 5 min, and "):
        within(options, block_s=300, before_s=70, budget_s=60)
    with pytest.raises(MatrixError, match='--budget: "soon" is no time'):
        seconds("soon")


@pytest.mark.parametrize("budget", [("--budget", "10m"), ("--budget=10m",)])
def test_whatever_was_typed_is_in_the_command_that_asks_the_same(budget: tuple[str, ...]) -> None:
    typed = ("--window-s", "5", "--seed=7", "--jdk-home", "my jdk", "--arm", "virtual:-Xss1m", "--cpu-quota", "500m")
    found = command([*typed[:3], "--yes", *budget, *typed[3:]], {"wait_us": (0,)}, Options("quick", {}, blocks=3))
    assert found == ("matrix", "run", *typed, "--wait", "0us", "--blocks", "3")
