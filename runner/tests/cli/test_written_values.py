"""Axis values as people write them, and arms with options of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.written_values import arms, load_name, microseconds, quota_cpus
from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.executors import check_executor, is_aa_arm
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import select_cells
from jdkmatrix.subjects.kinds import jvm_options
from tests.support.shipped import FILES


def test_times_are_written_with_a_blank_and_fewer_decimals_too() -> None:
    assert [microseconds("--wait", 600_000_000, text) for text in ("0.5 ms", "20ms", "7µs")] == [500, 20_000, 7]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.5us", "whole µs"), ("2m", "is not a valid time"), ("-1ms", "is not a valid time"),
        ("", "is not a valid time"), ("1e3", "is not a valid time"),
        ("601s", "at most 600 s"),
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str, why: str) -> None:
    with pytest.raises(MatrixError, match=f"--wait: .*{why}"):
        microseconds("--wait", 600_000_000, text)


@given(st.integers(0, 10_000_000))
def test_whole_microseconds_are_what_they_are_in_any_unit(us: int) -> None:
    """1.001 ms is 1000.9999999999999 µs in floats."""
    texts = (f"{us}us", str(us), f"{us // 1000}.{us % 1000:03}ms", f"{us // 1_000_000}.{us % 1_000_000:06}s")
    assert {microseconds("--burn", 10_000_000, text) for text in texts} == {us}


def test_a_rate_may_be_written_as_one() -> None:
    assert [*map(load_name, ("5000/s", "saturate-50", "20 / s"))] == ["rate-5000", "saturate-50", "rate-20"]


def test_a_quota_is_written_as_for_a_container() -> None:
    assert [*map(quota_cpus, ("0.5", "500m", "2"))] == [0.5, 0.5, 2.0]
    for text, why in (
        ("-1", "is not a valid number"), ("half", "is not a valid number"), ("5 m", "is not a valid number"),
        ("0", "whole thousandths"),
        ("2000", "whole thousandths"), ("1m", "whole thousandths"), ("0.0101", "is 10.1m; whole thousandths"),
    ):  # fmt: skip
        with pytest.raises(MatrixError, match=f"--cpu-quota: .*{why}"):
            quota_cpus(text)


def test_an_arm_with_options_is_an_executor_with_a_tuning() -> None:
    executors, tunings = arms(["virtual", "virtual:-XX:+UseParallelGC -Djdk.pollerMode=3", "liberty:-XX:-Inline"])
    assert executors == ("virtual", "virtual+useparallelgc-jdk-pollermode-3", "liberty+no-inline")
    assert tunings["useparallelgc-jdk-pollermode-3"] == {
        "description": "-XX:+UseParallelGC -Djdk.pollerMode=3",
        "properties": {"jdk.pollerMode": "3"},
        "jvm_options": ["-XX:+UseParallelGC"],
    }


def test_what_is_wrong_with_the_options_of_an_arm_is_told_of_the_arm() -> None:
    text = "virtual:-Djdk.virtualThreadScheduler.parallelism=0"
    with pytest.raises(MatrixError, match=f'^--arm: "{text}": .* must be a whole number from 1 to '):
        arms([text])


def test_a_file_in_an_option_is_seen_from_where_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server runs in a folder of its own, where the file is missing, so that every fork of that arm would fail."""
    (tmp_path / "otel.jar").touch()
    monkeypatch.chdir(tmp_path)
    executors, tunings = arms(["virtual:-javaagent:otel.jar=a=b -XX:AOTCache=gone.aot"])
    assert executors == ("virtual+javaagent-otel-jar-a-b-aotcache-gone-aot",)
    (tuning,) = tunings.values()
    assert tuning["jvm_options"] == [f"-javaagent:{tmp_path}/otel.jar=a=b", "-XX:AOTCache=gone.aot"]


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
        ("virtual:", "is not EXECUTOR or EXECUTOR:OPTIONS"),
        (":-Xmx1g", "is not EXECUTOR or EXECUTOR:OPTIONS"),
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
    matrix = with_values(parse_files(FILES, asked, {"tunings": tunings}), "quick", asked)
    options = {cell.executor: jvm_options(matrix, cell, "hotspot") for cell in select_cells(matrix, "quick")}
    assert options == {
        "liberty": ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC"),
        "virtual+useparallelgc-xmx2g": ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC", "-Xmx2g"),
    }
