"""The remote system that an application calls: a JVM of its own, beside the server and on its own CPUs.

It prints one JSON line when it is ready, reports its figures at /stats, and ends when its input does (workloads/remote:
Main, Stats). Every wait here has an upper bound and ends in RemoteError.
"""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from jdkmatrix.drivers.loadgen import JVM_OPTIONS, Ready, heap_options, native_library_in
from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.stats.histograms import latency_from_histogram

STDERR_LOG = "remote.stderr.txt"

_START_TIMEOUT_S = 60.0
_ANSWER_TIMEOUT_S = 10.0
_GRACE_S = 2.0


class RemoteError(MatrixError):
    """The remote system did not start, died, or sent something that is not of this version."""


class _Ready(Ready):
    port: int


@dataclass(eq=False)
class RemoteProcess:
    """A remote system, started on enter with one event loop per CPU, and ended on exit whatever happened in between.

    `java` is an executable of JDK 21 or newer, `cgroup` the folder of the cgroup that it starts in (None: the runner's
    own), `slice_us` the time slice that its threads request, `connections` how many it must have memory for. `log_dir`
    must exist and receives the JVM's messages. Enter it in a thread that lives as long as the process should: see
    `launch`.
    """

    jar: Path
    java: Path
    _: KW_ONLY
    cpus: Sequence[int]
    log_dir: Path
    cgroup: Path | None = None
    slice_us: int | None = None
    connections: int = 0
    _port: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        options = (*JVM_OPTIONS, *heap_options(len(self.cpus), self.connections), native_library_in(self.log_dir))
        self.command = (str(self.java), *options, "-jar", str(self.jar), "--threads", str(len(self.cpus)))
        self._stderr = self.log_dir / STDERR_LOG

    def __enter__(self) -> Self:
        with self._stderr.open("wb") as sink:
            self._process = launch.spawn(
                self.command,
                cpus=self.cpus,
                cgroups=[self.cgroup] if self.cgroup else [],
                slice_us=self.slice_us,
                env=launch.clean_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
            )
        self._ready_by = time.monotonic() + _START_TIMEOUT_S
        return self

    def __exit__(self, *stopped: object) -> None:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            launch.terminate(process, grace_s=0)
        process.stdout.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        """The URL that answers, without a query; known once it is ready."""
        return f"{self._base_url}/answer"

    def wait_ready(self) -> None:
        """Wait until it accepts requests; return at once if it did before.

        Raises:
            RemoteError: it ended, or did not get ready in time.
        """
        if self._port is not None:
            return
        stdout = self._process.stdout
        assert stdout is not None
        readable, _, _ = select.select([stdout], [], [], max(0.0, self._ready_by - time.monotonic()))
        if not readable:
            raise RemoteError(
                f"the remote system was not ready within {_START_TIMEOUT_S:.0f} s{launch.stderr_tail(self._stderr)}"
            )
        if not (line := stdout.readline()):
            raise self._dead()
        try:
            self._port = _Ready.model_validate_json(line).port
        except ValidationError as error:
            raise RemoteError(f"the remote system printed no event of this version: {line[:200]!r}") from error

    def delay_at_most(self, delay_us: int | None) -> None:
        """Delay no answer for longer than `delay_us` from now on; None: as long as each request asks.

        Raises:
            RemoteError: it has ended, or refuses.
        """
        query = "" if delay_us is None else f"?at_most_us={delay_us}"
        with self._asked() as connection:
            status, _ = connection.post(f"/delay{query}")
        if status != 204:
            raise RemoteError(f"the remote system refuses to limit its delays to {delay_us} µs: status {status}")

    def stats(self, *, reset: bool = False) -> RemoteStats:
        """Return the figures of this period; `reset` ends it, and begins the next one at the same moment.

        Raises:
            RemoteError: it has ended, or gave no answer in time.
        """
        with self._asked() as connection:
            return parse_stats(connection.get_json(f"/stats?reset={str(reset).lower()}"))

    @contextmanager
    def _asked(self) -> Iterator[Connection]:
        try:
            with Connection(self._base_url, timeout_s=_ANSWER_TIMEOUT_S) as connection:
                yield connection
        except HttpError as error:
            if self._process.poll() is not None:
                raise self._dead() from None
            raise RemoteError(f"the remote system: {error}") from None

    @property
    def _base_url(self) -> str:
        if self._port is None:
            raise RuntimeError("the remote system is not ready")
        return f"http://127.0.0.1:{self._port}"

    def _dead(self) -> RemoteError:
        how = launch.how_ended(launch.terminate(self._process, grace_s=_GRACE_S))
        return RemoteError(f"the remote system {how}{launch.stderr_tail(self._stderr)}")


def parse_stats(answer: Mapping[str, Any]) -> RemoteStats:
    """Parse the answer of /stats and summarise its histograms like those of the driver. Pure.

    Raises:
        RemoteError: it is not of this version.
    """
    try:
        histograms = {
            name: latency_from_histogram(answer[name]["histogram"]) if answer[name] is not None else None
            for name in ("lateness", "loop_lateness")
        }
        faults = {name.replace("-", "_"): count for name, count in answer["faults"].items()}
        return RemoteStats.model_validate({**answer, **histograms, "faults": faults})
    except (ValidationError, MatrixError, KeyError, TypeError, AttributeError) as error:
        raise RemoteError(f"the remote system reported figures of another version: {error}") from error
