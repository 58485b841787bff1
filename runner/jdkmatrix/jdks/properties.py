"""Which system properties of the scheduler and the pollers of virtual threads a JDK has: a property that it does not
know changes nothing, and a cell that measured it would show a tuning that was none. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jdkmatrix.jdks.identify import Vm

# Names and first versions: JEP 444 and java.lang.VirtualThread of each version. `jdk.unparker.maxPoolSize` was seen to
# make as many "VirtualThread-unparker" threads as asked on 21.0.8; on 25.0.3 nothing reads it, since timed waits are in
# the ForkJoinPool's own delay scheduler (JDK-8351927). The names of the pollers were looked up in the classes of 21.0.8
# and 25.0.2. 22 to 24 were not looked at, so they count as without what only one of the two has.
_FIRST = {
    "jdk.virtualThreadScheduler.parallelism": 21,
    "jdk.virtualThreadScheduler.maxPoolSize": 21,
    "jdk.virtualThreadScheduler.minRunnable": 21,
    "jdk.unparker.maxPoolSize": 21,
    "jdk.readPollers": 21,
    "jdk.writePollers": 21,
    "jdk.pollerMode": 25,
}
_LAST = {"jdk.unparker.maxPoolSize": 21}
_FIRST_WITH = {("jdk.pollerMode", "3"): 27}  # values that came later than their property


def unknown_properties(properties: Mapping[str, str], vm: Vm, feature_version: int) -> list[str]:
    """A sentence for each that this JDK does not have, or not with this value."""
    found = []
    for name, value in properties.items():
        if not _FIRST.get(name, math.inf) <= feature_version <= _LAST.get(name, math.inf):
            found.append(name)
        elif feature_version < _FIRST_WITH.get((name, value), 0):
            found.append(f"{name}={value}")
    return [f"JDK {feature_version} ({vm}) is not known to have {what}" for what in found]
