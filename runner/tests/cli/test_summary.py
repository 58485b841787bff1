"""The output at the end of a run, as a table and as Markdown, and for each fork of an experiment without a server."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from jdkmatrix.cli.answer import answer_lines, going_on, next_step
from jdkmatrix.cli.experiments import fork_words, groups
from jdkmatrix.cli.summary import has_failures, summary_markdown, summary_table
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import Stopping
from jdkmatrix.records.windows import Capacity
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cell, fork, fork_with, key, load_result, window
from tests.support.judged_pages import printed
from tests.support.outcome_runs import Change, all_of, failing, missed, run_of, silent, spoilt, with_outcomes
from tests.support.pinning_results import program_fork, result
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import MATRIX

OWN = {"workloads": {"mp-ping": {"own": {"command": "java -jar my.jar {port}", "path": "/"}}}}


def measured(number: int, rps: float, windows: int = 1) -> Fork:
    load = load_result(throughput_rps=rps, completed=round(rps))
    return fork_with(*(window(i, load) for i in range(1, windows + 1)), number=number)


def arm(executor: str, *rps: float, **axes: object) -> CellRecord:
    """Make an arm with one fork of two windows for each rate."""
    return cell(key(executor, **axes), tuple(measured(block, one, 2) for block, one in enumerate(rps, start=1)))


def next_after(cells: list[CellRecord], **of_run: Any) -> str:
    return next_step(JudgedRun(run_of(cells, **of_run)))


def table_lines(cells: list[CellRecord]) -> list[str]:
    sink = StringIO()
    Console(file=sink, width=80).print(summary_table(JudgedRun(run_of(cells))))
    return sink.getvalue().splitlines()


def test_figures_and_ratio() -> None:
    lines = table_lines([arm("liberty", 2000, 4000), arm("virtual", 1000, 2000)])
    one = next(line for line in lines if "liberty" in line and "2/2" in line)
    other = next(line for line in lines if "virtual" in line)
    assert "2,828" in one, "the geometric mean of 2,000 and 4,000"
    assert "1,414" in other
    assert "0.500 0.500–0.500" in other


def test_a_constant_rate_is_compared_by_cpu_time() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    cells = [cell(key(executor), (measured(1, 1000),)) for executor in ("liberty", "virtual")]
    text = table_lines([one.model_copy(update={"load": load}) for one in cells])
    assert "1.00 (1 block)" in "\n".join(text)
    assert "of CPU per request where the rate is constant" in " ".join("".join(text).split())


def test_the_rate_that_held_has_a_column_and_makes_the_ratio() -> None:
    load = CapacityLoad(connections=10, p99_max_us=1e4, floor_share=0.1, resolution=0.05, step_s=1)
    cells = []
    for executor, held in (("liberty", 9_000.0), ("virtual", 4_500.0)):
        found = Capacity(
            outcome="found", p99_max_us=1e4, floor_rps=1e3, ceiling_rps=1e4, held_rps=held, failed_rps=held * 1.04,
            not_monotonic_rps=(), steps=(),
        )  # fmt: skip
        forks = (altered(measured(1, 10_000), {"capacity": found}), measured(2, 10_000))
        cells.append(cell(key(executor), forks).model_copy(update={"load": load}))
    lines = table_lines(cells)
    assert all(len(line) <= 80 for line in lines)
    assert any("holds" in line for line in lines)
    line = next(line for line in lines if "virtual" in line)
    assert "10,000" in line and "4,500" in line
    assert "0.50 (1 block)" in line, "the other fork's search came to no end"


def test_the_next_step_after_a_host_that_did_other_work() -> None:
    told = next_after([cell(key(name), (fork(1, Status.INVALID),)) for name in ("virtual", "liberty")])
    assert "matrix doctor" in told and told.endswith("matrix run --resume --run .")


def test_the_next_step_after_a_driver_that_measured_itself() -> None:
    why = Reason(code="driver-saturated", message="the driver used 97 % of its CPUs: it measured itself")
    full = fork_with(window(reasons=(why,)), status=Status.INVALID)
    cells = [cell(key(name), (full,)) for name in ("virtual", "liberty")]
    told = next_after(cells)
    assert told.endswith("(`cpus` below [driver] in matrix.toml), or with longer tasks (--burn 100us)")
    assert "--burn" not in next_after(cells, matrix=OWN), "no work can be added to its requests"


def test_the_next_step_of_two_jdks_is_their_ratio() -> None:
    jdks = ("temurin-25", "own-mine")
    told = next_after([arm(name, 1000, jdk=jdk) for jdk in jdks for name in ("virtual", "liberty")])
    assert told == ".venv/bin/matrix compare . --jdk temurin-25 --jdk own-mine compares the JDKs"


def test_what_a_package_is_called_by_is_what_it_tells_to_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIX_PROGRAM", "/nix/store/abc-matrix-quick/bin/matrix-quick")
    cells = [arm(name, 1000, jdk=jdk) for jdk in ("temurin-25", "own-mine") for name in ("virtual", "liberty")]
    assert next_after(cells).startswith("/nix/store/abc-matrix-quick/bin/matrix-quick compare . --jdk ")
    assert going_on(Path("a b")) == "/nix/store/abc-matrix-quick/bin/matrix-quick run --resume --run 'a b'"


def test_the_next_step_of_a_tuned_executor_and_of_blocks_that_are_added() -> None:
    cells = [arm("virtual", *[1000] * 5), arm("virtual+carriers-2", 990, 1050, 1060, 1000, 1050)]
    assert next_after(cells, promised_precision=0.05).startswith("--blocks 9 would give the ratio to ± 2.5 %")
    stopping = Stopping(precision=0.05, min_blocks=5, max_blocks=5)
    assert next_after(cells, promised_precision=0.05, stopping=stopping).startswith("--max-blocks ")


@pytest.mark.parametrize(
    ("rps", "told"),
    [
        ((1000, 1100, 900), "--blocks 30 would give the ratio to ± 3.9 %"),
        ((500, 510, 490), ".venv/bin/matrix ask measures your own CPUs"),
        ((1000,), ".venv/bin/matrix ask measures your own CPUs"),
        # Known to ± 4 %, which neither shows nor excludes 5 %.
        ((990, 1050, 1060, 1000, 1050), "--blocks 9 would give the ratio to ± 2.5 %"),
    ],
)
def test_the_next_step(rps: tuple[int, ...], told: str) -> None:
    cells = [arm("virtual", *rps), arm("liberty", *[1000] * len(rps))]
    assert next_after(cells, promised_precision=0.05).startswith(told)
    told = told if told.startswith("--blocks") else "the same command with --load share-50 shows p99"
    assert next_after(cells, promised_precision=0.05, matrix=OWN).startswith(told), "matrix ask asks about ours"


def test_more_blocks_are_no_next_step_where_one_arm_lost_more_forks() -> None:
    liberty = cell(key("liberty"), (measured(1, 1000, 2), measured(2, 1000, 2), fork(3, Status.INVALID)))
    told = next_after([arm("virtual", 1000, 1100, 900), liberty], promised_precision=0.05)
    assert told.startswith(".venv/bin/matrix ask")


def test_after_a_closed_loop_and_a_rate_an_application_has_another_request_to_measure() -> None:
    closed = [arm(name, 1000) for name in ("virtual", "liberty")]
    rate = {"load": RateLoad(rate_rps=1000, connections=10)}
    at_rate = [one.model_copy(update={**rate, "key": key(one.key.executor, load="rate-1000")}) for one in closed]
    told = next_after([*closed, *at_rate], matrix=OWN)
    assert told == "the same command with another --path measures another of its requests"


def test_an_answer_names_its_condition_where_others_have_none() -> None:
    cells = [arm("liberty", 1000, 1000), arm("virtual", 500, 500)]
    cells += [cell(key(name, jdk="temurin-21"), (fork(1, Status.INVALID),)) for name in ("liberty", "virtual")]
    (line,) = answer_lines(JudgedRun(run_of(cells)))
    assert line.startswith("temurin-25, 1 CPU, no added work, mp-ping, saturate-50: ")
    more = [arm(name, rps, rps, cpus=n) for n in (2, 4, 8) for name, rps in (("liberty", 1000), ("virtual", 500))]
    (line,) = answer_lines(JudgedRun(run_of([*cells, *more])))
    assert line.startswith("Over all 4 conditions: ") and line.endswith(" 1 more condition has no answer.")


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        ({"tomcat": 1000, "tomcat-virtual": 800, "virtual": 500}, ["20 % lower"]),
        ({"tomcat": 1000, "virtual": 500}, ["50 % lower"]),
        ({"tomcat": 1000, "virtual-bounded-8": 500}, []),
    ],
)
def test_the_answer_is_of_the_servers_own_switch_or_else_of_virtual(arms: dict[str, int], told: list[str]) -> None:
    cells = [arm(name, rps, rps, server="tomcat") for name, rps in arms.items()]
    lines = answer_lines(JudgedRun(run_of(cells)))
    assert [re.findall(r"\d+ % lower", line) for line in lines] == [[one] for one in told]


def test_forks_that_fell_short_stand_below_the_table(tmp_path: Path) -> None:
    plain = synthetic_run(tmp_path, replace(QUICK, jdks=("temurin-25",), blocks=5, windows=1, loads=("rate-2000",)))

    def said(changes: dict[str, dict[int, Change]]) -> str:
        return printed(with_outcomes(plain, changes), width=80)

    never = said({"virtual": all_of(missed)})
    assert (
        "rate-2000: virtual held the rate in 0 of 5 forks against 5 of 5 with liberty: worse (adjusted p 0.00794).\n"
    ) in never
    assert "no pair" in never and "≥ " in never
    some = said({"virtual": {1: missed, 2: spoilt}})
    assert (
        "; ratio not judged, there is no figure to compare in 2 of 5 forks of virtual and 0 of 5 of liberty.\n" in some
        and "not judged" in some
    )
    silence = said({"virtual": all_of(silent)})
    assert "no answers" in next(line for line in silence.splitlines() if line.startswith("  virtual "))
    assert "virtual.cpus-1.burn-0us.rate-2000#1 without a figure: no request was answered" in silence
    assert "250 requests failed with virtual and count towards no throughput" in said({"virtual": all_of(failing)})
    assert "virtual" not in said({}).partition("ratio: ")[2], "nothing to tell"


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    return synthetic_run(tmp_path, replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))


def test_markdown_says_the_same_as_the_terminal(loaded: LoadedRun) -> None:
    summary, text = printed(loaded), summary_markdown(loaded)
    assert text.startswith("### 20250101-120000-synthetic: complete, 2 of 2 forks usable\n")
    assert text.splitlines()[2].startswith("2 of 2 cells, all with")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 1 + 1 + 2, "headings, rule, condition, two cells"
    assert {row.count("|") for row in rows} == {7}
    assert "\ntemurin-25: mp-ping, 1 CPU, no added work, saturate-50, by loadgen\n" in summary
    for row in rows[2:]:
        for word in row.strip("| ").split(" | "):
            assert word.replace("\\", "").strip("*| ") in summary
    assert "semeru-25 is not available here" in text
    assert "again: .venv/bin/matrix run --profile synthetic --seed 7\n" in summary and "order of forks: seed 7" in text
    assert "**Failed, invalid, " not in text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.FAILED, "1 without a usable fork, 1 failed fork"),
        (Status.INVALID, "1 without a usable fork, 0 failed forks"),
    ],
)
def test_what_cannot_be_used_is_told_above_and_below_the_table(loaded: LoadedRun, status: Status, words: str) -> None:
    reason = Reason(code="made-up", message="it <b>broke</b> | badly\nand more")
    bad = cell(key("virtual"), (fork(1, status).model_copy(update={"reasons": (reason,)}),))
    broken = replace(loaded, cells=(*loaded.cells, bad))
    assert has_failures(broken) and not has_failures(loaded)
    text = summary_markdown(broken)
    head, _, cells = text.replace("\\", "").splitlines()[:3]
    assert "2 of 3 forks usable: 1 lost to faults of the host or of the measurement" in head
    assert words in cells
    listed = text.partition("**Failed, invalid, not steady, or without a figure**")[2].splitlines()[2]
    assert listed.endswith(f"\\#1 {status.value}: it \\<b>broke\\</b> \\| badly")


def test_a_run_that_was_stopped_before_its_first_cell_has_none_with_usable_forks(loaded: LoadedRun) -> None:
    stopped = replace(loaded, cells=(), run=loaded.run.model_copy(update={"status": "interrupted"}))
    told = summary_markdown(stopped).splitlines()[2]
    assert told.startswith("0 of 2 cells, 0 without a usable fork, 0 failed forks; ")


def test_a_single_attempt_is_no_plural(loaded: LoadedRun) -> None:
    first, *others = loaded.cells
    again = first.model_copy(update={"attempts": first.forks[:1]})
    text = summary_markdown(replace(loaded, cells=(again, *others))).replace("\\", "")
    assert "\n\n1 earlier attempt at forks does not count: " in text


def test_a_run_in_which_everything_fails_is_still_a_summary(loaded: LoadedRun) -> None:
    reason = Reason(code="made-up", message="no server " * 30)
    forks = tuple(fork(n, Status.FAILED).model_copy(update={"reasons": (reason,)}) for n in range(1, 6000))
    text = summary_markdown(replace(loaded, cells=(cell(key("virtual"), forks),)))
    assert len(text.encode()) < 2**20, "GitHub shows no larger one"
    assert "- … and 5949 more" in text


def test_names_from_files_are_no_markup() -> None:
    text = "\n".join(table_lines([arm("[red]evil[/]", 1000, jdk="[bold]jdk")]))
    assert "[bold]jdk" in text and "[red]evil[/]" in text


def test_an_aa_check_is_no_tuned_executor() -> None:
    assert "tuned" not in "".join(table_lines([arm(name, 1000) for name in ("liberty", "liberty-aa")]))


def test_cells_without_a_figure_say_why() -> None:
    failed = cell(key("virtual"), (fork(1, Status.FAILED), fork(2, Status.INVALID)))
    line = next(line for line in table_lines([failed]) if "virtual" in line)
    assert "0/2" in line and "failed" in line


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
    text = printed(run, width=80)
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
