"""Measure what the embedded driver can do: against nginx on one CPU, beside Debian's wrk in the same run.

    python bench/loadgen_bench.py [--repeats N] [--json FILE] [--jar JAR] [--java JAVA]

nginx has CPU 0 (the lowest this process may use), the load driver the next. Every figure is the median of the
repeats; drivers take turns, so that what disturbs the host disturbs them alike. The goals are for a host that does
nothing else: its load is given, too. Exit status: 0 all goals met, 1 one is missed, 2 something is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from jdkmatrix.cli.measuring_lock import alone_on_this_host
from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.drivers.base import DriverSession, Target
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.provision.hosttools import find_jdk
from jdkmatrix.provision.workloads import build_workloads
from jdkmatrix.records.load_results import LoadResult

ROOT = Path(__file__).parents[1]
CONNECTIONS = 50
MODERATE_RPS = 10_000
HIGH_RPS = 60_000
WARMUP_S = 8.0
WINDOW_S = 8.0

NGINX_CONFIG = """\
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ default_type text/plain; return 200 "pong"; }}
    }}
}}
"""


@dataclass(frozen=True)
class Goal:
    """`measured` is the median of `samples`."""

    name: str
    unit: str
    bound: float
    at_least: bool
    samples: tuple[float, ...]

    @property
    def measured(self) -> float:
        return statistics.median(self.samples)

    @property
    def met(self) -> bool:
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


@dataclass(frozen=True)
class Host:
    cpus: int
    model: str
    load_before: float
    load_after: float
    java: str
    nginx: str
    wrk: str


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    console = Console(stderr=True)
    cpus = sorted(os.sched_getaffinity(0))
    missing = list(_missing(cpus))
    if missing:
        console.print("\n".join(missing), highlight=False)
        return 2
    try:
        driver = _driver(options, console.print)
        load_before = os.getloadavg()[0]
        with alone_on_this_host():
            goals, info = _measure(driver, cpus[0], cpus[1], options.repeats, console.print)
    except MatrixError as error:
        console.print(f"loadgen_bench: {error}", highlight=False)
        return 2
    host = Host(
        cpus=len(cpus),
        model=_cpu_model(),
        load_before=load_before,
        load_after=os.getloadavg()[0],
        java=str(driver.facts.java_version),
        nginx=_version("nginx", "-v"),
        wrk=_version("wrk", "-v"),
    )
    Console().print(_table(goals))
    record = {
        "host": asdict(host),
        "goals": [{**asdict(goal), "measured": goal.measured, "met": goal.met} for goal in goals],
        "also": info,
    }
    text = json.dumps(record, indent=2)
    if options.json is None:
        print(text)
    else:
        options.json.write_text(text + "\n")
    return 0 if all(goal.met for goal in goals) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3, choices=range(1, 21), metavar="1..20")
    parser.add_argument("--json", type=Path, help="write the figures here instead of printing them")
    parser.add_argument("--jar", type=Path, help="loadgen.jar (default: the one built from workloads/)")
    parser.add_argument("--java", type=Path, help="java of the driver (default: of the host's JDK)")
    return parser.parse_args(arguments)


def _missing(cpus: Sequence[int]) -> Iterator[str]:
    if len(cpus) < 2:
        yield f"two CPUs are needed, one for nginx and one for the driver; this process may use {len(cpus)}"
    for program, package in (("nginx", "nginx-light"), ("wrk", "wrk")):
        if shutil.which(program, path=_search_path()) is None:
            yield f"{program} is missing: apt-get install {package}"


def _driver(options: argparse.Namespace, say: Callable[[str], None]) -> LoadgenDriver:
    java = options.java
    if java is None:
        jdk = find_jdk()
        if jdk is None:
            raise MatrixError("no JDK 21 or newer here: set JAVA_HOME, or give --java")
        java = jdk.home / "bin" / "java"
    jar = options.jar or build_workloads(ROOT, say=say).file("loadgen.jar")
    driver = LoadgenDriver(jar, java, "bench")
    say(f"loadgen {driver.facts.version} on Java {driver.facts.java_version}")
    return driver


def _measure(
    driver: LoadgenDriver, sut_cpu: int, driver_cpu: int, repeats: int, say: Callable[[str], None]
) -> tuple[tuple[Goal, ...], dict[str, float]]:
    """Return the goals with what was measured, and what else is worth knowing."""
    moderate: list[LoadResult] = []
    high: list[LoadResult] = []
    closed: list[LoadResult] = []
    wrk_rps: list[float] = []
    with (
        tempfile.TemporaryDirectory(prefix="loadgen-bench-") as name,
        _nginx(Path(name), sut_cpu) as url,
        driver.open(Target(url, (driver_cpu,), Path(name))) as session,
    ):
        _phase(session, RateLoad(rate_rps=MODERATE_RPS, connections=CONNECTIONS), WARMUP_S, "warmup-rate")
        _phase(session, SaturateLoad(connections=CONNECTIONS), WARMUP_S, "warmup-closed")
        for i in range(1, repeats + 1):
            say(f"repeat {i} of {repeats}")
            for load, results in (
                (RateLoad(rate_rps=MODERATE_RPS, connections=CONNECTIONS), moderate),
                (RateLoad(rate_rps=HIGH_RPS, connections=CONNECTIONS), high),
                (SaturateLoad(connections=CONNECTIONS), closed),
            ):
                results.append(_phase(session, load, WINDOW_S, f"{load.kind}-{len(results)}"))
            wrk_rps.append(_wrk(url, driver_cpu))
    goals = (
        Goal("p50 at 10,000 req/s", "ms", 0.4, False, tuple(_percentile_ms(r, "50") for r in moderate)),
        Goal("CPU per 100,000 requests at 10,000 req/s", "s", 2.0, False, tuple(map(_cpu_s_per_100k, moderate))),
        Goal("60,000 req/s: share answered", "", 0.999, True, tuple(r.completed / (r.due or 1) for r in high)),
        Goal("p99 at 60,000 req/s", "ms", 5.0, False, tuple(_percentile_ms(r, "99") for r in high)),
        Goal(
            "closed loop: requests/s as a share of wrk's",
            "",
            0.7,
            True,
            tuple(ours.throughput_rps / theirs for ours, theirs in zip(closed, wrk_rps, strict=True)),
        ),
    )
    return goals, {
        "moderate_p99_ms": statistics.median(_percentile_ms(r, "99") for r in moderate),
        "moderate_send_late_p50_ms": statistics.median(_lateness_ms(r, "50") for r in moderate),
        "moderate_send_late_p99_ms": statistics.median(_lateness_ms(r, "99") for r in moderate),
        "high_p50_ms": statistics.median(_percentile_ms(r, "50") for r in high),
        "high_cpu_s_per_100k": statistics.median(map(_cpu_s_per_100k, high)),
        "closed_rps": statistics.median(r.throughput_rps for r in closed),
        "closed_cpu_s_per_100k": statistics.median(map(_cpu_s_per_100k, closed)),
        "wrk_rps": statistics.median(wrk_rps),
    }


def _phase(session: DriverSession, load: RateLoad | SaturateLoad, duration_s: float, label: str) -> LoadResult:
    result = session.run(load, duration_s, label=label)
    if result.errors.total or result.non_2xx:
        raise MatrixError(f"nginx did not answer cleanly in {label}: {result.errors}, non-2xx {result.non_2xx}")
    return result


def _percentile_ms(result: LoadResult, percent: str) -> float:
    latency = result.corrected
    if latency is None:
        raise MatrixError("a phase recorded no latency")
    return latency.percentiles_us[percent] / 1000


def _lateness_ms(result: LoadResult, percent: str) -> float:
    return 0.0 if result.send_lateness is None else result.send_lateness.percentiles_us[percent] / 1000


def _cpu_s_per_100k(result: LoadResult) -> float:
    return result.driver_cpu_s * 100_000 / result.completed


@contextmanager
def _nginx(folder: Path, cpu: int) -> Iterator[str]:
    """Serve on loopback until the block ends; yield the URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    config = folder / "nginx.conf"
    config.write_text(NGINX_CONFIG.format(folder=folder, port=port))
    program = str(shutil.which("nginx", path=_search_path()))
    with (folder / "nginx.txt").open("wb") as sink:
        process = launch.spawn([program, "-p", str(folder), "-c", str(config)], cpus=(cpu,), stdout=sink, stderr=sink)
    try:
        _await_port(port, process, folder / "nginx.txt")
        yield f"http://127.0.0.1:{port}/"
    finally:
        launch.terminate(process, grace_s=5)


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise MatrixError(f"nginx does not serve: {log.read_text(errors='replace').strip()}")


