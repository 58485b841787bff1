"""Has a server done all that it was sent?"""

from __future__ import annotations

from jdkmatrix.records.windows import Gauges


class AtRest:
    """Where a few threads serve all, none of its requests is in flight for a moment while others wait for a thread: a
    server is at rest once none has begun since the last look, either. `begun`: so many had, at the last answer."""

    begun = -1

    def look(self, gauges: Gauges | None) -> bool:
        """Is it at rest? `gauges`: what it answers now, if anything."""
        if gauges is None:
            return False
        before, self.begun = self.begun, gauges.begun
        return gauges.in_flight == 0 and self.begun == before
