"""One calibration for a run, and only where the clock stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.host.topology import Topology
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.records.run import Calibration
from jdkmatrix.report.run_page.sessions import calibration_notices
from jdkmatrix.run import prepare as module
from jdkmatrix.run.calibrate import calibrate
from jdkmatrix.subjects.parts import Parts
from tests.support.builders import key
from tests.support.shipped import MATRIX

RULES = MATRIX.measure


def counted(spread: float, rounds_per_us: float = 700.0) -> Calibration:
    return Calibration(jdk="temurin-25", rounds_per_us=rounds_per_us, repeats=20, spread=spread, cpu=1)


def told(one: Calibration) -> Calibration:
    return one.model_copy(update={"spread_wanted": 0.01})


def test_the_first_count_with_a_steady_clock_is_taken() -> None:
    counts: Iterator[Calibration] = iter([counted(0.031), counted(0.009, 718.5), counted(0.001)])
    assert calibrate(lambda: next(counts), RULES) == told(counted(0.009, 718.5))
    assert next(counts).spread == 0.001, "nothing was counted once more"


def test_where_the_clock_never_stands_still_the_steadiest_count_is_taken_and_the_page_says_so() -> None:
    counts = iter([counted(0.0501), counted(0.0312, 718.5), counted(0.05)])
    made = calibrate(lambda: next(counts), RULES)
    assert made == told(counted(0.0312, 718.5)) and not list(counts)
    (notice,) = calibration_notices([made, told(counted(0.01)), counted(0.03)])
    assert notice.weight == "info" and "varied by 3.1 % while" in notice.text


def test_a_clock_that_moves_by_more_than_work_may_be_off_is_refused_with_its_figures() -> None:
    assert RULES.calibration_spread_max == MATRIX.thresholds.burn_off_max
    counts = iter([counted(0.131), counted(0.0501), counted(0.06)])
    with pytest.raises(MatrixError) as refused:
        calibrate(lambda: next(counts), RULES)
    text = str(refused.value)
    assert "the speed of CPU 1 varied by 13.10% and then 5.01% and then 6.00% within 4 s" in text
    assert "measure.calibration_spread_max allows 5.00%" in text
    assert "\n" not in text


def test_one_jdk_counts_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute later the host's clock is another one, and "100 µs" on the next JDK were more work by up to 5 %."""
    asked: list[tuple[str, int]] = []

    def count(jdk: str, java: Path, jar: Path, *, cpu: int) -> Calibration:
        asked.append((jdk, cpu))
        return counted(0.001, 700.0 + 40 * len(asked))

    monkeypatch.setattr(module, "count_rounds", count)
    monkeypatch.setattr(module, "cpu_sets_of", lambda *_: SimpleNamespace(sut=(2, 3)))
    host = cast(Topology, None)
    nothing: dict[str, Any] = dict.fromkeys(("version", "version_output", "files_sha256"), "")
    jdk = Available(entry=cast(Any, None), home=Path("/jdk"), source="made up", release={}, **nothing)
    workloads = cast(Any, SimpleNamespace(file=Path))
    parts = Parts(workloads, servers={}, jdks={"temurin-25": jdk, "temurin-21.0.8": jdk}, loads={}, drivers={})
    cells = [key(jdk=name, burn_us=100) for name in ("temurin-21.0.8", "temurin-25")]
    made = module._calibration(MATRIX, parts, cells, host, print)
    assert made.rounds_per_us == 740.0
    assert asked == [(MATRIX.driver.jdk, 3)]
    assert module._calibration(MATRIX, parts, [key()], host, print) is None, "nothing burns"
    assert len(asked) == 1
