"""Arms that have options of their own."""

from __future__ import annotations

import pytest

from jdkmatrix.cli.arms import arms
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.domain.executors import check_executor, is_aa_arm
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import select_cells
from jdkmatrix.subjects.kinds import jvm_options
from tests.support.project import ROOT


def test_an_arm_with_options_is_an_executor_with_a_tuning() -> None:
    executors, tunings = arms(["virtual", "virtual:-XX:+UseParallelGC -Djdk.pollerMode=3", "liberty:-XX:-Inline"])
    assert executors == ("virtual", "virtual+useparallelgc-jdk-pollermode-3", "liberty+no-inline")
    assert tunings["useparallelgc-jdk-pollermode-3"] == {
        "description": "-XX:+UseParallelGC -Djdk.pollerMode=3",
        "properties": {"jdk.pollerMode": "3"},
        "jvm_options": ["-XX:+UseParallelGC"],
    }


def test_more_options_than_a_file_may_have_in_its_name_are_an_arm_of_their_own() -> None:
    many = "-XX:+UseShenandoahGC -XX:+AlwaysPreTouch -XX:+UseTransparentHugePages -XX:+UseNUMA -XX:ConcGCThreads="
    executors, tunings = arms([f"virtual:{many}1", f"virtual:{many}2"])
    assert len(set(executors)) == len(tunings) == 2
    assert all(len(check_executor(name)) < 80 and "+useshenandoahgc-always" in name for name in executors)


def test_no_name_makes_an_arm_the_second_one_of_an_aa_check() -> None:
    (executor,), _ = arms(["virtual:-Dmode=aa"])
    assert executor.startswith("virtual+mode-aa-") and not is_aa_arm(executor)


def test_two_arms_that_would_have_one_name_are_told() -> None:
    assert len(arms(["virtual:-Dx=1", "virtual:-Dx=1", "liberty:-Dx=1"])[0]) == 2
    with pytest.raises(MatrixError, match="--arm: -Dx=1 and -Dx=-1 would both be called x-1"):
        arms(["virtual:-Dx=1", "virtual:-Dx=-1"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("virtual:", "is no EXECUTOR or EXECUTOR:OPTIONS"),
        (":-Xmx1g", "is no EXECUTOR or EXECUTOR:OPTIONS"),
        ("virtual:UseParallelGC", "must begin with a hyphen"),
        ("virtual:-XX:", "must begin with a hyphen and have a name"),
        ("virtual:'-Xmx1g", "No closing quotation"),
    ],
)
def test_what_is_no_arm_is_refused(text: str, why: str) -> None:
    with pytest.raises(MatrixError, match=why):
        arms([text])


def test_its_options_come_behind_those_of_all_and_its_collector_in_their_place() -> None:
    executors, tunings = arms(["virtual:-XX:+UseParallelGC -Xmx2g", "liberty"])
    asked = {"executor": executors}
    matrix = with_values(parse_files(read_files(ROOT / "matrix.toml"), asked, {"tunings": tunings}), "quick", asked)
    options = {cell.executor: jvm_options(matrix, cell, "hotspot") for cell in select_cells(matrix, "quick")}
    assert options == {
        "liberty": ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC"),
        "virtual+useparallelgc-xmx2g": ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC", "-Xmx2g"),
    }
