"""The benchmarks that need no server still do what they are for. How fast anything is here is not asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.project import ROOT


@pytest.mark.parametrize(
    ("program", "arguments", "told"),
    [
        ("plan_bench.py", ("--cells", "2000", "--repeats", "1"), "\n2,000 cells: "),
        ("help_bench.py", ("--repeats", "1"), "matrix --help: "),
        ("aa_bench.py", sorted(map(str, ROOT.glob("bench/protocols/*.json"))), "intervals contain 1"),
        ("protocols_bench.py", sorted(map(str, ROOT.glob("bench/protocols/*.json"))), "interleaved, 10 rounds"),
    ],
    ids=["plan", "help", "aa", "protocols"],
)
def test_a_benchmark_measures_what_it_says(program: str, arguments: tuple[str, ...], told: str) -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "bench" / program, *arguments],
        env={"COLUMNS": "200"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode in (0, 1) and "Traceback" not in ended.stderr, ended.stderr
    assert told in ended.stdout
