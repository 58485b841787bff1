"""Experiments without a server: what a user may write, which cells that makes, and what the program is asked."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.load import parse_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.domain.executors import is_virtual, row_of, unsized
from jdkmatrix.domain.loads import CountLoad, InFlightLoad, TaskLoad
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.domain.tables import Limits
from jdkmatrix.errors import MatrixError
from jdkmatrix.experiments.base import Given
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.reading import ConfigError
from jdkmatrix.run import impossible
from jdkmatrix.run.plan import select_cells
from jdkmatrix.subjects.kinds import kind_of
from jdkmatrix.subjects.parts import workload_of
from tests.support.builders import key as key_of
from tests.support.project import ROOT
from tests.support.shipped import MATRIX, TOML


def with_profile(**select: Any) -> Matrix:
    """Return the matrix with [profiles.p] alone; axes that are not named are whole."""
    data = copy.deepcopy(TOML)
    data["profiles"] = {"p": {"description": "", "blocks": 2, "windows": 2, "window_s": 3, "select": select}}
    return parse_files({"matrix.toml": data})


def cells(**select: Any) -> tuple[CellKey, ...]:
    return select_cells(with_profile(**select), "p")


def asked(key: CellKey, url: str | None = None) -> str:
    load = MATRIX.task_load(key)
    given = Given(rounds=700, rounds_per_us=7.0, duration_s=6.0, url=url)
    return " ".join(MATRIX.experiments[key.workload].arguments(key, load, given))


def test_a_product_of_all_axes_has_every_cell_that_makes_sense_and_no_other() -> None:
    servers = ["open-liberty", "jetty", "helidon"]  # with each way to have executors
    loads = [*{type(load): name for name, load in MATRIX.loads.items()}.values()]  # one of each kind
    found = cells(jdk=["temurin-25"], server=servers, cpus=[2], burn_us=[0, 100], wait_us=[0, 2000], load=loads)
    assert {type(MATRIX.loads[key.load]) for key in found} == {*map(type, MATRIX.loads.values())}
    assert len(found) == len(set(found))
    for key in found:
        experiment = MATRIX.experiments.get(key.workload)
        assert (key.server == NO_SERVER) == (experiment is not None) == isinstance(MATRIX.loads[key.load], TaskLoad)
        assert key.has_server == (key.workload in MATRIX.workloads)
        if experiment is None:
            kind = server_kind(key.server)
            assert kind is not None and kind.has(unsized(key.executor))
            assert key.wait_us == 0 or MATRIX.workloads[key.workload].remote
        else:
            assert experiment.why_not(key, MATRIX.loads[key.load]) is None
    kinds = {MATRIX.experiments[key.workload].experiment for key in found if not key.has_server}
    assert kinds == set(BY_NAME)


def test_an_experiment_has_no_server_whichever_is_selected() -> None:
    one = {"workload": ["pinning-lock"], "jdk": ["temurin-25"], "executor": ["virtual"], "cpus": [2], "burn_us": [0]}
    assert [key.server for key in cells(**one, load=["count-100"])] == [NO_SERVER]
    named = cells(**one, load=["count-100"], server=["open-liberty"])
    assert [key.cell_id for key in named] == ["pinning-lock.temurin-25.virtual.cpus-2.burn-0us.count-100"]


def test_a_pool_takes_as_many_rounds_of_the_delay_as_it_needs() -> None:
    found = cells(
        workload=["fanout"], jdk=["temurin-25"], cpus=[1], burn_us=[0], wait_us=[1_000_000], load=["count-1000"],
        executor=["platform", "fixed-100", "virtual-semaphore-100", "structured"],
    )  # fmt: skip
    took = {key.executor: kind_of(MATRIX, key).expected_s(MATRIX, MATRIX.profiles["quick"], key) for key in found}
    assert took == {"platform": 7, "structured": 7, "fixed-100": 25, "virtual-semaphore-100": 25}, "with 1,000 before"


@pytest.mark.parametrize(
    ("workload", "executor", "load", "told"),
    [
        ("hang-lock", "virtual", CountLoad(count=1), "hang-lock runs 2 to 10,000 at once, and x is 1"),
        ("pinning-lock", "platform", CountLoad(count=100_001),
         "pinning-lock runs 1 to 100,000 at once, and x is 100,001"),
        ("fanout", "fixed-40000", CountLoad(count=1000), None),
        ("burn", "fixed-40000", InFlightLoad(tasks=10),
         "burn takes pools of 32,767 threads at most, and fixed-40000 has 40,000"),
        ("burn", "fixed-400", InFlightLoad(tasks=10), None),
    ],
)  # fmt: skip
def test_what_its_program_refuses_is_never_measured(
    workload: str, executor: str, load: TaskLoad, told: str | None
) -> None:
    cell = key_of(workload=workload, executor=executor, load="x", server=NO_SERVER)
    assert MATRIX.experiments[workload].why_never(cell, load) == told


def test_a_remote_system_that_answers_too_late_is_never_asked() -> None:
    told = TOML["experiments"]["fanout"]["timeout_s"]
    cell = key_of(workload="fanout", load="x", server=NO_SERVER, wait_us=round(told * 1e6))
    why = MATRIX.experiments["fanout"].why_never(cell, CountLoad(count=1000))
    assert why == f"its remote system answers after {told:g} s, and a request is given up after {told:g} s"


@pytest.mark.parametrize(
    ("quota_cpus", "told"), [(0.5, None), (2.0, "burn: a quota of 2 CPUs limits nothing on 1 CPU")]
)
def test_the_box_of_an_experiment_is_looked_at_like_that_of_a_server(quota_cpus: float, told: str | None) -> None:
    (cell,) = cells(
        workload=["burn"], load=["tasks-10"], jdk=["temurin-25"], executor=["virtual"], cpus=[1], burn_us=[100]
    )
    boxed = MATRIX.experiments["burn"].model_copy(update={"limits": Limits(cpu_quota_cpus=quota_cpus)})
    matrix = MATRIX.model_copy(update={"experiments": {**MATRIX.experiments, "burn": boxed}})
    temurin = load_catalogue(ROOT / "jdks.json").entry("temurin-25")
    assert impossible._why_never(matrix, matrix.profiles["quick"], cell, temurin) == told
    assert workload_of(matrix, cell).limits == boxed.limits


def test_burn_is_only_where_there_is_work() -> None:
    both = {"jdk": ["temurin-25"], "executor": ["virtual"], "cpus": [2], "burn_us": [0, 100]}
    assert {key.burn_us for key in cells(workload=["burn"], load=["tasks-10"], **both)} == {100}
    assert {key.burn_us for key in cells(workload=["spawn-work"], load=["count-100"], **both)} == {100}
    assert {key.burn_us for key in cells(workload=["spawn-print"], load=["count-100"], **both)} == {0}


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ({"workload": ["spawn-print"], "executor": ["fjp-fifo"]}, ['spawn-print has no "fjp-fifo"', "platform)"]),
        ({"workload": ["burn"], "load": ["saturate-10"]}, ['burn cannot have "saturate-10"', "in-flight, task-rate"]),
        ({"workload": ["burn"], "load": ["count-100"]}, ['burn cannot have "count-100"']),
    ],
)  # fmt: skip
def test_an_arm_or_a_load_that_an_experiment_has_not(select: dict[str, Any], expected: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        with_profile(**select)
    for text in expected:
        assert text in str(caught.value)


def test_what_only_experiments_have_makes_no_cell_of_a_server() -> None:
    with pytest.raises(MatrixError, match="no cell"):
        cells(workload=["mp-ping"], executor=["structured"], jdk=["temurin-25"], cpus=[1], burn_us=[0])


@pytest.mark.parametrize(
    ("experiment", "executor", "yes"),
    [
        ("burn", "fixed-3", True), ("burn", "fjp-lifo", True), ("burn", "structured", False),
        ("burn", "liberty", False), ("burn", "virtual+carriers-2", True), ("burn", "virtual-aa", True),
        ("fanout", "virtual-semaphore-100", True), ("fanout", "virtual-bounded-7", True), ("fanout", "cached", False),
        ("pinning-lock", "fixed-3", False),
    ],
)  # fmt: skip
def test_arms(experiment: str, executor: str, yes: bool) -> None:
    assert MATRIX.experiments[experiment].has_arm(executor) is yes


def test_nothing_that_is_shipped_has_an_executor_by_its_old_name() -> None:
    assert [name for name in MATRIX.axes.executor if row_of(name) != unsized(name)] == []


def test_every_arm_runs_on_the_threads_that_its_name_says() -> None:
    for experiment in MATRIX.experiments.values():
        for arm in experiment.ARMS:
            assert is_virtual(arm.replace("-N", "-7")) == (arm.startswith("virtual") or arm == "structured")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (("burn", "fjp-fifo", 100, "tasks-10"),
         "burn --executor fjp-fifo:2 --burn-rounds 700 --rounds-per-us 7 --in-flight 10 --duration-s 6 --warmup-s 5 "
         "--drain-s 10 --parks on"),
        (("burn-unwatched", "fixed-50", 100, "tasks-1000-per-s"),
         "burn --executor fixed:50 --burn-rounds 700 --rounds-per-us 7 --rate-rps 1000 --duration-s 6 --warmup-s 5 "
         "--drain-s 10 --parks off"),
        (("spawn-sleep-1m", "platform", 0, "count-10000"),
         "spawn --kind platform --count 10000 --task sleep:600 --release-early --timeout-s 120"),
        (("spawn-work", "virtual", 1000, "count-100"),
         "spawn --kind virtual --count 100 --task burn:700 --timeout-s 300"),
        (("spawn-print", "virtual", 0, "count-100"), "spawn --kind virtual --count 100 --task print --timeout-s 120"),
        (("spawn-print-cold", "virtual", 0, "count-100"),
         "spawn --kind virtual --count 100 --task print --sink stdout --cold --timeout-s 120"),
        (("pinning-contended-monitor", "virtual", 0, "count-100"),
         "pinning --construct contended-monitor --threads 100 --block-ms 50 --duration-s 6 --warmup-s 2"),
        (("hang-lock", "virtual+carriers-2", 0, "count-5"),
         "hang --kind virtual --count 5 --inside lock --hold-ms 20 --patience 200"),
        (("json-shared", "work-stealing", 0, "count-100"),
         "json --buffers shared --executor work-stealing:2 --tasks 100 --duration-s 6 --warmup-s 5"),
        (("borrow-agroal", "platform", 0, "count-2000"),
         "borrow --connections 50 --yield --executor platform --tasks 2000 --duration-s 6 --warmup-s 5"),
        (("puts-4k", "virtual-bounded-5+carriers-2", 0, "count-3000"),
         "puts --size-bytes 4096 --executor virtual-bounded:5 --tasks 3000 --duration-s 6 --warmup-s 5"),
        (("puts-4k-sync", "fixed-5", 0, "count-3000"),
         "puts --size-bytes 4096 --sync --executor fixed:5 --tasks 3000 --duration-s 6 --warmup-s 5"),
        (("fanout-spread", "fixed-100", 0, "count-1000"),
         "fanout --url http://127.0.0.1:1/answer?delay_us=2150000&size_bytes=1024&spread=lognormal&seed=1&sigma=0.177 "
         "--requests 1000 --delay-ms 2150 --how fixed:100 --delay-is-mean --warmup-requests 0 --timeout-s 60"),
        (("pinning-native", "virtual+carriers-2", 0, "count-100"),
         "pinning --construct native --threads 100 --block-ms 50 --duration-s 6 --warmup-s 2"),
        (("pinning-lock", "platform", 0, "count-100"),
         "pinning --construct lock --kernel-threads 100 --block-ms 50 --duration-s 6 --warmup-s 2"),
        (("fanout", "virtual-semaphore-100", 0, "count-1000"),
         "fanout --url http://127.0.0.1:1/answer?delay_us=1000000&size_bytes=1024 --requests 1000 --delay-ms 1000 "
         "--how virtual-bounded:100 --warmup-requests 1000 --timeout-s 60"),
    ],
)  # fmt: skip
def test_what_the_program_is_asked(key: tuple[str, str, int, str], expected: str) -> None:
    workload, executor, burn_us, load = key
    wait_us = {"fanout": 1_000_000, "fanout-spread": 2_150_000}.get(workload, 0)
    changes = {"cpus": 2, "burn_us": burn_us, "wait_us": wait_us, "load": load}
    cell = key_of(executor, workload=workload, server=NO_SERVER, **changes)
    assert asked(cell, url="http://127.0.0.1:1/answer") == expected


def test_a_load_of_another_experiment_is_a_fault_of_the_caller() -> None:
    with pytest.raises(TypeError, match="burn cannot run with count"):
        asked(key_of(workload="burn", server=NO_SERVER, burn_us=1, load="count-100"))


def test_what_the_jvm_needs() -> None:
    assert MATRIX.experiments["spawn-sleep-2m"].vm_options("platform") == ("-Xss2048k",)
    assert MATRIX.experiments["spawn-sleep"].vm_options("platform") == ()
    assert MATRIX.experiments["fanout"].vm_options("structured") == ("--enable-preview",)


@given(st.sampled_from(sorted(MATRIX.experiments)), st.floats(0.1, 600))
def test_no_experiment_is_ended_before_it_can_be_over(name: str, duration_s: float) -> None:
    experiment = MATRIX.experiments[name]
    one = key_of(workload=name, server=NO_SERVER, load="count-100")
    assert experiment.longest_s(one, CountLoad(count=100), duration_s) > (duration_s if experiment.TIMED else 0)
    assert kind_of(MATRIX, one).length_words(MATRIX, MATRIX.profiles["quick"], one)


@pytest.mark.parametrize(
    ("name", "executor", "wait_us", "count", "takes_s"),
    [
        ("hang-lock", "virtual", 0, 10_000, 10_000 * 0.02),
        ("fanout", "fixed-100", 1_000_000, 100_000, 1000),
        ("fanout", "fixed-1", 1_000_000, 100, 1000 + 100),  # its warm-up sends 1,000
        ("spawn-print", "virtual", 0, 100, 3 * 120),
    ],
)  # fmt: skip
def test_what_many_do_in_turn_has_its_time(name: str, executor: str, wait_us: int, count: int, takes_s: float) -> None:
    one = key_of(executor, workload=name, server=NO_SERVER, wait_us=wait_us)
    assert MATRIX.experiments[name].longest_s(one, CountLoad(count=count), 6.0) >= takes_s
