"""A project folder of its own for a test: the real parts, and a matrix.toml with short windows."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from jdkmatrix.cli.main import app
from jdkmatrix.drivers import loadgen
from jdkmatrix.fork import remote
from tests.support.waiting import HANGS_S

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "runner" / "tests" / "samples"
SHARED = ("workloads", ".build", "profiles", "published", "jdks.json", "toolchain.lock.json", "report-templates")

# Short enough for a test, long enough to go through every phase; the figures themselves mean nothing. C1 alone: the
# second compiler is most of the cost of a server that runs for seconds.
C1_ALONE = "-XX:TieredStopAtLevel=1"
SHORT = f"""
[workloads.mp-ping.jvm.hotspot]
options = ["-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "{C1_ALONE}"]
[workloads.mp-ping.jvm.openj9]
options = ["-Xms256m", "-Xmx256m"]
[profiles.short]
description = "one fork of everything on the server that starts soonest, far too short to mean anything"
blocks = 1
windows = 1
window_s = 1
[profiles.short.select]
workload = ["mp-ping"]
server = ["jetty"]
jdk = ["temurin-25"]
executor = ["jetty", "virtual"]
cpus = [1]
burn_us = [0]
load = ["rate-500"]
"""
# A test shares this host with other work; what it proves does not depend on that.
RULES = """
[warmup]
window_s = 0.25
moderate_s = 0.25
utilisation = 0.1
tail_windows = 4
tail_s_min = 0.5
tail_s_max = 1
drift_of_precision_max = 1000
change_max = 10.0
jit_share_max = 10.0
max_s = 1.5
settle_s = 0.25
[measure]
proof_requests = 120  # servers close a connection after 100 by default
calibration_spread_wanted = 10
calibration_spread_max = 10
[thresholds]
burn_off_max = 10
steal_share_max = 1.0
steal_per_precision_max = 100.0
foreign_per_precision_max = 100.0
foreign_sut_share_max = 1.0
foreign_cpu_share_max = 1.0
jit_per_precision_max = 100.0
saturated_share_drop_max = 1.0
throttled_share_max = 1.0
swapped_bytes_per_s_max = 1e12
clock_step_s_max = 1e6
driver_late_p99_us_max = 1e12
driver_late_share_max = 1e9
runner_cpu_share_max = 1.0
driver_cpu_share_max = 1.0
remote_cpu_share_max = 1.0
readings_late_max_s = 5.0
readings_spread_max = 100
remote_late_share_max = 1e9
remote_late_mean_share_max = 1e9
achieved_rate_min = 0.0
"""


def rewrite(path: Path, *changes: tuple[str, str]) -> None:
    """Replace the first occurrence of each old text by its new one."""
    text = path.read_text()
    for old, new in changes:
        assert old in text, f"{path} has no {old!r}"
        text = text.replace(old, new, 1)
    path.write_text(text)


@contextmanager
def compiled_once() -> Iterator[None]:
    """Start the load driver and the remote system, too, from this process without their second compiler and without
    touching memory in advance."""
    found = (*(option for option in loadgen.JVM_OPTIONS if option != "-XX:+AlwaysPreTouch"), C1_ALONE)
    with mock.patch.object(loadgen, "JVM_OPTIONS", found), mock.patch.object(remote, "JVM_OPTIONS", found):
        yield


def make_project(folder: Path) -> Path:
    """Make a project in `folder` whose profile `short` measures two cells in seconds."""
    folder.mkdir(exist_ok=True)
    for name in SHARED:
        (folder / name).symlink_to(ROOT / name)
    (folder / "matrix.toml").write_text((ROOT / "matrix.toml").read_text() + RULES + SHORT)
    return folder


def matrix_command(*arguments: str) -> list[str]:
    """Return a command without the program beside the interpreter: where Nix runs the tests, there is none."""
    return [sys.executable, "-m", "jdkmatrix.cli.main", *arguments]


def brief_command(*arguments: str) -> list[str]:
    """Return the same for runs of seconds: tests/support/brief.py."""
    start = f"import sys; sys.path.insert(0, {str(ROOT / 'runner')!r}); from tests.support.brief import main; main()"
    return [sys.executable, "-c", start, *arguments]


def called(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in this process, without the second that one of its own takes to import it."""
    out, err = io.StringIO(), io.StringIO()
    told = {"MATRIX_HOME": str(home), "COLUMNS": "200"}
    with mock.patch.dict(os.environ, told), redirect_stdout(out), redirect_stderr(err):
        try:
            app(arguments, prog_name="matrix")
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(["matrix", *arguments], status, out.getvalue(), err.getvalue())


def called_with_few_files(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call it in a process that may open 12 files, with which nothing can be measured."""
    command = ["sh", "-c", 'ulimit -n 12; exec "$@"', "sh", *matrix_command(*arguments)]
    env = {**os.environ, "MATRIX_HOME": str(home)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def matrix(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line on a project, for seconds, and wait."""
    env, command = {**os.environ, "MATRIX_HOME": str(home), "COLUMNS": "200"}, brief_command(*arguments)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=HANGS_S, check=False)
