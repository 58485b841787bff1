"""Sample the SUT at a steady pace in a thread of its own."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from jdkmatrix.probes.process import Reading, SutGoneError, read_process, total
from jdkmatrix.records import Gauges, Sample
from jdkmatrix.sut.http import Connection, HttpError

_GAUGES_TIMEOUT_S = 2.0


def read_gauges(connection: Connection) -> Gauges | None:
    """`GET /gauges`; None when the server gives no answer in time: under full load that is a finding, not a fault.

    Raises:
        HttpError: the answer is not what /gauges gives.
    """
    try:
        status, body = connection.get("/gauges")
    except HttpError:
        return None
    if status != 200:
        return None
    try:
        return Gauges.model_validate_json(body)
    except ValidationError as error:
        raise HttpError(f"/gauges: {error.error_count()} wrong fields: {error.errors()[0]['loc']}") from None


class Sampler:
    """Between enter and exit, `samples` grows by one every `every_s`; stops by itself when the SUT ends."""

    def __init__(self, pid: int, base_url: str, *, started_ns: int, every_s: float) -> None:
        self._pid = pid
        self._base_url = base_url
        self._started_ns = started_ns
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="sampler", daemon=True)
        self._samples: list[Sample] = []
        self._fault: HttpError | None = None

    @property
    def samples(self) -> tuple[Sample, ...]:
        return tuple(self._samples)

    def since(self, t_s: float) -> tuple[Sample, ...]:
        return tuple(sample for sample in self._samples if sample.t_s >= t_s)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(_GAUGES_TIMEOUT_S + self._every_s + 1)
        if error is None and self._fault is not None:
            raise self._fault

    def _loop(self) -> None:
        with Connection(self._base_url, timeout_s=_GAUGES_TIMEOUT_S) as connection:
            due = time.monotonic()
            while not self._stop.wait(max(0.0, due - time.monotonic())):
                due = max(due + self._every_s, time.monotonic())
                try:
                    gauges = read_gauges(connection)
                    self._samples.append(to_sample(read_process(self._pid), gauges, self._started_ns))
                except SutGoneError:
                    return
                except HttpError as fault:
                    self._fault = fault
                    return


def to_sample(reading: Reading, gauges: Gauges | None, started_ns: int) -> Sample:
    scheduling = total(reading)
    return Sample(
        t_s=(reading.monotonic_ns - started_ns) / 1e9,
        cpu_s=reading.cpu_ns / 1e9,
        rss_bytes=reading.rss_bytes,
        virt_bytes=reading.virt_bytes,
        threads=len(reading.threads),
        voluntary_switches=scheduling.voluntary_switches,
        involuntary_switches=scheduling.involuntary_switches,
        run_queue_wait_s=scheduling.run_queue_wait_s,
        gauges=gauges,
    )
