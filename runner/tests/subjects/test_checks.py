"""Checks of a server after its windows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.records.run import Calibration
from jdkmatrix.subjects.served.checks import audit_books, check_burn
from tests.support.builders import gauges

CALIBRATION = Calibration(jdk="temurin-25", rounds_per_us=41.2, repeats=20, spread=0.004, cpu=1, clock_speed=200.0)


@pytest.mark.parametrize(
    ("best_us", "speeds", "expected_us"),
    [
        (100.5, {1: 200.0}, 100.0),
        (100.5, {0: 210.0, 1: 200.0}, 100.0),
        (95.0, {0: 210.0, 1: 200.0}, 95.24),
        (110.0, {0: 210.0, 1: 200.0}, 100.0),
        (100.5, {}, None),
    ],
)
def test_work_is_expected_at_the_clock_of_the_cpu_that_fits_best(
    monkeypatch: pytest.MonkeyPatch, best_us: float, speeds: dict[int, float], expected_us: float | None
) -> None:
    """Nobody can tell on which of the server's CPUs the work ran, and some may be favoured."""
    monkeypatch.setattr("jdkmatrix.probes.clock_speed.read_clock_speed", speeds.get)
    connection = cast(Connection, SimpleNamespace(get_json=lambda path: {"best_us": best_us}))
    check = check_burn(connection, rounds=4120, asked_us=100, calibration=CALIBRATION, clock_speeds_before=speeds)
    assert check.expected_us == (None if expected_us is None else pytest.approx(expected_us, abs=0.01))


@pytest.mark.parametrize(
    ("lives", "within_s", "told"),
    [(False, 5.0, "the server has ended"), (True, 0.0, "requests are still in flight 0 s after the load")],
)
def test_who_has_ended_is_not_awaited(monkeypatch: pytest.MonkeyPatch, lives: bool, within_s: float, told: str) -> None:
    monkeypatch.setattr("jdkmatrix.subjects.served.checks.read_gauges", lambda connection: None)
    with pytest.raises(HttpError, match=told):
        audit_books("http://127.0.0.1:9", is_alive=lambda: lives, within_s=within_s)


def test_books_are_not_read_while_requests_wait_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transfers would go on during the audit, although none is in flight for a moment."""
    seen = iter([(0, 30), (2, 32), (0, 36), (0, 40), (0, 40)])
    looks = (gauges(in_flight=now).model_copy(update={"served_on_servers": begun}) for now, begun in seen)
    monkeypatch.setattr("jdkmatrix.subjects.served.checks.read_gauges", lambda connection: next(looks))
    monkeypatch.setattr(Connection, "get_json", lambda *_: pytest.fail("too soon") if list(seen) else {})
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(HttpError, match="/audit: "):
        audit_books("http://127.0.0.1:9", is_alive=lambda: True, within_s=60)
