"""Questions on the command line, which take the place of what a profile asks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import select_cells, stages
from tests.support.shipped import FILES, MATRIX


def cells(profile: str, **asked: tuple[Any, ...]) -> list[str]:
    matrix = parse_files(FILES, asked)
    return [cell.cell_id for cell in select_cells(with_values(matrix, profile, asked), profile)]


def test_a_complete_question_needs_no_profile_that_asks_it() -> None:
    asked = {
        "workload": ("forward",), "jdk": ("temurin-21",), "executor": ("fixed-200", "virtual"), "cpus": (1,),
        "wait_us": (200_000,), "load": ("saturate-1000",),
    }  # fmt: skip
    assert cells("quick", **asked) == [
        f"forward.temurin-21.{executor}.cpus-1.burn-0us.wait-200000us.saturate-1000"
        for executor in ("virtual", "fixed-200")
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"burn_us": (300,)}, "mp-ping.temurin-25.{}.cpus-1.burn-300us.saturate-50"),
        ({"cpus": (3,)}, "mp-ping.temurin-25.{}.cpus-3.burn-0us.saturate-50"),
        ({"load": ("rate-5000",)}, "mp-ping.temurin-25.{}.cpus-1.burn-0us.rate-5000"),
        ({"jdk": ("openjdk-28-ea",)}, "mp-ping.openjdk-28-ea.{}.cpus-1.burn-0us.saturate-50"),
    ],
)
def test_what_is_not_said_is_as_in_the_profile(asked: dict[str, tuple[Any, ...]], found: str) -> None:
    assert cells("quick", **asked) == [found.format(executor) for executor in ("liberty", "virtual", "liberty-aa")]


def test_a_new_value_keeps_the_shape_of_a_profile_and_an_own_one_narrows_it() -> None:
    newer = with_values(parse_files(FILES, {"jdk": ("temurin-26",)}), "mission", {"jdk": ("temurin-26",)})
    before, after = stages(MATRIX, "mission"), stages(newer, "mission")
    assert [tuple(cell.model_copy(update={"jdk": "temurin-26"}) for cell in stage.cells) for stage in before] == [
        stage.cells for stage in after
    ]
    banking = with_values(MATRIX, "mission", {"workload": ("banking",)})
    (alone,) = stages(banking, "mission")
    assert alone.cells == tuple(cell for cell in before[1].cells if cell.workload == "banking")


def test_what_a_profile_has_apart_becomes_one_product_when_asked_together() -> None:
    """The profile matrix leaves out shares at long delays; whoever asks for them gets them."""
    asked = {"wait_us": (200_000,), "load": ("share-50",), "cpus": (1,), "jdk": ("temurin-25",)}
    assert cells("matrix", **asked) == [
        f"banking.temurin-25.{executor}.cpus-1.burn-0us.wait-200000us.share-50" for executor in ("liberty", "virtual")
    ]
    left_out = {"load": ("rate-2000",), "burn_us": (1000,), "cpus": (1,), "jdk": ("temurin-25",)}
    assert cells("full", executor=("virtual",), **left_out) == [
        "mp-ping.temurin-25.virtual.cpus-1.burn-1000us.rate-2000"
    ]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"wait_us": (2000,)}, "--wait 2000us: mp-ping calls no remote system that could answer late (banking and"),
        ({"server": ("jetty",), "executor": ("liberty",)}, "Eclipse Jetty has no executor liberty (it has "),
        ({"workload": ("mp-ping",), "load": ("count-1000",)}, "count-1000 is a load of programs without a server"),
        ({"workload": ("spawn-work",), "executor": ("virtual",)}, "spawn-work cannot run under saturate-50 (it"),
        ({"workload": ("spawn-work",), "executor": ("virtual",), "load": ("count-1000",), "burn_us": (100,),
          "server": ("jetty",)}, "--server jetty: an experiment has no server"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_the_reason(asked: dict[str, tuple[Any, ...]], why: str) -> None:
    with pytest.raises(MatrixError) as refused:
        cells("quick", **asked)
    assert why in str(refused.value)


@given(
    st.sampled_from([name for name in MATRIX.profiles if name != "full"]),
    st.sampled_from([{"cpus": (2,)}, {"jdk": ("temurin-21",)}, {"burn_us": (7,)}, {"executor": ("virtual", "cached")}]),
)
def test_cells_have_asked_values_and_each_value_has_cells(profile: str, asked: dict[str, tuple[Any, ...]]) -> None:
    found = select_cells(with_values(parse_files(FILES, asked), profile, asked), profile)
    for axis, values in asked.items():
        assert {getattr(cell, axis) for cell in found} == set(values)


@pytest.mark.parametrize("profile", ["mission", "matrix", "full"])
def test_a_quota_keeps_the_shape_of_a_profile(profile: str) -> None:
    """All stages keep it, and so does what a rule includes or excludes."""
    options = Options(profile, {}, quotas_cpus=(1.0,)).with_quotas(MATRIX)
    boxed = stages(options.apply(parse_files(FILES, options.asked, options.tables)), profile)
    workloads = {cell.workload for stage in boxed for cell in stage.cells}
    assert all(name.endswith("-quota-1000m") for name in workloads)
    without = [
        {cell.model_copy(update={"workload": cell.workload.removesuffix("-quota-1000m")}) for cell in stage.cells}
        for stage in boxed
    ]
    assert without == [{*stage.cells} for stage in stages(MATRIX, profile)]


def test_a_quota_is_a_variant_of_each_workload() -> None:
    options = Options("quick", {"cpus": (2,)}, quotas_cpus=(0.5, 1.0)).with_quotas(MATRIX)
    matrix = options.apply(parse_files(FILES, options.asked, options.tables))
    found = select_cells(matrix, "quick")
    assert {cell.workload for cell in found} == {"mp-ping-quota-500m", "mp-ping-quota-1000m"} and len(found) == 6
    quotas = {name: matrix.workloads[name].limits for name in ("mp-ping-quota-500m", "mp-ping-quota-1000m")}
    assert [limits and limits.cpu_quota_cpus for limits in quotas.values()] == [0.5, 1.0]
    boxed = Options("quick", {"workload": ("forward",)}, quotas_cpus=(1.0,)).with_quotas(MATRIX)
    limits = parse_files(FILES, boxed.asked, boxed.tables).workloads["forward-quota-1000m"].limits
    assert limits and limits.threads_max == 20_000, "its other limits stay"
    with pytest.raises(MatrixError, match="--cpu-quota: spawn-work has no server to give a quota to"):
        Options("quick", {"workload": ("spawn-work",)}, quotas_cpus=(1.0,)).with_quotas(MATRIX)


@pytest.mark.parametrize(("profile", "executor"), [("bank-sql", "tomcat"), ("mission", "liberty")])
def test_a_check_of_one_executor_against_itself_has_both_arms_everywhere(profile: str, executor: str) -> None:
    """Also where the profile includes its second arm only somewhere."""
    options = Options(profile, {}, aa=executor)
    found = select_cells(options.apply(parse_files(FILES, options.asked)), profile)
    groups = grouped((cell.group, cell.executor) for cell in found)
    assert groups and all(sorted(arms) == [executor, f"{executor}-aa"] for arms in groups.values())


def test_experiments_have_no_ratio_that_says_when_to_stop() -> None:
    options = Options(
        "quick", {"workload": ("pinning-lock",), "load": ("count-100",), "executor": ("virtual",)}, max_blocks=9
    )
    with pytest.raises(MatrixError, match="--max-blocks: no ratio says when experiments without a server have enough"):
        options.apply(parse_files(FILES, options.asked))
