"""The contents of a plan: cells, stages, blocks, and what this host has no CPUs for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jdkmatrix.cli import planning
from tests.support.project import called, make_project, rewrite


def test_plan_shows_cells_and_estimate(home: Path) -> None:
    done = called(home, "plan", "--profile", "short")
    assert done.returncode == 0, done.stderr
    assert "2 cells, 2 forks in 1 block, 1 window of 1 s each" in done.stdout
    plan = json.loads(called(home, "plan", "--profile", "short", "--json").stdout)
    assert len(plan["cells"]) == len(plan["order"]) == 2
    assert plan["estimated_s"] > 0


def test_a_jdk_on_the_axis_that_is_pinned_nowhere_is_told_with_its_place(tmp_path: Path) -> None:
    home = make_project(tmp_path)
    rewrite(home / "matrix.toml", ("jdk = [\n", 'jdk = [\n    "temurin-99",\n'))
    done = called(home, "plan", "--profile", "short")
    assert done.returncode == 1
    assert done.stderr.startswith(f'matrix: {home}/matrix.toml: axes.jdk: "temurin-99" is not known')


def test_windows_are_refused_where_every_cell_takes_turns(home: Path) -> None:
    for options in (("--windows", "20"), ("--window-s", "30")):
        done = called(home, "plan", "--profile", "quick", *options)
        assert done.returncode == 1 and done.stderr.startswith(f"matrix: {options[0]}: every cell of quick takes turns")
        assert called(home, "plan", "--profile", "quick", "--protocol", "separate", *options).returncode == 0
        assert called(home, "plan", "--profile", "mission", *options).returncode == 0


def test_every_plan_draws_its_order_unless_a_seed_is_asked_for(home: Path) -> None:
    arguments = ("plan", "--profile", "quick", "--blocks", "5")
    assert "Every run draws a new order of forks" in called(home, *arguments).stdout
    assert "Forks run in the order of seed 12." in called(home, *arguments, "--seed", "12").stdout
    one, other = (json.loads(called(home, *arguments, "--json").stdout) for _ in range(2))
    assert one["seed"] != other["seed"] and not one["seed_asked_for"]
    again = json.loads(called(home, *arguments, "--seed", str(one["seed"]), "--json").stdout)
    assert again == {**one, "seed_asked_for": True}


def test_plan_says_how_many_blocks_may_be_added(home: Path) -> None:
    adaptive = ("plan", "--blocks", "5", "--max-blocks", "8", "--precision", "0.1")
    told = " ".join(called(home, *adaptive).stdout.split())
    assert "until every leading ratio is known to ± 10 %" in told
    assert "is measured again, with its whole block where forks take turns, at most " in told
    plan = json.loads(called(home, *adaptive, "--json").stdout)
    assert (plan["blocks"], plan["max_blocks"], plan["precision"]) == (5, 8, 0.1)
    assert plan["estimated_max_s"] == pytest.approx(plan["estimated_s"] * 8 / 5)


def test_a_lone_executor_takes_no_turns_and_the_plan_says_so(home: Path) -> None:
    lone = ("plan", "--profile", "quick", "--executor", "virtual")
    assert "2 windows of 3 s each" in " ".join(called(home, *lone).stdout.split())
    assert "rounds of" not in called(home, *lone).stdout
    assert called(home, *lone, "--windows", "5").returncode == 0
    done = called(home, *lone, "--rounds", "40")
    assert done.returncode == 1 and "--rounds is for forks that take turns" in done.stderr


def test_what_would_be_compared_is_something_that_can_be(home: Path) -> None:
    done = called(home, "plan", "--profile", "quick", "--server", "helidon", "--executor", "helidon", "--burn", "50us")
    assert "add --executor helidon-aa" in done.stdout + done.stderr


def test_at_most_every_later_block_has_the_most_rounds(home: Path) -> None:
    plan = json.loads(called(home, "plan", "--profile", "article", "--cpus", "1", "--json").stdout)
    assert plan["estimated_max_s"] > 1.2 * plan["estimated_s"] * plan["max_blocks"] / plan["blocks"]


@pytest.mark.parametrize(("profile", "blocks"), [("quick", 5), ("carriers", 7), ("mission", 5)])
def test_blocks_may_be_added_to_as_many_as_the_rule_needs(home: Path, profile: str, blocks: int) -> None:
    plan = json.loads(called(home, "plan", "--profile", profile, "--max-blocks", "20", "--json").stdout)
    found = {(stage["blocks"], stage["max_blocks"], stage["precision"]) for stage in plan["stages"]}
    assert found == {(blocks, 20, 0.05)}


@pytest.mark.parametrize(
    ("arguments", "executors", "told"),
    [
        (
            ("--arm", "virtual:-Xmx2g"),
            "virtual, virtual+xmx2g",
            "virtual is measured, too, as the reference for virtual+",
        ),
        (("--executor", "virtual", "--arm", "virtual:-Xmx2g"), "virtual, virtual+xmx2g", None),
        (("--executor", "virtual"), "virtual", "there is only virtual; add --executor liberty."),
        (("--executor", "liberty"), "liberty", "there is only liberty; add --executor virtual."),
        (("--executor", "virtual+carriers-2"), "virtual+carriers-2", "add --executor virtual."),
        (("--executor", "platform", "--executor", "fixed-8"), "platform, fixed-8", "only fixed-8 and platform; add"),
        (("--executor", "virtual", "--executor", "fixed-8"), "virtual, fixed-8", None),
        (("--aa", "virtual"), "virtual, virtual-aa", None),
    ],
)
def test_an_arm_has_what_it_is_compared_with_or_that_is_told(
    home: Path, arguments: tuple[str, ...], executors: str, told: str | None
) -> None:
    shown = called(home, "plan", *arguments).stdout
    assert re.search(rf"│ {re.escape(executors)} +│", shown)
    assert told in shown if told else "measured, too" not in shown and "No executors" not in shown


def test_a_profile_can_be_measured_without_its_stopping_rule(home: Path) -> None:
    plan = json.loads(called(home, "plan", "--profile", "capacity", "--no-stopping", "--json").stdout)
    assert (plan["blocks"], plan["max_blocks"], plan["precision"]) == (5, 5, None)
    assert plan["estimated_max_s"] == plan["estimated_s"]


def test_plan_says_what_is_measured_before_loads_are_known(home: Path) -> None:
    asked = ("plan", "--profile", "matrix", "--jdk", "temurin-25", "--cpus", "1")
    assert "First 4 forks, one for each condition" in " ".join(called(home, *asked).stdout.split())
    assert "temurin-25" in called(home, *asked).stdout, "no name of a JDK is broken on a narrow terminal"
    first = json.loads(called(home, *asked, "--json").stdout)["measured_first"]
    assert "banking.temurin-25.liberty.cpus-1.burn-0us.saturate-50" in first
    assert json.loads(called(home, "plan", "--json").stdout)["measured_first"] == []


def test_what_loads_are_derived_from_is_planned_where_it_can_be_measured(home: Path) -> None:
    asked = ("plan", "--profile", "matrix", "--jdk", "temurin-25", "--cpus", "1", "--cpus", "999")
    told = json.loads(called(home, *asked, "--json").stdout)
    refused = {entry["cell_id"].split(".cpus-")[1].split(".")[0] for entry in told["not_testable"]}
    first = {name.split(".cpus-")[1].split(".")[0] for name in told["measured_first"]}
    assert first and refused and not first & refused


@pytest.fixture
def two_cpus() -> Iterator[None]:
    """Programs started meanwhile may use two CPUs at most, on however large a host."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(usable)[:2])
    yield
    os.sched_setaffinity(0, usable)


