"""The calibration program as the runner starts it."""

from __future__ import annotations

import json
import subprocess

import pytest

from jdkmatrix.provision import hosttools
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import build_workloads

pytestmark = pytest.mark.real


def calibrate(*arguments: str) -> subprocess.CompletedProcess[str]:
    jdk = hosttools.find_jdk()
    assert jdk is not None
    jar = build_workloads(find_project().root, say=print).file("burn.jar")
    command = [str(jdk.home / "bin" / "java"), "-cp", str(jar), "jdkmatrix.burn.Calibrate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_prints_one_json_object_and_agrees_with_itself() -> None:
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


@pytest.mark.parametrize("arguments", [(), ("--seconds",), ("--seconds", "soon"), ("--seconds", "0"), ("-s", "1")])
def test_bad_arguments_are_one_line(arguments: tuple[str, ...]) -> None:
    done = calibrate(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("calibrate: ") and done.stderr.count("\n") == 1
