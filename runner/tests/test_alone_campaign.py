"""A run of servers' cells and experiments together: each on disk, gone on with, and summed up at its end."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from jdkmatrix.alone.fork import AloneSetup
from jdkmatrix.alone.parts import AloneParts
from jdkmatrix.cli.alone import fork_words, groups
from jdkmatrix.cli.summary import has_failures, print_summary, summary_markdown
from jdkmatrix.config.load import load_matrix
from jdkmatrix.config.model import Profile
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure import campaign as module
from jdkmatrix.measure.campaign import Campaign
from jdkmatrix.measure.draft import pinning_of
from jdkmatrix.measure.pinning import AffinityPinner
from jdkmatrix.measure.windows import Listener
from jdkmatrix.plan import make_plan
from jdkmatrix.records import (
    NO_SERVER,
    CellKey,
    ExperimentFork,
    ExperimentRecord,
    PinningResult,
    Reason,
    Status,
)
from jdkmatrix.stats.experiments import spreads
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.builders import pressure
from tests.report_fixture_facts import host_facts
from tests.test_alone_fork import RESULT

MATRIX = load_matrix(Path(__file__).parents[2] / "matrix.toml")
CELLS = tuple(
    CellKey(workload=f"pinning-{held}", server=NO_SERVER, jdk=jdk, executor="virtual", cpus=2, burn_us=0,
            load="count-100")
    for held in ("synchronized", "lock") for jdk in ("temurin-21.0.8", "temurin-25")
)  # fmt: skip
CPUS = CpuSets(sut=(0, 1), driver=(), overlapped=False, shares_cores=False)
PINNER = AffinityPinner("made up")


def result(throughput_per_s: float, **changes: Any) -> PinningResult:
    seen = {**RESULT["seen"], "throughput_per_s": throughput_per_s}
    return PinningResult.model_validate({**RESULT, "seen": seen, **changes})


def fork(number: int, found: PinningResult | None, status: Status = Status.OK, *codes: str) -> ExperimentFork:
    return ExperimentFork(
        fork=number, position=1, sequence=number, status=status,
        reasons=tuple(Reason(code=code, message=f"it was {code}") for code in codes), started_at="a", ended_at="b",
        command=("java",), pinning=pinning_of(CPUS, PINNER), host=pressure(), result=found, logs={},
    )  # fmt: skip


class Heard:
    def __init__(self) -> None:
        self.finished: list[str] = []

    def step(self, text: str) -> None: ...

    def forks_ahead(self, forks: int) -> None: ...

    def fork_started(self, planned: object) -> None: ...

    def fork_finished(self, fork: Any, cell: Any) -> None:
        self.finished.append(f"{cell.key.cell_id}#{fork.fork}")

    def decided(self, text: str) -> None: ...

    def notice(self, text: str) -> None: ...


def campaign(store: RunStore, *, block_ms: int = 50, **protocol: Any) -> Campaign:
    profile = Profile.model_validate({"description": "", "windows": 2, "window_s": 3, "select": {}, **protocol})
    parts = {
        key: AloneParts(
            experiment=MATRIX.experiments[key.workload], command=("java",), cpu_sets=CPUS, burn_rounds=0,
            rounds_per_us=0.0, jvm_flags={}, kernel={}, remote=None, inputs={"block_ms": block_ms},
        )
        for key in CELLS
    }  # fmt: skip
    return Campaign(
        matrix=MATRIX, profile=profile, plan=make_plan(CELLS, profile, seed=1, impossible={}),
        parts=parts, host=host_facts(), pinner=PINNER, store=store,
    )  # fmt: skip


def measure(campaign: Campaign, heard: Heard) -> tuple[str, ...]:
    return campaign.measure(campaign.open(heard.notice), heard)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[AloneSetup]:
    run: list[AloneSetup] = []

    def one(setup: AloneSetup, listener: Listener) -> ExperimentFork:
        run.append(setup)
        return fork(setup.planned.fork, result(100.0 * setup.planned.fork)).model_copy(
            update={"sequence": setup.planned.sequence}
        )

    monkeypatch.setattr(module, "measure_alone", one)
    return run


def read(store: RunStore, key: CellKey) -> ExperimentRecord:
    found = store.read_cell(key)
    assert isinstance(found, ExperimentRecord)
    return found


def test_every_fork_is_on_disk_before_the_next(tmp_path: Path, forks: list[AloneSetup]) -> None:
    store = RunStore.create(tmp_path / "run")
    heard = Heard()
    order = measure(campaign(store, blocks=2), heard)
    assert list(order) == heard.finished == [setup.planned.label for setup in forks]
    assert all(len(read(store, key).forks) == 2 for key in CELLS)
    assert {setup.duration_s for setup in forks} == {6.0}, "its windows in one piece"
    assert read(store, CELLS[0]).parameters["inside"] == "synchronized"
    (spread, *_) = spreads(read(store, CELLS[0]))
    assert (spread.median, spread.least, spread.most, spread.expected) == (150.0, 100.0, 200.0, 2000.0)


def test_a_run_goes_on_and_what_was_made_otherwise_is_set_aside(tmp_path: Path, forks: list[AloneSetup]) -> None:
    store = RunStore.create(tmp_path / "run")
    measure(campaign(store, blocks=1), Heard())
    measure(campaign(store, blocks=2), Heard())
    assert [setup.planned.fork for setup in forks] == [1] * 4 + [2] * 4
    measure(campaign(store, block_ms=99, blocks=1), Heard())
    assert len(list((tmp_path / "run" / "cells").glob("*.superseded-1"))) == 4


def test_experiments_take_no_more_blocks_than_they_must(tmp_path: Path, forks: list[AloneSetup]) -> None:
    store = RunStore.create(tmp_path / "run")
    measure(campaign(store, blocks=5, max_blocks=20, precision=0.02), Heard())
    assert len(forks) == 5 * len(CELLS)


def record(key: CellKey, *found: ExperimentFork) -> ExperimentRecord:
    identity = {"digest": "d", "inputs": {}}
    return ExperimentRecord.model_validate(
        {"key": key, "load": MATRIX.task_loads[key.load], "identity": identity, "parameters": {}, "burn_rounds": 0,
         "forks": found}
    )  # fmt: skip


def loaded(*cells: ExperimentRecord) -> LoadedRun:
    session = SimpleNamespace(number=1, host=host_facts())
    run = SimpleNamespace(
        run_id="r", status="complete", order=(), cells=tuple(cell.key for cell in cells), not_testable=(), notes=(),
        stopping=None, seed=1, every_session=(session,), latest_session=session,
    )  # fmt: skip
    return LoadedRun(run=cast(Any, run), cells=(), problems=(), directory=Path("/nowhere"), experiments=cells)


REFUSED = result(0.0, seen=None, expected=None, outcome="not-on-this-jdk",
                 problem={"message": "no <b>API</b>", "at_count": None, "advice": "JDK 22"})  # fmt: skip


def test_the_end_of_a_run_tells_every_arm(capsys: pytest.CaptureFixture[str]) -> None:
    run = loaded(record(CELLS[0], fork(1, result(40.0)), fork(2, result(42.0))), record(CELLS[1], fork(1, REFUSED)))
    assert not has_failures(run), "a JDK that has not what an experiment is about has not failed"
    out = io.StringIO()
    print_summary(run, Console(file=out, width=80))
    text = out.getvalue()
    for expected in ("temurin-21.0.8: pinning-synchronized, count-100, 2 CPUs – throughput, 1/s", "41", "40–42",
                     "2,000", "complete", "not-on-this-jdk"):  # fmt: skip
        assert expected in text
    assert "req/s" not in text, "there is no table of servers"
    assert "40–42" in summary_markdown(run)


def test_a_cell_without_a_sound_fork_is_a_failure() -> None:
    broken = record(CELLS[0], fork(1, None, Status.FAILED, "measurement"))
    disturbed = record(CELLS[1], fork(1, result(40.0), Status.INVALID, "steal"))
    for cell in (broken, disturbed):
        assert has_failures(loaded(cell))
    rows = {row[0]: row for _, found in groups([disturbed]) for row in found}
    assert rows["virtual"][1:3] == ("0/1", "invalid")
    assert "measurement" in summary_markdown(loaded(broken))


def test_a_fork_in_a_line() -> None:
    assert fork_words(fork(1, result(40.0))) == "throughput 40 1/s (expected 2,000)"
    assert fork_words(fork(1, REFUSED)) == "not-on-this-jdk: no <b>API</b>"
    hit = result(40.0, outcome="threads-refused", problem={"message": "no more", "at_count": 4981, "advice": None})
    assert fork_words(fork(1, hit)).endswith("threads-refused at 4,981: no more")
    assert fork_words(fork(1, None, Status.FAILED, "x")) == "failed: it was x"
    assert fork_words(fork(1, result(40.0), Status.INVALID, "steal")).endswith("(invalid: steal)")