def test_plan_shows_the_stages_and_their_times(home: Path) -> None:
    told = " ".join(called(home, "plan", "--profile", "mission").stdout.split())
    first, second = told.index("profile quick"), told.index("profile mission")
    assert first < told.index("3 cells, 9 forks in 3 blocks, 10 rounds of 1 s in turns each") < second
    assert second < told.index("First 2 forks, one for each condition") < told.index("2 stages, one after the other")
    assert "6 cells, 18 forks in 3 blocks, 1 window of 12 s each" in told
    plan = json.loads(called(home, "plan", "--profile", "mission", "--seed", "3", "--json").stdout)
    quick, half = plan["stages"]
    assert (quick["profile"], quick["measured_first"], half["profile"]) == ("quick", [], "mission")
    assert plan["estimated_s"] == pytest.approx(quick["estimated_s"] + half["estimated_s"])
    alone = json.loads(called(home, "plan", "--profile", "quick", "--seed", "3", "--json").stdout)
    assert plan["order"][:9] == alone["order"] and quick["cells"] == alone["stages"][0]["cells"]


def test_plan_lists_what_this_host_has_no_cpus_for(home: Path, two_cpus: None) -> None:
    plan = json.loads(called(home, "plan", "--profile", "full", "--jdk", "temurin-25", "--json").stdout)
    planned = {label.rsplit("#", 1)[0] for label in plan["order"]}
    missing = {entry["cell_id"] for entry in plan["not_testable"]}
    assert planned | missing == {cell["cell_id"] for cell in plan["cells"]}
    assert not planned & missing
    assert missing and all("for the driver; this host has 2" in entry["reason"] for entry in plan["not_testable"])


def test_servers_with_a_quota_are_planned_fork_after_fork(home: Path) -> None:
    """That is how they are measured: each in a group of its own."""
    assert "10 rounds of 1 s in turns" in called(home, "plan").stdout
    told = called(home, "plan", "--cpu-quota", "0.5", "--protocol", "interleaved").stdout
    assert "2 windows of 3 s each" in told
    assert "3 cells measured fork after fork, not in turns: its server runs in a box, which others would share." in told


def test_plan_names_the_jdk_of_the_driver_among_those_to_fetch(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is on no axis here, and nothing can be measured without it."""
    monkeypatch.setattr(planning, "resolve", lambda entry: None)
    plan = json.loads(called(home, "plan", "--profile", "quick", "--jdk", "temurin-21.0.8", "--json").stdout)
    assert plan["jdks_to_fetch"] == ["temurin-21.0.8", "temurin-25"]
