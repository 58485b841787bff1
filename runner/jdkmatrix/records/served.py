"""The threads on which the requests of a window ran."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.domain.record import Record

Place = Literal["servers", "plugged_virtual", "plugged_platform", "elsewhere"]


class Served(Record):
    """Requests of the application that began between a reading of /gauges before the load of a window and one after
    it. Each counted itself on the thread that ran it, by the maker of that thread: the server's own pool, or the
    plugged executor (with virtual or with platform threads).

    The driver's requests among them are `begun_min` to `begun_max`: what it got a good answer to has begun, and no more
    can have than it sent, and `left_over` from before, which had been sent and had not begun. `threads_started`: by the
    plugged executor meanwhile, for our own questions too; None: there is none. `early_s`: for how long the load went on
    between the first reading and the window, where the driver leads by itself; None: not recorded, or it does not."""

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
