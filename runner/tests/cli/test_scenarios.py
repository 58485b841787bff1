"""Scenarios: which size a host gets, what a run records of it, and what its page says."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.scenarios import as_profile, cannot, choose, chosen_here, in_turn
from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.model import SCALES
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.loads import CountLoad, RateLoad, SaturateLoad
from jdkmatrix.loads.kinds.ramps import JoinedLoad
from jdkmatrix.loads.kinds.relative import FloodLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.provision.project import Project
from jdkmatrix.records.run import ScenarioRecord
from jdkmatrix.report.run_page.facts import reproduce
from jdkmatrix.run.plan import select_cells
from jdkmatrix.stats.exact_test import fisher_exact
from jdkmatrix.stats.verdicts import FAMILY_ERROR
from tests.support.judged_pages import PageOfRun
from tests.support.machines import machine
from tests.support.pages import facts_of
from tests.support.project import ROOT
from tests.support.records import altered_run
from tests.support.served_runs import Shape, synthetic_run
from tests.support.shipped import MATRIX, REGISTRY

GIB = 2**30
NAMES = tuple(MATRIX.scenarios)


def asked(name: str, scale: Literal["auto", "article", "small"] = "auto") -> Options:
    return Options("quick", {}, scenario=name, scale=scale)


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_has_cells_at_both_sizes_and_says_how_they_differ(name: str) -> None:
    assert REGISTRY.repeated_by(name)
    for scale in SCALES:
        executors = {cell.executor for cell in cells_of(name, scale)}
        assert any(map(is_virtual, executors)) and len(executors) > 1, "virtual threads and what they are compared with"
        assert len(getattr(MATRIX.scenarios[name], scale).words) > 20


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_with_two_cpus_can_do_every_small_size_and_a_large_one_gets_the_published(name: str) -> None:
    assert list(cannot(MATRIX, name, "small", machine(2), 8 * GIB)) == []
    small, large = (choose(MATRIX, asked(name), machine(cpus), gib * GIB) for cpus, gib in ((2, 8), (64, 256)))
    assert small.scenario.scale == "small"
    assert small.options.profile in small.matrix.profiles
    assert (large.scenario.scale, large.options.scenario) == ("article", None)
    assert "it fits this host" in large.why


def cells_of(name: str, scale: Literal["article", "small"]) -> tuple[CellKey, ...]:
    return select_cells(*as_profile(MATRIX, name, scale))


@pytest.mark.parametrize("scale", SCALES)
def test_the_memory_of_threads_is_looked_at_where_there_are_hundreds(scale: Literal["article", "small"]) -> None:
    """The load is a closed loop, so that no backlog makes a pool grow beyond those hundreds."""
    cells = cells_of("infoq-memory", scale)
    loads = [MATRIX.loads[name] for name in dict.fromkeys(cell.load for cell in cells)]
    less, more = (load.connections for load in loads if isinstance(load, SaturateLoad))
    assert less >= 200 and 10 * more == 11 * less
    assert {cell.server for cell in cells} >= {"open-liberty-23.0.0.10"}


@pytest.mark.parametrize(("scale", "cpus"), [("article", 8), ("small", 1)])
def test_the_work_of_a_rampup_nearly_fills_the_cpus(scale: Literal["article", "small"], cpus: int) -> None:
    """That is the fixed part alone; the bank's other work takes a quarter more on the machine of the reference runs."""
    for cell in cells_of("infoq-rampup", scale):
        load = MATRIX.loads[cell.load]
        assert isinstance(load, JoinedLoad) and load.join_s == 30
        assert cell.cpus == cpus
        assert 0.7 <= load.connections / cell.wait_us * cell.burn_us / cell.cpus <= 0.8


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("infoq-")])
def test_the_words_say_so_where_liberty_is_not_the_published_one(name: str) -> None:
    for scale in SCALES:
        servers = {cell.server for cell in cells_of(name, scale)}
        if servers - {NO_SERVER, "open-liberty-23.0.0.10"}:
            assert "release" in getattr(MATRIX.scenarios[name], scale).words, f"{name}.{scale}"


@pytest.mark.parametrize("scale", SCALES)
def test_what_the_original_saturates_is_not_held_at_a_rate(scale: Literal["article", "small"]) -> None:
    loads = {cell.load: MATRIX.loads[cell.load] for cell in cells_of("infoq-thousands", scale)}
    assert all(isinstance(load, FloodLoad) for load in loads.values())


def test_a_small_size_has_the_ends_of_the_steps_of_the_published_one() -> None:
    """A pool grows for a minute and more, either in steps that long or in a warm-up that lasts until it has grown."""
    (steps,) = {MATRIX.loads[cell.load] for cell in cells_of("infoq-cpu", "article")}
    assert isinstance(steps, StepsLoad) and steps.further_max > 0 and steps.step_s >= 120
    ends = {MATRIX.loads[cell.load] for cell in cells_of("infoq-cpu", "small")}
    assert ends == {SaturateLoad(connections=100), RateLoad(rate_rps=steps.rates_rps[0], connections=50)}


