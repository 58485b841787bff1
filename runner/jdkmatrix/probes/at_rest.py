"""Detect whether a server has done everything that it was sent."""

from __future__ import annotations

from jdkmatrix.records.windows import Gauges


class AtRest:
    """Detects a server at rest. Where a few threads serve all, nothing may be in flight for a moment while requests
    wait for a thread: so none may have begun since the last look, either. `begun`: how many had, at the last answer."""

    begun = -1

    def look(self, gauges: Gauges | None) -> bool:
        """Return whether the server is at rest. `gauges`: what it answers now, if anything."""
        if gauges is None:
            return False
        before, self.begun = self.begun, gauges.begun
        return gauges.in_flight == 0 and self.begun == before
