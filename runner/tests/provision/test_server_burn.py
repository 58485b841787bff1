"""The calibration program as the runner starts it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from jdkmatrix.provision.workloads import Workloads
from tests.support.waiting import HANGS_S


@pytest.mark.real
def test_it_prints_one_json_object_and_agrees_with_itself(workloads: Workloads, java: Path) -> None:
    command = [str(java), "-cp", str(workloads.file("burn.jar")), "jdkmatrix.burn.Calibrate", "--seconds", "1"]
    results = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        result = json.loads(done.stdout)
        assert set(result) == {"rounds_per_us", "repeats", "spread"}
        assert result["repeats"] >= 5 and result["spread"] >= 0
        results.append(result["rounds_per_us"])
    assert 0.6 < results[0] / results[1] < 1.7
    # A round is a dependent multiplication: no CPU does it in less than 0.1 ns, or needs 50 ns for it.
    assert 20 < results[0] < 10_000