@pytest.mark.parametrize("scale", SCALES)
def test_connections_are_fewer_than_threads_and_more(scale: Literal["article", "small"]) -> None:
    cells = cells_of("pinning-http", scale)
    threads = {int(cell.executor.removeprefix("fixed-")) for cell in cells if cell.executor.startswith("fixed-")}
    loads = {cell.load: MATRIX.loads[cell.load] for cell in cells}
    connections = {load.connections for load in loads.values() if isinstance(load, SaturateLoad)}
    assert min(connections) < min(threads) <= max(threads) < max(connections)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["infoq-thousands", "infoq-rampup", "delay-ramp"])
def test_where_an_outcome_decides_there_are_forks_enough_to_tell(name: str, scale: Literal["article", "small"]) -> None:
    """All forks of one executor against none of the other are enough among as many comparisons as one condition has."""
    blocks = getattr(MATRIX.scenarios[name], scale).blocks
    assert fisher_exact(blocks, 0, 0, blocks) < FAMILY_ERROR / 5


def test_published_sizes_have_the_published_jdks() -> None:
    for name in ("infoq-ping", "infoq-cpu", "infoq-thousands", "infoq-rampup", "infoq-memory"):
        jdks = [cell.jdk for cell in cells_of(name, "article")]
        assert jdks[0] == "temurin-21.0.1", name
        assert "semeru-21.0.1" in jdks, name
    for name in ("infoq-ping", "infoq-tuning", "infoq-standalone"):
        assert "openjdk-22-ea" in {cell.jdk for cell in cells_of(name, "article")}


def test_more_requests_than_files_may_be_open() -> None:
    for scale in SCALES:
        boxed = [cell for cell in cells_of("fanout", scale) if cell.workload.endswith("-files")]
        assert boxed
        for cell in boxed:
            load, box = MATRIX.loads[cell.load], MATRIX.experiments[cell.workload].limits
            assert isinstance(load, CountLoad) and load.count > box.open_files_max


def test_a_host_that_lacks_a_little_memory_is_told_how_much_it_has() -> None:
    name = next(name for name, scenario in MATRIX.scenarios.items() if scenario.article.memory_bytes_min)
    needed = MATRIX.scenarios[name].article.memory_bytes_min
    (told,) = cannot(MATRIX, name, "article", machine(64), needed - 1)
    assert told == f"it needs {needed // GIB} GiB of memory, and this host has {needed // GIB - 0.1:g}"


def test_a_size_that_is_asked_for_is_taken_whatever_the_host_is() -> None:
    assert choose(MATRIX, asked(NAMES[0], "article"), machine(2), GIB).scenario.scale == "article"


def test_the_page_names_the_scenario_its_size_and_how_to_repeat_it(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, Shape(run_id="s", blocks=1))
    scenario = ScenarioRecord(
        name="infoq-x", scale="small", scale_words="<b>a tenth</b>", description="Load.", published=("infoq-x-1",),
        claims=(),
    )  # fmt: skip
    command = ("matrix", "run", "-s", "infoq-x", "--blocks", "3", "--run", "r")
    run = altered_run(loaded.run, {"scenario": scenario, "command": command})
    shown = PageOfRun(replace(loaded, run=run))
    assert shown.page.heading.endswith("infoq-x")
    assert any(notice.title == "Scenario infoq-x" and "a tenth" in notice.text for notice in shown.notices)
    assert {"Scenario", "Published"} <= facts_of(shown.page.lede).keys()
    assert reproduce(run).splitlines()[-1].startswith(".venv/bin/matrix run -s infoq-x --blocks 3 --scale small --seed")


@pytest.mark.parametrize("typed", [("--scenario", "{}"), ("--scenario={}",), ("-s", "{}")])
def test_a_run_is_repeated_out_of_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]) -> None:
    monkeypatch.setattr(sys, "argv", ["matrix", "run", *(word.format("in-turn") for word in typed), "--blocks", "2"])
    chosen = chosen_here(Project(root=ROOT, work=tmp_path), asked("in-turn"))
    assert chosen.scenario is not None and chosen.scenario.name in NAMES
    said = tuple(word.format(chosen.scenario.name) for word in typed)
    assert chosen.options.command == ("matrix", "run", *said, "--blocks", "2")


@given(st.integers(1, 20), st.floats(0, 4e9))
def test_every_week_has_its_scenario_and_the_next_week_the_next(count: int, seconds: float) -> None:
    names = [f"scenario-{number}" for number in range(count)]
    now, later = in_turn(names, seconds), in_turn(names, seconds + 7 * 86_400)
    assert names.index(later) == (names.index(now) + 1) % count


def test_a_scenario_that_waits_for_its_machine_is_still_that_of_its_week() -> None:
    """A run of several days may be measured before the one that the schedule asks for on Wednesday, at 03:17 UTC."""
    asked_s = datetime(2026, 11, 25, 3, 17, tzinfo=UTC).timestamp()
    assert len({in_turn(NAMES, asked_s + days * 86_400) for days in range(7)}) == 1
