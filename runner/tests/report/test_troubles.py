"""What is not ok, a line for each fork."""

from __future__ import annotations

import pytest

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.report.run_page.troubles import fork_lines, merged
from jdkmatrix.report.words.sentences import without_log_prefix
from jdkmatrix.store.runs import RunStore
from tests.support.judged_pages import PageOfRun
from tests.support.project import ROOT
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run


def foreign(share: float, of: str = "server") -> Reason:
    return Reason(code="foreign-cpu", message=f"other processes used {share:.1%} of the CPUs of the {of}")


@pytest.fixture(scope="module")
def fork(tmp_path_factory: pytest.TempPathFactory) -> Fork:
    loaded = synthetic_run(tmp_path_factory.mktemp("run"), QUICK)
    windows = loaded.cells[0].forks[0].windows
    ten = tuple(windows[0].model_copy(update={"index": index}) for index in range(1, 11))
    return altered(loaded.cells[0].forks[0], {"windows": ten})


def losing(fork: Fork, reasons: dict[int, tuple[Reason, ...]]) -> Fork:
    windows = (w.model_copy(update={"reasons": reasons.get(w.index, ())}) for w in fork.windows)
    return altered(fork, {"windows": tuple(windows)})


def test_a_fork_is_one_line_with_its_windows_and_the_range_of_its_figures(fork: Fork) -> None:
    told = fork_lines([losing(fork, {3: (foreign(0.091),), 10: (foreign(0.41),)})], shortfalls=False)
    assert told == ("fork 1: windows 3, 10 of 10 lost: other processes used 9.1 to 41.0 % of the CPUs of the server",)


def test_forks_of_which_the_same_is_told_stand_together_and_windows_are_not_told_twice(fork: Fork) -> None:
    spoilt = losing(fork, {2: (foreign(0.03), foreign(0.2, "driver"))})
    invalid = spoilt.model_copy(update={"status": Status.INVALID, "reasons": spoilt.window_reasons})
    other = invalid.model_copy(update={"fork": 2})
    assert fork_lines([invalid, other], shortfalls=False) == (
        "forks 1-2: window 2 of 10 lost: other processes used 3.0 % of the CPUs of the server; "
        "other processes used 20.0 % of the CPUs of the driver",
    )
    assert fork_lines([fork], shortfalls=True) == ()


def test_only_figures_make_messages_differ() -> None:
    assert merged(["a 1 b 2,000", "a 3 b 10", "c 4"]) == ["a 1 to 3 b 10 to 2,000", "c 4"]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("[88.402s][warning][os,thread] Failed to start", "Failed to start"),
        ("say so, first: [88.402s][warning][os,thread] Failed to start", "say so, first: Failed to start"),
        ("[3 of 4] windows", "[3 of 4] windows"),
    ],
)
def test_a_quoted_line_of_a_log_has_no_decoration(line: str, plain: str) -> None:
    assert without_log_prefix(line) == plain


def test_a_reference_run_has_no_sentence_that_contradicts_itself() -> None:
    """Its records say "the rest still falls (+0.11% a second ...": of the rest, and of its last half minute."""
    loaded = RunStore(ROOT / "results" / "reference" / "20261124T043223Z-pinning-http.small").load()
    reasons = [reason for trouble in PageOfRun(loaded).troubles for reason in trouble.reasons]
    assert reasons[0] == (
        "fork 2: not steady after 90 s of warm-up: CPU per request fell by 8.75 % on the whole, though no longer in "
        "the last 30 s"
    )
    assert not any("+" in reason for reason in reasons)
