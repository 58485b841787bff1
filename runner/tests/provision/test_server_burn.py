"""The calibration program as the runner starts it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from jdkmatrix.provision.workloads import Workloads

pytestmark = pytest.mark.real


@pytest.fixture
def calibrate(workloads: Workloads, java: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    command = [str(java), "-cp", str(workloads.file("burn.jar")), "jdkmatrix.burn.Calibrate"]
    return lambda *arguments: subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_it_prints_one_json_object_and_agrees_with_itself(
    calibrate: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    results = []
    for _ in range(2):
        done = calibrate("--seconds", "1")
        assert (done.returncode, done.stderr) == (0, "")
        result = json.loads(done.stdout)
        assert set(result) == {"rounds_per_us", "repeats", "spread"}
        assert result["repeats"] >= 5 and result["spread"] >= 0
        results.append(result["rounds_per_us"])
    assert 0.6 < results[0] / results[1] < 1.7
    # A round is a dependent multiplication: no CPU does it in less than 0.1 ns, or needs 50 ns for it.
    assert 20 < results[0] < 10_000


def test_bad_arguments_are_one_line(calibrate: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    for arguments in ((), ("--seconds",), ("--seconds", "soon"), ("--seconds", "0"), ("-s", "1")):
        done = calibrate(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("calibrate: ") and done.stderr.count("\n") == 1
