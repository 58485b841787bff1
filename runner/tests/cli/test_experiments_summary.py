"""What a run of experiments without a server prints: of each fork, and at its end."""

from __future__ import annotations

import io

from rich.console import Console

from jdkmatrix.cli.experiments import fork_words, groups
from jdkmatrix.cli.summary import has_failures, print_summary, summary_markdown
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, key
from tests.support.outcome_runs import run_of
from tests.support.pinning_results import program_fork, result
from tests.support.shipped import MATRIX

CELLS = [
    key(workload="pinning-synchronized", server=NO_SERVER, jdk=jdk, cpus=2, load="count-100")
    for jdk in ("temurin-21.0.8", "temurin-25")
]


def record(of: CellKey, *found: Fork) -> CellRecord:
    return cell(of, found).model_copy(update={"load": MATRIX.task_load(of)})


REFUSED = result(0.0, seen=None, expected=None, outcome="not-on-this-jdk",
                 problem={"message": "no <b>API</b>", "at_count": None, "advice": "JDK 22"})  # fmt: skip


def test_the_end_of_a_run_tells_every_arm() -> None:
    several = record(CELLS[0], program_fork(1, result(40.0)), program_fork(2, result(42.0)))
    run = run_of([several, record(CELLS[1], program_fork(1, REFUSED))])
    assert not has_failures(run), "a JDK that has not what an experiment is about has not failed"
    out = io.StringIO()
    print_summary(run, Console(file=out, width=80))
    text = out.getvalue()
    for expected in ("temurin-21.0.8: pinning-synchronized, count-100, 2 CPUs – throughput, 1/s", "41.0", "40.0–42.0",
                     "2,000", "complete", "not-on-this-jdk"):  # fmt: skip
        assert expected in text
    assert "req/s" not in text, "there is no table of servers"
    assert "40.0–42.0" in summary_markdown(run)


def test_a_cell_without_a_sound_fork_is_a_failure() -> None:
    broken = record(CELLS[0], program_fork(1, None, Status.FAILED, "measurement"))
    disturbed = record(CELLS[1], program_fork(1, result(40.0), Status.INVALID, "steal"))
    for one in (broken, disturbed):
        assert has_failures(run_of([one]))
    run = run_of([disturbed])
    rows = {row[0]: row for _, found in groups(Cells(run.run, run.cells, served=False)) for row in found}
    assert rows["virtual"][1:3] == ("0/1", "invalid")
    assert "measurement" in summary_markdown(run_of([broken]))


def test_a_fork_in_a_line() -> None:
    assert fork_words(program_fork(1, result(40.0))) == "throughput 40.0/s (expected 2,000)"
    assert fork_words(program_fork(1, REFUSED)) == "not-on-this-jdk: no <b>API</b>"
    hit = result(40.0, outcome="threads-refused", problem={"message": "no more", "at_count": 4981, "advice": None})
    assert fork_words(program_fork(1, hit)).endswith("threads-refused at 4,981: no more")
    assert fork_words(program_fork(1, None, Status.FAILED, "x")) == "failed: it was x"
    assert fork_words(program_fork(1, result(40.0), Status.INVALID, "steal")).endswith("(invalid: steal)")
