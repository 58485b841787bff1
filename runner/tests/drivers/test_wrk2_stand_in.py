"""The stand-in for wrk2 says what the real one said (samples/wrk2/refusals.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.drivers.wrk2_output import parse
from tests.support import wrk2_stand_in
from tests.support.wrk2_stand_in import SAMPLES, Asked, made_up_run

RECORDED: list[dict[str, Any]] = json.loads((SAMPLES / "refusals.json").read_text())


@pytest.mark.parametrize("recorded", RECORDED, ids=[recorded["case"] for recorded in RECORDED])
def test_as_recorded(
    recorded: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("behaviour").write_text("run")
    assert wrk2_stand_in.main(["wrk2", *recorded["arguments"]]) == recorded["exit"]
    said = capsys.readouterr()
    assert said.err == recorded["stderr"]
    if "runs" in recorded:
        assert said.out.startswith("Running ")
    else:
        assert said.out == ((SAMPLES / recorded["stdout"]).read_text() if recorded["stdout"] else "")


@pytest.mark.parametrize(("sample", "asked"), [
    ("stall", Asked(threads=1, connections=50, duration=10, rate=1000, latency=True, u_latency=True)),
    ("20s-calibration", Asked(threads=1, connections=20, duration=20, rate=2000, latency=True)),
])  # fmt: skip
def test_a_made_up_run_has_as_many_requests_as_a_real_one(sample: str, asked: Asked) -> None:
    real = parse((SAMPLES / f"{sample}.txt").read_text())
    asked.url = "http://127.0.0.1:18190/"
    made_up = parse(made_up_run(asked).text)
    assert abs(made_up.requests - real.requests) <= 2
    assert made_up.calibrated == real.calibrated
    assert abs(made_up.corrected.total_count - real.corrected.total_count) <= 110
    assert (made_up.uncorrected is None) == (real.uncorrected is None)
