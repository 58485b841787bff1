"""Selection and order of forks; orders of executors inside blocks are balanced by position and by what comes before."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from itertools import groupby, islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.domain.executors import unsized
from jdkmatrix.domain.servers import own_pool, server_kind, virtual_of
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.run.counterbalance import block_orders
from jdkmatrix.run.plan import blocks_of, make_plan, order_forks, select_cells, stages
from tests.support.builders import key
from tests.support.shipped import MATRIX


def with_profile(**parts: object) -> Matrix:
    profile = Profile.model_validate({"description": "", "blocks": 1, "windows": 1, "window_s": 1, **parts})
    return MATRIX.model_copy(update={"profiles": {"p": profile}})


def test_a_profile_that_is_not_there_is_told() -> None:
    with pytest.raises(MatrixError, match='profile "quik" is not in matrix'):
        select_cells(MATRIX, "quik")


def test_the_mission_begins_exactly_as_quick_and_goes_on_with_what_is_worth_most() -> None:
    quick, half = stages(MATRIX, "mission")
    assert (quick.name, quick.profile) == ("quick", MATRIX.profiles["quick"])
    assert quick.cells == select_cells(MATRIX, "quick")
    assert {(cell.workload, cell.burn_us, cell.wait_us, cell.load) for cell in half.cells} == {
        ("mp-ping", 500, 0, "share-50"), ("banking", 0, 2_000, "share-50"), ("banking", 0, 20_000, "share-50"),
    }  # fmt: skip
    assert {cell.executor for cell in half.cells} == {"liberty", "virtual"}
    assert {*quick.cells, *half.cells} == set(select_cells(MATRIX, "mission"))


def test_the_profile_of_servers_loads_each_of_them_at_one_rate_on_its_pool_and_on_virtual_threads() -> None:
    cells = select_cells(MATRIX, "servers")
    alike = [cell for cell in cells if cell.load == "rate-2000"]
    assert {(cell.workload, cell.jdk, cell.cpus, cell.task) for cell in alike} == {("mp-ping", "temurin-25", 1, (0, 0))}
    arms = {(cell.server, name) for cell in cells for name in (own_pool(cell.server), virtual_of(cell.server))}
    assert {(cell.server, cell.executor) for cell in alike} == arms - {("helidon", "virtual")}


def test_the_profile_of_a_database_checks_flat_out_what_chance_does() -> None:
    cells = [cell for cell in select_cells(MATRIX, "bank-sql") if cell.load == "saturate-200"]
    assert {(cell.server, cell.executor) for cell in cells} == {
        *(("tomcat", name) for name in ("tomcat", "tomcat-virtual", "tomcat-aa")),
        *(("spring-boot", name) for name in ("spring-boot", "spring-boot-virtual", "spring-boot-aa")),
        *(("quarkus", name) for name in ("quarkus", "quarkus-virtual")),
    }
    assert {cell.jdk for cell in cells if cell.executor.endswith("-aa")} == {cell.jdk for cell in cells}


def test_a_cell_is_measured_in_the_first_stage_that_has_it_and_no_stage_is_empty() -> None:
    again = MATRIX.profiles["quick"].model_copy(update={"first": "quick"})
    wider = again.model_copy(update={"select": again.select.model_copy(update={"burn_us": (0, 100)})})
    matrix = MATRIX.model_copy(update={"profiles": {**MATRIX.profiles, "again": again, "wider": wider}})
    assert [stage.name for stage in stages(matrix, "again")] == ["quick"]
    assert [{cell.burn_us for cell in stage.cells} for stage in stages(matrix, "wider")] == [{0}, {100}]


def test_executors_that_are_compared_are_not_measured_in_two_stages() -> None:
    again = MATRIX.profiles["quick"].model_copy(update={"first": "quick"})
    more = again.select.model_copy(update={"executor": ("liberty", "virtual", "fixed-8")})
    matrix = MATRIX.model_copy(
        update={"profiles": {**MATRIX.profiles, "more": again.model_copy(update={"select": more})}}
    )
    with pytest.raises(
        MatrixError, match=r'fixed-8.* is measured in stage "more", and what it is compared with in "quick"'
    ):
        stages(matrix, "more")


def test_the_command_line_changes_the_protocol_of_every_stage() -> None:
    changed = Options("mission", {}, blocks=1, rounds=4, window_s=21.0).apply(MATRIX)
    profiles = [changed.profiles[name] for name in changed.stages("mission")]
    assert [(one.blocks, one.rounds, one.window_s) for one in profiles] == [(1, 4, 21.0)] * 2
    with pytest.raises(MatrixError, match="--rounds is for forks that take turns"):
        Options("mission", {}, protocol="separate", rounds=4).apply(MATRIX)
    with pytest.raises(MatrixError, match="--rounds is for forks that take turns: turns are no better"):
        Options("quick", {"load": ("rate-2000",)}, rounds=4).apply(MATRIX)


def test_exclude_needs_every_axis_it_names_and_what_include_adds_may_have_fewer_blocks() -> None:
    matrix = with_profile(
        blocks=3,
        select={"workload": ["mp-ping"], "jdk": ["temurin-25"], "executor": ["liberty", "virtual"],
                "cpus": [1, 2], "burn_us": [0], "load": ["saturate-10"]},
        exclude=[{"cpus": [2], "executor": ["virtual"]}],
        include=[{"cpus": [2], "executor": ["virtual"], "blocks": 1},
                 {"cpus": [1, 4], "executor": ["liberty"], "burn_us": [0, 100], "blocks": 2}],
    )  # fmt: skip
    blocks = blocks_of(matrix.profiles["p"], select_cells(matrix, "p"))
    found = {(cell.executor, cell.cpus, cell.burn_us): count for cell, count in blocks.items()}
    assert found == {
        ("liberty", 1, 0): 3, ("virtual", 1, 0): 3, ("liberty", 2, 0): 3, ("virtual", 2, 0): 1,
        ("liberty", 1, 100): 2, ("liberty", 4, 0): 2, ("liberty", 4, 100): 2,
    }  # fmt: skip


def test_excluding_a_server_excludes_no_experiment() -> None:
    matrix = with_profile(
        blocks=1,
        select={"workload": ["mp-ping", "spawn-work"], "server": ["open-liberty", "jetty"], "jdk": ["temurin-25"],
                "executor": ["virtual"], "cpus": [2], "burn_us": [0, 100], "load": ["saturate-10", "count-1000"]},
        exclude=[{"server": ["jetty"], "cpus": [2]}],
    )  # fmt: skip
    found = {(cell.workload, cell.server) for cell in select_cells(matrix, "p")}
    assert found == {("mp-ping", "open-liberty"), ("spawn-work", NO_SERVER)}


def test_an_axis_left_out_of_select_means_all_of_it() -> None:
    matrix = with_profile(select=Selection(workload=("mp-ping",), jdk=("temurin-25",), load=("saturate-10",)))
    cells = select_cells(matrix, "p")
    axes = MATRIX.axes
    served = {(cell.server, cell.executor) for cell in cells}
    assert len(cells) == len(served) * len(axes.cpus) * len(axes.burn_us)
    for server in axes.server:
        kind = server_kind(server)
        has = [executor for executor in axes.executor if kind.has(unsized(executor))]
        assert [executor for one, executor in sorted(served) if one == server] == sorted(has)
    assert ("jetty", "liberty") not in served and ("open-liberty", "structured") not in served


cells_of_groups = st.dictionaries(
    st.integers(1, 64), st.sets(st.sampled_from(["liberty", "virtual", "platform", "cached"]), min_size=1), max_size=6
).map(lambda groups: [key(executor, cpus=cpus) for cpus, names in groups.items() for executor in sorted(names)])


@given(cells=cells_of_groups, blocks=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_every_cell_gets_each_fork_once_and_blocks_stay_together(cells: list[CellKey], blocks: int, seed: int) -> None:
    forks = order_forks(dict.fromkeys(cells, blocks), seed=seed)
    assert Counter((f.key, f.fork) for f in forks) == Counter((c, b) for c in cells for b in range(1, blocks + 1))
    assert [f.sequence for f in forks] == list(range(1, len(forks) + 1))
    assert [f.fork for f in forks] == sorted(f.fork for f in forks)
    runs = [(block, list(members)) for block, members in groupby(forks, key=lambda f: (f.fork, f.key.group))]
    assert len({block for block, _ in runs}) == len(runs)
    for _, members in runs:
        assert [f.position for f in members] == list(range(1, len(members) + 1))


@given(
    cells=cells_of_groups, seed=st.integers(0, 2**32), blocks=st.integers(1, 6), more=st.integers(1, 6), data=st.data()
)
def test_more_blocks_go_on_with_the_same_order(
    cells: list[CellKey], seed: int, blocks: int, more: int, data: st.DataObject
) -> None:
    """The blocks are those of the cells that have the most; some cells of an addition have fewer in both."""
    few = {cell: data.draw(st.integers(1, blocks)) for cell in cells if data.draw(st.booleans())}
    short = order_forks(dict.fromkeys(cells, blocks) | few, seed=seed)
    ends = {cell: number for cell, number in few.items() if number < blocks}
    long = order_forks(dict.fromkeys(cells, blocks + more) | ends, seed=seed)
    assert long[: len(short)] == short


def orders_by_group(forks: Iterable[PlannedFork]) -> dict[CellKey, list[tuple[str, ...]]]:
    """Return the executors of every group, block by block."""
    found: dict[CellKey, dict[int, list[str]]] = {}
    for fork in forks:
        found.setdefault(fork.key.group, {}).setdefault(fork.fork, []).append(fork.key.executor)
    return {group: [tuple(order) for order in blocks.values()] for group, blocks in found.items()}


@pytest.mark.parametrize("seed", [0, 1, 20241115])
def test_no_group_of_the_article_has_one_order_in_all_blocks(seed: int) -> None:
    """With an order drawn anew for every block, 10 of these 108 groups had only one order (seed 20241115)."""
    cells = select_cells(MATRIX, "article")
    orders = orders_by_group(order_forks(dict.fromkeys(cells, MATRIX.profiles["article"].blocks), seed=seed))
    assert len(orders) == 108
    assert sum(len(set(blocks)) == 1 for blocks in orders.values()) == 0
    first = Counter(blocks[0][0] for blocks in orders.values())
    assert min(first["liberty"], first["virtual"]) > 30, "each group starts at random"


def test_cells_without_further_blocks_drop_out_and_the_rest_stays_balanced() -> None:
    left = ("liberty", "virtual", "cached")
    cells = dict.fromkeys(map(key, left), 8) | dict.fromkeys(map(key, ("platform", "fixed-50")), 2)
    for seed in range(20):
        (blocks,) = orders_by_group(order_forks(cells, seed=seed)).values()
        assert all(set(order) == {cell.executor for cell in cells} for order in blocks[:2])
        for position in range(3):
            assert Counter(order[position] for order in blocks[2:]) == dict.fromkeys(left, 2)


def test_a_cell_whose_name_is_too_long_for_its_files_is_refused_before_it_is_measured() -> None:
    profile = Profile.model_validate({"description": "", "select": {}, "blocks": 1})
    fits = key("virtual", workload="w" * 100)
    assert make_plan([fits], profile, seed=1, impossible={}).cells == (fits,)
    with pytest.raises(MatrixError, match=r"at most 200 bytes, .* found 2[0-9][0-9]: shorten"):
        make_plan([fits, key("virtual", workload="w" * 180)], profile, seed=1, impossible={})


def test_blocks_that_may_be_added_are_planned_and_not_sure() -> None:
    protocol = {"description": "", "blocks": 5, "max_blocks": 7, "windows": 1, "window_s": 1, "select": {}}
    plan = make_plan([key("liberty"), key("virtual")], Profile.model_validate(protocol), seed=1, impossible={})
    assert (len(plan.sure), len(plan.forks)) == (10, 14)
    assert plan.forks[:10] == plan.sure == order_forks(dict.fromkeys(plan.cells, 5), seed=1)


SEEDS = st.integers(0, 2**32)
SEVERAL = st.integers(2, 8)


def dealt(executors: int, blocks: int, seed: int) -> list[tuple[str, ...]]:
    return list(islice(block_orders("ABCDEFGH"[:executors], random.Random(seed)), blocks))


def rows_of(executors: int) -> int:
    return executors if executors % 2 == 0 else 2 * executors


@given(SEVERAL, SEEDS, st.integers(0, 30))
def test_any_full_set_of_blocks_is_balanced(executors: int, seed: int, start: int) -> None:
    rows = rows_of(executors)
    blocks = dealt(executors, start + rows, seed)[start:]
    for position in range(executors):
        assert set(Counter(order[position] for order in blocks).values()) == {rows // executors}
        assert len({order[position] for order in blocks}) == executors
    followed = Counter(pair for order in blocks for pair in pairwise(order))
    assert len(followed) == executors * (executors - 1)
    assert set(followed.values()) == {rows // executors}


@given(SEVERAL, SEEDS)
def test_no_order_comes_twice_before_all_rows_are_used_up(executors: int, seed: int) -> None:
    blocks = dealt(executors, rows_of(executors), seed)
    assert len(set(blocks)) == len(blocks)


@given(SEVERAL, SEEDS, st.integers(1, 20))
def test_after_even_numbers_of_blocks_all_were_in_the_middle_on_average(executors: int, seed: int, pairs: int) -> None:
    blocks = dealt(executors, 2 * pairs, seed)
    for name in "ABCDEFGH"[:executors]:
        assert sum(order.index(name) for order in blocks) == pairs * (executors - 1)


@pytest.mark.parametrize("executors", [2, 3, 5])
def test_the_start_is_random(executors: int) -> None:
    starts = Counter(dealt(executors, 1, seed)[0][0] for seed in range(200))
    assert min(starts[name] for name in "ABCDEFGH"[:executors]) > 200 / executors / 2
