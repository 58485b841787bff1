"""Sample the SUT at a steady pace in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.probes.pace import Pace
from jdkmatrix.probes.process import Glance, glance
from jdkmatrix.records.windows import Gauges, Sample

GAUGES_TIMEOUT_S = 2.0


def read_gauges(connection: Connection) -> Gauges | None:
    """Send `GET /gauges`; None if the server gives no answer in time: under full load that is a finding, not a fault.

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
        return gauges_of(connection.json_object("/gauges", body))
    except ValidationError as error:
        raise HttpError(f"/gauges: {error.error_count()} wrong fields: {error.errors()[0]['loc']}") from None


def gauges_of(answer: Mapping[str, Any]) -> Gauges:
    """Make the `answer` of /gauges a record, its keys "total_…" and "window_…" gathered. Raises: ValidationError."""
    told = dict(answer)
    for prefix, field in (("total_", "totals"), ("window_", "since_reset")):
        named = {name: told.pop(name) for name in answer if name.startswith(prefix)}
        told[field] = {name.removeprefix(prefix): value for name, value in named.items() if value is not None}
    return Gauges.model_validate(told)


class GaugedPace(Pace):
    """A pace whose looks ask the SUT for its gauges, if it has any, over one connection that is closed at exit."""

    def __init__(
        self,
        name: str,
        look: Callable[[], None],
        base_url: str,
        *,
        every_s: float,
        look_at_most_s: float,
        has_gauges: bool = True,
    ) -> None:
        super().__init__(name, look, every_s=every_s, look_at_most_s=look_at_most_s)
        self._connection = Connection(base_url, timeout_s=GAUGES_TIMEOUT_S)
        self._has_gauges = has_gauges

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._connection:
            super().__exit__(kind, error, trace)

    def gauges(self) -> Gauges | None:
        return read_gauges(self._connection) if self._has_gauges else None


class Sampler(GaugedPace):
    """Between enter and exit, `samples` grows by one every `every_s`; stops by itself when the SUT ends."""

    def __init__(self, pid: int, base_url: str, *, started_ns: int, every_s: float, has_gauges: bool = True) -> None:
        timing = {"every_s": every_s, "look_at_most_s": GAUGES_TIMEOUT_S}
        super().__init__("sampler", self._sample, base_url, has_gauges=has_gauges, **timing)
        self._pid = pid
        self._started_ns = started_ns
        self.samples: list[Sample] = []
        self.last_glance: Glance | None = None

    def since(self, t_s: float) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.t_s >= t_s)

    def _sample(self) -> None:
        gauges = self.gauges()
        self.last_glance = seen = glance(self._pid)
        sample = Sample(
            t_s=(seen.monotonic_ns - self._started_ns) / 1e9,
            cpu_s=seen.cpu_ns / 1e9,
            rss_bytes=seen.rss_bytes,
            virt_bytes=seen.virt_bytes,
            threads=seen.thread_count,
            gauges=gauges,
        )
        self.samples.append(sample)
