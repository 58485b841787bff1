"""The first start of a user's application: what is said of it, and what it tells."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast
from unittest import mock

import pytest

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.run import try_own
from jdkmatrix.run.try_own import after_words, knowing_answers, try_once
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.subjects.served.outside import AnswerTimes, time_answers
from tests.support.builders import key, latency, load_result
from tests.support.fork_setups import usual
from tests.support.shipped import MATRIX


def test_a_slow_start_is_said_to_make_every_fork_longer() -> None:
    assert after_words(4.25) == "4.2 s after its start"
    assert after_words(60.0) == "60.0 s after its start; each fork takes some 50 s more than estimated"


def test_a_temporary_folder_that_no_server_can_run_in_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "#1"))
    (tmp_path / "#1").mkdir()
    instance = mock.Mock(server=mock.Mock(kind=server_kind("open-liberty")))
    with pytest.raises(MatrixError, match=r"#1/.*: Open Liberty cannot run below a folder with '#' in its name"):
        try_once(mock.Mock(instance=instance, load=SaturateLoad(connections=1)), "/")
    instance.lay_out.assert_not_called()


class Session:
    """SYNTHETIC: a driver to which half of the answers come within each of these times, the last for ever; None: fewer
    had come when it stopped waiting, a second after the window."""

    def __init__(self, *typical_s: float | None) -> None:
        self._typical_s = typical_s
        self.windows_s: list[float] = []

    def warm(self, load: Load, duration_s: float, *, label: str) -> LoadResult:
        typical_s = self._typical_s[min(len(self.windows_s), len(self._typical_s) - 1)]
        self.windows_s.append(duration_s)
        if typical_s is None:
            waited = latency(1e6 * (duration_s + 1)).model_copy(update={"min_us": 1e6 * (duration_s + 1)})
            return load_result(load, uncorrected=waited, lower_bounds=waited.count // 2)
        seen = latency(2e6 * typical_s).model_copy(update={"min_us": 0.9e6 * typical_s})
        return load_result(load, uncorrected=seen)


@pytest.mark.parametrize(
    ("typical_s", "windows_s", "found_s"),
    [
        ((0.002,), [1.0], 0.002),
        ((0.3, 0.1, 0.02), [1.0] * 3, 0.02),  # a JVM that gets warm
        ((0.3, 0.2, 0.25), [1.0] * 12, 0.2),
        ((None, None, 3.0), [1.0, 2.0, 4.0, 4.0, 4.0], 3.0),
        ((None,), [1.0, 2.0, 4.0, 8.0], 9.0),
    ],
)
def test_answers_are_timed_until_they_come_soon(
    typical_s: tuple[float | None, ...], windows_s: list[float], found_s: float
) -> None:
    session = Session(*typical_s)
    found = time_answers(cast(DriverSession, session), SaturateLoad(connections=50))
    assert session.windows_s == windows_s and found.typical_s == pytest.approx(found_s)
    assert found.least_s == pytest.approx(found_s if typical_s == (None,) else 0.9 * found_s)


def test_each_arm_is_tried_where_its_answers_take_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty requests at once may be answered within a turn where five hundred are not."""
    own = OwnApplication.model_validate({"command": "java -jar x.jar {port}", "arms": {"pool": "-Da=b"}, "path": "/"})
    workload = MATRIX.workloads["mp-ping"].model_copy(update={"own": own})
    loads = {
        "rate-5": RateLoad(rate_rps=5, connections=900),
        **{f"saturate-{count}": SaturateLoad(connections=count) for count in (50, 500)},
    }
    setups: dict[CellKey, CellSetup] = {
        key("pool", workload="mine", server="command", load=name, cpus=cpus): ServedCell(
            **usual(load=load, workload=workload, driver=mock.Mock(), instance=mock.Mock(executor=cpus), mix=None)
        )
        for cpus in (2, 1)
        for name, load in loads.items()
    }
    once = mock.Mock(return_value=(1.0, AnswerTimes(0.1, 0.1)))
    monkeypatch.setattr(try_own, "try_once", once)
    try_own.try_own(setups, {}, mock.Mock())
    ((tried, _),) = (call.args for call in once.call_args_list)
    assert (tried.load, tried.instance.executor) == (SaturateLoad(connections=500), 1)


def test_both_arms_are_measured_by_the_answers_of_the_slower_one() -> None:
    """Under a rate, nothing but the least that an answer takes is certain."""
    arms = {"pool": "", "virtual": "-Dvirtual=true"}
    own = OwnApplication.model_validate({"command": "java -jar x.jar {port}", "arms": arms, "path": "/"})
    workload = MATRIX.workloads["mp-ping"].model_copy(update={"own": own})
    setups: dict[CellKey, CellSetup] = {
        key(executor, workload="mine", server="command", load=load.kind): ServedCell(
            **usual(load=load, workload=workload, driver=mock.Mock(), instance=mock.Mock(), mix=None)
        )
        for executor in arms
        for load in (SaturateLoad(connections=50), RateLoad(rate_rps=100, connections=50))
    }
    tried = {
        ("mine", "command", "pool"): AnswerTimes(0.05, 0.002),
        ("mine", "command", "virtual"): AnswerTimes(0.2, 0.001),
    }
    known = {(one.executor, one.load): cast(ServedCell, setup) for one, setup in knowing_answers(setups, tried).items()}
    for executor in arms:
        closed, rate = known[executor, "saturate"], known[executor, "rate"]
        assert (closed.own_answer_s, rate.own_answer_s) == (0.2, 0.002)
        assert "an answer takes at least 0.2 s" in (closed.why_no_turns or "")
    assert knowing_answers(setups, {}) == setups