def _wrk(url: str, cpu: int) -> float:
    """Return the requests per second of wrk's closed loop, with the same CPU, connections and time."""
    program = str(shutil.which("wrk", path=_search_path()))
    command = [program, "-t1", f"-c{CONNECTIONS}", f"-d{WINDOW_S:.0f}s", url]
    process = launch.spawn(command, cpus=(cpu,), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        printed, _ = process.communicate(timeout=WINDOW_S + 30)
    finally:
        launch.terminate(process, grace_s=1)
    found = re.search(rb"^Requests/sec:\s+([\d.]+)$", printed, re.MULTILINE)
    if found is None:
        raise MatrixError(f"wrk printed no requests per second: {printed.decode(errors='replace')}")
    return float(found[1])


def _table(goals: Sequence[Goal]) -> Table:
    table = Table(title="loadgen against nginx, one CPU each")
    for column in ("figure", "goal", "measured", "samples", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    for goal in goals:
        unit = f" {goal.unit}" if goal.unit else ""
        table.add_row(
            goal.name,
            f"{'≥' if goal.at_least else '≤'} {goal.bound:g}{unit}",
            f"{goal.measured:.3f}{unit}",
            ", ".join(f"{sample:.3f}" for sample in goal.samples),
            "met" if goal.met else "MISSED",
        )
    return table


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else "unknown"


def _version(program: str, option: str) -> str:
    path = str(shutil.which(program, path=_search_path()))
    answer = subprocess.run([path, option], capture_output=True, text=True, timeout=10, check=False)
    return (answer.stdout + answer.stderr).partition("\n")[0]


def _search_path() -> str:
    """Return PATH with the folder where Debian keeps nginx, which otherwise only root's PATH has."""
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
