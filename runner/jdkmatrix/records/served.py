"""The threads on which the requests of a window ran."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.domain.record import Record

Place = Literal["servers", "plugged_virtual", "plugged_platform", "elsewhere"]


class Served(Record):
    """Requests of the application that began between a reading of /gauges before the load of a window and one after it.
    Each counted itself on the thread that ran it, by who made that thread: the server's own pool, or the plugged
    executor (with virtual or with platform threads).

    From `begun_min` to `begun_max` of them are the driver's: those with a 2xx response have begun, and no more can have
    than it sent. `left_over`: how many may have been sent before and not begun by then, though the threads of some may
    have started. `threads_started`: by the plugged executor meanwhile, including those for our own queries; None: there
    is none. `early_s`: how long the load was on between the
    first reading and the window, if the driver leads by itself; None: not recorded, or it does not."""

    servers: int
    plugged_virtual: int
    plugged_platform: int
    elsewhere: int
    begun_min: int
    begun_max: int
    left_over: int
    threads_started: int | None
    early_s: float | None = None

    @property
    def begun(self) -> int:
        return self.servers + self.plugged_virtual + self.plugged_platform + self.elsewhere

    def on(self, place: Place) -> int:
        count: int = getattr(self, place)
        return count
